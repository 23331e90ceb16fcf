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
from collections.abc import Iterator, Sequence
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
    IterVar,
    MatchBufferRegion,
    Range,
    Stmt,
)
from relaxscript.ir.walk import walk
from relaxscript.script import tir_axis
from relaxscript.script.attributes import attribute
from relaxscript.script.syntax import AXIS_LETTERS, TIR_INT_DTYPE
from relaxscript.script.tir_types import Form
from relaxscript.tir_builder import counted, describe
from relaxscript.tir_builder.access import access_regions

from .blame import Failed
from .tir_axis_kinds import AxisPlace
from .tir_body import parse_suite
from .tir_buffer import parse_dtype
from .tir_call import argument_nodes
from .tir_context import OpenBlock, TirContext
from .tir_scalar import extent_between, make_number, to_condition, to_scalar

__all__ = [
    "annotate_block",
    "domain_bounds",
    "in_root_block",
    "make_attributes",
    "make_axes",
    "make_domain",
    "match_region",
    "parse_block",
    "parse_init",
    "region_of",
    "set_predicate",
    "set_reads",
    "set_writes",
]

AXIS_KINDS = {letter: kind for kind, letter in AXIS_LETTERS.items()}
AXIS_MAKERS: dict[Any, str] = {
    tir_axis.spatial: "spatial", tir_axis.reduce: "reduce", tir_axis.scan: "scan",
    tir_axis.opaque: "opaque",
}  # fmt: skip


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


# block = "with" "T.block(" name "):" ...
def parse_block(cx: TirContext, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
    """A block with the statements in it."""
    call = node.items[0].context_expr
    if not isinstance(form.arguments["name"], str):
        raise cx.error(call, "RX0504", "the name of a block is a text")
    outer, cx.block = cx.block, OpenBlock(form.arguments["name"])
    cx.block.at = call
    try:
        with cx.scope():
            statements = parse_suite(cx, body)
        block = close_block(cx, cx.block, statements, cx.span(node))
        realize = cx.block
    finally:
        cx.block = outer
    if form.arguments["no_realize"]:
        cx.items.append(block)
        return
    cx.has_blocks = True
    predicate = realize.predicate
    if predicate is None:
        predicate = const(1, prim.BOOL)
    cx.items.append(
        BlockRealize.make(tuple(realize.iter_values), predicate, block, span=block.span)
    )


def close_block(cx: TirContext, block: OpenBlock, body: Stmt, span: Span | None) -> Block:
    """The node of a block; regions that were not written are derived."""
    reads, writes = block.reads, block.writes
    missing = (reads is None, writes is None)
    if any(missing):
        parts = [body] if block.init is None else [block.init, body]
        matched = {match.buffer: match.source for match in block.match_buffers}
        around = [*cx.signature.buffers.values(), *cx.root.alloc_buffers]
        found = access_regions(parts, block.alloc_buffers, matched, around, block.init is not None)
        if found.hidden:
            refuse_hidden_access(cx, found.hidden[0], block)
        reads = found.reads if reads is None else reads
        writes = found.writes if writes is None else writes
    made = Block.make(
        tuple(block.iter_vars), reads, writes, block.name, body, block.init,
        tuple(block.alloc_buffers), tuple(block.match_buffers), Attrs(block.annotations),
        span=span,
    )  # fmt: skip
    if any(missing):
        cx.derived[made] = missing
    return made


def refuse_hidden_access(cx: TirContext, buffer: Buffer, block: OpenBlock) -> Failed:
    """Record that nobody can see what a block does with a buffer."""
    return cx.error(
        block.at, "RX0504", "what this block reads and writes cannot be told: it gives the "
        f"address of `{buffer.name}` away",
        help="say it: `T.reads(...)` and `T.writes(...)`",
    )  # fmt: skip


def in_root_block(cx: TirContext, body: Stmt, span: Span | None) -> Stmt:
    """The body of a function in its root block, where it needs one.

    The outermost block says of itself only what the script says.
    """
    needs = bool(cx.root.alloc_buffers) or (
        bool(body.block.iter_vars) if isinstance(body, BlockRealize) else cx.has_blocks
    )
    if needs:
        block = Block.make(
            (), (), (), "root", body, None, tuple(cx.root.alloc_buffers), (), Attrs(),
            span=span,
        )  # fmt: skip
        return BlockRealize.make((), const(1, prim.BOOL), block, span=span)
    if isinstance(body, BlockRealize) and body.block in cx.derived:
        reads, writes = cx.derived[body.block]
        block = body.block.replace(
            reads=() if reads else body.block.reads, writes=() if writes else body.block.writes
        )
        return body.replace(block=block)
    return body


# axes = name "=" "T.axis.spatial(" domain "," binding ")" | names "=" "T.axis.remap(...)"
def make_axes(cx: TirContext, form: Form, names: Sequence[str], call: ast.Call) -> list[prim.Var]:
    """The variables of new axes."""
    if cx.block is cx.root:
        raise cx.error(call, "RX0504", f"`{form.name}` stands in a block",
                         help='open one: `with T.block("name"):`')  # fmt: skip
    if cx.items:
        raise cx.error(call, "RX0504", "the axes of a block come before its statements",
                         help="move this line to the beginning of the block")  # fmt: skip
    if form.maker is tir_axis.remap:
        return remap_axes(cx, form, names, call)
    return [make_axis(cx, form, names[0], call)]


def make_axis(cx: TirContext, form: Form, name: str, call: ast.Call) -> prim.Var:
    """One axis with a domain of its own."""
    places = argument_nodes(cx, form.maker, call)
    binding = to_scalar(cx, form.arguments["binding"], places["binding"])
    if not binding.dtype.is_integer:
        raise cx.error(places["binding"], "RX0504", "the value of an axis is an integer",
                         labels=[(places["binding"], f"is {binding.dtype}")])  # fmt: skip
    check_before_axes(cx, binding, places["binding"], form)
    domain = form.arguments["dom"]
    bounds = None if domain is None else domain_bounds(cx, domain, places["dom"])
    kind = axis_dtype(cx, places.get("dtype"), [*(bounds or ()), binding])
    if not isinstance(form.arguments["binding"], PrimExpr):
        binding = prim.cast(binding, kind)
    ranged = None if bounds is None else make_domain(cx, bounds, kind, places["dom"])
    if ranged is not None:
        check_before_axes(cx, ranged, places["dom"], form)
    var = add_axis(cx, name, ranged, binding, AXIS_MAKERS[form.maker], kind, call)
    written = cx.written(call.func)
    cx.axis_places[var] = AxisPlace(cx.span(call.func), partial(_word_with, written))
    return var


def axis_dtype(cx: TirContext, given: ast.expr | None, values: Sequence[Any]) -> DataType:
    """The data type of an axis: the widest of what it is made of, and at least int32."""
    if given is not None:
        return parse_dtype(cx, given)
    dtypes = [TIR_INT_DTYPE, *(v.dtype for v in values if isinstance(v, PrimExpr))]
    return max(dtypes, key=lambda d: d.bits)


def make_domain(cx: TirContext, bounds: tuple[Any, Any], kind: DataType, node: ast.AST) -> Range:
    """The range of an axis; plain numbers take the data type of the axis."""
    low, high = (e if isinstance(e, PrimExpr) else make_number(cx, e, kind, node) for e in bounds)
    if low.dtype is not high.dtype:
        low, high = prim.match_dtypes(low, high)
    return Range.make(low, extent_between(low, high))


def domain_bounds(cx: TirContext, domain: Any, node: ast.AST) -> tuple[Any, Any]:
    """Where the domain of an axis begins and ends; plain numbers as they are."""
    match domain:
        case Form(arguments={"begin": begin, "end": end}) | (begin, end):
            low, high = begin, end
        case Range():
            return domain.min, prim.Add.make(domain.min, domain.extent)
        case _:
            low, high = 0, domain
    bounds = tuple(v if type(v) is int else to_scalar(cx, v, node) for v in (low, high))
    for e in bounds:
        if isinstance(e, PrimExpr) and not e.dtype.is_integer:
            raise cx.error(node, "RX0504", "the domain of an axis is given by integers",
                             labels=[(node, f"is {e.dtype}")])  # fmt: skip
    return bounds[0], bounds[1]


def add_axis(
    cx: TirContext, name: str, domain: Range | None, value: PrimExpr, kind: str, dtype: DataType,
    node: ast.AST,
) -> prim.Var:  # fmt: skip
    for known in cx.block.iter_vars:
        # A macro that is expanded twice names its axes twice.
        if known.var.name == name and known.var.span != cx.span(node):
            raise cx.error(
                node, "RX0504", f"this block has an axis `{name}` already",
                labels=[(known.var.span, "the axis")], help="give this axis another name",
            )  # fmt: skip
    var = prim.Var.make(name, dtype, span=cx.span(node))
    cx.block.iter_vars.append(IterVar.make(domain, var, kind, "", span=var.span))
    cx.block.iter_values.append(value)
    cx.fixed[var] = "an axis"
    return var


def remap_axes(cx: TirContext, form: Form, names: Sequence[str], call: ast.Call) -> list[prim.Var]:
    """One axis for each loop variable, over the whole range of the loop."""
    places = argument_nodes(cx, form.maker, call)
    kinds, bindings = form.arguments["kinds"], form.arguments["bindings"]
    if not isinstance(kinds, str):
        raise cx.error(places["kinds"], "RX0504", 'the kinds of axes are a text such as "SSR"')
    if not isinstance(bindings, (list, tuple)):
        listed = f"[{cx.written(places['bindings'])}]"
        raise cx.error(places["bindings"], "RX0504", "the loop variables stand in a list",
                         help=f"write `{listed}`", fix=listed)  # fmt: skip
    for letter in kinds:
        if letter not in AXIS_KINDS:
            raise cx.error(
                places["kinds"], "RX0504", f"there is no kind of axis `{letter}`",
                help="`S` is spatial, `R` reduction, `C` scan, `O` opaque",
            )  # fmt: skip
    if len(kinds) != len(bindings):
        raise refuse_counts(cx, places, "kind", len(kinds), "loop variable", len(bindings))
    if len(names) != len(bindings):
        raise refuse_counts(cx, places, "name", len(names), "loop variable", len(bindings))
    nodes = places["bindings"]
    elements = nodes.elts if isinstance(nodes, (ast.List, ast.Tuple)) else [nodes] * len(names)
    ranges = [range_of_loop(cx, v, at) for v, at in zip(bindings, elements)]
    made = [
        add_axis(cx, name, domain, value, AXIS_KINDS[letter], value.dtype, call)
        for name, domain, value, letter in zip(names, ranges, bindings, kinds)
    ]
    literal = isinstance(places["kinds"], ast.Constant)
    for i, var in enumerate(made):
        other = partial(_kinds_with, kinds, i, literal)
        cx.axis_places[var] = AxisPlace(cx.span(places["kinds"]), other)
    return made


def refuse_counts(
    cx: TirContext, places: dict[str, ast.expr], what: str, count: int, other: str, others: int
) -> Failed:
    verb = "is" if count == 1 else "are"
    at = places["kinds"] if what == "kind" else places["bindings"]
    help = "one letter for each loop variable: `S` spatial, `R` reduction"
    return cx.error(
        at, "RX0504", f"there {verb} {counted(count, what)} for {counted(others, other)}",
        help=help if what == "kind" else None,
    )  # fmt: skip


def range_of_loop(cx: TirContext, value: Any, node: ast.AST) -> Range:
    """The range of the loop that a variable belongs to."""
    found = cx.loops.get(value) if isinstance(value, prim.Var) else None
    if found is not None:
        return found
    what = f"`{value.name}`" if isinstance(value, prim.Var) else "this"
    raise cx.error(
        node, "RX0504", f"{what} is not the variable of a loop around the block",
        help="give the domain yourself: `T.axis.spatial(extent, value)`",
    )  # fmt: skip


# block signature = "T.reads(...)" | "T.writes(...)" | "T.where(...)" | "T.block_attr(...)"
def innermost_block(cx: TirContext, form: Form, call: ast.Call) -> OpenBlock:
    if cx.block is cx.root:
        raise cx.error(call, "RX0504", f"`{form.name}` stands in a block",
                         help='open one: `with T.block("name"):`')  # fmt: skip
    return cx.block


def describe_block_once(cx: TirContext, form: Form, call: ast.Call) -> OpenBlock:
    """The block that a statement describes, which it says one time only."""
    block = innermost_block(cx, form, call)
    before = block.said.setdefault(form.name, call)
    if before is not call:
        raise cx.error(
            call, "RX0504", f"`{form.name}` is said of this block already",
            labels=[(before, "here")], help="say it once, with all that belongs to it",
        )  # fmt: skip
    return block


def set_reads(cx: TirContext, form: Form, call: ast.Call) -> None:
    describe_block_once(cx, form, call).reads = tuple(parse_regions(cx, form, call))


def set_writes(cx: TirContext, form: Form, call: ast.Call) -> None:
    describe_block_once(cx, form, call).writes = tuple(parse_regions(cx, form, call))


def parse_regions(cx: TirContext, form: Form, call: ast.Call) -> list[BufferRegion]:
    """The arguments of `T.reads` and `T.writes`; whole buffers and lists are taken too."""
    values = list(form.arguments["regions"])
    nodes: list[ast.AST] = list(call.args)
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        inner = nodes[0]
        values = list(values[0])
        nodes = list(inner.elts) if isinstance(inner, (ast.List, ast.Tuple)) else []
    if len(nodes) != len(values):
        nodes = [call] * len(values)
    found = [region_of(cx, v, at) for v, at in zip(values, nodes)]
    for region, at in zip(found, nodes):
        check_outside(cx, region, at, form)
    return found


def check_outside(cx: TirContext, mentioned: Node, node: ast.AST, form: Form) -> None:
    """What a block says of itself cannot depend on what its statements bind."""
    for inner in walk(mentioned):
        if isinstance(inner, prim.Var) and inner in cx.block.bound:
            raise cx.error(
                node, "RX0504", f"`{form.name}` is said of the whole block, and "
                f"`{inner.name}` is bound in it",
                labels=[(inner.span, "bound here")],
                help="bind it before the block, or write its value",
            )  # fmt: skip


def region_of(cx: TirContext, value: Any, node: ast.AST) -> BufferRegion:
    match value:
        case BufferRegion():
            return value
        case Buffer():
            whole = tuple(Range.make(const(0, d.dtype), d) for d in value.shape)
            return BufferRegion.make(value, whole, span=cx.span(node))
        case prim.BufferLoad():
            ranges = tuple(range_of_index(cx, i) for i in value.indices)
            return BufferRegion.make(value.buffer, ranges, span=value.span)
    raise cx.error(
        node, "RX0504", f"a region of a buffer is needed here, this is {describe(value)}",
        help="write for example `A[0:4, vi]`",
    )  # fmt: skip


def range_of_index(cx: TirContext, index: PrimExpr) -> Range:
    if isinstance(index, prim.Ramp):
        return Range.make(index.base, const(index.lanes, index.base.dtype))
    return Range.make(index, const(1, index.dtype))


def set_predicate(cx: TirContext, form: Form, call: ast.Call) -> None:
    block = describe_block_once(cx, form, call)
    at = argument_nodes(cx, form.maker, call)["predicate"]
    block.predicate = to_condition(cx, form.arguments["predicate"], at)
    check_outside(cx, block.predicate, at, form)
    check_before_axes(cx, block.predicate, at, form)


def check_before_axes(cx: TirContext, mentioned: Node, node: ast.AST, form: Form) -> None:
    """What decides about a run of a block is known before its axes have their values."""
    axes = {axis.var: value for axis, value in zip(cx.block.iter_vars, cx.block.iter_values)}
    for inner in walk(mentioned):
        if isinstance(inner, prim.Var) and inner in axes:
            raise cx.error(
                node, "RX0504", f"`{form.name}` stands outside of the block, where its axis "
                f"`{inner.name}` has no value", labels=[(inner.span, "the axis")],
                help="write the loop variables that give the axis its value",
            )  # fmt: skip


def annotate_block(cx: TirContext, form: Form, call: ast.Call) -> None:
    block = describe_block_once(cx, form, call)
    at = argument_nodes(cx, form.maker, call)["attrs"]
    found = make_attributes(cx, form.arguments["attrs"], at)
    block.annotations.update(found)


def make_attributes(cx: TirContext, value: Any, node: ast.AST) -> Attrs:
    """A dict of attributes or annotations; None has none."""
    if value is None:
        return Attrs()
    if not isinstance(value, dict) or not all(isinstance(k, str) for k in value):
        raise cx.error(node, "RX0103", "attributes are a dict with texts as keys",
                         help='write `{"name": value}`')  # fmt: skip
    try:
        made = Attrs(attribute(value))
        for inner in _items(value):
            if isinstance(inner, (Buffer, BufferRegion)):
                raise TypeError(f"an attribute cannot hold {describe(inner)}")
        return made
    except TypeError as error:
        raise cx.error(node, "RX0103", str(error)) from None


# init = "with T.init():" ...
def parse_init(cx: TirContext, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
    call = node.items[0].context_expr
    if cx.block is cx.root:
        raise cx.error(call, "RX0504", "`T.init()` stands in a block",
                         help='open one: `with T.block("name"):`')  # fmt: skip
    if cx.block.init is not None:
        raise cx.error(call, "RX0504", "this block has an `init` already")
    with cx.scope():
        cx.block.init = parse_suite(cx, body)


def match_region(cx: TirContext, buffer: Buffer, source: Any, node: ast.AST) -> None:
    """`B = T.match_buffer(A[0:4, 0:4], (4, 4))` in a block."""
    region = region_of(cx, source, node)
    cx.block.match_buffers.append(MatchBufferRegion.make(buffer, region, span=cx.span(node)))
