"""Blocks of PrimFuncs: axes, what is read and written, init, and the block around everything.

    block = "with" "T.block(" name "):" { axes | "T.where(...)" | "T.reads(...)" | "T.writes(...)"
            | "T.block_attr(...)" | buffer | "with T.init():" | statement }
    axes  = name "=" "T.axis.spatial(" domain "," binding ")"
          | names "=" "T.axis.remap(" kinds "," loop variables ")"

Regions that are not written are derived from the body (`tir_builder.access`). A body that holds
blocks, or that allocates buffers, stands in a block named "root", as in TVM.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    Evaluate,
    IterVar,
    MatchBufferRegion,
    Range,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import walk
from relaxscript.script import tir_axis
from relaxscript.script.attributes import attribute
from relaxscript.script.syntax import AXIS_LETTERS, TIR_INT_DTYPE
from relaxscript.script.tir_types import Form
from relaxscript.tir_builder.access import access_regions

from .base import Failed
from .tir_axis_kinds import AxisPlace
from .tir_scalar import counted, describe, extent_between
from .tir_signature import SignatureParser

__all__ = ["BlockParser", "Opener", "folded"]

# What a statement does to those after it: a variable, memory, or an assertion holds them as body.
Opener = Callable[[Stmt], Stmt]

AXIS_KINDS = {letter: kind for kind, letter in AXIS_LETTERS.items()}
AXIS_MAKERS: dict[Any, str] = {
    tir_axis.spatial: "spatial", tir_axis.reduce: "reduce", tir_axis.scan: "scan",
    tir_axis.opaque: "opaque",
}  # fmt: skip


def folded(items: Sequence[Stmt | Opener]) -> Stmt:
    """A list of statements as one; what an opener begins lasts to the end of the list."""
    rest: list[Stmt] = []
    for item in reversed(items):
        if isinstance(item, Stmt):
            rest.append(item)
        else:
            rest = [item(_sequence(rest))]
    return _sequence(rest)


def _kinds_with(kinds: str, place: int, literal: bool, letter: str) -> str | None:
    """The text of `T.axis.remap` with another kind for one axis."""
    return f'"{kinds[:place]}{letter}{kinds[place + 1 :]}"' if literal else None


def _word_with(written: str, letter: str) -> str | None:
    """`T.axis.reduce` for `T.axis.spatial`, where it is written with its dots."""
    front, dot, word = written.rpartition(".")
    if not dot:
        return None
    return f"{front}.{letter if len(word) == 1 else AXIS_KINDS[letter]}"


def _items(value: Any) -> Iterator[Any]:
    """What an attribute holds, inside of dicts and sequences too."""
    if isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _items(item)
    else:
        yield value


def _sequence(backwards: list[Stmt]) -> Stmt:
    match backwards:
        case []:
            return Evaluate.make(const(0, TIR_INT_DTYPE))
        case [only]:
            return only
    return SeqStmt.make(tuple(reversed(backwards)))


class OpenBlock:
    """A block whose statements are being read."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Where it is opened.
        self.at: ast.AST = ast.Pass()
        self.iter_vars: list[IterVar] = []
        self.iter_values: list[PrimExpr] = []
        self.reads: tuple[BufferRegion, ...] | None = None
        self.writes: tuple[BufferRegion, ...] | None = None
        self.predicate: PrimExpr | None = None
        self.init: Stmt | None = None
        self.annotations: dict[str, Any] = {}
        self.alloc_buffers: list[Buffer] = []
        self.match_buffers: list[MatchBufferRegion] = []
        # The calls that describe it, by what they say.
        self.said: dict[str, ast.Call] = {}
        # The scalar variables that its statements bind.
        self.bound: set[prim.Var] = set()


class BlockParser(SignatureParser, ABC):
    """Adds blocks to signatures."""

    items: list[Stmt | Opener]
    block: OpenBlock
    root: OpenBlock
    # The ranges of the loops around, by their variables.
    loops: dict[prim.Var, Range]
    # Where the kinds of axes are written.
    axis_places: dict[prim.Var, AxisPlace]
    # Blocks whose regions the script left out, in what respect: (reads, writes).
    derived: dict[Block, tuple[bool, bool]]
    has_blocks: bool = False
    # The statements that have been read, so that recovery reads none of them twice.
    visited: set[ast.stmt]

    @abstractmethod
    def suite(self, body: Sequence[ast.stmt]) -> Stmt: ...

    @contextmanager
    @abstractmethod
    def scope(self) -> Iterator[None]: ...

    @abstractmethod
    def statements(self, body: Sequence[ast.stmt]) -> None: ...

    @abstractmethod
    def head(self, node: ast.stmt) -> ast.AST: ...

    # block = "with" "T.block(" name "):" ...
    def block_statement(self, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
        """A block with the statements in it."""
        call = node.items[0].context_expr
        if not isinstance(form.arguments["name"], str):
            raise self.error(call, "RX0504", "the name of a block is a text")
        outer, self.block = self.block, OpenBlock(form.arguments["name"])
        self.block.at = call
        try:
            with self.scope():
                statements = self.suite(body)
            block = self.closed(self.block, statements, self.span(node))
            realize = self.block
        finally:
            self.block = outer
        if form.arguments["no_realize"]:
            self.items.append(block)
            return
        self.has_blocks = True
        predicate = realize.predicate
        if predicate is None:
            predicate = const(1, prim.BOOL)
        self.items.append(
            BlockRealize.make(tuple(realize.iter_values), predicate, block, span=block.span)
        )

    def closed(self, block: OpenBlock, body: Stmt, span: Span | None) -> Block:
        """The node of a block; regions that were not written are derived."""
        reads, writes = block.reads, block.writes
        missing = (reads is None, writes is None)
        if any(missing):
            parts = [body] if block.init is None else [block.init, body]
            matched = {match.buffer: match.source for match in block.match_buffers}
            around = [*self.signature.buffers.values(), *self.root.alloc_buffers]
            found = access_regions(
                parts, block.alloc_buffers, matched, around, block.init is not None
            )
            if found.hidden:
                self.hidden_access(found.hidden[0], block)
            reads = found.reads if reads is None else reads
            writes = found.writes if writes is None else writes
        made = Block.make(
            tuple(block.iter_vars), reads, writes, block.name, body, block.init,
            tuple(block.alloc_buffers), tuple(block.match_buffers), Attrs(block.annotations),
            span=span,
        )  # fmt: skip
        if any(missing):
            self.derived[made] = missing
        return made

    def hidden_access(self, buffer: Buffer, block: OpenBlock) -> Failed:
        """Record that nobody can see what a block does with a buffer."""
        return self.error(
            block.at, "RX0504", "what this block reads and writes cannot be told: it gives the "
            f"address of `{buffer.name}` away",
            help="say it: `T.reads(...)` and `T.writes(...)`",
        )  # fmt: skip

    def rooted(self, body: Stmt, span: Span | None) -> Stmt:
        """The body of a function in its root block, where it needs one.

        The outermost block says of itself only what the script says.
        """
        needs = bool(self.root.alloc_buffers) or (
            bool(body.block.iter_vars) if isinstance(body, BlockRealize) else self.has_blocks
        )
        if needs:
            block = Block.make(
                (), (), (), "root", body, None, tuple(self.root.alloc_buffers), (), Attrs(),
                span=span,
            )  # fmt: skip
            return BlockRealize.make((), const(1, prim.BOOL), block, span=span)
        if isinstance(body, BlockRealize) and body.block in self.derived:
            reads, writes = self.derived[body.block]
            block = body.block.replace(
                reads=() if reads else body.block.reads, writes=() if writes else body.block.writes
            )
            return body.replace(block=block)
        return body

    # axes = name "=" "T.axis.spatial(" domain "," binding ")" | names "=" "T.axis.remap(...)"
    def axes(self, form: Form, names: Sequence[str], call: ast.Call) -> list[prim.Var]:
        """The variables of new axes."""
        if self.block is self.root:
            raise self.error(call, "RX0504", f"`{form.name}` stands in a block",
                             help='open one: `with T.block("name"):`')  # fmt: skip
        if self.items:
            raise self.error(call, "RX0504", "the axes of a block come before its statements",
                             help="move this line to the beginning of the block")  # fmt: skip
        if form.maker is tir_axis.remap:
            return self.remap(form, names, call)
        return [self.axis(form, names[0], call)]

    def axis(self, form: Form, name: str, call: ast.Call) -> prim.Var:
        """One axis with a domain of its own."""
        places = self.argument_nodes(form.maker, call)
        binding = self.scalar(form.arguments["binding"], places["binding"])
        if not binding.dtype.is_integer:
            raise self.error(places["binding"], "RX0504", "the value of an axis is an integer",
                             labels=[(places["binding"], f"is {binding.dtype}")])  # fmt: skip
        self.check_before_axes(binding, places["binding"], form)
        domain = form.arguments["dom"]
        bounds = None if domain is None else self.domain_bounds(domain, places["dom"])
        kind = self.axis_dtype(places.get("dtype"), [*(bounds or ()), binding])
        if not isinstance(form.arguments["binding"], PrimExpr):
            binding = prim.cast(binding, kind)
        ranged = None if bounds is None else self.domain(bounds, kind, places["dom"])
        if ranged is not None:
            self.check_before_axes(ranged, places["dom"], form)
        var = self.add_axis(name, ranged, binding, AXIS_MAKERS[form.maker], kind, call)
        written = self.written(call.func)
        self.axis_places[var] = AxisPlace(self.span(call.func), partial(_word_with, written))
        return var

    def axis_dtype(self, given: ast.expr | None, values: Sequence[Any]) -> DataType:
        """The data type of an axis: the widest of what it is made of, and at least int32."""
        if given is not None:
            return self.dtype(given)
        dtypes = [TIR_INT_DTYPE, *(v.dtype for v in values if isinstance(v, PrimExpr))]
        return max(dtypes, key=lambda d: d.bits)

    def domain(self, bounds: tuple[Any, Any], kind: DataType, node: ast.AST) -> Range:
        """The range of an axis; plain numbers take the data type of the axis."""
        low, high = (
            e if isinstance(e, PrimExpr) else self.immediate(e, kind, node) for e in bounds
        )
        if low.dtype is not high.dtype:
            low, high = prim.match_dtypes(low, high)
        return Range.make(low, extent_between(low, high))

    def domain_bounds(self, domain: Any, node: ast.AST) -> tuple[Any, Any]:
        """Where the domain of an axis begins and ends; plain numbers as they are."""
        match domain:
            case Form(arguments={"begin": begin, "end": end}) | (begin, end):
                low, high = begin, end
            case Range():
                return domain.min, prim.Add.make(domain.min, domain.extent)
            case _:
                low, high = 0, domain
        bounds = tuple(v if type(v) is int else self.scalar(v, node) for v in (low, high))
        for e in bounds:
            if isinstance(e, PrimExpr) and not e.dtype.is_integer:
                raise self.error(node, "RX0504", "the domain of an axis is given by integers",
                                 labels=[(node, f"is {e.dtype}")])  # fmt: skip
        return bounds[0], bounds[1]

    def add_axis(
        self, name: str, domain: Range | None, value: PrimExpr, kind: str, dtype: DataType,
        node: ast.AST,
    ) -> prim.Var:  # fmt: skip
        for known in self.block.iter_vars:
            # A macro that is expanded twice names its axes twice.
            if known.var.name == name and known.var.span != self.span(node):
                raise self.error(
                    node, "RX0504", f"this block has an axis `{name}` already",
                    labels=[(known.var.span, "the axis")], help="give this axis another name",
                )  # fmt: skip
        var = prim.Var.make(name, dtype, span=self.span(node))
        self.block.iter_vars.append(IterVar.make(domain, var, kind, "", span=var.span))
        self.block.iter_values.append(value)
        self.fixed[var] = "an axis"
        return var

    def remap(self, form: Form, names: Sequence[str], call: ast.Call) -> list[prim.Var]:
        """One axis for each loop variable, over the whole range of the loop."""
        places = self.argument_nodes(form.maker, call)
        kinds, bindings = form.arguments["kinds"], form.arguments["bindings"]
        if not isinstance(kinds, str):
            raise self.error(
                places["kinds"], "RX0504", 'the kinds of axes are a text such as "SSR"'
            )
        if not isinstance(bindings, (list, tuple)):
            listed = f"[{self.written(places['bindings'])}]"
            raise self.error(places["bindings"], "RX0504", "the loop variables stand in a list",
                             help=f"write `{listed}`", fix=listed)  # fmt: skip
        for letter in kinds:
            if letter not in AXIS_KINDS:
                raise self.error(
                    places["kinds"], "RX0504", f"there is no kind of axis `{letter}`",
                    help="`S` is spatial, `R` reduction, `C` scan, `O` opaque",
                )  # fmt: skip
        if len(kinds) != len(bindings):
            raise self.count_mismatch(places, "kind", len(kinds), "loop variable", len(bindings))
        if len(names) != len(bindings):
            raise self.count_mismatch(places, "name", len(names), "loop variable", len(bindings))
        nodes = places["bindings"]
        elements = nodes.elts if isinstance(nodes, (ast.List, ast.Tuple)) else [nodes] * len(names)
        ranges = [self.loop_range(v, at) for v, at in zip(bindings, elements)]
        made = [
            self.add_axis(name, domain, value, AXIS_KINDS[letter], value.dtype, call)
            for name, domain, value, letter in zip(names, ranges, bindings, kinds)
        ]
        literal = isinstance(places["kinds"], ast.Constant)
        for i, var in enumerate(made):
            other = partial(_kinds_with, kinds, i, literal)
            self.axis_places[var] = AxisPlace(self.span(places["kinds"]), other)
        return made

    def count_mismatch(
        self, places: dict[str, ast.expr], what: str, count: int, other: str, others: int
    ) -> Failed:
        verb = "is" if count == 1 else "are"
        at = places["kinds"] if what == "kind" else places["bindings"]
        help = "one letter for each loop variable: `S` spatial, `R` reduction"
        return self.error(
            at, "RX0504", f"there {verb} {counted(count, what)} for {counted(others, other)}",
            help=help if what == "kind" else None,
        )  # fmt: skip

    def loop_range(self, value: Any, node: ast.AST) -> Range:
        """The range of the loop that a variable belongs to."""
        found = self.loops.get(value) if isinstance(value, prim.Var) else None
        if found is not None:
            return found
        what = f"`{value.name}`" if isinstance(value, prim.Var) else "this"
        raise self.error(
            node, "RX0504", f"{what} is not the variable of a loop around the block",
            help="give the domain yourself: `T.axis.spatial(extent, value)`",
        )  # fmt: skip

    # block signature = "T.reads(...)" | "T.writes(...)" | "T.where(...)" | "T.block_attr(...)"
    def in_block(self, form: Form, call: ast.Call) -> OpenBlock:
        if self.block is self.root:
            raise self.error(call, "RX0504", f"`{form.name}` stands in a block",
                             help='open one: `with T.block("name"):`')  # fmt: skip
        return self.block

    def once(self, form: Form, call: ast.Call) -> OpenBlock:
        """The block that a statement describes, which it says one time only."""
        block = self.in_block(form, call)
        before = block.said.setdefault(form.name, call)
        if before is not call:
            raise self.error(
                call, "RX0504", f"`{form.name}` is said of this block already",
                labels=[(before, "here")], help="say it once, with all that belongs to it",
            )  # fmt: skip
        return block

    def reads(self, form: Form, call: ast.Call) -> None:
        self.once(form, call).reads = tuple(self.regions(form, call))

    def writes(self, form: Form, call: ast.Call) -> None:
        self.once(form, call).writes = tuple(self.regions(form, call))

    def regions(self, form: Form, call: ast.Call) -> list[BufferRegion]:
        """The arguments of `T.reads` and `T.writes`; whole buffers and lists are taken too."""
        values = list(form.arguments["regions"])
        nodes: list[ast.AST] = list(call.args)
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            inner = nodes[0]
            values = list(values[0])
            nodes = list(inner.elts) if isinstance(inner, (ast.List, ast.Tuple)) else []
        if len(nodes) != len(values):
            nodes = [call] * len(values)
        found = [self.region_of(v, at) for v, at in zip(values, nodes)]
        for region, at in zip(found, nodes):
            self.check_outside(region, at, form)
        return found

    def check_outside(self, mentioned: Node, node: ast.AST, form: Form) -> None:
        """What a block says of itself cannot depend on what its statements bind."""
        for inner in walk(mentioned):
            if isinstance(inner, prim.Var) and inner in self.block.bound:
                raise self.error(
                    node, "RX0504", f"`{form.name}` is said of the whole block, and "
                    f"`{inner.name}` is bound in it",
                    labels=[(inner.span, "bound here")],
                    help="bind it before the block, or write its value",
                )  # fmt: skip

    def region_of(self, value: Any, node: ast.AST) -> BufferRegion:
        match value:
            case BufferRegion():
                return value
            case Buffer():
                whole = tuple(Range.make(const(0, d.dtype), d) for d in value.shape)
                return BufferRegion.make(value, whole, span=self.span(node))
            case prim.BufferLoad():
                ranges = tuple(self.point(i) for i in value.indices)
                return BufferRegion.make(value.buffer, ranges, span=value.span)
        raise self.error(
            node, "RX0504", f"a region of a buffer is needed here, this is {describe(value)}",
            help="write for example `A[0:4, vi]`",
        )  # fmt: skip

    def point(self, index: PrimExpr) -> Range:
        if isinstance(index, prim.Ramp):
            return Range.make(index.base, const(index.lanes, index.base.dtype))
        return Range.make(index, const(1, index.dtype))

    def where(self, form: Form, call: ast.Call) -> None:
        block = self.once(form, call)
        at = self.argument_nodes(form.maker, call)["predicate"]
        block.predicate = self.condition(form.arguments["predicate"], at)
        self.check_outside(block.predicate, at, form)
        self.check_before_axes(block.predicate, at, form)

    def check_before_axes(self, mentioned: Node, node: ast.AST, form: Form) -> None:
        """What decides about a run of a block is known before its axes have their values."""
        axes = {
            axis.var: value for axis, value in zip(self.block.iter_vars, self.block.iter_values)
        }
        for inner in walk(mentioned):
            if isinstance(inner, prim.Var) and inner in axes:
                raise self.error(
                    node, "RX0504", f"`{form.name}` stands outside of the block, where its axis "
                    f"`{inner.name}` has no value", labels=[(inner.span, "the axis")],
                    help="write the loop variables that give the axis its value",
                )  # fmt: skip

    def block_attr(self, form: Form, call: ast.Call) -> None:
        block = self.once(form, call)
        at = self.argument_nodes(form.maker, call)["attrs"]
        found = self.attributes(form.arguments["attrs"], at)
        block.annotations.update(found)

    def attributes(self, value: Any, node: ast.AST) -> Attrs:
        """A dict of attributes or annotations; None has none."""
        if value is None:
            return Attrs()
        if not isinstance(value, dict) or not all(isinstance(k, str) for k in value):
            raise self.error(node, "RX0103", "attributes are a dict with texts as keys",
                             help='write `{"name": value}`')  # fmt: skip
        try:
            made = Attrs(attribute(value))
            for inner in _items(value):
                if isinstance(inner, (Buffer, BufferRegion)):
                    raise TypeError(f"an attribute cannot hold {describe(inner)}")
            return made
        except TypeError as error:
            raise self.error(node, "RX0103", str(error)) from None

    # init = "with T.init():" ...
    def init(self, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
        call = node.items[0].context_expr
        if self.block is self.root:
            raise self.error(call, "RX0504", "`T.init()` stands in a block",
                             help='open one: `with T.block("name"):`')  # fmt: skip
        if self.block.init is not None:
            raise self.error(call, "RX0504", "this block has an `init` already")
        with self.scope():
            self.block.init = self.suite(body)

    def matched_region(self, buffer: Buffer, source: Any, node: ast.AST) -> None:
        """`B = T.match_buffer(A[0:4, 0:4], (4, 4))` in a block."""
        region = self.region_of(source, node)
        self.block.match_buffers.append(
            MatchBufferRegion.make(buffer, region, span=self.span(node))
        )
