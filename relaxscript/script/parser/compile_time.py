"""Python that is evaluated while a script is parsed: comprehensions, loops, lambdas, parameters.

    comprehension = "[" expression { "for" targets "in" sequence { "if" expression } } "]"
    lambda        = "lambda" parameters ":" expression

What a sequence holds is known now, so each step is written out into the program. This is one for
Relax, PrimFuncs and macros. The languages say by `keep` how to hold a value of the program that may
be mentioned more than once. They say by `items_of` what has items, Python's sequences aside.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.arguments import ArgumentError, python_signature
from relaxscript.errors import Described
from relaxscript.ir.node import Node

from .argument_errors import bind_arguments
from .expression import parse_expr, parse_iterable
from .python_operators import MOST_STEPS
from .script_context import ItemUse, ScriptContext

__all__ = [
    "COMPILE_TIME_RULES", "LoopExit", "ScriptLambda", "bind_item", "call_lambda", "count_step",
    "signature_of",
]  # fmt: skip


class LoopExit(Exception):
    """`break` or `continue` of a loop that is written out."""

    def __init__(self, leaves: bool) -> None:
        super().__init__()
        self.leaves = leaves


class ScriptLambda(Described):
    """A lambda of a script: its body is evaluated anew at each call, with its arguments bound."""

    def __init__(self, cx: ScriptContext, node: ast.Lambda, taken: inspect.Signature) -> None:
        self.cx = cx
        self.node = node
        self.taken = taken

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """For Python's own functions that are given one, such as `map`."""
        self.cx.admit(args)
        return call_lambda(self.cx, self, args, kwargs, self.node)

    @property
    def __signature__(self) -> inspect.Signature:
        return self.taken

    @property
    def names(self) -> list[str]:
        """The names of its parameters."""
        return list(self.taken.parameters)

    @property
    def advice(self) -> str | None:
        return None

    def describe(self) -> str:
        return "a function"

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


def parse_set_comprehension(cx: ScriptContext, node: ast.SetComp) -> set[Any]:
    """`{f(i) for i in values}`: a set of Python values."""
    found: set[Any] = set()
    with cx.temporary_names() as before:
        for _ in steps(cx, node.generators, before):
            value = parse_expr(cx, node.elt)
            with cx.at(node.elt):
                found.add(value)
    return found


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

    def bind(name: str, value: Any) -> None:
        cx.bind_temporarily(before, name, value)

    generator = generators[0]
    for item in parse_iterable(cx, generator.iter, ItemUse.COMPREHENSION):
        count_step(cx, generator.iter)
        bind_item(cx, generator.target, item, bind)
        if all(holds_now(cx, test) for test in generator.ifs):
            yield from steps(cx, generators[1:], before)


def holds_now(cx: ScriptContext, test: ast.expr) -> bool:
    """A condition on values that are known while the script is parsed."""
    found = parse_expr(cx, test)
    if isinstance(found, Node):
        raise cx.error(
            test, "RX0104", "a comprehension chooses by values known now",
            help=cx.language.help_of_choice,
        )  # fmt: skip
    return bool(found)


def count_step(cx: ScriptContext, node: ast.expr) -> None:
    """Count what is written out: a script of a stranger must not use up the machine."""
    cx.reporter.steps += 1
    if cx.reporter.steps > MOST_STEPS:
        raise cx.error(
            node, "RX0104", f"more than {MOST_STEPS:,} steps are written out while parsing",
            help=cx.language.help_of_steps,
        )  # fmt: skip


def bind_item(
    cx: ScriptContext, target: ast.expr, item: Any, bind: Callable[[str, Any], None]
) -> None:
    """The names of one step, as Python unpacks an item into them."""
    match target:
        case ast.Name(id=name):
            bind(name, item)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for inner, part in zip(targets, parts_of_item(cx, target, item, targets)):
                bind_item(cx, inner, part, bind)
        case _:
            raise cx.error(target, "RX0104", "a loop gives its items to names")


def parts_of_item(
    cx: ScriptContext, target: ast.expr, item: Any, targets: Sequence[ast.expr]
) -> Sequence[Any]:
    """The parts of an item that is unpacked into names."""
    if not isinstance(item, (tuple, list, str, np.ndarray)):
        what = f"an item is a Python {type(item).__name__}"
        raise cx.error(
            target, "RX0104", "this item of the loop cannot be unpacked",
            labels=[] if isinstance(item, Node) else [(target, what)],
        )  # fmt: skip
    if len(item) != len(targets) or any(isinstance(t, ast.Starred) for t in targets):
        message = f"{len(item)} values cannot be given to {len(targets)} names"
        raise cx.error(target, "RX0104", message)
    return item  # type: ignore[return-value]


# ---- lambdas


def parse_lambda(cx: ScriptContext, node: ast.Lambda) -> ScriptLambda:
    """A small function of Python; defaults are evaluated now."""
    return ScriptLambda(cx, node, signature_of(cx, node.args))


def signature_of(cx: ScriptContext, args: ast.arguments) -> inspect.Signature:
    """Parameters as Python would have them, their defaults evaluated now."""
    kinds = inspect.Parameter
    plain = [*args.posonlyargs, *args.args]
    defaults: list[Any] = [kinds.empty] * (len(plain) - len(args.defaults))
    defaults += [parse_expr(cx, d) for d in args.defaults]
    found: list[inspect.Parameter] = []
    for index, (arg, default) in enumerate(zip(plain, defaults)):
        first = index < len(args.posonlyargs)
        kind = kinds.POSITIONAL_ONLY if first else kinds.POSITIONAL_OR_KEYWORD
        found.append(kinds(arg.arg, kind, default=default))
    if args.vararg is not None:
        found.append(kinds(args.vararg.arg, kinds.VAR_POSITIONAL))
    for arg, given in zip(args.kwonlyargs, args.kw_defaults):
        value = kinds.empty if given is None else parse_expr(cx, given)
        found.append(kinds(arg.arg, kinds.KEYWORD_ONLY, default=value))
    if args.kwarg is not None:
        found.append(kinds(args.kwarg.arg, kinds.VAR_KEYWORD))
    return inspect.Signature(found)


def call_lambda(
    cx: ScriptContext, callee: ScriptLambda, args: Sequence[Any], kwargs: dict[str, Any],
    node: ast.expr,
) -> Any:  # fmt: skip
    """The value of a lambda's body; mistakes inside show where it is called."""
    bound = _bind_lambda(cx, callee, args, kwargs, node)
    count_step(cx, node)
    with cx.reporter.inside_lambda(cx.span(node)), cx.temporary_names() as names:
        for name, value in bound.items():
            cx.bind_temporarily(names, name, cx.language.keep(cx, value, node))
        return parse_expr(cx, callee.node.body)


def _bind_lambda(
    cx: ScriptContext, callee: ScriptLambda, args: Sequence[Any], kwargs: dict[str, Any],
    node: ast.expr,
) -> dict[str, Any]:  # fmt: skip
    """The arguments of the parameters of a lambda."""
    if isinstance(node, ast.Call):
        defined = cx.span(callee.node)
        return bind_arguments(cx, callee.taken, node, args, kwargs, defined=defined)
    try:  # another function of Python calls it
        return python_signature("", callee.taken).bind(args, kwargs)
    except ArgumentError:
        written = ast.unparse(callee.node)
        message = f"`{written}` is given other arguments than it takes"
        raise cx.error(node, "RX0103", message) from None


# What functions know in every language, beside what is common to all expressions.
COMPILE_TIME_RULES: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.ListComp: parse_comprehension,
    ast.GeneratorExp: parse_comprehension,
    ast.SetComp: parse_set_comprehension,
    ast.DictComp: parse_dict_comprehension,
    ast.Lambda: parse_lambda,
}
