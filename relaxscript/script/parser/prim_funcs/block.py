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
from collections.abc import Sequence
from functools import partial
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import Range
from relaxscript.script.names import tir_axis
from relaxscript.script.names.attributes import attribute
from relaxscript.script.names.syntax import AXIS_LETTERS
from relaxscript.script.names.tir_types import Form
from relaxscript.tir_builder import attributes

from .axis_kinds import AxisPlace
from .body import parse_suite_in
from .buffer import parse_dtype
from .call import argument_nodes
from .context import TirContext
from .scalar import to_condition, to_scalar

__all__ = [
    "annotate_block",
    "domain_of",
    "make_attributes",
    "make_axes",
    "parse_block",
    "parse_init",
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


# block = "with" "T.block(" name "):" ...
def parse_block(cx: TirContext, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
    """A block with the statements in it."""
    call = node.items[0].context_expr
    with cx.making(call) as builder:
        builder.span = cx.span(node)
        scope = builder.block(form.arguments["name"], no_realize=form.arguments["no_realize"])
    parse_suite_in(cx, scope, body, call)


# axes = name "=" "T.axis.spatial(" domain "," binding ")" | names "=" "T.axis.remap(...)"
def make_axes(cx: TirContext, form: Form, names: Sequence[str], call: ast.Call) -> list[prim.Var]:
    """The variables of new axes."""
    with cx.making(call) as builder:
        builder.innermost.check_axes(form.name)
    if form.maker is tir_axis.remap:
        return remap_axes(cx, form, names, call)
    return [make_axis(cx, form, names[0], call)]


def make_axis(cx: TirContext, form: Form, name: str, call: ast.Call) -> prim.Var:
    """One axis with a domain of its own."""
    places = argument_nodes(cx, form.maker, call)
    binding, domain = form.arguments["binding"], form.arguments["dom"]
    if type(binding) is not int:
        binding = to_scalar(cx, binding, places["binding"])
    if domain is not None:
        domain = domain_of(cx, domain, places["dom"])
    dtype = parse_dtype(cx, places["dtype"]) if "dtype" in places else None
    with cx.making(call, places) as builder:
        kind = AXIS_MAKERS[form.maker]
        var = builder.innermost.axis(kind, domain, binding, name, dtype)
    cx.fixed[var] = "an axis"
    written = cx.written(call.func)
    cx.axis_places[var] = AxisPlace(cx.span(call.func), partial(_word_with, written))
    return var


def domain_of(cx: TirContext, domain: Any, node: ast.AST) -> Any:
    """The domain of an axis as the builder takes it: an extent, a range, or where it ends."""
    match domain:
        case Form(arguments={"begin": begin, "end": end}) | (begin, end):
            return tuple(v if type(v) is int else to_scalar(cx, v, node) for v in (begin, end))
        case int() | Range():
            return domain
    return to_scalar(cx, domain, node)


def remap_axes(cx: TirContext, form: Form, names: Sequence[str], call: ast.Call) -> list[prim.Var]:
    """One axis for each loop variable, over the whole range of the loop."""
    places = argument_nodes(cx, form.maker, call)
    kinds, bindings = form.arguments["kinds"], form.arguments["bindings"]
    with cx.making(call, places) as builder:
        made = builder.innermost.remap(kinds, bindings, names)
    literal = isinstance(places["kinds"], ast.Constant)
    for i, var in enumerate(made):
        cx.fixed[var] = "an axis"
        other = partial(_kinds_with, kinds, i, literal)
        cx.axis_places[var] = AxisPlace(cx.span(places["kinds"]), other)
    return made


# block signature = "T.reads(...)" | "T.writes(...)" | "T.where(...)" | "T.block_attr(...)"
def set_reads(cx: TirContext, form: Form, call: ast.Call) -> None:
    with cx.making(call, places_of_regions(cx, form, call)) as builder:
        builder.innermost.reads(*form.arguments["regions"])


def set_writes(cx: TirContext, form: Form, call: ast.Call) -> None:
    with cx.making(call, places_of_regions(cx, form, call)) as builder:
        builder.innermost.writes(*form.arguments["regions"])


def places_of_regions(cx: TirContext, form: Form, call: ast.Call) -> dict[str, ast.AST]:
    """Where each region stands; whole lists of them are taken too."""
    values, nodes = list(form.arguments["regions"]), list(call.args)
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values, inner = list(values[0]), nodes[0]
        nodes = list(inner.elts) if isinstance(inner, (ast.List, ast.Tuple)) else []
    if len(nodes) != len(values):
        return {}
    return {f"regions[{i}]": at for i, at in enumerate(nodes)}


def set_predicate(cx: TirContext, form: Form, call: ast.Call) -> None:
    places = argument_nodes(cx, form.maker, call)
    with cx.making(call, places) as builder:
        builder.innermost.check_once("T.where")
    predicate = to_condition(cx, form.arguments["predicate"], places["predicate"])
    with cx.making(call, places) as builder:
        builder.innermost.where(predicate)


def annotate_block(cx: TirContext, form: Form, call: ast.Call) -> None:
    with cx.making(call, argument_nodes(cx, form.maker, call)) as builder:
        builder.innermost.annotate(attribute(form.arguments["attrs"]))


def make_attributes(cx: TirContext, value: Any, node: ast.AST) -> Attrs:
    """A dict of attributes or annotations; None has none."""
    with cx.making(node):
        return attributes(attribute(value), "attrs")


# init = "with T.init():" ...
def parse_init(cx: TirContext, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
    call = node.items[0].context_expr
    with cx.making(call) as builder:
        scope = builder.innermost.init("T.init()")
    parse_suite_in(cx, scope, body, call)
