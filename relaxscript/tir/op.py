"""Names that users know as `tvm.tir.op`: functions of scalars."""

from __future__ import annotations

from relaxscript.ir import tir_functions
from relaxscript.script.names import tir_math
from relaxscript.script.names.tir_math import *  # noqa: F403

# The names of `tvm.tir` win over those of scripts.
from relaxscript.ir.tir_functions import *  # noqa: F403 # isort: skip

__all__ = [*tir_math.__all__, *tir_functions.__all__]
