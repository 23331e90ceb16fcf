"""Tools for tests of relaxscript, its users' and its own.

`rejected` programs list their mistakes in comments. `programs` are random and well typed, made of
the parts in `generate/`. `compare` says whether two programs or two results are the same, and
whether the executors agree. `dump_ast` shows the nodes of a program.

`nn`, `matmul` and `attention` make small programs, `vm` registers packed functions for them, and
`lib_comparator` compares kernels: TVM's `relax.testing`, as `transform` and `runtime_builtin` are.
"""

from __future__ import annotations

from .ast_printer import ASTPrinter, dump_ast
from .bisect import bisect
from .compare import assert_allclose
from .numerical_gradients import check_numerical_grads
from .reduce import reduce
from .rejected import check_rejected, diagnostics_of, rejected

__all__ = [
    "ASTPrinter",
    "assert_allclose",
    "bisect",
    "check_numerical_grads",
    "check_rejected",
    "diagnostics_of",
    "dump_ast",
    "reduce",
    "rejected",
]
