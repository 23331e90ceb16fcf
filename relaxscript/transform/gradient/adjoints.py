"""Adjoints: the gradient of the target by each variable, added up as its uses are met.

That of a tensor is an expression. That of a tuple is a list with one for each field: a field gets
its part without a look at the others. What has none so far is None: zeros.
"""

from __future__ import annotations

from typing import Any

from relaxscript.ir.relax import Expr, Tuple, TupleGetItem, Var
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op import create
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

from .emitter import Emitter

__all__ = ["Adjoint", "Adjoints", "as_expression", "field_of", "zeros_like"]

# None, an expression, or a list of adjoints.
Adjoint = Any


class Adjoints:
    """The adjoints of variables; contributions to one are added in pairs."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._found: dict[Var, Adjoint] = {}

    def __contains__(self, var: Var) -> bool:
        return var in self._found

    def pop(self, var: Var) -> Adjoint:
        """The adjoint of a variable whose uses have all been met; None where it has none."""
        return self._found.pop(var, None)

    def add(self, leaf: Expr, adjoint: Adjoint) -> None:
        """Add to the adjoint of a variable, or to those of the variables in a tuple."""
        if adjoint is None:
            return
        if isinstance(leaf, Tuple):
            for field, part in zip(leaf.fields, adjoint, strict=True):
                self.add(field, part)
        elif isinstance(leaf, Var):
            self._found[leaf] = self._sum(self._found.get(leaf), adjoint, leaf.name_hint)

    def add_to_field(self, var: Var, index: int, adjoint: Adjoint) -> None:
        """Add to the adjoint of a field of a tuple."""
        info = struct_info_of_leaf(var)
        if adjoint is not None and isinstance(info, TupleStructInfo):
            fields = self._found.setdefault(var, [None] * len(info.fields))
            fields[index] = self._sum(fields[index], adjoint, var.name_hint)

    def _sum(self, one: Adjoint, other: Adjoint, name: str) -> Adjoint:
        if one is None or other is None:
            # What has fields is added to in place, so that nobody else may hold it.
            return _copied(other if one is None else one)
        if isinstance(one, list):
            return [self._sum(a, b, name) for a, b in zip(one, other, strict=True)]
        return self._emitter.add(one, other, f"{name}_adjoint")


def _copied(adjoint: Adjoint) -> Adjoint:
    return list(map(_copied, adjoint)) if isinstance(adjoint, list) else adjoint


def as_expression(adjoint: Adjoint, like: Expr, info: StructInfo) -> Expr | None:
    """An adjoint as one value, with zeros for what has none; None for what cannot have any."""
    if adjoint is None:
        return zeros_like(like, info)
    if not isinstance(adjoint, list):
        found: Expr = adjoint
        return found
    assert isinstance(info, TupleStructInfo)
    pairs = enumerate(zip(adjoint, info.fields, strict=True))
    made = [as_expression(part, field_of(like, k), field) for k, (part, field) in pairs]
    return _tuple_of(made)


def zeros_like(like: Expr, info: StructInfo) -> Expr | None:
    """Zeros like a value of tensors; None for what holds something else."""
    match info:
        case TupleStructInfo(fields):
            return _tuple_of([zeros_like(field_of(like, k), f) for k, f in enumerate(fields)])
        case TensorStructInfo(dims=dims, dtype=dtype, vdevice=None) if (
            dims is not None and not dtype.is_void
        ):
            return create.zeros(dims, dtype)  # type: ignore[no-any-return]
        case TensorStructInfo():
            return create.zeros_like(like)  # type: ignore[no-any-return]
    return None


def _tuple_of(fields: list[Expr | None]) -> Tuple | None:
    found = tuple(field for field in fields if field is not None)
    return Tuple.make(found) if len(found) == len(fields) else None


def field_of(value: Expr, index: int) -> Expr:
    """A field of a tuple, which a variable may hold."""
    return value.fields[index] if isinstance(value, Tuple) else TupleGetItem.make(value, index)
