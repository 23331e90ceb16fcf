"""Loop nests compared with those of a PrimFunc that is a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.arith import YES, Facts, prove_equal
from relaxscript.ir.node import Node, traversal_of
from relaxscript.ir.prim import BufferLoad, Call, IntImm, Let, PrimExpr, Var
from relaxscript.ir.relax import Attrs, GlobalVar
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import Block, BlockRealize, Buffer, For, PrimFunc, SeqStmt, Stmt
from relaxscript.ir.walk import substitute, variables, walk

__all__ = ["MatchResult", "NestPattern", "NestRow", "nest_row"]

_INDEX_DTYPES = frozenset({"int32", "int64"})
# The fields that are sizes and places: integers of which equality is proved.
_INDEX_FIELDS: Mapping[str, frozenset[str]] = {
    "For": frozenset({"min", "extent"}),
    "Range": frozenset({"min", "extent"}),
    "BlockRealize": frozenset({"iter_values"}),
    "BufferLoad": frozenset({"indices"}),
    "BufferStore": frozenset({"indices"}),
    **dict.fromkeys(("LT", "LE", "GT", "GE", "EQ", "NE"), frozenset({"a", "b"})),
}
# What a block says of itself beside what it does.
_IGNORED = frozenset({"name_hint", "reads", "writes"})


class MatchResult(NamedTuple):
    """Nests of a PrimFunc that are those of a pattern.

    `symbol_values` has the values of the scalar parameters of the pattern. Then come those of its
    shape variables, in the order in which its buffers mention them. `matched_buffers` has the
    buffers of the PrimFunc for those of the pattern's parameters.

    Source: TVM `relax.dpl.MatchResult`.
    """

    pattern: PrimFunc
    symbol_values: tuple[PrimExpr, ...]
    matched_buffers: tuple[Buffer, ...]


class NestRow(NamedTuple):
    """The statements of a PrimFunc one after the other, and the block around them, if any."""

    root: BlockRealize | None
    statements: tuple[Stmt, ...]

    @property
    def allocated(self) -> tuple[Buffer, ...]:
        """The buffers that the block around them allocates."""
        return () if self.root is None else self.root.block.alloc_buffers


def nest_row(func: PrimFunc) -> NestRow | None:
    """The row of a PrimFunc; None where it does not begin with a loop, or its block does more."""
    body, root = func.body, None
    if isinstance(body, BlockRealize) and not body.block.iter_vars:
        root, block = body, body.block
        certain = isinstance(root.predicate, IntImm) and root.predicate.value
        if not certain or block.init or block.match_buffers or block.annotations:
            return None
        body = block.body
    statements = body.seq if isinstance(body, SeqStmt) else (body,)
    return NestRow(root, statements) if isinstance(statements[0], For) else None


class NestPattern:
    """A PrimFunc whose row of loop nests is looked for in others."""

    def __init__(self, function: PrimFunc, row: NestRow) -> None:
        self.function = function
        self.nests = row.statements
        params = function.params
        self.buffers = [function.buffer_map[p] for p in params if p in function.buffer_map]
        scalars = [p for p in params if p not in function.buffer_map]
        dims = [d for b in self.buffers for d in b.shape if isinstance(d, Var)]
        self.symbols: Mapping[Var, None] = dict.fromkeys([*scalars, *dims])

    def match(self, statements: Sequence[Stmt]) -> MatchResult | None:
        """The first statements as this pattern; None where they are something else."""
        if len(statements) < len(self.nests):
            return None
        matching = _Matching(self.symbols)
        if not all(map(matching.run, self.nests, statements)):
            return None
        own, values = matching.own, matching.values
        if not matching.settle() or any(buffer not in own for buffer in self.buffers):
            return None
        if any(symbol not in values for symbol in self.symbols):
            return None
        found = tuple([own[buffer] for buffer in self.buffers])
        return MatchResult(self.function, tuple([values[s] for s in self.symbols]), found)


class _Matching:
    """One comparison: `values` has what symbols are, `own` what loop variables and buffers are."""

    def __init__(self, symbols: Mapping[Var, None]) -> None:
        self.values: dict[Var, PrimExpr] = {}
        self.own: dict[Node, Any] = {}
        self._symbols = symbols
        self._taken: set[Node] = set()
        # Sizes and places that are compared when all symbols are known.
        self._later: list[tuple[PrimExpr, PrimExpr]] = []
        self._stack: list[tuple[Any, Any, bool]] = []

    def run(self, pattern: Stmt, nest: Stmt) -> bool:
        """True if a nest is the pattern's, as far as that can be told before `settle`."""
        stack = self._stack = [(pattern, nest, False)]
        while stack:
            mine, other, is_index = stack.pop()
            if mine.__class__ is tuple and other.__class__ is tuple:
                if len(mine) != len(other):
                    return False
                stack += [(a, b, is_index) for a, b in zip(mine, other)][::-1]
            elif isinstance(mine, Var):
                if not self._variable(mine, other, is_index):
                    return False
            elif isinstance(mine, Buffer):
                if not self._buffer(mine, other):
                    return False
            elif not self._node(mine, other, is_index):
                return False
        return True

    def settle(self) -> bool:
        """True if what was left open is equal for all values of the variables."""
        if not self._later:
            return True
        known: dict[Any, Any] = {**self.own, **self.values}
        # Variables of loops and scalars may be negative, other than dimensions.
        facts = Facts(nonnegative=False)
        for mine, other in self._later:
            if any(var in self._symbols and var not in known for var in variables(mine)):
                return False
            if prove_equal(substitute(mine, known), other, facts) is not YES:
                return False
        return True

    def _node(self, mine: Any, other: Any, is_index: bool) -> bool:
        """Compare what is no variable; parts of it are left on the stack."""
        if not isinstance(mine, Node):
            if isinstance(mine, (Attrs, Mapping)) or hasattr(mine, "ndim"):
                return structural_equal(mine, other)
            return bool(mine == other)
        if isinstance(mine, IntImm) and isinstance(other, IntImm):
            return mine.value == other.value and _are_alike(mine, other)
        if is_index and isinstance(mine, PrimExpr) and _is_plain_index(mine):
            return self._wait(mine, other)
        if mine.__class__ is not other.__class__:
            return False
        if isinstance(mine, GlobalVar):
            return mine is other
        ignored = _IGNORED if isinstance(mine, Block) else frozenset[str]()
        index_fields = _INDEX_FIELDS.get(type(mine).__name__, frozenset())
        # The first field is on top of the stack: a definition comes before its uses.
        for info in traversal_of(type(mine))[::-1]:
            if info.name not in ignored:
                pair = getattr(mine, info.name), getattr(other, info.name)
                self._stack.append((*pair, info.name in index_fields))
        return True

    def _wait(self, mine: PrimExpr, other: Any) -> bool:
        """Leave it open whether two values are equal; False where they cannot be."""
        self._later.append((mine, other))
        return isinstance(other, PrimExpr) and _are_alike(mine, other)

    def _variable(self, mine: Var, other: Any, is_index: bool) -> bool:
        """Compare a variable: a symbol is any value, another one stands for one variable."""
        if mine in self._symbols:
            known = self.values.get(mine)
            if known is None:
                return self._bind(mine, other)
            return known is other or self._wait(mine, other)
        if mine in self.own:
            return self.own[mine] is other or (is_index and self._wait(mine, other))
        if not isinstance(other, Var) or other in self._taken or not _are_alike(mine, other):
            return False
        self.own[mine] = other
        self._taken.add(other)
        return True

    def _bind(self, symbol: Var, value: Any) -> bool:
        """Note what a symbol is; it has one value in all of the nest."""
        if not isinstance(value, PrimExpr) or not _are_alike(symbol, value):
            return False
        for var in variables(value):
            if not isinstance(var, Var) or var in self._taken:
                return False
        self.values[symbol] = value
        return True

    def _buffer(self, mine: Buffer, other: Any) -> bool:
        if mine in self.own:
            return self.own[mine] is other
        if not isinstance(other, Buffer) or other in self._taken:
            return False
        if mine.dtype is not other.dtype or str(mine.scope) != str(other.scope):
            return False
        if not (_is_compact(mine) and _is_compact(other)):
            return False
        self.own[mine], self.own[mine.data] = other, other.data
        self._taken.update((other, other.data))
        self._stack.append((mine.shape, other.shape, True))
        return True


def _is_compact(buffer: Buffer) -> bool:
    offset = buffer.elem_offset
    begins = offset is None or (isinstance(offset, IntImm) and offset.value == 0)
    return begins and not buffer.strides


def _are_alike(mine: PrimExpr, other: PrimExpr) -> bool:
    """True if two values have one dtype; integers that count may have either of two."""
    if mine.dtype is other.dtype:
        return True
    return str(mine.dtype) in _INDEX_DTYPES and str(other.dtype) in _INDEX_DTYPES


def _is_plain_index(expr: PrimExpr) -> bool:
    """True for an integer that is computed of variables and numbers only."""
    if str(expr.dtype) not in _INDEX_DTYPES:
        return False
    return not any(isinstance(node, (BufferLoad, Call, Let)) for node in walk(expr))
