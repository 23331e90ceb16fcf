"""Loops and branches of PrimFuncs.

    "for" names "in" loops ":" body | "while" scalar ":" body
    | "if" scalar ":" body { "elif" scalar ":" body } ["else" ":" body]
    loops = "range(...)" | "T.serial(...)" | "T.parallel(...)" | "T.grid(...)" ...

A loop variable has the data type of the bounds; plain numbers count in int32. `range` with a step
is a loop over the number of steps, and the name means the value of each. A condition that Python
knows while the program is parsed chooses at once.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import Diagnostic, Edit, did_you_mean
from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import For, ForKind, IfThenElse, Range, Stmt, While
from relaxscript.script import tir_forms
from relaxscript.script.syntax import LOOPS as LOOP_WORDS, TIR_INT_DTYPE
from relaxscript.script.tir_types import Form

from .base import UNKNOWN, Failed
from .python_values import LoopExit
from .tir_assign import AssignParser
from .tir_block import Opener
from .tir_buffer import BufferSyntax
from .tir_call import PYTHON_RANGE
from .tir_scalar import counted, describe, extent_between

__all__ = ["LOOPS", "LOOP_HELP", "LoopParser"]

# What loops go over, by the functions of `T` that say it.
LOOPS: dict[Any, str] = {
    **{getattr(tir_forms, word): kind for kind, word in LOOP_WORDS.items()},
    PYTHON_RANGE: ForKind.SERIAL,
}
LOOP_HELP = (
    "loop over `range(n)`, `T.grid(n, m)`, `T.parallel(n)`, `T.vectorized(n)` or `T.unroll(n)`"
)


THREADS = [
    f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx", "vthread", "cthread") for axis in "xyz"
]


class LoopParser(AssignParser):
    """Adds loops and branches to assignments."""

    # The lists of statements into which loops over Python values are being written out.
    unrolled: list[list[Stmt | Opener]]

    # statement = "for" names "in" loops ":" body
    def for_loop(self, node: ast.For) -> None:
        if node.orelse:
            self.error(node.orelse[0], "RX0501", "a loop of a PrimFunc has no `else`",
                       help="put these statements after the loop")  # fmt: skip
        try:
            value: Any = self.value(node.iter)
            if self.is_python(value):
                self.written_out(value, node)
                return
            loops = self.loop_ranges(value, node.iter)
        except Failed:
            loops = None
        self.nest(loops, value if loops is not None else None, node.target, node)

    def is_python(self, value: Any) -> bool:
        """Whether a loop over a value is written out while the program is read."""
        if isinstance(value, (Form, Node, range, BufferSyntax)):
            return False
        return isinstance(value, Iterable)

    def written_out(self, value: Any, node: ast.For) -> None:
        """The body once for each item; after a mistake no more of them."""
        items = self.loop_items(value, node.iter)
        found = self.reporter.diagnostics
        before = len(found)
        self.unrolled.append(self.items)
        try:
            for item in items:
                self.bind_item(node.target, item)
                try:
                    self.statements(node.body)
                except LoopExit as end:
                    if end.leaves:
                        break
                if any(d.severity == "error" for d in found[before:]):
                    break
        finally:
            self.unrolled.pop()
        # A warning about the body is one for all items.
        found[before:] = list(dict.fromkeys(found[before:]))

    def loop_exit(self, node: ast.Break | ast.Continue) -> None:
        """`break` and `continue` where the loop is written out and Python knows that they happen.

        Inside of loops and branches of the program the list of statements is another one.
        """
        if not self.unrolled or self.unrolled[-1] is not self.items:
            raise self.unsupported_statement(node)
        raise LoopExit(isinstance(node, ast.Break))

    @abstractmethod
    def unsupported_statement(self, node: ast.stmt) -> Failed: ...

    def nest(
        self, loops: list[Range] | None, form: Any, target: ast.expr | None,
        node: ast.For | ast.With, body: Sequence[ast.stmt] | None = None,
    ) -> None:  # fmt: skip
        """The loops around a body, outermost first; after a mistake the body is still read."""
        with self.scope():
            try:
                if loops is None:
                    raise Failed
                variables = self.loop_variables(target, loops, node)
                self.bind_steps(form, variables, target)
            except Failed:
                if target is not None:
                    self.forget_all(target)
                variables = None
            inner = self.suite(node.body if body is None else body)
        if variables is None or loops is None:
            return
        kind = LOOPS.get(form.maker, ForKind.SERIAL) if isinstance(form, Form) else ForKind.SERIAL
        at = node.iter if isinstance(node, ast.For) else node.items[0].context_expr
        annotations, binding = self.loop_extras(form, at)
        span = self.span(node)
        for var, domain in zip(reversed(variables), reversed(loops)):
            inner = For.make(
                var, domain.min, domain.extent, kind, inner, binding, annotations, span=span
            )
        self.items.append(inner)

    def forget_all(self, target: ast.AST) -> None:
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                self.names[name.id] = UNKNOWN

    def known_thread(self, tag: Any, node: ast.AST) -> str:
        """The name of a thread; an unusual one deserves a word."""
        if not isinstance(tag, str):
            raise self.error(
                node,
                "RX0103",
                f"the name of a thread is a text, this is {describe(tag)}",
                help='write for example "threadIdx.x"',
            )
        if tag not in THREADS and tag not in ("vthread", "cthread"):
            near = self.near(tag, THREADS)
            help = did_you_mean(near, f"known are {', '.join(THREADS[:6])}", '"')
            message, at = f'no GPU has threads named "{tag}"', self.span(node)
            literal = near is not None and isinstance(node, ast.Constant)
            fix = (Edit(at, f'"{near}"'),) if literal and at is not None else ()
            self.report(Diagnostic("RX0501", message, at, help=help, fix=fix, severity="warning"))
        return tag

    def loop_extras(self, form: Any, node: ast.AST) -> tuple[Attrs, tir.IterVar | None]:
        if not isinstance(form, Form):
            return Attrs(), None
        at = (
            self.argument_nodes(form.maker, node)["annotations"]
            if isinstance(node, ast.Call)
            else node
        )
        annotations = self.attributes(form.arguments.get("annotations"), at)
        if form.maker is not tir_forms.thread_binding:
            return annotations, None
        places = self.argument_nodes(form.maker, node) if isinstance(node, ast.Call) else {}
        second = places.get("stop", node) if form.arguments["stop"] is None else node
        thread = self.known_thread(form.arguments["thread"], places.get("thread", second))
        var = prim.Var.make("", TIR_INT_DTYPE)
        return annotations, tir.IterVar.make(None, var, "ThreadIndex", thread)

    def refuse_one_tuple(
        self, extents: Sequence[Any], places: Mapping[str, ast.AST], node: ast.AST
    ) -> None:
        """`T.grid((8, 8))`: the extents stand one by one, in no tuple."""
        place = places.get("extents[0]", node)
        if len(extents) == 1 and isinstance(extents[0], (tuple, list)):
            instead = f"*{self.written(place)}"
            if isinstance(place, (ast.Tuple, ast.List)):
                instead = ", ".join(self.written(part) for part in place.elts)
            raise self.error(
                place, "RX0501", "`T.grid` takes its extents one by one",
                help=f"write `T.grid({instead})`", fix=instead,
            )  # fmt: skip

    def loop_ranges(self, value: Any, node: ast.expr) -> list[Range]:
        """The ranges of what a loop goes over, outermost first."""
        if isinstance(value, range):
            value = PYTHON_RANGE(value.start, value.stop, value.step)
        if not isinstance(value, Form) or not (
            value.maker in LOOPS or value.maker is tir_forms.grid
        ):
            counts = not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, PrimExpr) and value.dtype.is_integer)
            )
            instead = f"range({self.written(node)})" if counts else None
            raise self.error(
                node, "RX0501", f"a loop of a PrimFunc cannot go over {describe(value)}",
                help=f"write `{instead}`" if instead else LOOP_HELP, fix=instead,
            )  # fmt: skip
        places = self.loop_places(value, node)
        if value.maker is tir_forms.grid:
            extents = value.arguments["extents"]
            if not extents:
                raise self.error(
                    node, "RX0103", "`T.grid` needs an extent for each loop",
                    help="write for example `T.grid(16, 16)`",
                )  # fmt: skip
            self.refuse_one_tuple(extents, places, node)
            return [self.loop_range_of(0, e, places.get(f"extents[{i}]", node))
                    for i, e in enumerate(extents)]  # fmt: skip
        if value.maker is tir_forms.thread_binding and not isinstance(
            value.arguments["thread"], str
        ):
            raise self.error(node, "RX0103", "`T.thread_binding` needs the name of a thread",
                             help='write `thread="threadIdx.x"`')  # fmt: skip
        start, stop = value.arguments["start"], value.arguments["stop"]
        if stop is None:
            start, stop = 0, start
        step = value.arguments.get("step", 1)
        if type(step) is not int or step == 0:
            at = places.get("step", node)
            raise self.error(at, "RX0501", "the step of a loop is a constant number, not zero")
        at = places.get("stop", places.get("start", node))
        whole = self.loop_range_of(start, stop, at, places.get("start", node))
        return [whole if step == 1 else self.stepped(whole, step)]

    def stepped(self, whole: Range, step: int) -> Range:
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

    def bind_steps(self, form: Any, variables: Sequence[prim.Var], target: ast.expr | None) -> None:
        """After `range(start, stop, step)` the name means the value of each step."""
        step, start = 1, 0
        if isinstance(form, range):
            start, step = form.start, form.step
        elif isinstance(form, Form) and form.maker is PYTHON_RANGE:
            step = form.arguments["step"]
            start = form.arguments["start"] if form.arguments["stop"] is not None else 0
        if step == 1 or target is None:
            return
        steps = variables[0] * step
        value = steps if start == 0 and type(start) is int else steps + start
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                self.names[name.id] = value

    def loop_places(self, form: Form, node: ast.expr) -> dict[str, ast.expr]:
        if not isinstance(node, ast.Call) or form.maker is PYTHON_RANGE:
            names = ("start", "stop", "step")
            return dict(zip(names, node.args)) if isinstance(node, ast.Call) else {}
        return self.argument_nodes(form.maker, node)

    def loop_range_of(
        self, start: Any, stop: Any, node: ast.AST, start_node: ast.AST | None = None
    ) -> Range:
        """One range; plain numbers take the data type of the other bound, else int32."""
        bounds: list[Any] = []
        for value, at in ((start, start_node or node), (stop, node)):
            if isinstance(value, np.integer):
                value = int(value)
            if type(value) is not int:
                value = self.scalar(value, at)
                if not value.dtype.is_integer:
                    raise self.error(at, "RX0501", "a loop counts with integers",
                                     labels=[(at, f"is {value.dtype}")])  # fmt: skip
            bounds.append(value)
        if all(type(v) is int for v in bounds):
            bounds = [bound.replace(span=self.span(node)) for bound in prim.alike(*bounds)]
        low, high = prim.match_dtypes(*bounds)
        return Range.make(low, extent_between(low, high))

    def loop_variables(
        self, target: ast.expr | None, loops: Sequence[Range], node: ast.AST
    ) -> list[prim.Var]:
        """The variables of loops; one name for several loops is a Python tuple of them."""
        match target:
            case ast.Name(id=name) if len(loops) == 1:
                names = [(name, target)]
            case ast.Name(id=name):
                variables = [
                    self.loop_variable(f"{name}_{i}", target, r) for i, r in enumerate(loops)
                ]
                self.names[name] = tuple(variables)
                return variables
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if any(isinstance(e, ast.Starred) for e in elements):
                    return self.starred_variables(elements, loops, target)
                for element in elements:
                    if not isinstance(element, ast.Name):
                        raise self.error(element, "RX0501", "a loop variable is a name")
                names = [(e.id, e) for e in elements if isinstance(e, ast.Name)]
            case None:
                return [self.loop_variable("i", node, r) for r in loops]
            case _:
                raise self.error(target, "RX0501", "a loop variable is a name")
        if len(names) != len(loops):
            raise self.error(
                target, "RX0501",
                f"{counted(len(loops), 'loop')} cannot be given to {counted(len(names), 'name')}",
            )  # fmt: skip
        found = []
        for (name, at), domain in zip(names, loops):
            var = self.loop_variable(name, at, domain)
            self.names[name] = var
            found.append(var)
        return found

    def starred_variables(
        self, elements: Sequence[ast.expr], loops: Sequence[Range], target: ast.expr
    ) -> list[prim.Var]:
        """`for *idx, j in T.grid(...)`: the name with the star is a tuple of what is left over."""
        at = next(i for i, e in enumerate(elements) if isinstance(e, ast.Starred))
        behind = len(elements) - at - 1
        if at + behind > len(loops):
            raise self.error(
                target, "RX0501",
                f"{counted(len(loops), 'loop')} cannot be given to {at + behind} names and more",
            )  # fmt: skip
        middle = loops[at : len(loops) - behind]
        rest = elements[at].value  # type: ignore[attr-defined]
        parts = [(elements[:at], loops[:at]), (elements[at + 1 :], loops[len(loops) - behind :])]
        before, after = (
            self.loop_variables(ast.Tuple(elts=list(names)), ranges, target) if names else []
            for names, ranges in parts
        )
        if not isinstance(rest, ast.Name):
            raise self.error(rest, "RX0501", "a loop variable is a name")
        several = [
            self.loop_variable(f"{rest.id}_{i}", rest, domain) for i, domain in enumerate(middle)
        ]
        self.names[rest.id] = tuple(several)
        return [*before, *several, *after]

    def loop_variable(self, name: str, node: ast.AST, domain: Range) -> prim.Var:
        var = prim.Var.make(name, domain.extent.dtype, span=self.span(node))
        self.loops[var] = domain
        self.fixed[var] = "a loop variable"
        return var

    # statement = "while" scalar ":" body
    def while_loop(self, node: ast.While) -> None:
        if node.orelse:
            self.error(node.orelse[0], "RX0501", "a loop of a PrimFunc has no `else`",
                       help="put these statements after the loop")  # fmt: skip
        condition = self.checked_condition(node.test)
        with self.scope():
            body = self.suite(node.body)
        if condition is not None:
            self.items.append(While.make(condition, body, span=self.span(node)))

    def checked_condition(self, node: ast.expr) -> PrimExpr | None:
        """A condition, or None after a mistake in it: what depends on it is read all the same."""
        try:
            value = self.value(node)
            return self.condition(bool(value) if type(value) is int else value, node)
        except Failed:
            return None

    def while_scope(self, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
        call = node.items[0].context_expr
        condition = self.condition(form.arguments["condition"], call)
        with self.scope():
            inner = self.suite(body)
        self.items.append(While.make(condition, inner, span=self.span(node)))

    # statement = "if" scalar ":" body { "elif" scalar ":" body } ["else" ":" body]
    def branch(self, node: ast.If) -> None:
        """`elif` chains are walked in a loop, since they are as long as people write them."""
        cases: list[tuple[PrimExpr | None, Stmt, ast.If]] = []
        step: ast.If = node
        while True:
            try:
                test: Any = self.value(step.test)
            except Failed:
                test = UNKNOWN
            if test is not UNKNOWN and not isinstance(test, (Node, np.generic)):
                # Python's own `if`, decided while parsing.
                chosen = step.body if test else step.orelse
                if not cases:
                    self.statements(chosen)
                    return
                otherwise = self.inner(chosen) if chosen else None
                break
            condition = None if test is UNKNOWN else self.quietly(test, step.test)
            cases.append((condition, self.inner(step.body), step))
            if len(step.orelse) == 1 and isinstance(step.orelse[0], ast.If):
                step = step.orelse[0]
                continue
            otherwise = self.inner(step.orelse) if step.orelse else None
            break
        for condition, body, at in reversed(cases):
            if condition is None:
                raise Failed
            otherwise = IfThenElse.make(condition, body, otherwise, span=self.span(at))
        if otherwise is not None:
            self.items.append(otherwise)

    def quietly(self, value: Any, node: ast.expr) -> PrimExpr | None:
        try:
            return self.condition(value, node)
        except Failed:
            return None

    def inner(self, body: Sequence[ast.stmt]) -> Stmt:
        with self.scope():
            return self.suite(body)

    def if_scope(self, form: Form, node: ast.With, body: Sequence[ast.stmt]) -> None:
        """`with T.If(c):` holds `with T.Then():` and perhaps `with T.Else():`."""
        condition = self.condition(form.arguments["condition"], node.items[0].context_expr)
        self.visited.update(body)
        parts: dict[Any, Stmt] = {}
        for part in body:
            made = None
            if isinstance(part, ast.With) and len(part.items) == 1:
                made = self.value(part.items[0].context_expr)
            if not isinstance(made, Form) or made.maker not in (tir_forms.Then, tir_forms.Else):
                raise self.error(
                    self.head(part), "RX0501", "`T.If` holds `T.Then` and `T.Else` only",
                    help="write `with T.Then():`",
                )  # fmt: skip
            parts[made.maker] = self.inner(part.body)  # type: ignore[attr-defined]
        if tir_forms.Then not in parts:
            raise self.error(self.head(node), "RX0501", "`T.If` needs `with T.Then():`")
        self.items.append(IfThenElse.make(
            condition, parts[tir_forms.Then], parts.get(tir_forms.Else), span=self.span(node)
        ))  # fmt: skip
