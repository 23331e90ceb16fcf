"""Elements that get one value or another by a condition, as one store of a choice."""

from __future__ import annotations

from relaxscript.analysis.prim_funcs import expr_deep_equal
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import Call
from relaxscript.ir.stmt_functor import inner_statements, rewrite_tir
from relaxscript.ir.tir import BufferStore, IfThenElse, PrimFunc, Stmt

__all__ = ["with_stored_choices"]

_CHOICE = op_named("tir.if_then_else")


def with_stored_choices(func: PrimFunc) -> PrimFunc:
    """The function with one store in the place of two, of which a condition chooses one.

    for i in range(64):                     for i in range(64):
        if A[i] > T.float32(0):                 B[i] = T.if_then_else(
            B[i] = A[i]             →               A[i] > T.float32(0), A[i], T.float32(0))
        else:
            B[i] = T.float32(0)

    So is `elif`. Both have to store at the same place. What is not chosen is not computed, as
    before. The same object where there is no such condition.
    """

    def step(part: object) -> Stmt | None:
        if not isinstance(part, IfThenElse):
            return None
        yes, no = part.then_case, part.else_case
        if not isinstance(yes, BufferStore) or not isinstance(no, BufferStore):
            return None
        if not _is_same_place(yes, no):
            return None
        args = (part.condition, yes.value, no.value)
        return yes.replace(value=Call.make(yes.value.dtype, _CHOICE, args))

    if not _has_two_cases(func.body):
        return func
    body = rewrite_tir(func.body, step)
    return func if body is func.body else func.replace(body=body)


def _has_two_cases(body: Stmt) -> bool:
    """True if there is an `else`."""
    stack = [body]
    while stack:
        at = stack.pop()
        if isinstance(at, IfThenElse) and at.else_case is not None:
            return True
        stack += inner_statements(at)
    return False


def _is_same_place(a: BufferStore, b: BufferStore) -> bool:
    if a.buffer is not b.buffer or a.predicate is not None or b.predicate is not None:
        return False
    return all(map(expr_deep_equal, a.indices, b.indices))
