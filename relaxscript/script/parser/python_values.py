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

from relaxscript.ir.node import Node

from .base import ExpressionParser

__all__ = ["LocalFunction", "LoopExit", "PythonValues"]

# How often the body of a loop may be written out.
MOST_COPIES = 10_000


class LocalFunction:
    """A `lambda` of the script: called while the program is read."""

    def __init__(self, node: ast.Lambda, names: Sequence[str], call: Callable[..., Any]) -> None:
        self.node = node
        self.names = names
        self.call = call


class LoopExit(Exception):
    """`break` or `continue` of a loop that is written out."""

    def __init__(self, leaves: bool) -> None:
        super().__init__()
        self.leaves = leaves


class PythonValues(ExpressionParser):
    """Adds comprehensions and lambdas to expressions; `loop_items` are those of a `for`."""

    # ---- comprehensions

    def list_comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        return self.generated(node.generators, lambda: self.value(node.elt))

    def set_comprehension(self, node: ast.SetComp) -> set[Any]:
        found = self.generated(node.generators, lambda: self.value(node.elt))
        with self.at(node):
            return set(found)

    def dict_comprehension(self, node: ast.DictComp) -> dict[Any, Any]:
        pairs = self.generated(
            node.generators, lambda: (self.value(node.key), self.value(node.value))
        )
        with self.at(node):
            return dict(pairs)

    def generated(
        self, generators: Sequence[ast.comprehension], element: Callable[[], Any]
    ) -> list[Any]:
        """The elements of a comprehension, whose names are known only inside."""
        before, found = self.names, list[Any]()
        self.names = dict(before)
        try:
            self._generate(generators, element, found)
        finally:
            self.names = before
        return found

    def _generate(
        self, generators: Sequence[ast.comprehension], element: Callable[[], Any], found: list[Any]
    ) -> None:
        if not generators:
            found.append(element())
            return
        first, *others = generators
        for item in self.loop_items(self.value(first.iter), first.iter):
            self.bind_item(first.target, item)
            tests = [(test, self.value(test)) for test in first.ifs]
            for test, value in tests:
                if isinstance(value, Node):
                    raise self.error(
                        test, "RX0104", "a comprehension chooses by values known now",
                        help="choose between values: `a if c else b`",
                    )  # fmt: skip
            if all(value for _, value in tests):
                self._generate(others, element, found)

    def bind_item(self, target: ast.expr, item: Any) -> None:
        """The names of a loop over Python values, for one of its items."""
        if isinstance(target, ast.Name):
            self.names[target.id] = item
            return
        if not isinstance(target, (ast.Tuple, ast.List)):
            raise self.error(target, "RX0104", "a loop gives its items to names")
        if isinstance(item, Node) or not isinstance(item, (tuple, list, str, np.ndarray)):
            raise self.error(
                target, "RX0104", "this item of the loop cannot be unpacked",
                labels=[(target, f"an item is a Python {type(item).__name__}")],
            )  # fmt: skip
        if len(item) != len(target.elts) or any(isinstance(t, ast.Starred) for t in target.elts):
            count = len(target.elts)
            raise self.error(
                target, "RX0104", f"{len(item)} values cannot be given to {count} names"
            )
        for inner, part in zip(target.elts, item):
            self.bind_item(inner, part)

    # ---- loops

    def loop_items(self, value: Any, node: ast.AST) -> list[Any]:
        """The items of a Python value that a loop goes over while the program is read."""
        if isinstance(value, (set, frozenset)):
            ordered = f"sorted({self.written(node)})"
            raise self.error(node, "RX0104", "the items of a set have no order",
                             help=f"write `{ordered}`", fix=ordered)  # fmt: skip
        if isinstance(value, Node) or not isinstance(value, Iterable):
            raise self.error(
                node, "RX0104",
                "a comprehension goes over what is known now: a list, a tuple, a range",
                help="loop in a statement of its own: `for i in range(n):`",
            )  # fmt: skip
        with self.at(node):
            found = list(islice(value, MOST_COPIES + 1))
        if len(found) > MOST_COPIES:
            raise self.error(
                node, "RX0104", f"a loop over Python values is written out, {MOST_COPIES} times "
                "at most", help="loop over `range(...)`",
            )  # fmt: skip
        return found

    # ---- lambdas

    def local_function(self, node: ast.Lambda) -> LocalFunction:
        """A function of values, whose body is read at each call."""
        args = node.args
        if args.vararg or args.kwarg or args.kwonlyargs or args.defaults:
            raise self.error(
                node, "RX0104", "a `lambda` has plain parameters only here",
                help="define a function outside",
            )  # fmt: skip
        names = [a.arg for a in (*args.posonlyargs, *args.args)]

        def call(*values: Any) -> Any:
            before = self.names
            self.names = {**before, **dict(zip(names, values))}
            try:
                return self.value(node.body)
            finally:
                self.names = before

        return LocalFunction(node, names, call)

    def call_local(self, function: LocalFunction, node: ast.Call) -> Any:
        args, kwargs = self.arguments(node)
        values: Mapping[str, Any] = {**dict(zip(function.names, args)), **kwargs}
        if len(args) + len(kwargs) != len(function.names) or set(values) != set(function.names):
            kind = Parameter.POSITIONAL_OR_KEYWORD
            taken = Signature([Parameter(name, kind) for name in function.names])
            raise self.misfit_of(taken, node, len(args), kwargs, self.span(function.node))
        return function.call(*(values[name] for name in function.names))
