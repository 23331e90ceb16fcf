"""Names that users know as `relax.testing`: programs for tests, and questions that passes ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.testing import ast_printer
from relaxscript.testing.ast_printer import ASTPrinter, dump_ast
from relaxscript.testing.attention import (
    get_relax_attention_module,
    get_relax_stacked_attention_module,
)
from relaxscript.testing.matmul import get_relax_matmul_module
from relaxscript.testing.nn import (
    Linear,
    LogSoftmax,
    Module,
    Parameter,
    Placeholder,
    ReLU,
    Sequential,
    checkpoint,
    emit,
    emit_checkpoint,
    emit_checkpoint_sequential,
    emit_te,
    init_params,
)

from . import attention, matmul, nn, runtime_builtin, transform

if TYPE_CHECKING:  # `vm` registers functions, which is left to programs that import it
    from . import lib_comparator as lib_comparator, vm as vm

__all__ = [
    "ASTPrinter",
    "Linear",
    "LogSoftmax",
    "Module",
    "Parameter",
    "Placeholder",
    "ReLU",
    "Sequential",
    "ast_printer",
    "attention",
    "checkpoint",
    "dump_ast",
    "emit",
    "emit_checkpoint",
    "emit_checkpoint_sequential",
    "emit_te",
    "get_relax_attention_module",
    "get_relax_matmul_module",
    "get_relax_stacked_attention_module",
    "init_params",
    "matmul",
    "nn",
    "runtime_builtin",
    "transform",
]
