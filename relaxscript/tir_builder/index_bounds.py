"""Indices that certainly leave their buffers: `for i in range(5): y[i] = x[i + 1]` with 4 elements.

Certain is what happens whenever the function is run: what is in loops of constant extents,
which are not empty, and behind no condition, assertion or return. There the ends of the loops are
tried. What is not refuted this way is checked when the function runs, if it has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from relaxscript.arith import YES, Facts, format_expr, prove, simplify
from relaxscript.errors import Diagnostic, Label, Span
from relaxscript.ir import prim, tir, walk
from relaxscript.ir.prim import IntImm, PrimExpr, Var
from relaxscript.ir.tir_compute import BufferRealize, Reduce

__all__ = ["out_of_bounds_indices"]

# Where each of some indices is in the source, by the identity of the tuple that they are in.
# A variable is one node wherever it is used, so its own place is that of its definition.
Places = Mapping[int, tuple[tuple[PrimExpr, ...], list[Span | None]]]

_SCOPES = (tir.AttrStmt, tir.Allocate, tir.AllocateConst, tir.DeclBuffer)
_ARITHMETIC: dict[type[prim.Binary], Callable[[int, int], int]] = {
    prim.Add: lambda a, b: a + b,
    prim.Sub: lambda a, b: a - b,
    prim.Mul: lambda a, b: a * b,
    prim.FloorDiv: lambda a, b: a // b,
    prim.FloorMod: lambda a, b: a % b,
    prim.Min: min,
    prim.Max: max,
}
_LAZY = ("tir.if_then_else", "tir.address_of", "tir.tvm_access_ptr")
# Expressions with more nodes are left to the run.
_LARGEST = 100


def out_of_bounds_indices(function: tir.PrimFunc, places: Places) -> list[Diagnostic]:
    """Diagnostics about the indices of a function; `places` says where they are."""
    finder = _Finder(function, places)
    finder.statement(function.body)
    return finder.found


class _Stop(Exception):
    """From here on nothing is certain."""


class _Finder:
    """Goes through what certainly happens."""

    def __init__(self, function: tir.PrimFunc, places: Places) -> None:
        self.found: list[Diagnostic] = []
        self.places = places
        # The least and the greatest value of each loop around, and what other variables stand for.
        self.loops: dict[Var, tuple[int, int]] = {}
        self.values: dict[Var, PrimExpr] = {}
        dims = [d for b in function.buffer_map.values() for d in b.shape if isinstance(d, Var)]
        self.facts = Facts(dict.fromkeys(dims, (0, None)), nonnegative=False)
        self.known = set(dims)
        # Their indices begin elsewhere.
        self.moved: set[tir.Buffer] = set()

    # ------------------------------------------------------------ statements

    def statement(self, s: tir.Stmt) -> None:
        """A statement that is certainly reached, and what follows it as long as that is so."""
        try:
            self._run(s)
        except _Stop:
            return

    def _run(self, s: tir.Stmt) -> None:
        match s:
            case tir.SeqStmt(seq):
                for part in seq:
                    self._run(part)
            case tir.For():
                self._loop(s)
            case tir.BlockRealize(values, predicate, block):
                self._block(values, predicate, block)
            case tir.Block(iter_vars=()):  # axes alone have no values
                self._block((), prim.const(True), s)
            case tir.BufferStore():
                self._store(s)
            case tir.LetStmt(var, value, body):
                self._expression(value)
                self._let(var, value)
                self._run(body)
            case tir.Evaluate(value):
                self._expression(value)
            case tir.AssertStmt():
                self._expression(s.condition)
                raise _Stop
            case _:
                self._other(s)

    def _other(self, s: tir.Stmt) -> None:
        match s:
            case tir.IfThenElse(condition) | tir.While(condition):
                self._expression(condition)
                if _may_return(s):
                    raise _Stop
            case BufferRealize(buffer):
                self.moved.add(buffer)
                raise _Stop
            case _ if isinstance(s, _SCOPES):
                self._run(s.body)

    def _loop(self, s: tir.For) -> None:
        match s.min, s.extent:
            case IntImm(value=low), IntImm(value=count) if _is_counted(s.loop_var, low, count):
                self.loops[s.loop_var] = (low, low + count - 1)
                self._run(s.body)
            case _ if _may_return(s):
                raise _Stop

    def _block(self, values: Sequence[PrimExpr], predicate: PrimExpr, block: tir.Block) -> None:
        for value in values:
            self._expression(value)
        if not (isinstance(predicate, IntImm) and predicate.value):
            if _may_return(block):
                raise _Stop
            return
        for axis, value in zip(block.iter_vars, values, strict=True):
            self._let(axis.var, value)
        self._run(block.body)

    def _store(self, s: tir.BufferStore) -> None:
        if s.predicate is not None:
            self._expression(s.predicate)
            return
        for e in (*s.indices, s.value):
            self._expression(e)
        self._access(s.buffer, s.indices, s.span)

    # ------------------------------------------------------------ expressions

    def _expression(self, e: PrimExpr) -> None:
        """The elements that are certainly read when an expression is evaluated."""
        stack, returns = [e], False
        while stack:
            top = stack.pop()
            match top:
                case prim.BufferLoad(buffer, indices, predicate):
                    if predicate is None:
                        stack += indices
                        self._access(buffer, indices, top.span)
                    else:
                        stack.append(predicate)
                case prim.Call(op=op, args=args):
                    returns |= op == "tir.ret"
                    stack += args if op not in _LAZY else args[: op == _LAZY[0]]
                case prim.Logic(a) | prim.Select(a):
                    stack.append(a)
                case Reduce():
                    continue
                case _:
                    stack += [c for c in walk.children(top) if isinstance(c, PrimExpr)]
        if returns:
            raise _Stop

    def _let(self, var: Var, value: PrimExpr) -> None:
        resolved = self._resolve(value)
        if resolved is not None:
            self.values[var] = resolved

    def _resolve(self, e: PrimExpr) -> PrimExpr | None:
        """An expression over loop variables and parameters; None where it is too large."""
        nodes = list(islice(walk.walk(e), _LARGEST))
        known = {v: self.values[v] for v in nodes if isinstance(v, Var) and v in self.values}
        found = walk.substitute(e, known) if known else e
        small = len(nodes) < _LARGEST and len(list(islice(walk.walk(found), _LARGEST))) < _LARGEST
        return found if small else None

    # ------------------------------------------------------------ indices

    def _access(self, buffer: tir.Buffer, indices: Sequence[PrimExpr], span: Span | None) -> None:
        if buffer in self.moved or len(indices) != buffer.ndim:
            return
        known, spans = self.places.get(id(indices), (None, []))
        for axis, (index, extent) in enumerate(zip(indices, buffer.shape, strict=True)):
            place = spans[axis] if known is indices and axis < len(spans) else span
            resolved = self._resolve(index)
            for end in () if resolved is None else _ends(resolved):
                if self._report_refutation(buffer, axis, index, end, extent, place):
                    return

    def _report_refutation(
        self, buffer: tir.Buffer, axis: int, index: PrimExpr, end: PrimExpr, extent: PrimExpr,
        span: Span | None,
    ) -> bool:  # fmt: skip
        """Report an index that leaves a buffer at some end of the loops."""
        nodes = list(walk.walk(end))
        free = [v for v in nodes if isinstance(v, Var)]
        if any(isinstance(e, prim.BufferLoad) for e in nodes):
            return False
        loops = {v: self.loops[v] for v in free if v in self.loops}
        if isinstance(extent, IntImm) and len(loops) == len(set(free)):
            reached = _value_range(end, loops)
            if reached is None or (reached[0] >= 0 and reached[1] < extent.value):
                return False
            wrong = str(reached[0] if reached[0] < 0 else reached[1])
            self._report(buffer, axis, index, extent, wrong, reached, span)
            return True
        if not all(v in loops or v in self.known for v in free):
            return False
        for point in _corners(loops):
            at = walk.substitute(end, point) if point else end
            if YES in (prove(prim.LT(at, prim.const(0, at.dtype)), self.facts),
                       prove(_at_least(at, extent), self.facts)):  # fmt: skip
                self._report(buffer, axis, index, extent, format_expr(simplify(at)), None, span)
                return True
        return False

    def _report(
        self, buffer: tir.Buffer, axis: int, index: PrimExpr, extent: PrimExpr, wrong: str,
        reached: tuple[int, int] | None, place: Span | None,
    ) -> None:  # fmt: skip
        size = f"axis {axis} has extent {format_expr(extent)}"
        labels = []
        moves = reached is not None and reached[0] < reached[1]
        if place is not None and reached is not None and moves:
            labels.append(Label(place, f"goes from {reached[0]} to {reached[1]}"))
        if isinstance(index, IntImm) and index.value < 0:
            help = "indices do not count from the end"
        elif moves and index.dtype.lanes == 1:
            text = format_expr(index)
            help = f"guard it: `if 0 <= {text} and {text} < {format_expr(extent)}:`"
        else:
            help = f"indices go from 0 to {format_expr(simplify(extent - 1))}"
        message = f"`{buffer.name}` has no element {wrong} here: {size}"
        self.found.append(Diagnostic("RX0503", message, place, tuple(labels), help=help))


def _at_least(index: PrimExpr, extent: PrimExpr) -> PrimExpr:
    a, b = prim.match_dtypes(index, extent)
    return prim.GE(a, b)


def _ends(index: PrimExpr) -> Iterator[PrimExpr]:
    """An index; of a run of lanes, its first and its last."""
    match index:
        case prim.Ramp(base, IntImm(value=step), lanes):
            yield base
            yield base + prim.const(step * (lanes - 1), base.dtype)
        case prim.Broadcast(value):
            yield value
        case _ if index.dtype.lanes == 1:
            yield index


def _is_counted(var: Var, low: int, count: int) -> bool:
    """True if a loop has rounds, and its variable room for all of them."""
    bits = var.dtype.bits - (var.dtype.kind == "int")
    return count > 0 and low + count <= 1 << bits


def _corners(loops: Mapping[Var, tuple[int, int]]) -> Iterator[dict[Var, PrimExpr]]:
    """All loops at their first values, then all at their last."""
    for k in (0, 1):
        yield {v: prim.const(ends[k], v.dtype) for v, ends in loops.items()}


def _value_range(e: PrimExpr, loops: Mapping[Var, tuple[int, int]]) -> tuple[int, int] | None:
    """Values that an expression takes, the least and the greatest that were found."""
    low = {v: ends[0] for v, ends in loops.items()}
    first = _value(e, low)
    if first is None:
        return None
    least, most = dict(low), dict(low)
    for v, (_, last) in loops.items():
        moved = _value(e, {**low, v: last})
        if moved is None:
            return None
        (least if moved < first else most)[v] = last
    values = [_value(e, point) for point in (low, least, most)]
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if len(known) == len(values) else None


def _value(e: PrimExpr, at: Mapping[Var, int]) -> int | None:
    """The value of an expression; None where it wraps or is of no simple kind."""
    match e:
        case IntImm(value=value):
            return value
        case Var():
            return at.get(e)
        case prim.Cast(value=inner) if e.dtype.is_integer and inner.dtype.is_integer:
            return _fitting(_value(inner, at), e)
        case prim.Binary(a, b) if type(e) in _ARITHMETIC:
            x, y = _value(a, at), _value(b, at)
            if x is None or y is None or (isinstance(e, prim.FloorDiv | prim.FloorMod) and y < 1):
                return None
            return _fitting(_ARITHMETIC[type(e)](x, y), e)
    return None


def _fitting(value: int | None, e: PrimExpr) -> int | None:
    low = -(1 << (e.dtype.bits - 1)) if e.dtype.kind == "int" else 0
    fits = value is not None and low <= value < low + (1 << e.dtype.bits)
    return value if fits else None


def _may_return(s: tir.Stmt) -> bool:
    return any(isinstance(e, prim.Call) and e.op == "tir.ret" for e in walk.walk(s))
