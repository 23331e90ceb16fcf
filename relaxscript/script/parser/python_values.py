"""Python that runs while a PrimFunc is read: comprehensions, lambdas, loops over Python values.

    [x * 2 for x in values] | {k: v for k, v in pairs} | lambda x: x + 1
    "for" names "in" Python values ":" body

A loop over Python values is written out: its body is read once for each item, with the names bound
as Python binds them, so they keep their last values after it. `break` and `continue` mean what they
mean in Python where Python knows when they happen.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from itertools import islice
from typing import Any

import numpy as np

from relaxscript.errors import Described
from relaxscript.ir.node import Node

from .expression import parse_expr
from .misfits import misfit_of
from .python_call import parse_arguments
from .script_context import ScriptContext

__all__ = [
    "LocalFunction",
    "LoopExit",
    "bind_item",
    "call_local",
    "loop_items",
    "parse_dict_comprehension",
    "parse_lambda",
    "parse_list_comprehension",
    "parse_set_comprehension",
]

# How often the body of a loop may be written out.
MOST_COPIES = 10_000


class LocalFunction(Described):
    """A `lambda` of the script: called while the program is read."""

    def __init__(self, node: ast.Lambda, names: Sequence[str], call: Callable[..., Any]) -> None:
        self.node = node
        self.names = names
        self.call = call

    @property
    def advice(self) -> str | None:
        return None

    def describe(self) -> str:
        return "a function"


class LoopExit(Exception):
    """`break` or `continue` of a loop that is written out."""

    def __init__(self, leaves: bool) -> None:
        super().__init__()
        self.leaves = leaves


def parse_list_comprehension(cx: ScriptContext, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
    return generate(cx, node.generators, lambda: parse_expr(cx, node.elt))


def parse_set_comprehension(cx: ScriptContext, node: ast.SetComp) -> set[Any]:
    found = generate(cx, node.generators, lambda: parse_expr(cx, node.elt))
    with cx.at(node):
        return set(found)


def parse_dict_comprehension(cx: ScriptContext, node: ast.DictComp) -> dict[Any, Any]:
    pairs = generate(
        cx, node.generators, lambda: (parse_expr(cx, node.key), parse_expr(cx, node.value))
    )
    with cx.at(node):
        return dict(pairs)


def generate(
    cx: ScriptContext, generators: Sequence[ast.comprehension], element: Callable[[], Any]
) -> list[Any]:
    """The elements of a comprehension, whose names are known only inside."""
    before, found = cx.names, list[Any]()
    cx.names = dict(before)
    try:
        extend_generated(cx, generators, element, found)
    finally:
        cx.names = before
    return found


def extend_generated(
    cx: ScriptContext,
    generators: Sequence[ast.comprehension],
    element: Callable[[], Any],
    found: list[Any],
) -> None:
    if not generators:
        found.append(element())
        return
    first, *others = generators
    for item in loop_items(cx, parse_expr(cx, first.iter), first.iter):
        bind_item(cx, first.target, item)
        tests = [(test, parse_expr(cx, test)) for test in first.ifs]
        for test, value in tests:
            if isinstance(value, Node):
                raise cx.error(
                    test, "RX0104", "a comprehension chooses by values known now",
                    help="choose between values: `a if c else b`",
                )  # fmt: skip
        if all(value for _, value in tests):
            extend_generated(cx, others, element, found)


def bind_item(cx: ScriptContext, target: ast.expr, item: Any) -> None:
    """The names of a loop over Python values, for one of its items."""
    if isinstance(target, ast.Name):
        cx.names[target.id] = item
        return
    if not isinstance(target, (ast.Tuple, ast.List)):
        raise cx.error(target, "RX0104", "a loop gives its items to names")
    if isinstance(item, Node) or not isinstance(item, (tuple, list, str, np.ndarray)):
        raise cx.error(
            target, "RX0104", "this item of the loop cannot be unpacked",
            labels=[(target, f"an item is a Python {type(item).__name__}")],
        )  # fmt: skip
    if len(item) != len(target.elts) or any(isinstance(t, ast.Starred) for t in target.elts):
        count = len(target.elts)
        raise cx.error(target, "RX0104", f"{len(item)} values cannot be given to {count} names")
    for inner, part in zip(target.elts, item):
        bind_item(cx, inner, part)


def loop_items(cx: ScriptContext, value: Any, node: ast.AST) -> list[Any]:
    """The items of a Python value that a loop goes over while the program is read."""
    if isinstance(value, (set, frozenset)):
        ordered = f"sorted({cx.written(node)})"
        raise cx.error(node, "RX0104", "the items of a set have no order",
                         help=f"write `{ordered}`", fix=ordered)  # fmt: skip
    if isinstance(value, Node) or not isinstance(value, Iterable):
        raise cx.error(
            node, "RX0104",
            "a comprehension goes over what is known now: a list, a tuple, a range",
            help="loop in a statement of its own: `for i in range(n):`",
        )  # fmt: skip
    with cx.at(node):
        found = list(islice(value, MOST_COPIES + 1))
    if len(found) > MOST_COPIES:
        raise cx.error(
            node, "RX0104", f"a loop over Python values is written out, {MOST_COPIES} times "
            "at most", help="loop over `range(...)`",
        )  # fmt: skip
    return found


def parse_lambda(cx: ScriptContext, node: ast.Lambda) -> LocalFunction:
    """A function of values, whose body is read at each call."""
    args = node.args
    if args.vararg or args.kwarg or args.kwonlyargs or args.defaults:
        raise cx.error(
            node, "RX0104", "a `lambda` has plain parameters only here",
            help="define a function outside",
        )  # fmt: skip
    names = [a.arg for a in (*args.posonlyargs, *args.args)]

    def call(*values: Any) -> Any:
        before = cx.names
        cx.names = {**before, **dict(zip(names, values))}
        try:
            return parse_expr(cx, node.body)
        finally:
            cx.names = before

    return LocalFunction(node, names, call)


def call_local(cx: ScriptContext, function: LocalFunction, node: ast.Call) -> Any:
    args, kwargs = parse_arguments(cx, node)
    values: Mapping[str, Any] = {**dict(zip(function.names, args)), **kwargs}
    if len(args) + len(kwargs) != len(function.names) or set(values) != set(function.names):
        kind = Parameter.POSITIONAL_OR_KEYWORD
        taken = Signature([Parameter(name, kind) for name in function.names])
        raise misfit_of(cx, taken, node, len(args), kwargs, cx.span(function.node))
    return function.call(*(values[name] for name in function.names))
