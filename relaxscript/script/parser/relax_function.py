"""Relax functions, statement by statement.

    function  = decorators "def" name "(" parameters ")" ["->" annotation] ":" body
    body      = { statement } "return" expression
    statement = binding | call | "with" "R.dataflow()" ":" block
              | branch | loop | local function | "pass" | docstring
    block     = { statement } "R.output(" names ")"

Shape variables are named by string dimensions or `n = T.int64()`. The printer's methods of the same
names are the inverse of these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any

from relaxscript.analysis.derive import renamed_apart
from relaxscript.analysis.reuse import reused, written_by
from relaxscript.errors import Diagnostic, Edit, Label, OperandError, Span
from relaxscript.ir.relax import (
    DataflowVar,
    Expr,
    Function,
    Tuple,
    Var,
)
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo
from relaxscript.ir.walk import free_vars
from relaxscript.script.relax_forms import dataflow

from .assigned import assigned_names, last_targets, names_inside
from .base import UNKNOWN, Failed
from .corrections import between, end_with, leave_out_name
from .decorators import our_decorators, read_options
from .dimensions import is_number
from .relax_control import RelaxControl
from .relax_expression import Lost
from .relax_signature import Header
from .statements import first_word

__all__ = ["RelaxParser"]


class RelaxParser(RelaxControl):
    """Parses one Relax function; a parser is used once."""

    # The macros that are being expanded, none where they are not known.
    expanding: tuple[Any, ...] = ()

    # function = header body
    def function(self, node: ast.FunctionDef, header: Header) -> Function | None:
        """The function; None when mistakes were recorded."""
        self.begin(header)
        self.bind_parameters(header)
        before = len(self.reporter.diagnostics)
        self.statements(node.body)
        errors = [d for d in self.reporter.diagnostics[before:] if d.severity == "error"]
        if not self.returned and not errors:
            self.missing_return(node)
            return None
        if errors or header.failed or not self.has_result:
            return None
        function = self.finish(node, header)
        return None if self.reuses(function) else function

    def reuses(self, function: Function) -> bool:
        """Record every use of what a call has written into."""
        found = reused(function) if self.builder.writes_in_place else []
        for var, _, span, call in found:
            writer = written_by(call)
            labels = () if call.span is None else (Label(call.span, "writes into it"),)
            written = var.name_hint if span is None or var.name_hint in span.text else span.text
            message = f"`{written}` is used after `{writer}` wrote into it"
            help = "use what the call gives; it is the same tensor"
            self.report(Diagnostic("RX0403", message, span, labels=labels, help=help))
        return bool(found)

    def bind_parameters(self, header: Header) -> None:
        """Parameters by their names; one whose annotation failed is unknown."""
        for param in header.params:
            self.bind_name(param.name_hint, UNKNOWN if param.name_hint in header.unknown else param)
        for name, value in header.gathered.items():
            self.bind_name(name, value)

    def begin(self, header: Header) -> None:
        self.returned = self.has_result = False
        self.declared = header
        self.function_name = self.function_name or header.name
        self.builder.begin_function(header.name, header.params, header.pure, header.attrs)

    def finish(self, node: ast.FunctionDef, header: Header) -> Function:
        """Close the function, whose result was compared with what was declared."""
        return self.builder.end_function(
            header.ret, span=self.source.span(node), body_span=self.body_span(node.body),
            ret_span=None if node.returns is None else self.source.span(node.returns), checked=True,
        )  # fmt: skip

    def check_result(self, result: Expr, node: ast.expr | ast.Return) -> None:
        """The result must fit what was declared; it may be known to be less precise."""
        declared = self.declared
        if declared is None or declared.ret is None:
            return
        try:
            info = self.builder.struct_info(result)
            self.builder.check_fits(
                info, declared.ret, "the result", "the declared result", "RX0205"
            )
        except OperandError as error:
            span = self.source.span(node)
            diagnostic = error.diagnostic(declared.name, span, {"the result": span})
            diagnostic = self.with_declared(diagnostic, declared.returns)
            raise self.report(
                self.settled_by_cast(diagnostic, error.cast, node, declared.returns)
            ) from None
        finally:
            self.note_obligations(node, declared.returns)

    def body_span(self, body: Sequence[ast.stmt]) -> Span | None:
        """From the first statement to the last."""
        first, last = self.source.span(body[0]), self.source.span(body[-1])
        return first if first is None or last is None else first.cover(last)

    def missing_return(self, node: ast.FunctionDef) -> None:
        span = self.source.name_span(node)
        last = self.last_bound
        help = (
            f"end the function with `return {last}`"
            if last
            else "end the function with `return ...`"
        )
        edits = [end_with(self.source, node, f"return {last}")] if last in self.names else []
        message = f"the function `{node.name}` does not return anything"
        self.report(Diagnostic("RX0105", message, span, help=help, fix=tuple(edits)))

    # body = { statement }
    def statements(self, body: Iterable[ast.stmt]) -> None:
        """Every statement; one that fails leaves the names it assigns unknown."""
        for statement in body:
            over = self.returned
            self.current = statement
            try:
                self.statement(statement)
            except Failed:
                self.forget(statement)
            except RecursionError:
                self.error_at(
                    first_word(self.source, statement) or self.source.span(statement), "RX0104",
                    "this is nested too deeply", "write it in several statements or functions",
                )  # fmt: skip
                self.forget(statement)
            if over:
                return

    def forget(self, statement: ast.stmt) -> None:
        """After a mistake in a statement the names that it binds are unknown."""
        for name in names_inside(statement):
            self.bind_name(name, UNKNOWN)
        self.forget_dimensions(statement)
        if isinstance(statement, ast.Return):
            self.returned = True

    # One case for each form of the grammar above.
    def statement(self, node: ast.stmt) -> None:  # noqa: C901
        if self.returned:
            raise self.error(
                node, "RX0105", "nothing can follow `return`",
                help="a function returns once, at its end",
            )  # fmt: skip
        match node:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                self.assign(target, value)
            case ast.Assign(targets=targets, value=value):
                self.assign_all(targets, value)
            case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=value):
                self.assign_annotated(node, target, annotation, value)
            case ast.AugAssign():
                self.augmented(node)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                return
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="output" | "outputs")) as call):
                raise self.stray_output(call)
            case ast.Expr(value=value):
                self.void(value)
            case ast.With(items=[ast.withitem(context_expr=block, optional_vars=name)]):
                self.with_block(node, block, name)
            case ast.If():
                self.branch(node)
            case ast.For():
                self.loop(node)
            case ast.Break() | ast.Continue():
                self.leave_step(node)
            case ast.FunctionDef():
                self.local_function(node)
            case ast.Return(value=value):
                self.result(node, value)
            case _:
                raise self.unsupported_statement(node)

    def augmented(self, node: ast.AugAssign) -> None:
        """`x += y` is `x = x + y`; a correction of the left operand writes it so."""
        target = node.target
        if not isinstance(target, ast.Name):
            raise self.no_name(target)
        left = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        try:
            self.assign(target, ast.copy_location(ast.BinOp(left, node.op, node.value), node))
        except Failed:
            last, at = self.reporter.diagnostics[-1], self.source.span(target)
            if last.fix and last.fix[0].span == at:
                sign = between(self.source, target, node.value, "").span.text.replace("=", "")
                new = last.fix[0].new_text
                whole = f"{target.id} = {new} {sign.strip()} {self.written(node.value)}"
                edits = (Edit(self.source.span(node), whole),)
                self.reporter.diagnostics[-1] = replace(last, fix=edits)
            raise

    # statement = "with" "R.dataflow()" ":" block
    def with_block(self, node: ast.With, block: ast.expr, name: ast.expr | None) -> None:
        opened = self.value(block.func if isinstance(block, ast.Call) else block)
        if opened is not dataflow:
            raise self.error(block, "RX0104", "only `with R.dataflow():` has a meaning in Relax")
        if not isinstance(block, ast.Call):
            written = f"{ast.unparse(block)}()"
            raise self.error(
                block, "RX0104", "a dataflow block is opened by a call", help=f"write `{written}`",
                fix=written,
            )  # fmt: skip
        if name is not None:
            raise self.error(
                name, "RX0104", "a dataflow block has no name",
                help=f"leave it out: `with {ast.unparse(block)}:`",
                edits=[leave_out_name(self.source, block, name)],
            )  # fmt: skip
        if self.builder.current_block_is_dataflow():
            raise self.error(
                block, "RX0104", "a dataflow block cannot stand inside another",
                help="leave the inner `with` out: its statements belong to the block around it",
            )  # fmt: skip
        self.dataflow(node)

    # block = { statement } "R.output(" names ")"
    def dataflow(self, node: ast.With) -> None:
        left = node.body[-1] if isinstance(node.body[-1], ast.Return) else None
        if self.expanding:
            left = None  # said of the statement itself
        body, output = self.split_output(node.body if left is None else node.body[:-1])
        last = last_targets(body)
        before = len(self.reporter.diagnostics)
        names = self.output_names(output, body, last)
        if left is not None and left.value is not None and output is None:
            body, names, left = self.returned_from(body, left, left.value)
            last = last_targets(body)
        outer, self.outputs = self.outputs, {t for name in names for t in last.get(name, ())}
        unrolling, self.unrolling = self.unrolling, False
        self.leaving = set(names)
        self.builder.begin_dataflow()
        kept: dict[str, Any] = {}
        inside: list[tuple[str, Any]] = []
        try:
            with self.scope():
                self.statements(body)
                kept = {name: self.names.get(name, UNKNOWN) for name in names}
                inside = list(self.scopes[-1])
        finally:
            self.builder.end_dataflow(self.source.span(node))
            self.outputs, self.leaving, self.unrolling = outer, set(), unrolling
        # Where the outputs themselves are wrong, nobody knows what was to leave the block.
        known = not self.failed_outputs(body, output, before)
        for name, earlier in inside:
            if name not in kept and earlier is self and known:
                self.lost[name] = Lost(names, node, output)
            elif name not in kept and earlier is self:
                self.bind_name(name, UNKNOWN)
        for name, value in kept.items():
            self.bind_name(name, value)
        if left is not None:
            self.result(left, left.value)

    def returned_from(
        self, body: list[ast.stmt], last: ast.Return, value: ast.expr
    ) -> tuple[list[ast.stmt], list[str], ast.Return]:
        """`return y` at the end of a block: `R.output(y)`, and `return y` behind the block."""
        parts = list(value.elts) if isinstance(value, ast.Tuple) else [value]
        if all(isinstance(part, (ast.Name, ast.Constant)) for part in parts):
            bound = {name for statement in body for name in assigned_names(statement)}
            used = [part.id for part in parts if isinstance(part, ast.Name) and part.id in bound]
            return body, list(dict.fromkeys(used)), last
        known = {*self.names, *(name for statement in body for name in names_inside(statement))}
        name = next(n for n in map("gv{}".format, chain([""], count(1))) if n not in known)
        target = ast.copy_location(ast.Name(name, ast.Store()), value)
        computed = ast.copy_location(ast.Assign([target], value), last)
        use = ast.copy_location(ast.Name(name, ast.Load()), value)
        return [*body, computed], [name], ast.copy_location(ast.Return(use), last)

    def failed_outputs(self, body: list[ast.stmt], output: ast.Call | None, before: int) -> bool:
        """Whether a mistake was found in `R.output`, or in what stands in its place."""
        at = self.span(body[-1]) if output is None and body else None
        if output is not None:
            at = self.span(output)
        elif not body or not isinstance(body[-1], ast.Expr):
            return False
        found = [d.span for d in self.reporter.diagnostics[before:] if d.severity == "error"]
        return at is not None and any(span is not None and at.contains(span) for span in found)

    def split_output(self, body: list[ast.stmt]) -> tuple[list[ast.stmt], ast.Call | None]:
        """The statements of a dataflow block and the `R.output` that closes it."""
        match body[-1:]:
            case [ast.Expr(value=ast.Call(func=ast.Attribute(attr="output" | "outputs")) as call)]:
                return body[:-1], call
        return body, None

    def stray_output(self, call: ast.Call) -> Failed:
        """Record an `R.output` that does not close a dataflow block."""
        written = ast.unparse(call.func)
        if self.builder.current_block_is_dataflow():
            help = "write it as the last statement of the block, with all names that leave it"
        else:
            help = "write it as the last statement of `with R.dataflow():`"
        message = f"`{written}` stands at the end of a dataflow block"
        return self.error(call, "RX0107", message, help=help)

    def output_names(
        self, output: ast.Call | None, body: list[ast.stmt], last: Mapping[str, Any]
    ) -> list[str]:
        """The names that leave a dataflow block; those that it binds are functions and `last`."""
        if output is None:
            return []
        bound = {statement.name for statement in body if isinstance(statement, ast.FunctionDef)}
        bound.update(last)
        names: list[str] = []
        for argument in output.args:
            if isinstance(argument, ast.Name) and argument.id in bound:
                names.append(argument.id)
            elif isinstance(argument, ast.Name):
                self.not_an_output(argument, bound)
            else:
                quoted = isinstance(argument, ast.Constant) and argument.value in bound
                self.error(
                    argument, "RX0104", "`R.output` takes names that the block bound",
                    help="write the name without quotes" if quoted else None,
                    fix=str(argument.value) if quoted else None,  # type: ignore[attr-defined]
                )  # fmt: skip
        return names

    def not_an_output(self, node: ast.Name, bound: set[str]) -> None:
        if node.id in self.names:
            self.error(
                node, "RX0107", f"`{node.id}` is not bound in this dataflow block",
                help="what was bound before is visible after the block anyway",
            )  # fmt: skip
            return
        known, self.names = self.names, {**self.names, **dict.fromkeys(bound)}
        try:
            self.undefined(node)
        finally:
            self.names = known

    # statement = local function
    def local_function(self, node: ast.FunctionDef) -> None:
        """A closure; it sees the names around it, and itself when its result is declared."""
        decorators = our_decorators(node, self.environment)
        if any(decorator.kind == "prim_func" for decorator in decorators):
            raise self.error_at(
                self.source.name_span(node), "RX0104",
                "a PrimFunc cannot stand inside a Relax function",
                "put it beside the function, in the class under `@I.ir_module`",
            )  # fmt: skip
        options = read_options(self, decorators[0] if decorators else None)
        header = self.header(node, options, local=True)
        infos = tuple(p.struct_info for p in header.params)
        declared = header.ret or ObjectStructInfo()
        # Its body calls it with variables of their own, not with those of the call that runs.
        known = renamed_apart(
            FuncStructInfo.make(infos, declared, header.pure), {*header.introduced.values()}
        )
        inside = self.builder.current_block_is_dataflow() and node.name not in self.leaving
        kind: type[Var] = DataflowVar if inside else Var
        itself = kind.make(node.name, known, span=self.source.name_span(node))
        function = self.closure_body(node, header, itself)
        info = self.builder.struct_info(function)
        # What calls itself unchecked is known as it was known inside.
        known_inside = header.ret is not None or (
            not self.check_well_formed and itself in free_vars(function)
        )
        var = itself if known_inside else kind.make(node.name, info, span=itself.span)
        self.builder.emit_function(var, function)
        self.bind_name(node.name, var)
        self.last_bound = node.name

    def hide_dataflow_variables(self) -> None:
        """Criterion 11: a function does not capture variables of the dataflow block around it."""
        if not self.check_well_formed:
            return
        inside = [name for name, v in self.names.items() if isinstance(v, DataflowVar)]
        self.hidden = {*self.hidden, *inside}
        for name in inside:
            self.bind_name(name, None)
            del self.names[name]

    def closure_body(self, node: ast.FunctionDef, header: Header, itself: Var) -> Function:
        outer = (self.returned, self.has_result, self.declared, self.outputs, dict(self.dims))
        around = (self.hidden, self.leaving, self.unrolling)
        self.outputs, self.leaving, self.unrolling = set(), set(), False
        for name, var in header.introduced.items():
            self.dims[name] = var
        self.enclosing.append(itself)
        try:
            with self.scope():
                self.hide_dataflow_variables()
                self.bind_name(node.name, itself)
                if header.ret is None and node.returns is None and self.check_well_formed:
                    del self.names[node.name]
                    self.undeclared[node.name] = itself.span
                self.bind_parameters(header)
                self.begin(header)
                before = len(self.reporter.diagnostics)
                self.statements(node.body)
                failed = any(d.severity == "error" for d in self.reporter.diagnostics[before:])
                if not self.returned and not failed:
                    self.missing_return(node)
                if failed or header.failed or not self.has_result:
                    self.builder.abandon_function()
                    raise Failed
                return self.finish(node, header)
        finally:
            self.enclosing.pop()
            self.undeclared.pop(node.name, None)
            self.hidden, self.leaving, self.unrolling = around
            self.returned, self.has_result, self.declared, self.outputs, self.dims = outer

    # body = ... "return" expression
    def result(self, node: ast.Return, value: ast.expr | None) -> None:
        if self.builder.current_block_is_dataflow():
            raise self.error(
                node, "RX0105", "`return` cannot stand in a dataflow block",
                help="close the block with `R.output(...)`, then return",
            )  # fmt: skip
        self.returned = True
        if value is None:
            self.has_result = True
            self.builder.set_result(Tuple.make(()))
            self.check_result(Tuple.make(()), node)
            return
        found = self.value(value)
        if is_number(found):
            found = self.constant_of(found, value)
        if found is None:
            found = ()
        result = self.leaf(self.expr_of(found, value), value)
        self.builder.set_result(result, self.source.span(value))
        self.has_result = True
        self.check_result(result, value)
