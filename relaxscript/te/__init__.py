"""Tensor expressions: tensors by what their elements are, and the PrimFuncs that compute them.

    >>> from relaxscript import te
    >>> n = te.var("n", "int64")
    >>> A = te.placeholder((n, 64), name="A")
    >>> k = te.reduce_axis((0, 64), name="k")
    >>> B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    >>> print(te.create_prim_func([A, B]).script())
    # from relaxscript.script import tir as T
    <BLANKLINE>
    <BLANKLINE>
    @T.prim_func
    def main(A: T.Buffer(("n", 64), "float32"), B: T.Buffer(("n",), "float32")):
        T.func_attr({"tir.noalias": True})
        n = T.int64()
        for i, k in T.grid(n, 64):
            with T.block("B"):
                v_i, v_k = T.axis.remap("SR", [i, k])
                T.reads(A[v_i, v_k])
                T.writes(B[v_i])
                with T.init():
                    B[v_i] = T.float32(0.0)
                B[v_i] = B[v_i] + A[v_i, v_k]

Names, parameters and defaults are those of `tvm.te`. Start reading at `tensor.py`: what tensors
and operations are. `compute.py` makes them, `reduction.py` has the rules of reductions, and
`prim_func.py` makes a function of them. `topi/` are the functions of tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import topi
from .compute import (
    compute,
    extern,
    placeholder,
    reduce_axis,
    shape_of,
    size_var,
    tag_scope,
    thread_axis,
    var,
)  # fmt: skip
from .prim_func import create_prim_func, prim_func_of
from .reduction import all, any, comm_reducer, max, min, prod, sum
from .scalar import *  # noqa: F403
from .scalar import __all__ as _scalars
from .tensor import ComputeOp, ExternOp, Operation, PlaceholderOp, Tensor, TensorSlice
from .topi.broadcast import add, multiply, subtract

if not TYPE_CHECKING:
    from relaxscript.errors.absent_modules import answer_for as _answer_for
    from relaxscript.errors.not_built import of_te as __getattr__  # noqa: F401

    _answer_for(__path__)  # noqa: F405

__all__ = [
    "ComputeOp", "ExternOp", "Operation", "PlaceholderOp", "Tensor", "TensorSlice", "add", "all",
    "any", "comm_reducer", "compute", "create_prim_func", "extern", "max", "min", "multiply",
    "placeholder", "prim_func_of", "prod", "reduce_axis", "shape_of", "size_var", "subtract",
    "sum", "tag_scope", "thread_axis", "topi", "var", *_scalars,
]  # fmt: skip
