"""Reductions that are begun under a condition, with what begins them before their loops.

Who writes loops by hand gives an element its first value in the first iteration: where `k == 0`.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from relaxscript.analysis.prim_funcs import expr_deep_equal
from relaxscript.arith import YES, prove
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, Call, IntImm, PrimExpr, Var, const
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import Block, BlockRealize, BufferStore, IfThenElse, PrimFunc, SeqStmt, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.prim_func.known_facts import sizes_of
from relaxscript.transform.prim_func.memory_access import Memories
from relaxscript.transform.schedule.accesses import accumulated

from .distributed_loops import element_accesses, in_own_loops
from .guarded import Guarded
from .loop_nests import Loop, loops_around, parts_of, with_parts
from .loop_writing import in_loops, in_row

__all__ = ["are_independent", "have_iterations", "statements_of", "with_inits"]


def with_inits(func: PrimFunc) -> Guarded:
    """The function with first values of reductions before them, or in `T.init`.

    for i, k in T.grid(n, 64):              for i in range(n):
        if k == 0:                              s[i] = T.float32(0)
            s[i] = T.float32(0)         →       for k in range(64):
        s[i] = s[i] + A[i, k]                       s[i] = s[i] + A[i, k]

    The same is done where the condition is in what is stored: `T.if_then_else(k == 0, 0, s[i]) +
    A[i, k]`. The condition holds in the first iteration of loops, which must have one, and all
    happens in its order. Where other loops are inside of these, no iteration of theirs uses what
    another one writes. In a block the condition is about all axes that are reduced. The same object
    where there is no such condition.
    """
    parts = parts_of(func)
    if parts is None or not any(map(_has_condition, parts.parts)):
        return Guarded(func)
    before = _Before(func)
    made = [before.begun(part) for part in parts.parts]
    if all(new is old for new, old in zip(made, parts.parts)):
        return Guarded(func)
    return Guarded(func.replace(body=with_parts(func.body, made)), tuple(before.conditions))


def _has_condition(part: Stmt) -> bool:
    """True if a statement is under a condition, or what is stored is made of such a value."""
    stack = [part]
    while stack:
        at = stack.pop()
        if isinstance(at, IfThenElse):
            return True
        if isinstance(at, BufferStore) and _choice_in(at) is not None:
            return True
        stack += inner_statements(at)
    return False


class _Begun(NamedTuple):
    """The variables that are zero where something begins, and what is done in each iteration."""

    variables: tuple[Var, ...]
    first: Stmt
    body: Stmt


class _Before:
    """Puts what begins before the loops in which it does, `conditions` holding of their extents."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.sizes = sizes_of(func)
        self.conditions: list[PrimExpr] = []

    def begun(self, stmt: Stmt) -> Stmt:
        """A statement in which what begins is before the loops in which it does."""
        found = loops_around(stmt)
        if found is None:
            return stmt
        loops, body = found
        if isinstance(body, BlockRealize):
            made = _with_init(body)
            return stmt if made is body else in_loops(loops, made)
        if isinstance(body, SeqStmt):
            inner = tuple([self.begun(part) for part in body.seq])
            if any(new is not old for new, old in zip(inner, body.seq)):
                body = in_row(*[s for part in inner for s in statements_of(part)])
                stmt = in_loops(loops, body)
        begun = _begun_in(body)
        return stmt if begun is None else self.before_loops(stmt, loops, begun)

    def before_loops(self, stmt: Stmt, loops: list[Loop], begun: _Begun) -> Stmt:
        places = [k for k, loop in enumerate(loops) if loop.var in begun.variables]
        if len(places) < len(begun.variables):
            return stmt
        around, inner = loops[: places[0]], loops[places[0] :]
        others = [loop for loop in inner if loop.var not in begun.variables]
        needed = have_iterations([loops[place].extent for place in places], self.sizes)
        whole = in_loops(inner, in_row(begun.first, begun.body))
        if needed is None or not are_independent(self.func, whole, inner, others):
            return stmt
        self.conditions += needed
        zeros: dict[Node, PrimExpr] = {var: const(0, var.dtype) for var in begun.variables}
        # The extents of other loops may depend on those that are zero here.
        first = in_own_loops(
            [Loop(loop.var, rewrite(loop.extent, zeros.get)) for loop in others],
            rewrite(begun.first, zeros.get),
        )
        return in_loops(around, in_row(*statements_of(first), in_loops(inner, begun.body)))


def have_iterations(extents: Sequence[PrimExpr], sizes: Set[Var]) -> list[PrimExpr] | None:
    """The conditions on sizes under which loops have an iteration; None where nobody knows."""
    made: list[PrimExpr] = []
    for extent in extents:
        condition = extent > const(0, extent.dtype)
        if prove(condition) is YES:
            continue
        used = {node for node in walk(extent) if isinstance(node, Var)}
        if isinstance(extent, IntImm) or not used <= sizes:
            return None
        made.append(condition)
    return made


def statements_of(stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements in a row, or the one that there is."""
    return stmt.seq if isinstance(stmt, SeqStmt) else (stmt,)


def are_independent(func: PrimFunc, stmt: Stmt, loops: list[Loop], others: list[Loop]) -> bool:
    """True if no iteration of the other loops uses what another one writes, whatever it is of."""
    if not others:
        return True
    found = element_accesses(stmt)
    if found is None:
        return False
    outer = {loop.var for loop in loops[: loops.index(others[0])]}
    memories = Memories(func, stmt)
    for loop in others:
        outer.add(loop.var)
        if not memories.are_independent(found.accesses, loop.var, found.variables - outer):
            return False
    return True


def _with_init(realize: BlockRealize) -> BlockRealize:
    """A block with what begins its reduction as its init."""
    block = realize.block
    begun = None if block.init is not None else _begun_in(block.body)
    if begun is None:
        return realize
    reduced = {axis.var for axis in block.iter_vars if axis.iter_type == "reduce"}
    if reduced != {*begun.variables} or not _begin_at_zero(block):
        return realize
    zeros: dict[Node, PrimExpr] = {var: const(0, var.dtype) for var in reduced}
    init = rewrite(begun.first, zeros.get)
    return realize.replace(block=block.replace(init=init, body=begun.body))


def _begin_at_zero(block: Block) -> bool:
    """True if all axes of a block go from zero on."""
    lows = [None if axis.dom is None else axis.dom.min for axis in block.iter_vars]
    return all(isinstance(low, IntImm) and low.value == 0 for low in lows)


# ------------------------------------------------------------------ what begins


def _begun_in(body: Stmt) -> _Begun | None:
    """The part of an iteration that is done in the first one only, and the one that always is."""
    if isinstance(body, BufferStore):
        return _begun_in_store(body)
    first, *others = statements_of(body)
    if not isinstance(first, IfThenElse):
        return None
    known = _first_iteration(first.condition)
    if known is None:
        return None
    cases = first.then_case, first.else_case
    begins, continues = cases if known.holds else cases[::-1]
    if begins is None:
        return None
    if continues is None:
        return _Begun(known.variables, begins, in_row(*others)) if others else None
    return None if others else _begun_by_one(known.variables, begins, continues)


def _begun_in_store(store: BufferStore) -> _Begun | None:
    """`C = T.if_then_else(k == 0, x, C) + y` as `C = x` in the first iteration, and `C = C + y`."""
    choice = _choice_in(store)
    if choice is None or store.predicate is not None:
        return None
    value = rewrite(store.value, lambda node: choice.own if node is choice.node else None)
    again = store.replace(value=value)
    if accumulated(again) is None:
        return None
    return _Begun(choice.variables, store.replace(value=choice.first), again)


def _begun_by_one(variables: tuple[Var, ...], first: Stmt, others: Stmt) -> _Begun | None:
    """A sum that is begun by its first term, or a maximum, which may be of it twice."""
    if not isinstance(first, BufferStore) or not isinstance(others, BufferStore):
        return None
    own = accumulated(others)
    kind = type(others.value)
    if own is None or first.buffer is not others.buffer or first.predicate is not None:
        return None
    assert isinstance(others.value, (prim.Binary, prim.Logic))
    term = others.value.b if others.value.a is own else others.value.a
    zeros: dict[Node, PrimExpr] = {var: const(0, var.dtype) for var in variables}
    at_first = rewrite(first.replace(value=term, indices=others.indices), zeros.get)
    given = rewrite(first, zeros.get)
    pairs = zip((given.value, *given.indices), (at_first.value, *at_first.indices), strict=True)
    if not all(expr_deep_equal(a, b) for a, b in pairs):
        return None
    if kind in (prim.Add, prim.Mul):
        neutral = const(0 if kind is prim.Add else 1, first.buffer.dtype)
        return _Begun(variables, first.replace(value=neutral), others)
    return _Begun(variables, first, others)


class _Choice(NamedTuple):
    """A value that is another one where variables are zero, and else the element that is stored."""

    node: PrimExpr
    variables: tuple[Var, ...]
    first: PrimExpr
    own: BufferLoad


def _choice_in(store: BufferStore) -> _Choice | None:
    """The choice of which one operand of what is stored is made."""
    value = store.value
    operands = (value.a, value.b) if isinstance(value, (prim.Binary, prim.Logic)) else ()
    for operand in operands:
        match operand:
            case Call(op=op, args=(condition, a, b)) if op is op_named("tir.if_then_else"):
                cases = a, b
            case prim.Select(condition, a, b):
                cases = a, b
            case _:
                continue
        known = _first_iteration(condition)
        if known is None:
            continue
        first, own = cases if known.holds else cases[::-1]
        if isinstance(own, BufferLoad) and _is_of_same_element(own, store):
            return _Choice(operand, known.variables, first, own)
    return None


def _is_of_same_element(load: BufferLoad, store: BufferStore) -> bool:
    pairs = load.indices, store.indices
    return load.buffer is store.buffer and all(map(expr_deep_equal, *pairs))


class _FirstIteration(NamedTuple):
    """The variables of loops that are zero where a condition holds, or where it does not."""

    variables: tuple[Var, ...]
    holds: bool


def _first_iteration(condition: PrimExpr) -> _FirstIteration | None:
    """The first iteration of loops that a condition is about; None where it is something else."""
    variables = _zeros_of(condition)
    if variables is not None:
        return _FirstIteration(variables, True)
    variables = _not_all_zeros_of(condition)
    return None if variables is None else _FirstIteration(variables, False)


def _zeros_of(condition: PrimExpr) -> tuple[Var, ...] | None:
    """The variables, none of them below zero, all of which are zero where a condition holds."""
    match condition:
        case prim.And(a, b):
            one, other = _zeros_of(a), _zeros_of(b)
            return None if one is None or other is None else (*one, *other)
        case prim.Not(a):
            return _not_all_zeros_of(a)
        case prim.EQ(Var() as var, IntImm(value=0)) | prim.EQ(IntImm(value=0), Var() as var):
            return (var,)
        case prim.LT(Var() as var, IntImm(value=1)) | prim.LE(Var() as var, IntImm(value=0)):
            return (var,)
    return None


def _not_all_zeros_of(condition: PrimExpr) -> tuple[Var, ...] | None:
    """The variables, none of them below zero, all of which are zero where a condition fails."""
    match condition:
        case prim.Or(a, b):
            one, other = _not_all_zeros_of(a), _not_all_zeros_of(b)
            return None if one is None or other is None else (*one, *other)
        case prim.Not(a):
            return _zeros_of(a)
        case prim.NE(Var() as var, IntImm(value=0)) | prim.NE(IntImm(value=0), Var() as var):
            return (var,)
        case prim.GT(Var() as var, IntImm(value=0)) | prim.GE(Var() as var, IntImm(value=1)):
            return (var,)
    return None
