"""Python that is worked out while a script is parsed: comprehensions, lambdas, sequences.

    comprehension = "[" expression { "for" targets "in" sequence { "if" expression } } "]"
    lambda        = "lambda" parameters ":" expression

What a sequence holds is known now, so each step is written out into the program. The languages say
by `kept` how a value of the program is held that may be mentioned more than once.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from relaxscript.errors import Label
from relaxscript.ir.node import Node

from .base import ExpressionParser, Failed
from .python_operators import MOST_STEPS

__all__ = ["HostPython", "ScriptLambda"]

_ABSENT = object()


class ScriptLambda:
    """A lambda of a script: its body is evaluated anew at each call, with its arguments bound."""

    def __init__(self, parser: HostPython, node: ast.Lambda, taken: inspect.Signature) -> None:
        self.parser = parser
        self.node = node
        self.taken = taken

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """For Python's own functions that are given one, such as `map`."""
        return self.parser.call_lambda(self, args, kwargs, self.node)

    def __repr__(self) -> str:
        return f"`{ast.unparse(self.node)}`"


class HostPython(ExpressionParser):
    """Adds to expressions what goes through Python sequences, and small functions."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._rules.update(
            {
                ast.ListComp: self.comprehension,
                ast.GeneratorExp: self.comprehension,
                ast.DictComp: self.dict_comprehension,
                ast.Lambda: self.lambda_expression,
            }
        )

    def kept(self, value: Any, node: ast.expr) -> Any:
        """A value that may be mentioned several times: a computation is done once, before."""
        return value

    # ---- names for a while

    @contextmanager
    def temporary_names(self) -> Iterator[dict[str, Any]]:
        """Names bound by `bind_temporarily` inside mean what they meant before again afterwards."""
        before: dict[str, Any] = {}
        try:
            yield before
        finally:
            for name, value in before.items():
                if value is _ABSENT:
                    self.names.pop(name, None)
                else:
                    self.names[name] = value

    def bind_temporarily(self, before: dict[str, Any], name: str, value: Any) -> None:
        """Bind a name and note what it meant."""
        before.setdefault(name, self.names.get(name, _ABSENT))
        self.names[name] = value

    # ---- comprehensions

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        """`[f(i) for i in range(3)]` over Python sequences: written out now."""
        with self.temporary_names() as before:
            return [
                self.kept(self.value(node.elt), node.elt)
                for _ in self.steps(node.generators, before)
            ]

    def dict_comprehension(self, node: ast.DictComp) -> dict[Any, Any]:
        """`{k: f(k) for k in names}`."""
        found: dict[Any, Any] = {}
        with self.temporary_names() as before:
            for _ in self.steps(node.generators, before):
                key = self.value(node.key)
                with self.at(node.key):
                    hash(key)
                found[key] = self.kept(self.value(node.value), node.value)
        return found

    def steps(
        self, generators: Sequence[ast.comprehension], before: dict[str, Any]
    ) -> Iterator[None]:
        """Each step that the generators of a comprehension make, with its names bound."""
        if not generators:
            yield
            return
        generator = generators[0]
        for item in self.host_iterable(generator.iter, "gone through"):
            self.count_step(generator.iter)
            self.bind_items(generator.target, item, before)
            if all(self.holds_now(test) for test in generator.ifs):
                yield from self.steps(generators[1:], before)

    def holds_now(self, test: ast.expr) -> bool:
        """A condition on values that are known while the script is parsed."""
        found = self.value(test)
        if isinstance(found, Node):
            raise self.error(test, "RX0104", "a comprehension chooses by values known now")
        return bool(found)

    def count_step(self, node: ast.expr) -> None:
        """Count what is written out: a text of a stranger must not use up the machine."""
        self.reporter.steps += 1
        if self.reporter.steps > MOST_STEPS:
            raise self.error(
                node, "RX0104", f"more than {MOST_STEPS:,} steps are written out while parsing",
                help="loop in a `@T.prim_func`",
            )  # fmt: skip

    def bind_items(self, target: ast.expr, item: Any, before: dict[str, Any]) -> None:
        """The names of one step, as Python unpacks an item into them."""
        match target:
            case ast.Name(id=name):
                self.bind_temporarily(before, name, item)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = self.parts_of_item(target, item, len(targets))
                for inner, part in zip(targets, parts):
                    self.bind_items(inner, part, before)
            case _:
                raise self.error(target, "RX0104", "only names can be bound here")

    def parts_of_item(self, target: ast.expr, item: Any, count: int) -> Sequence[Any]:
        """The parts of an item that is unpacked into `count` names."""
        if not isinstance(item, (tuple, list)) or len(item) != count:
            raise self.error(target, "RX0104", "these names do not fit the items")
        return item

    # ---- lambdas

    def lambda_expression(self, node: ast.Lambda) -> ScriptLambda:
        """A small function of Python; defaults are evaluated now."""
        kinds = inspect.Parameter
        args = node.args
        positional = [*args.posonlyargs, *args.args]
        defaults = [kinds.empty] * (len(positional) - len(args.defaults))
        defaults += [self.value(d) for d in args.defaults]
        parameters = [
            kinds(
                a.arg,
                kinds.POSITIONAL_ONLY if i < len(args.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD,
                default=default,
            )
            for i, (a, default) in enumerate(zip(positional, defaults))
        ]
        if args.vararg is not None:
            parameters.append(kinds(args.vararg.arg, kinds.VAR_POSITIONAL))
        for a, given in zip(args.kwonlyargs, args.kw_defaults):
            default = kinds.empty if given is None else self.value(given)
            parameters.append(kinds(a.arg, kinds.KEYWORD_ONLY, default=default))
        if args.kwarg is not None:
            parameters.append(kinds(args.kwarg.arg, kinds.VAR_KEYWORD))
        return ScriptLambda(self, node, inspect.Signature(parameters))

    def call_lambda(
        self, callee: ScriptLambda, args: Sequence[Any], kwargs: dict[str, Any], node: ast.expr
    ) -> Any:
        """The value of a lambda's body; mistakes inside show where it is called."""
        try:
            bound = callee.taken.bind(*args, **kwargs)
        except TypeError:
            if not isinstance(node, ast.Call):
                written = ast.unparse(callee.node)
                message = f"`{written}` is given other arguments than it takes"
                raise self.error(node, "RX0103", message) from None
            at = self.span(callee.node)
            raise self.misfit_of(callee.taken, node, len(args), kwargs, at) from None
        bound.apply_defaults()
        self.count_step(node)
        before = len(self.reporter.diagnostics)
        try:
            with self.temporary_names() as names:
                for name, value in bound.arguments.items():
                    self.bind_temporarily(names, name, self.kept(value, node))
                return self.value(callee.node.body)
        except Failed:
            self.show_call(before, node)
            raise

    def show_call(self, before: int, node: ast.expr) -> None:
        """Add to the mistakes since `before` the place of the call that led to them."""
        span = self.span(node)
        found = self.reporter.diagnostics
        if span is None:
            return
        for i in range(before, len(found)):
            diagnostic = found[i]
            if diagnostic.span is not None and not span.contains(diagnostic.span):
                labels = (*diagnostic.labels, Label(span, "called here"))
                found[i] = replace(diagnostic, labels=labels)
