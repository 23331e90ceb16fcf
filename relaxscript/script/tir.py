"""The names behind `T.`: the statements and scalars of PrimFuncs.

    from relaxscript.script import tir as T

The names are in six files of `names/`: statements and buffers (`tir_statements.py`), axes of
blocks (`tir_axis.py`), dtypes (`tir_dtypes.py`), nodes (`tir_nodes.py`), tensor expressions
(`tir_compute.py`), intrinsics (`tir_math.py`). Short dtypes and dimensions are those of `R`.

Source: TVM `tvm.script.tir` for names, order of parameters and defaults.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .names import tir_axis as axis, tir_compute, tir_dtypes, tir_math, tir_nodes, tir_statements
from .names.annotations import in_annotation
from .names.members import absent_member
from .names.relax_typed import (  # fmt: skip
    bf16,
    dim,
    f8_e4m3fn,
    f8_e5m2,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from .names.safe_callables import safe_callables
from .names.tir_compute import *  # noqa: F403
from .names.tir_dtypes import *  # noqa: F403
from .names.tir_math import *  # noqa: F403
from .names.tir_nodes import *  # noqa: F403
from .names.tir_statements import *  # noqa: F403
from .parser.entry import prim_func, tir_macro as macro

_PARTS = (tir_compute, tir_dtypes, tir_statements, tir_math, tir_nodes)

__all__ = [
    "axis", "bf16", "dim", "f8_e4m3fn", "f8_e5m2", "f16", "f32", "f64", "i8", "i16", "i32", "i64",
    "macro", "prim_func", "u8", "u16", "u32", "u64",
]  # fmt: skip
__all__ += [name for part in _PARTS for name in part.__all__]

safe_callables(*(getattr(part, name) for part in (axis, *_PARTS) for name in part.__all__))

if not TYPE_CHECKING:
    __dir__ = __all__.copy  # a prompt offers names of the language

    def __getattr__(name: str) -> Any:
        """A name that `T` does not have; in an annotation the parser reports it with its place."""
        if not name.startswith("_") and in_annotation(sys._getframe(1)):
            return tir_statements.Buffer
        return absent_member(sys.modules[__name__], "T", name)
