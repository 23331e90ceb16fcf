"""Loops and axes of int32 as such of int64, which is what rules know.

Loops over Python's integers are of int32, as in `T.grid(512, 512)`, and so are the axes of tensor
expressions over such.
"""

from __future__ import annotations

from relaxscript.arith import Facts
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT32, INT64, BufferLoad, IntImm, PrimExpr, Var, cast
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    BufferStore,
    For,
    ForKind,
    IterVar,
    PrimFunc,
    Range,
    Stmt,
)
from relaxscript.ir.walk import rewrite_top_down
from relaxscript.transform.prim_func.known_facts import RewriterWithFacts, in_int64, sizes_of

__all__ = ["with_wide_indices"]


def with_wide_indices(func: PrimFunc) -> PrimFunc:
    """The function with loops and axes of int64 in the place of such of int32.

    for i in range(T.int32(8)):                 for i in range(T.int64(8)):
        B[i, 0] = A[i + 1] * T.Cast(    →           B[i, 0] = A[i + T.int64(1)] * T.Cast(
            "float32", i)                               "float32", T.Cast("int32", i))

    Indices and comparisons are computed in int64 where they are proved not to wrap around in int32.
    All else has the value of its loop in int32, and so the bits that it had. The same object where
    there is no loop of int32.
    """
    wide = _wide_variables(func)
    if not wide:
        return func
    return func.replace(body=_Widening(sizes_of(func), wide).rewrite(func.body, Facts()))


def _wide_variables(func: PrimFunc) -> dict[Var, Var]:
    """A variable of int64 for each of int32 over which serial loops and axes go from 0 on."""
    wide: dict[Var, Var] = {}
    others: set[Var] = set()
    stack: list[Stmt] = [func.body]
    while stack:
        part = stack.pop()
        stack += inner_statements(part)
        match part:
            case For(loop_var=var):
                fits = part.kind == ForKind.SERIAL and _is_zero(part.min)
                _note(var, fits, wide, others)
            case Block(iter_vars=axes):
                for axis in axes:
                    fits = axis.dom is not None and _is_zero(axis.dom.min)
                    _note(axis.var, fits, wide, others)
    return {var: new for var, new in wide.items() if var not in others}


def _note(var: Var, fits: bool, wide: dict[Var, Var], others: set[Var]) -> None:
    if not fits:
        others.add(var)
    elif var.dtype is INT32 and var not in wide:
        wide[var] = Var.make(var.name, INT64)


def _is_zero(e: PrimExpr) -> bool:
    return isinstance(e, IntImm) and e.value == 0


class _Widening(RewriterWithFacts):
    """Writes loops, axes and what is computed of them with other variables."""

    def __init__(self, variables: set[Var], wide: dict[Var, Var]) -> None:
        super().__init__(variables)
        self.wide = wide

    def enter(self, stmt: Stmt, context: Facts) -> Stmt:
        match stmt:
            case BufferStore(indices=indices):
                return stmt.replace(indices=tuple([self._index(i, context) for i in indices]))
            case BlockRealize(iter_values=values, block=block):
                pairs = zip(values, block.iter_vars, strict=True)
                made = [
                    cast(self._index(value, context), INT64) if axis.var in self.wide else value
                    for value, axis in pairs
                ]
                return stmt.replace(iter_values=tuple(made))
        return stmt

    def scalar(self, e: PrimExpr, context: Facts) -> PrimExpr:
        def step(node: Node) -> PrimExpr | None:
            match node:
                case Var() if node in self.wide:
                    return cast(self.wide[node], INT32)
                case BufferLoad(indices=indices):
                    return node.replace(indices=tuple([self._index(i, context) for i in indices]))
                case prim.Comparison(a=a) if a.dtype is INT32 and self.is_index(node, context):
                    return in_int64(node, self.wide)
                case prim.Cast(dtype=dtype, value=value) if dtype is INT64:
                    if value.dtype is INT32 and self.is_index(value, context):
                        return in_int64(value, self.wide)
            return None

        return rewrite_top_down(e, step)

    def _index(self, e: PrimExpr, context: Facts) -> PrimExpr:
        """An index in int64; as it is, where it may wrap around."""
        if e.dtype is INT32 and self.is_index(e, context):
            return in_int64(e, self.wide)
        return self.scalar(e, context)

    def leave(self, stmt: Stmt, context: Facts) -> Stmt:
        match stmt:
            case For(loop_var=var) if var in self.wide:
                low, extent = (cast(e, INT64) for e in (stmt.min, stmt.extent))
                return stmt.replace(loop_var=self.wide[var], min=low, extent=extent)
            case Block(iter_vars=axes) if any(axis.var in self.wide for axis in axes):
                return stmt.replace(iter_vars=tuple([self._axis(axis) for axis in axes]))
        return stmt

    def _axis(self, axis: IterVar) -> IterVar:
        if axis.var not in self.wide or axis.dom is None:
            return axis
        dom = Range(cast(axis.dom.min, INT64), cast(axis.dom.extent, INT64))
        return axis.replace(dom=dom, var=self.wide[axis.var])
