"""Functions of Python that are called in a Relax function: those that take values of the program.

`len`, `max` and `min` are computed over dimensions; whatever else needs values that are known only
when the program runs is refused, with the operator that does the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from relaxscript.errors import Edit
from relaxscript.ir.prim import Max, Min, PrimExpr, match_dtypes
from relaxscript.ir.relax import Expr, PrimValue

from .base import Failed
from .relax_attribute import RelaxAttributes

__all__ = ["RelaxPython"]

# What functions of Python are called where values are known only later.
_LATER = {"max": "maximum", "min": "minimum", "pow": "power", "len": "shape_of"}
_CONVERSIONS = {"float": "float32", "int": "int64", "bool": "bool"}
# Libraries whose functions take arrays, and so no values of a program.
_OF_ARRAYS = frozenset({"numpy", "scipy", "torch", "jax", "tensorflow", "cupy"})
_LATER_LOOP = "loop in a `@T.prim_func`, or write a recursive function"


class RelaxPython(RelaxAttributes):
    """Calls of functions that are Python's own."""

    def call_python(self, callee: Any, node: ast.Call) -> Any:
        if callee in (max, min) and not node.keywords:
            return self.extreme(callee, node)
        if callee is print:
            self.refuse_later(node)
        if callee is not len or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            return super().call_python(callee, node)
        value = self.value(node.args[0])
        known = self.known_length(value) if isinstance(value, Expr) else None
        if known is not None:
            return known
        with self.at(node):
            return len(value)

    def extreme(self, callee: Any, node: ast.Call) -> Any:
        """Python's `max` and `min`, of dimensions too."""
        values = [self.bounded(value, node) for value in self.values(node.args)]
        given = values
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            values = list(values[0])
        if not any(isinstance(v, PrimExpr) for v in values):
            try:
                with self.at(node):
                    return callee(*given)
            except Failed:
                self.explain_failure(values, node)
                raise
        if any(isinstance(v, Expr) or not isinstance(v, (int, PrimExpr)) for v in values):
            raise self.error(
                node, "RX0104", f"`{ast.unparse(node)}` mixes dimensions with other values"
            )
        maker = Max if callee is max else Min
        numbers = [v for v in values if not isinstance(v, PrimExpr)]
        scalars = [v for v in values if isinstance(v, PrimExpr)]
        if numbers:
            scalars.append(match_dtypes(callee(numbers), scalars[0])[0])
        return reduce(lambda a, b: maker.make(*match_dtypes(a, b)), scalars)

    def check_taken(self, callee: Any, args: Sequence[Any], node: ast.Call) -> None:
        """numpy makes an array of objects of what it does not know, and computes with that."""
        home = getattr(callee, "__module__", None) or type(callee).__module__
        if home.partition(".")[0] not in _OF_ARRAYS:
            return
        if any(isinstance(part, Expr) and type(part) is not PrimValue for part in _parts(args)):
            message, help, fix = self.taken_too_early(node)
            self.error(node, "RX0112", message, help=help, edits=fix)
            raise Failed

    def explain_failure(self, args: Sequence[Any], node: ast.Call) -> None:
        """A function of Python that failed on values of the program gets a better message."""
        failure = self.reporter.diagnostics[-1]
        if failure.code != "RX0112" or not any(
            isinstance(part, (Expr, PrimExpr)) for part in _parts(args)
        ):
            return
        if failure.labels:  # a function of the user's own, which says more about itself
            return
        message, help, fix = self.taken_too_early(node)
        self.reporter.diagnostics[-1] = replace(failure, message=message, help=help, fix=fix)

    def taken_too_early(self, node: ast.Call) -> tuple[str, str | None, tuple[Edit, ...]]:
        """What is said of a call of Python's own, what to write, and the edit."""
        written = ast.unparse(node.func)
        message = f"`{written}` is Python's own, and cannot take values that are known only later"
        return message, *self.instead_of_python(written, node)

    def instead_of_python(
        self, written: str, node: ast.Call
    ) -> tuple[str | None, tuple[Edit, ...]]:
        """What to write for a call of Python's own, and the edit where it is the same call."""
        last = written.rpartition(".")[2]
        if written == "range":
            return _LATER_LOOP, ()
        if written in _CONVERSIONS and len(node.args) == 1:
            whole = f'R.astype({self.written(node.args[0])}, "{_CONVERSIONS[written]}")'
            span = self.span(node)
            return f"write `{whole}`", () if span is None else (Edit(span, whole),)
        several = len(node.args) > 1
        near = self.member_named(ast.Name(_LATER.get(last, last) if several else last))
        near = near or self.member_named(ast.Name(_LATER.get(last, last)))
        span = self.span(node.func)
        if near is None or span is None:
            return None, ()
        return f"write `{near}(...)`", (Edit(span, near),) if near.startswith("R.") else ()

    def refuse_later(self, node: ast.Call) -> None:
        """`print(x)` would print a variable, not its value: that is known when the program runs."""
        for argument in node.args:
            if isinstance(argument, ast.Name) and isinstance(self.value(argument), Expr):
                raise self.error(
                    node, "RX0112", "`print` would print now, while the program is read",
                    help=f"print values by `R.print({argument.id}, format=...)`",
                )  # fmt: skip


def _parts(args: Sequence[Any]) -> Iterator[Any]:
    """Arguments, and what stands in lists and tuples among them."""
    for arg in args:
        yield from arg if isinstance(arg, (list, tuple)) else (arg,)
