"""Loops and branches of PrimFuncs.

    "for" names "in" loops ":" body | "while" scalar ":" body
    | "if" scalar ":" body { "elif" scalar ":" body } ["else" ":" body]
    loops = "range(...)" | "T.serial(...)" | "T.parallel(...)" | "T.grid(...)" ...

A loop variable has the dtype of the bounds; plain numbers count in int32. `range` with a step
is a loop over the number of steps, and the name means the value of each. A condition that Python
knows while the program is parsed chooses at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import quantity
from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.tir import ForKind, IfThenElse, Range, Stmt
from relaxscript.script.names import tir_statements
from relaxscript.script.names.syntax import LOOPS as LOOP_WORDS, TIR_INT_DTYPE
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.parser.compile_time import LoopExit, bind_item, count_step
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.expression import parse_expr
from relaxscript.script.parser.script_context import ItemUse
from relaxscript.tir_builder import Scope, describe
from relaxscript.tir_builder.operands import extent_between

from .block import make_attributes
from .body import (
    LOOP_HELP,
    check_realized,
    first_line,
    parse_branch,
    parse_statements,
    parse_suite_in,
    unsupported_statement,
)
from .buffer import BufferSyntax
from .call import Places
from .context import TirContext
from .python_function import PYTHON_RANGE
from .scalar import to_condition
from .table_statement import check_values, places_of

__all__ = [
    "LOOPS",
    "make_range",
    "parse_condition",
    "parse_for",
    "parse_if",
    "parse_if_scope",
    "parse_loop_exit",
    "parse_loops",
    "parse_while",
    "ranges_of_loops",
]

# What loops go over, by the functions of `T` that say it.
LOOPS: dict[Any, str] = {
    **{getattr(tir_statements, word): kind for kind, word in LOOP_WORDS.items()},
    tir_statements.grid: ForKind.SERIAL,
    PYTHON_RANGE: ForKind.SERIAL,
}


# statement = "for" names "in" loops ":" body
def parse_for(cx: TirContext, node: ast.For) -> None:
    refuse_else(cx, node)
    loops = None
    try:
        form: Any = parse_expr(cx, node.iter)
        if isinstance(form, range):
            form = PYTHON_RANGE(form.start, form.stop, form.step)
        if is_python_loop(form):
            parse_python_loop(cx, form, node)
            return
        loops = ranges_of_loops(cx, form, node.iter)
    except Failed:
        form = None
    parse_loops(cx, loops, form, node.target, node, node.iter)


def refuse_else(cx: TirContext, node: ast.For | ast.While) -> None:
    if node.orelse:
        cx.error(node.orelse[0], "RX0501", "a loop of a PrimFunc has no `else`",
                   help="put these statements after the loop")  # fmt: skip


def is_python_loop(value: Any) -> bool:
    """True if a loop over a value is written out while the program is read."""
    return isinstance(value, Iterable) and not isinstance(value, (StmtForm, Node, BufferSyntax))


def parse_python_loop(cx: TirContext, value: Any, node: ast.For) -> None:
    """The body once for each item; after a mistake no more of them."""
    items = cx.language.items_of(cx, value, node.iter, ItemUse.LOOP)
    before = len(cx.reporter.diagnostics)
    cx.unrolled.append(cx.builder.items)
    try:
        for item in items:
            count_step(cx, node.iter)
            bind_item(cx, node.target, item, cx.names.__setitem__)
            try:
                parse_statements(cx, node.body)
            except LoopExit as end:
                if end.leaves:
                    break
            if cx.reporter.failed_since(before):
                break
    finally:
        cx.unrolled.pop()


def parse_loop_exit(cx: TirContext, node: ast.Break | ast.Continue) -> None:
    """`break` and `continue` where the loop is written out and Python knows that they happen.

    Inside of loops and branches of the program the list of statements is another one.
    """
    if not cx.unrolled or cx.unrolled[-1] is not cx.builder.items:
        raise unsupported_statement(cx, node)
    raise LoopExit(isinstance(node, ast.Break))


def parse_loops(
    cx: TirContext, loops: list[Range] | None, form: Any, target: ast.expr | None,
    node: ast.For | ast.With, at: ast.expr,
) -> None:  # fmt: skip
    """The loops around a body, outermost first, which `form` says at `at`.

    After a mistake, which leaves no `loops`, the body is still read.
    """
    scope: Scope | None = None
    with cx.scope():
        try:
            if loops is None:
                raise Failed
            variables = make_loop_variables(cx, target, loops, node)
            bind_steps(cx, form, variables, target)
        except Failed:
            if target is not None:
                cx.forget_names(target)
        else:
            scope = scope_of_loops(cx, variables, loops, form, node, at)
        with scope or cx.builder.collecting("T.serial", lambda statements: None):
            parse_statements(cx, node.body)
            check_realized(cx)


def scope_of_loops(
    cx: TirContext, variables: Sequence[prim.Var], loops: Sequence[Range], form: StmtForm,
    node: ast.For | ast.With, at: ast.expr,
) -> Scope | None:  # fmt: skip
    """The scope of nested loops; None after a mistake in what is said of them."""
    places, thread = places_of(cx, form, at), None
    try:
        notes = make_attributes(cx, form.arguments.get("annotations"), places["annotations"])
        if form.maker is tir_statements.thread_binding:
            thread = thread_of_loop(cx, form, places)
    except Failed:
        return None
    with cx.builder_at(node) as builder:
        return builder.nest(variables, loops, LOOPS[form.maker], thread, notes)


def thread_of_loop(cx: TirContext, form: StmtForm, places: Places) -> tir.IterVar:
    """The axis of `T.thread_binding`, which may name the thread second."""
    second = places["stop"] if form.arguments["stop"] is None else places.node
    with cx.builder_at(places.get("thread", second)) as builder:
        tag = builder.known_thread(form.arguments["thread"], "thread")
    return tir.IterVar.make(None, prim.Var.make("", TIR_INT_DTYPE), "ThreadIndex", tag)


def ranges_of_loops(cx: TirContext, form: Any, node: ast.expr) -> list[Range]:
    """The ranges of what a loop goes over, outermost first."""
    if not isinstance(form, StmtForm) or form.maker not in LOOPS:
        counts = not isinstance(form, bool) and (
            isinstance(form, int) or (isinstance(form, PrimExpr) and form.dtype.is_integer)
        )
        instead = f"range({cx.written(node)})" if counts else None
        raise cx.error(
            node, "RX0501", f"a loop of a PrimFunc cannot go over {describe(form)}",
            help=f"write `{instead}`" if instead else LOOP_HELP, fix=instead,
        )  # fmt: skip
    given, places = form.arguments, places_of(cx, form, node)
    if form.maker is tir_statements.grid:
        return ranges_of_grid(cx, given["extents"], places)
    if form.maker is tir_statements.thread_binding and not isinstance(given["thread"], str):
        raise cx.error(node, "RX0103", "`T.thread_binding` needs the name of a thread",
                         help='write `thread="threadIdx.x"`')  # fmt: skip
    step = given.get("step", 1)
    if type(step) is not int or step == 0:
        message = "the step of a loop is a constant number, not zero"
        raise cx.error(places["step"], "RX0501", message)
    whole = make_range(cx, given["start"], given["stop"], node, places)
    return [whole if step == 1 else count_steps(whole, step)]


def ranges_of_grid(cx: TirContext, extents: Sequence[Any], places: Places) -> list[Range]:
    """The ranges of `T.grid(8, 8)`; its extents are arguments, not one tuple."""
    place = places["extents[0]"]
    if len(extents) == 1 and isinstance(place, (ast.Tuple, ast.List)):
        instead = ", ".join(cx.written(part) for part in place.elts)
        raise cx.error(
            place, "RX0501", "`T.grid` takes its extents one by one",
            help=f"write `T.grid({instead})`", fix=instead,
        )  # fmt: skip
    for i, extent in enumerate(extents):
        check_values(cx, extent, places[f"extents[{i}]"])
    with cx.builder_at(places.node, places) as builder:
        tir_statements.check_extents(extents)
        return builder.domains_of_grid(extents)


def make_range(
    cx: TirContext, start: Any, stop: Any, node: ast.expr, places: Places | None = None
) -> Range:
    """One range; plain numbers take the dtype of the other bound, else int32."""
    places = Places(node) if places is None else places
    for value, name in ((start, "start"), (stop, "stop")):
        check_values(cx, value, places[name])
    with cx.builder_at(node, places) as builder:
        return builder.domain(start, stop)


def count_steps(whole: Range, step: int) -> Range:
    """The number of steps; the variable counts them, and the name means `start + i * step`."""
    extent = whole.extent
    dtype = extent.dtype
    if step < 0:
        extent = extent_between(extent, const(0, dtype))
    if isinstance(extent, prim.IntImm):
        count: PrimExpr = const(max(0, -(-extent.value // abs(step))), dtype)
    else:
        count = prim.FloorDiv.make(extent + (abs(step) - 1), const(abs(step), dtype))
    return Range.make(const(0, dtype), count)


def bind_steps(
    cx: TirContext, form: StmtForm, variables: Sequence[prim.Var], target: ast.expr | None
) -> None:
    """After `range(start, stop, step)` the name means the value of each step."""
    step = form.arguments.get("step", 1)
    if step == 1 or target is None:
        return
    start = 0 if form.arguments["stop"] is None else form.arguments["start"]
    steps = variables[0] * step
    value = steps if start == 0 and type(start) is int else steps + start
    for name in ast.walk(target):
        if isinstance(name, ast.Name):
            cx.names[name.id] = value


def make_loop_variables(
    cx: TirContext, target: ast.expr | None, loops: Sequence[Range], node: ast.AST
) -> list[prim.Var]:
    """The variables of loops; one name for several loops is a Python tuple of them."""
    if target is None:
        return [make_loop_variable(cx, "i", node, domain) for domain in loops]
    found: list[prim.Var] = []
    for name, domains in shares_of_names(cx, target, loops):
        if isinstance(domains, Range):
            made = cx.names[name.id] = make_loop_variable(cx, name.id, name, domains)
            found.append(made)
            continue
        several = [
            make_loop_variable(cx, f"{name.id}_{i}", name, domain)
            for i, domain in enumerate(domains)
        ]
        cx.names[name.id] = tuple(several)
        found += several
    return found


def shares_of_names(
    cx: TirContext, target: ast.expr, loops: Sequence[Range]
) -> list[tuple[ast.Name, Range | Sequence[Range]]]:
    """The loop of each name; a name with a star, and one that is alone, have all that are left."""
    elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    stars = [i for i, element in enumerate(elements) if isinstance(element, ast.Starred)]
    names: list[ast.Name] = []
    for element in elements:
        name = element.value if isinstance(element, ast.Starred) else element
        if not isinstance(name, ast.Name):
            raise cx.error(name, "RX0501", "a loop variable is a name")
        names.append(name)
    if names == [target] and len(loops) != 1:
        return [(names[0], loops)]
    count = len(names) - len(stars)
    if count > len(loops) or (count < len(loops) and not stars):
        takes = f"{count} names and more" if stars else quantity(count, "name")
        message = f"{quantity(len(loops), 'loop')} cannot be given to {takes}"
        raise cx.error(target, "RX0501", message)
    if not stars:
        return list(zip(names, loops))
    first, last = stars[0], stars[0] + len(loops) - count
    rest = (names[first], loops[first:last])
    return [*zip(names[:first], loops), rest, *zip(names[first + 1 :], loops[last:])]


def make_loop_variable(cx: TirContext, name: str, node: ast.AST, domain: Range) -> prim.Var:
    var = prim.Var.make(name, domain.extent.dtype, span=cx.span(node))
    cx.fixed[var] = "a loop variable"
    return var


# statement = "while" scalar ":" body
def parse_while(cx: TirContext, node: ast.While) -> None:
    refuse_else(cx, node)
    condition = parse_condition(cx, node.test)
    if condition is None:
        parse_branch(cx, node.body)
    else:
        with cx.builder_at(node) as builder:
            scope = builder.while_(condition)
        parse_suite_in(cx, scope, node.body, node)


def parse_test(cx: TirContext, node: ast.expr) -> Any:
    """The value of a condition; UNKNOWN after a mistake in it."""
    try:
        return parse_expr(cx, node)
    except Failed:
        return UNKNOWN


def condition_of(cx: TirContext, test: Any, node: ast.expr) -> PrimExpr | None:
    """A condition, or None after a mistake in it: what depends on it is read all the same."""
    try:
        return None if test is UNKNOWN else to_condition(cx, test, node)
    except Failed:
        return None


def parse_condition(cx: TirContext, node: ast.expr) -> PrimExpr | None:
    """A condition in which a number means its truth, as Python's does."""
    test = parse_test(cx, node)
    return condition_of(cx, bool(test) if type(test) is int else test, node)


# statement = "if" scalar ":" body { "elif" scalar ":" body } ["else" ":" body]
def parse_if(cx: TirContext, node: ast.If) -> None:
    """`elif` chains are walked in a loop, since they are as long as people write them."""
    cases: list[tuple[PrimExpr | None, Stmt, ast.If]] = []
    step: ast.If = node
    while True:
        test = parse_test(cx, step.test)
        if test is not UNKNOWN and not isinstance(test, (Node, np.generic)):
            # Python's own `if`, decided while parsing.
            chosen = step.body if test else step.orelse
            if not cases:
                parse_statements(cx, chosen)
                return
            otherwise = parse_branch(cx, chosen) if chosen else None
            break
        condition = condition_of(cx, test, step.test)
        cases.append((condition, parse_branch(cx, step.body), step))
        if len(step.orelse) == 1 and isinstance(step.orelse[0], ast.If):
            step = step.orelse[0]
            continue
        otherwise = parse_branch(cx, step.orelse) if step.orelse else None
        break
    for condition, body, at in reversed(cases):
        if condition is None:
            raise Failed
        otherwise = IfThenElse.make(condition, body, otherwise, span=cx.span(at))
    if otherwise is not None:
        cx.builder.add(otherwise)


def parse_if_scope(cx: TirContext, form: StmtForm, node: ast.With) -> None:
    """`with T.If(c):` holds `with T.Then():` and perhaps `with T.Else():`."""
    condition = to_condition(cx, form.arguments["condition"], node.items[0].context_expr)
    then, otherwise = tir_statements.Then, tir_statements.Else
    cx.visited.update(node.body)
    parts: dict[Any, Stmt] = {}
    for part in node.body:
        made = None
        if isinstance(part, ast.With) and len(part.items) == 1:
            made = parse_expr(cx, part.items[0].context_expr)
        if not isinstance(made, StmtForm) or made.maker not in (then, otherwise):
            raise cx.error(
                first_line(cx, part), "RX0501", "`T.If` holds `T.Then` and `T.Else` only",
                help="write `with T.Then():`",
            )  # fmt: skip
        parts[made.maker] = parse_branch(cx, part.body)  # type: ignore[attr-defined]
    if then not in parts:
        raise cx.error(first_line(cx, node), "RX0501", "`T.If` needs `with T.Then():`")
    cx.builder.add(
        IfThenElse.make(condition, parts[then], parts.get(otherwise), span=cx.span(node))
    )
