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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import quantity
from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import ForKind, IfThenElse, Range, Stmt
from relaxscript.script.names import tir_statements
from relaxscript.script.names.syntax import LOOPS as LOOP_WORDS, TIR_INT_DTYPE
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.parser.compile_time import LoopExit, bind_item, count_step
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.expression import parse_expr
from relaxscript.script.parser.script_context import ItemUse
from relaxscript.tir_builder import Scope, TIRError, describe
from relaxscript.tir_builder.operands import extent_between, range_between

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
from .call import argument_nodes
from .context import TirContext
from .python_function import PYTHON_RANGE
from .scalar import to_condition, to_scalar
from .thread import check_thread

__all__ = [
    "LOOPS",
    "parse_condition",
    "parse_for",
    "parse_if",
    "parse_if_scope",
    "parse_loop_exit",
    "parse_loops",
    "parse_while",
    "parse_while_scope",
    "ranges_of_loops",
]

# What loops go over, by the functions of `T` that say it.
LOOPS: dict[Any, str] = {
    **{getattr(tir_statements, word): kind for kind, word in LOOP_WORDS.items()},
    PYTHON_RANGE: ForKind.SERIAL,
}


# statement = "for" names "in" loops ":" body
def parse_for(cx: TirContext, node: ast.For) -> None:
    if node.orelse:
        cx.error(node.orelse[0], "RX0501", "a loop of a PrimFunc has no `else`",
                   help="put these statements after the loop")  # fmt: skip
    try:
        value: Any = parse_expr(cx, node.iter)
        if is_python_loop(cx, value):
            unroll_python_loop(cx, value, node)
            return
        loops = ranges_of_loops(cx, value, node.iter)
    except Failed:
        loops = None
    parse_loops(cx, loops, value if loops is not None else None, node.target, node)


def is_python_loop(cx: TirContext, value: Any) -> bool:
    """True if a loop over a value is written out while the program is read."""
    if isinstance(value, (StmtForm, Node, range, BufferSyntax)):
        return False
    return isinstance(value, Iterable)


def unroll_python_loop(cx: TirContext, value: Any, node: ast.For) -> None:
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
    node: ast.For | ast.With, body: Sequence[ast.stmt] | None = None,
) -> None:  # fmt: skip
    """The loops around a body, outermost first; after a mistake the body is still read."""
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
            scope = scope_of_loops(cx, variables, loops, form, node)
        with scope or cx.builder.collecting("T.serial", lambda statements: None):
            parse_statements(cx, node.body if body is None else body)
            check_realized(cx)


def scope_of_loops(
    cx: TirContext, variables: Sequence[prim.Var], loops: Sequence[Range], form: Any,
    node: ast.For | ast.With,
) -> Scope | None:  # fmt: skip
    """The scope of nested loops; None after a mistake in what is said of them."""
    at = node.iter if isinstance(node, ast.For) else node.items[0].context_expr
    try:
        annotations, binding = annotations_of_loop(cx, form, at)
    except Failed:
        return None
    kind = LOOPS.get(form.maker, ForKind.SERIAL) if isinstance(form, StmtForm) else ForKind.SERIAL
    with cx.builder_at(node) as builder:
        return builder.nest(variables, loops, kind, binding, annotations)


def annotations_of_loop(
    cx: TirContext, form: Any, node: ast.AST
) -> tuple[Attrs, tir.IterVar | None]:
    if not isinstance(form, StmtForm):
        return Attrs(), None
    at = argument_nodes(cx, form.maker, node)["annotations"] if isinstance(node, ast.Call) else node
    annotations = make_attributes(cx, form.arguments.get("annotations"), at)
    if form.maker is not tir_statements.thread_binding:
        return annotations, None
    places = argument_nodes(cx, form.maker, node) if isinstance(node, ast.Call) else {}
    second = places.get("stop", node) if form.arguments["stop"] is None else node
    thread = check_thread(cx, form.arguments["thread"], places.get("thread", second))
    var = prim.Var.make("", TIR_INT_DTYPE)
    return annotations, tir.IterVar.make(None, var, "ThreadIndex", thread)


def refuse_one_tuple(
    cx: TirContext, extents: Sequence[Any], places: Mapping[str, ast.AST], node: ast.AST
) -> None:
    """`T.grid((8, 8))`: the extents are arguments, not one tuple."""
    place = places.get("extents[0]", node)
    if len(extents) == 1 and isinstance(extents[0], (tuple, list)):
        instead = f"*{cx.written(place)}"
        if isinstance(place, (ast.Tuple, ast.List)):
            instead = ", ".join(cx.written(part) for part in place.elts)
        raise cx.error(
            place, "RX0501", "`T.grid` takes its extents one by one",
            help=f"write `T.grid({instead})`", fix=instead,
        )  # fmt: skip


def ranges_of_loops(cx: TirContext, value: Any, node: ast.expr) -> list[Range]:
    """The ranges of what a loop goes over, outermost first."""
    if isinstance(value, range):
        value = PYTHON_RANGE(value.start, value.stop, value.step)
    if not isinstance(value, StmtForm) or not (
        value.maker in LOOPS or value.maker is tir_statements.grid
    ):
        counts = not isinstance(value, bool) and (
            isinstance(value, int) or (isinstance(value, PrimExpr) and value.dtype.is_integer)
        )
        instead = f"range({cx.written(node)})" if counts else None
        raise cx.error(
            node, "RX0501", f"a loop of a PrimFunc cannot go over {describe(value)}",
            help=f"write `{instead}`" if instead else LOOP_HELP, fix=instead,
        )  # fmt: skip
    places = places_of_bounds(cx, value, node)
    if value.maker is tir_statements.grid:
        extents = value.arguments["extents"]
        if not extents:
            raise cx.error(
                node, "RX0103", "`T.grid` needs an extent for each loop",
                help="write for example `T.grid(16, 16)`",
            )  # fmt: skip
        refuse_one_tuple(cx, extents, places, node)
        return [make_range(cx, 0, e, places.get(f"extents[{i}]", node))
                for i, e in enumerate(extents)]  # fmt: skip
    if value.maker is tir_statements.thread_binding and not isinstance(
        value.arguments["thread"], str
    ):
        raise cx.error(node, "RX0103", "`T.thread_binding` needs the name of a thread",
                         help='write `thread="threadIdx.x"`')  # fmt: skip
    start, stop = value.arguments["start"], value.arguments["stop"]
    if stop is None:
        start, stop = 0, start
    step = value.arguments.get("step", 1)
    if type(step) is not int or step == 0:
        at = places.get("step", node)
        raise cx.error(at, "RX0501", "the step of a loop is a constant number, not zero")
    at = places.get("stop", places.get("start", node))
    whole = make_range(cx, start, stop, at, places.get("start", node))
    return [whole if step == 1 else count_steps(cx, whole, step)]


def count_steps(cx: TirContext, whole: Range, step: int) -> Range:
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
    cx: TirContext, form: Any, variables: Sequence[prim.Var], target: ast.expr | None
) -> None:
    """After `range(start, stop, step)` the name means the value of each step."""
    step, start = 1, 0
    if isinstance(form, range):
        start, step = form.start, form.step
    elif isinstance(form, StmtForm) and form.maker is PYTHON_RANGE:
        step = form.arguments["step"]
        start = form.arguments["start"] if form.arguments["stop"] is not None else 0
    if step == 1 or target is None:
        return
    steps = variables[0] * step
    value = steps if start == 0 and type(start) is int else steps + start
    for name in ast.walk(target):
        if isinstance(name, ast.Name):
            cx.names[name.id] = value


def places_of_bounds(cx: TirContext, form: StmtForm, node: ast.expr) -> dict[str, ast.expr]:
    if not isinstance(node, ast.Call) or form.maker is PYTHON_RANGE:
        names = ("start", "stop", "step")
        return dict(zip(names, node.args)) if isinstance(node, ast.Call) else {}
    return argument_nodes(cx, form.maker, node)


def make_range(
    cx: TirContext, start: Any, stop: Any, node: ast.AST, start_node: ast.AST | None = None
) -> Range:
    """One range; plain numbers take the dtype of the other bound, else int32."""
    places = {"start": start_node or node, "stop": node}
    bounds = [bound_of(cx, value, at) for value, at in zip((start, stop), places.values())]
    try:
        return range_between(bounds[0], bounds[1], span=cx.span(node))
    except TIRError as error:
        raise cx.refuse(error, places.__getitem__) from None


def bound_of(cx: TirContext, value: Any, node: ast.AST) -> Any:
    """A bound of a range: a plain number, or a scalar."""
    if isinstance(value, np.integer):
        return int(value)
    return value if type(value) is int else to_scalar(cx, value, node)


def make_loop_variables(
    cx: TirContext, target: ast.expr | None, loops: Sequence[Range], node: ast.AST
) -> list[prim.Var]:
    """The variables of loops; one name for several loops is a Python tuple of them."""
    match target:
        case ast.Name(id=name) if len(loops) == 1:
            names = [(name, target)]
        case ast.Name(id=name):
            variables = [
                make_loop_variable(cx, f"{name}_{i}", target, r) for i, r in enumerate(loops)
            ]
            cx.names[name] = tuple(variables)
            return variables
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            if any(isinstance(e, ast.Starred) for e in elements):
                return unpack_loop_variables(cx, elements, loops, target)
            for element in elements:
                if not isinstance(element, ast.Name):
                    raise cx.error(element, "RX0501", "a loop variable is a name")
            names = [(e.id, e) for e in elements if isinstance(e, ast.Name)]
        case None:
            return [make_loop_variable(cx, "i", node, r) for r in loops]
        case _:
            raise cx.error(target, "RX0501", "a loop variable is a name")
    if len(names) != len(loops):
        raise cx.error(
            target, "RX0501",
            f"{quantity(len(loops), 'loop')} cannot be given to {quantity(len(names), 'name')}",
        )  # fmt: skip
    found = []
    for (name, at), domain in zip(names, loops):
        var = make_loop_variable(cx, name, at, domain)
        cx.names[name] = var
        found.append(var)
    return found


def unpack_loop_variables(
    cx: TirContext, elements: Sequence[ast.expr], loops: Sequence[Range], target: ast.expr
) -> list[prim.Var]:
    """`for *idx, j in T.grid(...)`: the name with the star is a tuple of what is left over."""
    at = next(i for i, e in enumerate(elements) if isinstance(e, ast.Starred))
    behind = len(elements) - at - 1
    if at + behind > len(loops):
        raise cx.error(
            target, "RX0501",
            f"{quantity(len(loops), 'loop')} cannot be given to {at + behind} names and more",
        )  # fmt: skip
    middle = loops[at : len(loops) - behind]
    rest = elements[at].value  # type: ignore[attr-defined]
    parts = [(elements[:at], loops[:at]), (elements[at + 1 :], loops[len(loops) - behind :])]
    before, after = (
        make_loop_variables(cx, ast.Tuple(elts=list(names)), ranges, target) if names else []
        for names, ranges in parts
    )
    if not isinstance(rest, ast.Name):
        raise cx.error(rest, "RX0501", "a loop variable is a name")
    several = [
        make_loop_variable(cx, f"{rest.id}_{i}", rest, domain) for i, domain in enumerate(middle)
    ]
    cx.names[rest.id] = tuple(several)
    return [*before, *several, *after]


def make_loop_variable(cx: TirContext, name: str, node: ast.AST, domain: Range) -> prim.Var:
    var = prim.Var.make(name, domain.extent.dtype, span=cx.span(node))
    cx.fixed[var] = "a loop variable"
    return var


# statement = "while" scalar ":" body
def parse_while(cx: TirContext, node: ast.While) -> None:
    if node.orelse:
        cx.error(node.orelse[0], "RX0501", "a loop of a PrimFunc has no `else`",
                   help="put these statements after the loop")  # fmt: skip
    condition = parse_condition(cx, node.test)
    if condition is None:
        parse_branch(cx, node.body)
        return
    with cx.builder_at(node) as builder:
        scope = builder.while_(condition)
    parse_suite_in(cx, scope, node.body, node)


def parse_condition(cx: TirContext, node: ast.expr) -> PrimExpr | None:
    """A condition, or None after a mistake in it: what depends on it is read all the same."""
    try:
        value = parse_expr(cx, node)
        return to_condition(cx, bool(value) if type(value) is int else value, node)
    except Failed:
        return None


def parse_while_scope(
    cx: TirContext, form: StmtForm, node: ast.With, body: Sequence[ast.stmt]
) -> None:
    condition = to_condition(cx, form.arguments["condition"], node.items[0].context_expr)
    with cx.builder_at(node) as builder:
        scope = builder.while_(condition)
    parse_suite_in(cx, scope, body, node)


# statement = "if" scalar ":" body { "elif" scalar ":" body } ["else" ":" body]
def parse_if(cx: TirContext, node: ast.If) -> None:
    """`elif` chains are walked in a loop, since they are as long as people write them."""
    cases: list[tuple[PrimExpr | None, Stmt, ast.If]] = []
    step: ast.If = node
    while True:
        try:
            test: Any = parse_expr(cx, step.test)
        except Failed:
            test = UNKNOWN
        if test is not UNKNOWN and not isinstance(test, (Node, np.generic)):
            # Python's own `if`, decided while parsing.
            chosen = step.body if test else step.orelse
            if not cases:
                parse_statements(cx, chosen)
                return
            otherwise = parse_branch(cx, chosen) if chosen else None
            break
        condition = None if test is UNKNOWN else to_condition_or_none(cx, test, step.test)
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


def to_condition_or_none(cx: TirContext, value: Any, node: ast.expr) -> PrimExpr | None:
    try:
        return to_condition(cx, value, node)
    except Failed:
        return None


def parse_if_scope(
    cx: TirContext, form: StmtForm, node: ast.With, body: Sequence[ast.stmt]
) -> None:
    """`with T.If(c):` holds `with T.Then():` and perhaps `with T.Else():`."""
    condition = to_condition(cx, form.arguments["condition"], node.items[0].context_expr)
    cx.visited.update(body)
    parts: dict[Any, Stmt] = {}
    for part in body:
        made = None
        if isinstance(part, ast.With) and len(part.items) == 1:
            made = parse_expr(cx, part.items[0].context_expr)
        if not isinstance(made, StmtForm) or made.maker not in (
            tir_statements.Then,
            tir_statements.Else,
        ):
            raise cx.error(
                first_line(cx, part), "RX0501", "`T.If` holds `T.Then` and `T.Else` only",
                help="write `with T.Then():`",
            )  # fmt: skip
        parts[made.maker] = parse_branch(cx, part.body)  # type: ignore[attr-defined]
    if tir_statements.Then not in parts:
        raise cx.error(first_line(cx, node), "RX0501", "`T.If` needs `with T.Then():`")
    cx.builder.add(IfThenElse.make(
        condition, parts[tir_statements.Then], parts.get(tir_statements.Else), span=cx.span(node)
    ))  # fmt: skip
