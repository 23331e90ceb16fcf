"""Blocks of PrimFuncs: axes, what is read and written, init, and the block around everything.

    block = "with" "T.block(" name "):" { axes | "T.where(...)" | "T.reads(...)" | "T.writes(...)"
            | "T.block_attr(...)" | buffer | "with T.init():" | statement }
    axes  = name "=" "T.axis.spatial(" domain "," binding ")"
          | names "=" "T.axis.remap(" kinds "," loop variables ")"

Regions that are not written are derived from the body (`tir_builder.access`). A body that holds
blocks, or that allocates buffers, is in a block named "root", as in TVM.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.relax import Attrs
from relaxscript.script.names import tir_axis
from relaxscript.script.names.attributes import attribute
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.tir_builder import AXIS_KINDS, attributes

from .axis_kinds import AxisPlace
from .body import parse_suite_in
from .call import argument_nodes
from .context import TirContext
from .table_statement import bind_table_statement

__all__ = ["make_attributes", "make_axes", "parse_init"]


def _kinds_with(kinds: str, place: int, literal: bool, letter: str) -> str | None:
    """The string of `T.axis.remap` with another kind for one axis."""
    return f'"{kinds[:place]}{letter}{kinds[place + 1 :]}"' if literal else None


def _word_with(written: str, letter: str) -> str | None:
    """`T.axis.reduce` for `T.axis.spatial`, where it is written with its dots."""
    prefix, dot, word = written.rpartition(".")
    if not dot:
        return None
    return f"{prefix}.{letter if len(word) == 1 else AXIS_KINDS[letter]}"


# axes = name "=" "T.axis.spatial(" domain "," binding ")" | names "=" "T.axis.remap(...)"
def make_axes(
    cx: TirContext, form: StmtForm, names: Sequence[str], call: ast.Call
) -> list[prim.Var]:
    """The variables of new axes."""
    if form.maker is tir_axis.remap:
        return remap_axes(cx, form, names, call)
    return [make_axis(cx, form, names[0], call)]


def make_axis(cx: TirContext, form: StmtForm, name: str, call: ast.Call) -> prim.Var:
    """One axis with a domain of its own."""
    target = ast.copy_location(ast.Name(name), call)
    var = bind_table_statement(cx, target, form, call, call)
    cx.fixed[var] = "an axis"
    written = cx.written(call.func)
    cx.axis_places[var] = AxisPlace(cx.span(call.func), partial(_word_with, written))
    return var


def remap_axes(
    cx: TirContext, form: StmtForm, names: Sequence[str], call: ast.Call
) -> list[prim.Var]:
    """One axis for each loop variable, over the whole range of the loop."""
    places = argument_nodes(form.maker, call)
    kinds, bindings = form.arguments["kinds"], form.arguments["bindings"]
    with cx.builder_at(call, places) as builder:
        made = builder.innermost.remap(kinds, bindings, names)
    literal = isinstance(places["kinds"], ast.Constant)
    for i, var in enumerate(made):
        cx.fixed[var] = "an axis"
        other = partial(_kinds_with, kinds, i, literal)
        cx.axis_places[var] = AxisPlace(cx.span(places["kinds"]), other)
    return made


def make_attributes(cx: TirContext, value: Any, node: ast.AST) -> Attrs:
    """A dict of attributes or annotations; None has none."""
    with cx.builder_at(node):
        return attributes(attribute(value), "attrs")


# init = "with T.init():" ...
def parse_init(cx: TirContext, form: StmtForm, node: ast.With) -> None:
    call = node.items[0].context_expr
    with cx.builder_at(call) as builder:
        scope = builder.innermost.init("T.init()")
    parse_suite_in(cx, scope, node.body, call)
