"""Python that is worked out while a script is parsed: comprehensions, lambdas, sequences.

    comprehension = "[" expression { "for" targets "in" sequence { "if" expression } } "]"
    lambda        = "lambda" parameters ":" expression

What a sequence holds is known now, so each step is written out into the program. The languages say
by `keep` how a value of the program is held that may be mentioned more than once.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from relaxscript.errors import Label
from relaxscript.ir.node import Node

from .blame import Failed
from .expression import parse_expr, parse_iterable
from .misfits import misfit_of
from .python_operators import MOST_STEPS
from .script_context import ScriptContext

__all__ = ["ScriptLambda", "call_lambda", "count_step"]


class ScriptLambda:
    """A lambda of a script: its body is evaluated anew at each call, with its arguments bound."""

    def __init__(self, cx: ScriptContext, node: ast.Lambda, taken: inspect.Signature) -> None:
        self.cx = cx
        self.node = node
        self.taken = taken

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """For Python's own functions that are given one, such as `map`."""
        return call_lambda(self.cx, self, args, kwargs, self.node)

    def __repr__(self) -> str:
        return f"`{ast.unparse(self.node)}`"


# ---- comprehensions


def parse_comprehension(cx: ScriptContext, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
    """`[f(i) for i in range(3)]` over Python sequences: written out now."""
    with cx.temporary_names() as before:
        return [
            cx.language.keep(cx, parse_expr(cx, node.elt), node.elt)
            for _ in steps(cx, node.generators, before)
        ]


def parse_dict_comprehension(cx: ScriptContext, node: ast.DictComp) -> dict[Any, Any]:
    """`{k: f(k) for k in names}`."""
    found: dict[Any, Any] = {}
    with cx.temporary_names() as before:
        for _ in steps(cx, node.generators, before):
            key = parse_expr(cx, node.key)
            with cx.at(node.key):
                hash(key)
            found[key] = cx.language.keep(cx, parse_expr(cx, node.value), node.value)
    return found


def steps(
    cx: ScriptContext, generators: Sequence[ast.comprehension], before: dict[str, Any]
) -> Iterator[None]:
    """Each step that the generators of a comprehension make, with its names bound."""
    if not generators:
        yield
        return
    generator = generators[0]
    for item in parse_iterable(cx, generator.iter, "gone through"):
        count_step(cx, generator.iter)
        bind_items(cx, generator.target, item, before)
        if all(holds_now(cx, test) for test in generator.ifs):
            yield from steps(cx, generators[1:], before)


def holds_now(cx: ScriptContext, test: ast.expr) -> bool:
    """A condition on values that are known while the script is parsed."""
    found = parse_expr(cx, test)
    if isinstance(found, Node):
        raise cx.error(test, "RX0104", "a comprehension chooses by values known now")
    return bool(found)


def count_step(cx: ScriptContext, node: ast.expr) -> None:
    """Count what is written out: a text of a stranger must not use up the machine."""
    cx.reporter.steps += 1
    if cx.reporter.steps > MOST_STEPS:
        raise cx.error(
            node, "RX0104", f"more than {MOST_STEPS:,} steps are written out while parsing",
            help="loop in a `@T.prim_func`",
        )  # fmt: skip


def bind_items(cx: ScriptContext, target: ast.expr, item: Any, before: dict[str, Any]) -> None:
    """The names of one step, as Python unpacks an item into them."""
    match target:
        case ast.Name(id=name):
            cx.bind_temporarily(before, name, item)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            parts = parts_of_item(cx, target, item, len(targets))
            for inner, part in zip(targets, parts):
                bind_items(cx, inner, part, before)
        case _:
            raise cx.error(target, "RX0104", "only names can be bound here")


def parts_of_item(cx: ScriptContext, target: ast.expr, item: Any, count: int) -> Sequence[Any]:
    """The parts of an item that is unpacked into `count` names."""
    if not isinstance(item, (tuple, list)) or len(item) != count:
        raise cx.error(target, "RX0104", "these names do not fit the items")
    return item


# ---- lambdas


def parse_lambda(cx: ScriptContext, node: ast.Lambda) -> ScriptLambda:
    """A small function of Python; defaults are evaluated now."""
    kinds = inspect.Parameter
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    defaults = [kinds.empty] * (len(positional) - len(args.defaults))
    defaults += [parse_expr(cx, d) for d in args.defaults]
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
        default = kinds.empty if given is None else parse_expr(cx, given)
        parameters.append(kinds(a.arg, kinds.KEYWORD_ONLY, default=default))
    if args.kwarg is not None:
        parameters.append(kinds(args.kwarg.arg, kinds.VAR_KEYWORD))
    return ScriptLambda(cx, node, inspect.Signature(parameters))


def call_lambda(
    cx: ScriptContext,
    callee: ScriptLambda,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    node: ast.expr,
) -> Any:
    """The value of a lambda's body; mistakes inside show where it is called."""
    try:
        bound = callee.taken.bind(*args, **kwargs)
    except TypeError:
        if not isinstance(node, ast.Call):
            written = ast.unparse(callee.node)
            message = f"`{written}` is given other arguments than it takes"
            raise cx.error(node, "RX0103", message) from None
        at = cx.span(callee.node)
        raise misfit_of(cx, callee.taken, node, len(args), kwargs, at) from None
    bound.apply_defaults()
    count_step(cx, node)
    before = len(cx.reporter.diagnostics)
    try:
        with cx.temporary_names() as names:
            for name, value in bound.arguments.items():
                cx.bind_temporarily(names, name, cx.language.keep(cx, value, node))
            return parse_expr(cx, callee.node.body)
    except Failed:
        show_call(cx, before, node)
        raise


def show_call(cx: ScriptContext, before: int, node: ast.expr) -> None:
    """Add to the mistakes since `before` the place of the call that led to them."""
    span = cx.span(node)
    found = cx.reporter.diagnostics
    if span is None:
        return
    for i in range(before, len(found)):
        diagnostic = found[i]
        if diagnostic.span is not None and not span.contains(diagnostic.span):
            labels = (*diagnostic.labels, Label(span, "called here"))
            found[i] = replace(diagnostic, labels=labels)
