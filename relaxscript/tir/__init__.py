"""Names that users know as `tvm.tir`: scalar expressions, statements and functions over buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.compiler import build
from relaxscript.ir import prim, tir as statements, tir_compute, tir_functions
from relaxscript.ir.prim import *  # noqa: F403
from relaxscript.ir.tir import *  # noqa: F403
from relaxscript.ir.tir_compute import *  # noqa: F403
from relaxscript.ir.tir_functor import PyStmtExprMutator, PyStmtExprVisitor
from relaxscript.script.names import tir_math
from relaxscript.script.names.tir_math import *  # noqa: F403
from relaxscript.transform.schedule import BlockRV, LoopRV, Schedule, ScheduleError

# The names of `tvm.tir` win over those of scripts.
from relaxscript.ir.tir_functions import *  # noqa: F403 # isort: skip
from relaxscript.te import comm_reducer, max, min, sum  # isort: skip

from . import (  # isort: skip
    analysis,
    buffer,
    expr,
    function,
    functor,
    op,
    schedule,
    stmt,
    stmt_functor,
    transform,
)

if not TYPE_CHECKING:
    from relaxscript.errors.absent_modules import answer_for as _answer_for
    from relaxscript.errors.not_built import of_tir as __getattr__  # noqa: F401

    _answer_for(__path__)  # noqa: F405

__all__ = [
    "BlockRV", "LoopRV", "PyStmtExprMutator", "PyStmtExprVisitor", "Schedule", "ScheduleError",
    "analysis", "buffer", "build", "comm_reducer", "expr", "function", "functor", "max", "min",
    "op", "schedule", "stmt", "stmt_functor", "sum", "transform", *prim.__all__,
    *statements.__all__, *tir_compute.__all__, *tir_functions.__all__,
    *(name for name in tir_math.__all__ if name not in tir_functions.__all__),
]  # fmt: skip
