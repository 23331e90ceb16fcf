"""Names that users know as `relax.utils`: values as expressions, and parts of programs."""

from __future__ import annotations

from relaxscript.builder import args_converter, convert_to_expr, gen_call_tir_inputs
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.script.metadata_partition import metadata_partitioner

__all__ = [
    "args_converter", "convert_to_expr", "copy_with_new_vars", "gen_call_tir_inputs",
    "metadata_partitioner",
]  # fmt: skip
