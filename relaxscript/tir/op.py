"""Names that users know as `tvm.tir.op`: functions of scalars."""

from __future__ import annotations

from relaxscript.ir import tir_functions
from relaxscript.script.names import tir_math
from relaxscript.script.names.tir_math import *  # noqa: F403

# The names of `tvm.tir` win over those of scripts.
from relaxscript.ir.tir_functions import *  # noqa: F403 # isort: skip
from relaxscript.te import comm_reducer, max, min, sum  # isort: skip

__all__ = [
    "comm_reducer", "max", "min", "sum", *tir_functions.__all__,
    *(name for name in tir_math.__all__ if name not in tir_functions.__all__),
]  # fmt: skip
