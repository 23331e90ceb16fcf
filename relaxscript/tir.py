"""Names that users know as `tvm.tir`: scalar expressions, statements and functions over buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .compiler import build
from .ir import prim, tir as statements, tir_compute, tir_functions
from .ir.prim import *  # noqa: F403
from .ir.tir import *  # noqa: F403
from .ir.tir_compute import *  # noqa: F403
from .script.names import tir_math
from .script.names.tir_math import *  # noqa: F403

# The names of `tvm.tir` win over those of scripts.
from .ir.tir_functions import *  # noqa: F403 # isort: skip

if not TYPE_CHECKING:
    from .errors.not_built import of_tir as __getattr__  # noqa: F401

__all__ = [
    "build", *prim.__all__, *statements.__all__, *tir_compute.__all__, *tir_math.__all__,
    *tir_functions.__all__,
]  # fmt: skip
