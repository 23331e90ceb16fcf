"""Names that users know as `tvm.tir`: scalar expressions, statements and functions over buffers."""

from __future__ import annotations

from .ir import prim, tir as statements, tir_compute, tir_functions
from .ir.prim import *  # noqa: F403
from .ir.tir import *  # noqa: F403
from .ir.tir_compute import *  # noqa: F403
from .script import tir_math
from .script.tir_math import *  # noqa: F403

# The names of `tvm.tir` win over those of scripts.
from .ir.tir_functions import *  # noqa: F403 # isort: skip

__all__ = [
    *prim.__all__, *statements.__all__, *tir_compute.__all__, *tir_math.__all__,
    *tir_functions.__all__,
]  # fmt: skip
