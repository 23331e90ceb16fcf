"""Blocks that are being made: their axes, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from relaxscript.dtypes import DataType
from relaxscript.errors import Span, quantity
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    IterVar,
    MatchBufferRegion,
    Range,
    Stmt,
)
from relaxscript.ir.walk import walk

from .access import access_regions
from .mistake import TIRError, describe
from .operands import INT_DTYPE, condition, domain_bounds, integer_range, region, scalar

if TYPE_CHECKING:
    from .builder import TIRBuilder
    from .scope import Scope

__all__ = ["AXIS_KINDS", "OpenBlock", "attributes", "closed", "in_root"]

# The letters of `remap`.
AXIS_KINDS = {"S": "spatial", "R": "reduce", "C": "scan", "O": "opaque"}


class OpenBlock:
    """A block whose statements are being made; `tb.block` opens one."""

    def __init__(self, builder: TIRBuilder, name: str) -> None:
        self.builder = builder
        self.name = name
        self.iter_vars: list[IterVar] = []
        self.iter_values: list[PrimExpr] = []
        self.read_regions: tuple[BufferRegion, ...] | None = None
        self.write_regions: tuple[BufferRegion, ...] | None = None
        self.predicate: PrimExpr | None = None
        self.init_stmt: Stmt | None = None
        self.annotations: dict[str, Any] = {}
        self.alloc_buffers: list[Buffer] = []
        self.match_buffers: list[MatchBufferRegion] = []
        # What is said of it once, and where.
        self.said: dict[str, Span | None] = {}
        # The scalar variables that its statements bind.
        self.bound: set[Var] = set()

    # ---- axes

    def spatial(self, dom: Any, binding: Any, name: str | None = None) -> Var:
        """An axis whose values may be computed in any order; `dom` is an extent or a range."""
        return self.axis("spatial", dom, binding, name)

    def reduce(self, dom: Any, binding: Any, name: str | None = None) -> Var:
        """An axis over which results are accumulated."""
        return self.axis("reduce", dom, binding, name)

    def scan(self, dom: Any, binding: Any, name: str | None = None) -> Var:
        """An axis whose values build on those before."""
        return self.axis("scan", dom, binding, name)

    def opaque(self, dom: Any, binding: Any, name: str | None = None) -> Var:
        """An axis of which nothing may be assumed."""
        return self.axis("opaque", dom, binding, name)

    def axis(
        self, kind: str, dom: Any, binding: Any, name: str | None = None,
        dtype: DataType | None = None,
    ) -> Var:  # fmt: skip
        """An axis of a kind with a domain of its own; without a name it is called by its value.

        Its dtype is the widest of what it is made of, and at least int32.
        """
        self.check_axes(f"T.axis.{kind}")
        value = scalar(binding, "binding", self.builder.at("binding"))
        if not value.dtype.is_integer:
            raise TIRError(
                "binding", "the value of an axis is an integer", code="RX0504",
                facts={"binding": f"is {value.dtype}"},
            )  # fmt: skip
        self._check_before_axes(value, "binding", f"T.axis.{kind}")
        bounds = None if dom is None else domain_bounds(dom, "dom", self.builder.at("dom"))
        parts = [e for e in (*(bounds or ()), value) if isinstance(e, PrimExpr)]
        wide = dtype or max([INT_DTYPE, *(e.dtype for e in parts)], key=lambda d: d.bits)
        if not isinstance(binding, PrimExpr):
            value = prim.cast(value, wide)
        ranged = None
        if bounds is not None:
            ranged = integer_range(bounds, wide, "dom", self.builder.at("dom"))
            self._check_before_axes(ranged, "dom", f"T.axis.{kind}")
        return self._add_axis(name, ranged, value, kind, wide)

    def remap(
        self, kinds: str, bindings: Sequence[Any], names: Sequence[str] | None = None
    ) -> list[Var]:
        """One axis for each loop variable, over the whole range of the loop.

        `kinds` has a letter for each: `S` spatial, `R` reduction, `C` scan, `O` opaque.
        """
        self.check_axes("T.axis.remap")
        if not isinstance(kinds, str):
            raise TIRError("kinds", 'the kinds of axes are a string such as "SSR"', code="RX0504")
        if not isinstance(bindings, (list, tuple)):
            raise TIRError(
                "bindings", "the loop variables are given as a list", code="RX0504",
                help="write `{instead}`", instead="[{}]",
            )  # fmt: skip
        for letter in kinds:
            if letter not in AXIS_KINDS:
                raise TIRError(
                    "kinds", f"there is no kind of axis `{letter}`", code="RX0504",
                    help="`S` is spatial, `R` reduction, `C` scan, `O` opaque",
                )  # fmt: skip
        if len(kinds) != len(bindings):
            raise _counts("kinds", "kind", len(kinds), len(bindings))
        if names is not None and len(names) != len(bindings):
            raise _counts("bindings", "name", len(names), len(bindings))
        ranges = [self._loop_range(v, f"bindings[{i}]") for i, v in enumerate(bindings)]
        wished: Sequence[str | None] = [None] * len(kinds) if names is None else names
        return [
            self._add_axis(name, domain, value, AXIS_KINDS[letter], value.dtype)
            for name, domain, value, letter in zip(wished, ranges, bindings, kinds)
        ]

    def _loop_range(self, value: Any, part: str) -> Range:
        """The range of the loop that a variable belongs to."""
        found = self.builder.loops.get(value) if isinstance(value, Var) else None
        if found is not None:
            return found
        what = f"`{value.name}`" if isinstance(value, Var) else "this"
        raise TIRError(
            part, f"{what} is not the variable of a loop around the block", code="RX0504",
            help="give the domain yourself: `T.axis.spatial(extent, value)`",
        )  # fmt: skip

    def check_axes(self, callee: str) -> None:
        """Axes come at the beginning of a block."""
        self._check_inside(callee)
        if self.builder.items:
            raise TIRError(
                "", "the axes of a block come before its statements", code="RX0504",
                help="move this line to the beginning of the block",
            )  # fmt: skip

    def _free_name(self, value: PrimExpr) -> str:
        """A name for an axis that no axis of the block has."""
        names = self.builder.names
        wish = f"v{names.get(value, value.name)}" if isinstance(value, Var) else "v"
        known = {names.get(axis.var, axis.var.name) for axis in self.iter_vars}
        numbered = (f"{wish}_{i}" for i in count(1))
        return next(name for name in chain([wish], numbered) if name not in known)

    def _add_axis(
        self, name: str | None, domain: Range | None, value: PrimExpr, kind: str, dtype: DataType
    ) -> Var:
        span, name = self.builder.span, name or self._free_name(value)
        for known in self.iter_vars:
            # A macro that is expanded twice names its axes twice.
            if known.var.name == name and (known.var.span != span or span is None):
                raise TIRError(
                    "", f"this block has an axis `{name}` already", code="RX0504",
                    places=[(known.var.span, "the axis")], help="give this axis another name",
                )  # fmt: skip
        var = Var.make(name, dtype, span=span)
        self.iter_vars.append(IterVar.make(domain, var, kind, "", span=span))
        self.iter_values.append(value)
        return var

    # ---- what it says of itself

    def reads(self, *regions: Any) -> None:
        """The regions that the block reads; without it they are derived from its statements."""
        self.say_once("T.reads")
        self.read_regions = self._regions(regions, "T.reads")

    def writes(self, *regions: Any) -> None:
        """The regions that the block writes; without it they are derived from its statements."""
        self.say_once("T.writes")
        self.write_regions = self._regions(regions, "T.writes")

    def _regions(self, regions: Sequence[Any], callee: str) -> tuple[BufferRegion, ...]:
        """Regions; whole buffers, elements, and one list of them are taken too."""
        whole = "regions"
        if len(regions) == 1 and isinstance(regions[0], (list, tuple)):
            whole, regions = "regions[0]", regions[0]
        parts = [f"{whole}[{i}]" for i in range(len(regions))]
        found = [region(v, part, self.builder.at(part)) for v, part in zip(regions, parts)]
        for made, part in zip(found, parts):
            self._check_outside(made, part, callee)
        return tuple(found)

    def where(self, predicate: Any) -> None:
        """The block runs only where `predicate` holds."""
        self.say_once("T.where")
        made = condition(predicate, "predicate", self.builder.at("predicate"))
        self._check_outside(made, "predicate", "T.where")
        self._check_before_axes(made, "predicate", "T.where")
        self.predicate = made

    def annotate(self, attrs: Mapping[str, Any]) -> None:
        """Annotations of the block."""
        self.say_once("T.block_attr")
        self.annotations.update(attributes(attrs, "attrs"))

    def init(self, written: str = "T.init") -> Scope:
        """The first statements of the block wherever its reduction axes start: `with b.init():`."""
        self._check_inside(written)
        if self.init_stmt is not None:
            raise TIRError("", "this block has an `init` already", code="RX0504")
        return self.builder.collecting("T.init", self._set_init)

    def _set_init(self, body: Stmt) -> None:
        self.init_stmt = body

    def _check_inside(self, callee: str) -> None:
        if self is self.builder.root:
            raise TIRError(
                "", f"`{callee}` belongs in a block", code="RX0504",
                help='open one: `with T.block("name"):`',
            )  # fmt: skip

    def say_once(self, callee: str) -> None:
        """Refuse what was said of the block before, and what is said again from now on."""
        self._check_inside(callee)
        if callee in self.said:
            raise TIRError(
                "", f"`{callee}` is said of this block already", code="RX0504",
                places=[(self.said[callee], "here")],
                help="say it once, with all that belongs to it",
            )  # fmt: skip
        self.said[callee] = self.builder.span

    def _check_outside(self, mentioned: Node, part: str, callee: str) -> None:
        """Refuse what a block says of itself where it depends on what its statements bind."""
        var = next((v for v in walk(mentioned) if isinstance(v, Var) and v in self.bound), None)
        if var is not None:
            raise TIRError(
                part, f"`{callee}` is said of the whole block, and `{var.name}` is bound in it",
                code="RX0504", places=[(var.span, "bound here")],
                help="bind it before the block, or write its value",
            )  # fmt: skip

    def _check_before_axes(self, mentioned: Node, part: str, callee: str) -> None:
        """Refuse what decides about a run of a block where it needs the values of its axes."""
        axes = {axis.var for axis in self.iter_vars}
        var = next((v for v in walk(mentioned) if isinstance(v, Var) and v in axes), None)
        if var is not None:
            raise TIRError(
                part, f"`{callee}` is outside of the block, where its axis `{var.name}` has no "
                "value", code="RX0504", places=[(var.span, "the axis")],
                help="write the loop variables that give the axis its value",
            )  # fmt: skip


def closed(block: OpenBlock, body: Stmt, span: Span | None) -> Block:
    """The node of a block; regions that were not said are derived."""
    builder, init = block.builder, block.init_stmt
    reads, writes = block.read_regions, block.write_regions
    missing = (reads is None, writes is None)
    if any(missing):
        parts = [body] if init is None else [init, body]
        matched = {match.buffer: match.source for match in block.match_buffers}
        around = [*builder.buffer_map.values(), *builder.root.alloc_buffers]
        found = access_regions(parts, block.alloc_buffers, matched, around, init is not None)
        if found.hidden:
            raise TIRError(
                "", "what this block reads and writes cannot be told: it gives the address of "
                f"`{found.hidden[0].name}` away", code="RX0504",
                help="say it: `T.reads(...)` and `T.writes(...)`",
            )  # fmt: skip
        reads = found.reads if reads is None else reads
        writes = found.writes if writes is None else writes
    made = Block.make(
        tuple(block.iter_vars), reads, writes, block.name, body, init, tuple(block.alloc_buffers),
        tuple(block.match_buffers), Attrs(block.annotations), span=span,
    )  # fmt: skip
    if any(missing):
        builder.derived[made] = missing
    return made


def in_root(builder: TIRBuilder, body: Stmt, span: Span | None = None) -> Stmt:
    """The body of a function in its root block, where it needs one.

    The outermost block says of itself only what was said.
    """
    allocated = tuple(builder.root.alloc_buffers)
    needs = bool(allocated) or (
        bool(body.block.iter_vars) if isinstance(body, BlockRealize) else builder.has_blocks
    )
    if needs:
        block = Block.make((), (), (), "root", body, None, allocated, (), Attrs(), span=span)
        return BlockRealize.make((), prim.const(1, prim.BOOL), block, span=span)
    if isinstance(body, BlockRealize) and body.block in builder.derived:
        reads, writes = builder.derived[body.block]
        block = body.block.replace(
            reads=() if reads else body.block.reads, writes=() if writes else body.block.writes
        )
        return body.replace(block=block)
    return body


def _counts(part: str, what: str, number: int, others: int) -> TIRError:
    verb = "is" if number == 1 else "are"
    help = "one letter for each loop variable: `S` spatial, `R` reduction"
    return TIRError(
        part, f"there {verb} {quantity(number, what)} for {quantity(others, 'loop variable')}",
        code="RX0504", help=help if what == "kind" else None,
    )  # fmt: skip


def attributes(value: Any, part: str) -> Attrs:
    """A dict of attributes or annotations; None has none."""
    if value is None:
        return Attrs()
    if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
        raise TIRError(
            part, "attributes are a dict with strings as keys", code="RX0103",
            help='write `{"name": value}`',
        )  # fmt: skip
    for inner in _items(value):
        if isinstance(inner, (Buffer, BufferRegion)):
            raise TIRError(part, f"an attribute cannot hold {describe(inner)}", code="RX0103")
    try:
        return Attrs(value)
    except TypeError as error:
        raise TIRError(part, str(error), code="RX0103") from None


def _items(value: Any) -> Iterator[Any]:
    """The values that an attribute holds, inside of dicts and sequences too."""
    if isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _items(item)
    else:
        yield value
