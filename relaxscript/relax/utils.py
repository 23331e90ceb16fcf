"""Names that users know as `relax.utils`: values as expressions, and copies of functions."""

from __future__ import annotations

from relaxscript.builder import args_converter, convert_to_expr
from relaxscript.ir.renaming import copy_with_new_vars

__all__ = ["args_converter", "convert_to_expr", "copy_with_new_vars"]
