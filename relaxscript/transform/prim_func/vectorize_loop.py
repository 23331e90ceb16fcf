"""Loops of kind vectorized as operations on vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from operator import is_
from typing import Any

from relaxscript.arith import Facts
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import (
    Add,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    IntImm,
    Let,
    Mul,
    PrimExpr,
    Ramp,
    Select,
    StringImm,
    Sub,
    Var,
    cast,
    const,
)
from relaxscript.ir.stmt_functor import (
    inner_statements,
    parts_of_tir,
    rebuild_tir,
)
from relaxscript.ir.tir import (
    Buffer,
    BufferStore,
    DeclBuffer,
    For,
    ForKind,
    IfThenElse,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import walk
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .known_facts import RewriterWithFacts, sizes_of
from .memory_access import ElementAccess, Memories, is_total

__all__ = [
    "VectorizeLoop", "are_lanes", "by_lanes", "in_lanes", "never_fails", "with_vectors",
]  # fmt: skip


class VectorizeLoop(PrimFuncPass):
    """Write loops of kind vectorized as loads, arithmetic and stores of vectors.

        for i in range(n // 8):                     for i in range(n // 8):
            for j in T.vectorized(8):          →        B[T.Ramp(i * 8, 1, 8)] = T.exp(
                B[i * 8 + j] = T.exp(A[i * 8 + j])          A[T.Ramp(i * 8, 1, 8)])

    A loop stays as it is unless its extent is a literal. Each index in it must be proved inside its
    buffer, and no iteration may use what another one writes. So the function does the same, and
    fails where it did. Indices such as `P[i]` in `A[P[i], j]` are the same for all iterations. They
    need no proof where a loop is one store without conditions. Iterations must not be blocks, which
    `LowerOpaqueBlock` removes, or have another effect. Parameters are different memory where the
    function says `tir.noalias`.

    With `enable_vectorize=False` these loops become serial instead. Source: TVM
    `tir.transform.VectorizeLoop`.
    """

    name = "tir.VectorizeLoop"

    def __init__(self, enable_vectorize: bool = True) -> None:
        self.enable_vectorize = enable_vectorize

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        if self.enable_vectorize:
            return func.replace(body=_Vectorizing(func, func.body).rewrite(func.body, Facts()))
        return func.replace(body=_Serializing(sizes_of(func)).rewrite(func.body, Facts()))


def with_vectors(func: PrimFunc, body: Stmt) -> Stmt | None:
    """A body for a function with each vectorized loop by vectors; None where one has to stay."""
    made = _Vectorizing(func, body).rewrite(body, Facts())
    statements: list[Stmt] = [made]
    while statements:
        stmt = statements.pop()
        if isinstance(stmt, For) and stmt.kind == ForKind.VECTORIZED:
            return None
        statements += inner_statements(stmt)
    return made


def by_lanes(loop: For) -> Stmt:
    """A vectorized loop by vectors where it has such a form, else as a serial one.

    The caller knows that its iterations depend on no others, and that no load fails, whatever a
    condition says. Indices that are not proved are checked as those of other vectors are.
    """
    made = in_lanes(loop)
    return loop.replace(kind=ForKind.SERIAL) if made is None else made


def in_lanes(loop: For) -> Stmt | None:
    """The same vectors; None where the loop has no such form."""
    assert isinstance(loop.extent, IntImm)
    if loop.extent.value > 1:
        with suppress(_NoVector):
            return _Vectorizer(loop, loop.extent.value).statement(loop.body)
    return None


# Most scalars: they have a value for all operands.
_WITHOUT_PARTS = frozenset({Var, IntImm, prim.FloatImm})
_ALWAYS_TOTAL = _WITHOUT_PARTS | {Cast, Add, Sub, Mul, prim.Min, prim.Max, Select}


class _Serializing(RewriterWithFacts):
    def leave(self, stmt: Stmt, context: Facts) -> Stmt:
        if isinstance(stmt, For) and stmt.kind == ForKind.VECTORIZED:
            return stmt.replace(kind=ForKind.SERIAL)
        return stmt


class _NoVector(Exception):
    """Something that has no form with vectors."""


def _collect(
    known: RewriterWithFacts, root: PrimExpr, facts: Facts, accesses: list[ElementAccess],
    inner: set[Var], varying: set[Var] | None = None,
) -> None:  # fmt: skip
    """Collect the loads of a scalar, and the variables that it defines.

    Raises `_NoVector` where it may fail. With `varying` an index may that depends on none of these
    variables, to which those that are defined are added.
    """
    # Here the parts are gone through: half of them are numbers and variables, of which a call for
    # each would say nothing.
    seen: set[int] = set()
    stack: list[PrimExpr] = [root]
    while stack:
        e = stack.pop()
        if e.__class__ in _WITHOUT_PARTS and e.dtype.lanes == 1:
            continue
        if id(e) in seen:
            continue
        seen.add(id(e))
        stack += parts_of_tir(e)[::-1]  # type: ignore[arg-type]
        if e.__class__ in _ALWAYS_TOTAL and e.dtype.lanes == 1:
            continue
        match e:
            case BufferLoad(buffer=buffer, indices=indices, predicate=None):
                _require_inside(known, buffer, indices, facts, varying)
                accesses.append(ElementAccess(buffer, indices))
            case Let(var=var):
                inner.add(var)
                if varying is not None:
                    varying.add(var)
            case _ if e.dtype.lanes > 1 or not is_total(e):
                raise _NoVector


def _require_inside(
    known: RewriterWithFacts, buffer: Buffer, indices: Sequence[PrimExpr], facts: Facts,
    varying: set[Var] | None = None,
) -> None:  # fmt: skip
    """Raise `_NoVector` unless an element is proved to lie in its buffer.

    With `varying` this is asked of the indices that depend on one of these variables.
    """
    for index, extent in zip(indices, buffer.shape, strict=True):
        if known.is_inside(index, extent, facts):
            continue
        if varying is None or not varying.isdisjoint(walk(index)):
            raise _NoVector


class _NeverFailing(RewriterWithFacts):
    """A walk that raises `_NoVector` where something may fail.

    With `lazily` a value that is not chosen does not.
    """

    def __init__(self, variables: set[Var], lazily: bool) -> None:
        super().__init__(variables)
        self.lazily = lazily

    def enter(self, stmt: Stmt, context: Facts) -> Stmt:
        if isinstance(stmt, BufferStore):
            _require_inside(self, stmt.buffer, stmt.indices, context)
        return stmt

    def scalar(self, e: PrimExpr, context: Facts) -> PrimExpr:
        if not self.lazily:
            _collect(self, e, context, [], set())
            return e
        for part, facts in self.parts_with_facts(e, context):
            match part:
                case BufferLoad(buffer=buffer, indices=indices, predicate=None):
                    _require_inside(self, buffer, indices, facts)
                case _ if part.dtype.lanes > 1 or not is_total(part):
                    raise _NoVector
        return e


def never_fails(func: PrimFunc, body: Stmt, lazily: bool = False) -> bool:
    """True if each index in a body for a function is proved inside, and no operation may fail.

    With `lazily` this is asked of the values that conditions choose. That is for scalars: vectors
    compute both.
    """
    try:
        _NeverFailing(sizes_of(func), lazily).rewrite(body, Facts())
    except _NoVector:
        return False
    return True


def are_lanes(func: PrimFunc, body: Stmt, var: Var) -> bool:
    """True if the iterations of a loop in a body for a function may be run side by side.

    Nothing in it fails, and no iteration uses what another one writes. The body is one nest: loops,
    of which that over `var` is one, around declarations, variables and one store.
    """
    known, facts, inner = RewriterWithFacts(sizes_of(func)), Facts(), set[Var]()
    accesses: list[ElementAccess] = []
    stmt, is_inside = body, False
    try:
        while not isinstance(stmt, BufferStore):
            match stmt:
                case For(loop_var=own):
                    for bound in (stmt.min, stmt.extent):
                        _collect(known, bound, facts, accesses, inner)
                    facts = known.with_loop(stmt, facts)
                case LetStmt(var=own, value=value):
                    _collect(known, value, facts, accesses, inner)
                case DeclBuffer():
                    stmt = stmt.body
                    continue
                case _:
                    return False
            if is_inside:
                inner.add(own)
            is_inside = is_inside or own is var
            stmt = stmt.body
        for e in (stmt.value, *stmt.indices):
            _collect(known, e, facts, accesses, inner)
        _require_inside(known, stmt.buffer, stmt.indices, facts)
    except _NoVector:
        return False
    accesses.append(ElementAccess(stmt.buffer, stmt.indices, is_write=True))
    return stmt.predicate is None and Memories(func, body).are_independent(accesses, var, inner)


class _Vectorizing(RewriterWithFacts):
    def __init__(self, func: PrimFunc, body: Stmt) -> None:
        super().__init__(sizes_of(func))
        self.memories = Memories(func, body)

    def leave(self, stmt: Stmt, context: Facts) -> Stmt:
        match stmt:
            case For(kind=ForKind.VECTORIZED, extent=IntImm(value=lanes)) if lanes > 1:
                try:
                    self._require_independence(stmt, context)
                    return _Vectorizer(stmt, lanes).statement(stmt.body)
                except _NoVector:
                    return stmt
        return stmt

    def _require_independence(self, loop: For, context: Facts) -> None:
        """Raise `_NoVector` where the body may fail, or iterations depend on each other."""
        accesses: list[ElementAccess] = []
        inner: set[Var] = set()
        varying = {loop.loop_var} if _fails_at_once(loop.body) else None
        stack: list[tuple[Stmt, Facts]] = [(loop.body, self.with_loop(loop, context))]
        while stack:
            stmt, facts = stack.pop()
            scalars = [part for part in parts_of_tir(stmt) if isinstance(part, PrimExpr)]
            for part in scalars:
                _collect(self, part, facts, accesses, inner, varying)
            match stmt:
                case For():
                    inner.add(stmt.loop_var)
                    facts = self.with_loop(stmt, facts)
                case LetStmt(var=var):
                    inner.add(var)
                case BufferStore(buffer=buffer, indices=indices, predicate=None):
                    _require_inside(self, buffer, indices, facts, varying)
                    accesses.append(ElementAccess(buffer, indices, is_write=True))
                case SeqStmt() | IfThenElse():
                    pass
                case _:
                    raise _NoVector
            stack += [(part, facts) for part in parts_of_tir(stmt) if isinstance(part, Stmt)]
        if not self.memories.are_independent(accesses, loop.loop_var, inner):
            raise _NoVector


def _fails_at_once(body: Stmt) -> bool:
    """True if an index that is the same in all lanes fails in the first one, or in none.

    That is a single store, in which nothing is loaded under a condition.
    """
    return isinstance(body, BufferStore) and not any(
        isinstance(part, (prim.And, prim.Or, Select))
        or (isinstance(part, Call) and part.op == op_named("tir.if_then_else"))
        for part in walk(body)
    )


class _Vectorizer:
    """The body of one loop, its variable being a vector."""

    def __init__(self, loop: For, lanes: int) -> None:
        self.lanes = lanes
        one = const(1, loop.loop_var.dtype)
        self.values: dict[Var, PrimExpr] = {loop.loop_var: Ramp.make(loop.min, one, lanes)}
        # The form of each scalar that was met; the scalars live as long as the loop does.
        self.done: dict[int, PrimExpr] = {}

    def statement(self, root: Stmt) -> Stmt:
        """A statement for all lanes at once; raises `_NoVector` where there is none."""
        made: dict[int, Stmt] = {}
        # None stands above a statement whose parts are made.
        stack: list[Stmt | None] = [root]
        while stack:
            stmt = stack.pop()
            if stmt is None:
                stmt = stack.pop()
                assert stmt is not None
                made[id(stmt)] = self._one(stmt, made)
            elif id(stmt) not in made:
                if isinstance(stmt, LetStmt):
                    self._define(stmt.var, stmt.value)
                stack += (stmt, None, *inner_statements(stmt)[::-1])
        return made[id(root)]

    def _one(self, stmt: Stmt, made: dict[int, Stmt]) -> Stmt:
        if isinstance(stmt, BufferStore):
            return self._store(stmt)
        if isinstance(stmt, LetStmt):
            var = self.values.get(stmt.var, stmt.var)
            assert isinstance(var, Var)
            return LetStmt.make(var, self.scalar(stmt.value), made[id(stmt.body)], span=stmt.span)

        def part(old: Stmt | PrimExpr) -> Stmt | PrimExpr:
            return made[id(old)] if isinstance(old, Stmt) else self._one_for_all(old)

        return rebuild_tir(stmt, part)

    def _store(self, store: BufferStore) -> Stmt:
        *outer, last = [self.scalar(index) for index in store.indices]
        if last.dtype.lanes == 1 or any(index.dtype.lanes > 1 for index in outer):
            raise _NoVector
        value = self._widened(self.scalar(store.value))
        return store.replace(value=value, indices=(*outer, last))

    def _one_for_all(self, e: PrimExpr) -> PrimExpr:
        """A bound or condition that is the same in all lanes."""
        made = self.scalar(e)
        if made.dtype.lanes > 1:
            raise _NoVector
        return made

    def _define(self, var: Var, value: PrimExpr) -> None:
        made = self.scalar(value)
        if made.dtype.lanes > 1:
            self.values[var] = Var.make(var.name, made.dtype)

    # ------------------------------------------------------------ scalars

    def scalar(self, root: PrimExpr) -> PrimExpr:
        """A scalar in all lanes: a vector, unless it is the same in each."""
        done = self.done
        # None stands above a scalar whose parts are done, a tuple for a variable to be defined.
        stack: list[Any] = [root]
        while stack:
            e = stack.pop()
            if e is None:
                e = stack.pop()
                done[id(e)] = self._vector(e)
            elif e.__class__ is tuple:
                self._define(*e)
            elif id(e) in done:
                continue
            elif isinstance(e, Var):
                done[id(e)] = self.values.get(e, e)
            elif isinstance(e, Let):
                stack += (e, None, e.body, (e.var, e.value), e.value)
            else:
                stack += (e, None, *parts_of_tir(e)[::-1])
        return done[id(root)]

    def _vector(self, e: PrimExpr) -> PrimExpr:
        """A scalar of parts that are known in all lanes."""
        scalars = parts_of_tir(e)
        parts = [self.done[id(part)] for part in scalars]
        if all(map(is_, parts, scalars)):
            return e
        match e:
            case BufferLoad():
                if any(part.dtype.lanes > 1 for part in parts[:-1]):
                    raise _NoVector
                return e.replace(indices=tuple(parts))
            case Cast():
                return _converted(parts[0], e.dtype)
            case Call():
                return self._call(e, parts)
            case Let():
                var = self.values.get(e.var, e.var)
                assert isinstance(var, Var)
                return Let(var, *parts)
        ramp = _ramp(e, *parts) if isinstance(e, prim.Binary) else None
        return type(e).make(*map(self._widened, parts)) if ramp is None else ramp

    def _call(self, e: Call, parts: list[PrimExpr]) -> PrimExpr:
        if e.op == op_named("tir.if_then_else"):
            if parts[0].dtype.lanes > 1:
                return Select(*map(self._widened, parts))
            parts = [parts[0], *map(self._widened, parts[1:])]
        else:
            # The name of an intrinsic of LLVM is one for all lanes.
            parts = [p if isinstance(p, StringImm) else self._widened(p) for p in parts]
        return e.replace(dtype=e.dtype.with_lanes(self.lanes), args=tuple(parts))

    def _widened(self, e: PrimExpr) -> PrimExpr:
        return e if e.dtype.lanes > 1 else Broadcast.make(e, self.lanes)


def _converted(e: PrimExpr, dtype: DataType) -> PrimExpr:
    """A vector in another dtype; the indices of a loop, which fit in both, stay a ramp."""
    if isinstance(e, Ramp) and dtype.is_integer and isinstance(e.base, IntImm):
        return Ramp(cast(e.base, dtype), cast(e.stride, dtype), e.lanes)
    return Cast(dtype.with_lanes(e.dtype.lanes), e)


def _ramp(e: prim.Binary, a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
    """The sum, difference or product of a ramp and a number, which is a ramp as well."""
    if not e.dtype.is_integer:
        return None
    match e, a, b:
        case (Add(), Ramp(base, stride, lanes), number) if number.dtype.lanes == 1:
            return Ramp(_sum(base, number), stride, lanes)
        case (Add(), number, Ramp(base, stride, lanes)) if number.dtype.lanes == 1:
            return Ramp(_sum(number, base), stride, lanes)
        case (Sub(), Ramp(base, stride, lanes), number) if number.dtype.lanes == 1:
            return Ramp(Sub(base, number), stride, lanes)
        case (Sub(), number, Ramp(base, stride, lanes)) if number.dtype.lanes == 1:
            first = number if _is(base, 0) else Sub(number, base)
            return Ramp(first, _product(stride, const(-1, stride.dtype)), lanes)
        case (Mul(), Ramp(base, stride, lanes), number) if number.dtype.lanes == 1:
            return Ramp(_product(base, number), _product(stride, number), lanes)
        case (Mul(), number, Ramp(base, stride, lanes)) if number.dtype.lanes == 1:
            return Ramp(_product(number, base), _product(number, stride), lanes)
    return None


def _sum(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    if _is(a, 0) or _is(b, 0):
        return b if _is(a, 0) else a
    return Add(a, b)


def _product(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    if _is(a, 1) or _is(b, 1):
        return b if _is(a, 1) else a
    if _is(a, 0) or _is(b, 0):
        return const(0, a.dtype)
    return Mul(a, b)


def _is(e: PrimExpr, value: int) -> bool:
    return isinstance(e, IntImm) and e.value == value
