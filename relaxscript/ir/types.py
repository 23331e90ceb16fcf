"""Types without any expression: what is left of a StructInfo when sizes and values are forgotten.

`relax.analysis.get_static_type` gives the type of a StructInfo. Types are data: two are equal when
their fields are.

Sources: spec "Traditional Types"; TVM `relax.ty` and `ir.type` for names, orders and defaults.
"""

from __future__ import annotations

from typing import Any

from relaxscript.dtypes import DataType

from .node import Node, field, node

__all__ = [
    "DynTensorType", "FuncType", "ObjectType", "PackedFuncType", "PointerType", "PrimType",
    "ShapeType", "TensorType", "TupleType", "Type",
]  # fmt: skip


@node
class Type(Node):
    """A traditional type: the kind of a value without sizes, values or devices; types with equal
    fields are equal.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        from .structural_equality import structural_equal

        return isinstance(other, Type) and structural_equal(self, other)

    def __hash__(self) -> int:
        from .structural_equality import structural_hash

        return structural_hash(self)


def _scalar_dtype(value: Any) -> DataType:
    # The names that C has for them mean 32 bits.
    return DataType(f"{value}32" if value in ("float", "int", "uint") else value)


@node
class PrimType(Type):
    """The type of a scalar: nothing but its dtype; "float" is "float32", "int" is "int32"."""

    dtype: DataType = field(convert=_scalar_dtype)


@node
class PointerType(Type):
    """The type of a pointer into storage of some scope."""

    element_type: PrimType
    storage_scope: str = "global"


# No array has nearly as many dimensions; whoever makes a list of them finds memory for it.
MOST_DIMENSIONS = 1_000


def checked_rank(owner: str, ndim: int) -> int:
    """A number of dimensions, or -1 where it is unknown; raises `ValueError` for any other."""
    if ndim < -1:
        raise ValueError(f"`{owner}.ndim` is a number of dimensions, or -1: unknown; not {ndim}")
    if ndim > MOST_DIMENSIONS:
        raise ValueError(f"`{owner}.ndim` is at most {MOST_DIMENSIONS}, not {ndim}")
    return ndim


def _dtype(value: Any) -> DataType:
    return DataType("void" if value is None else value)


@node
class TensorType(Type):
    """The type of a tensor: its rank (-1: unknown) and dtype ("void": unknown)."""

    ndim: int = -1
    dtype: DataType = field(convert=_dtype, default="float32")

    def _check(self) -> None:
        checked_rank("TensorType", self.ndim)


# The name that the specification gives it.
DynTensorType = TensorType


@node
class ShapeType(Type):
    """The type of a shape: its number of dimensions, or -1 where that is unknown."""

    ndim: int = -1

    def _check(self) -> None:
        checked_rank("ShapeType", self.ndim)


@node
class TupleType(Type):
    """The type of a tuple: those of its fields."""

    fields: tuple[Type, ...] = field(convert=tuple)


@node
class FuncType(Type):
    """The type of a function: those of its arguments and of its result, without its purity."""

    arg_types: tuple[Type, ...] = field(convert=tuple)
    ret_type: Type


@node
class PackedFuncType(Type):
    """The type of every function outside of Relax: nothing is said of arguments and results."""

    __slots__ = ()


@node
class ObjectType(Type):
    """The type of every value."""

    __slots__ = ()
