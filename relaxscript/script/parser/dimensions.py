"""Dimensions of shapes that are known while a script is parsed, as Python holds them.

`x.shape` of a tensor whose shape is known is a `Dims`. Its items are expressions of shape
variables, and numbers that are `Dim`s. These stay dimensions when they are added or given a name;
any other number of Python becomes a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.ir.prim import IntImm, PrimExpr

__all__ = ["Dim", "Dims", "dimension_names", "is_number", "known_dims", "plain"]


class Dim(int):
    """A dimension that is a number; arithmetic of whole numbers with it gives such dimensions."""


class Dims(tuple[Any, ...]):
    """Dimensions in order: a tuple of Python, and a shape where a value is needed."""

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Dims(found) if isinstance(index, slice) else found


def known_dims(values: tuple[PrimExpr, ...]) -> Dims:
    """The dimensions of a shape."""
    return Dims(Dim(dim.value) if isinstance(dim, IntImm) else dim for dim in values)


def is_number(value: Any) -> bool:
    """True if a value is a number of Python that becomes a tensor, as a dimension does not."""
    return isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, Dim)


def plain(value: Any) -> Any:
    """A value for the program to keep, with the numbers in it as Python's own."""
    if isinstance(value, Dim):
        return int(value)
    if isinstance(value, (tuple, list)) and any(isinstance(item, Dim) for item in value):
        return type(value)(int(item) if isinstance(item, Dim) else item for item in value)
    return value


def dimension_names(node: ast.expr) -> list[str]:
    """The names in a dimension that are no functions and no namespaces: those of dimensions."""
    others = {
        id(inner.func if isinstance(inner, ast.Call) else inner.value)
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Call, ast.Attribute))
    }
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in others]


def _integer_operation(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def operation(self: Dim, *others: Any) -> Any:
        found = plain(self, *others)
        return Dim(found) if type(found) is int else found

    operation.__name__ = name
    return operation


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "rfloordiv", "mod", "rmod",
              "pow", "rpow", "neg", "pos", "abs"):  # fmt: skip
    setattr(Dim, f"__{_name}__", _integer_operation(f"__{_name}__"))
