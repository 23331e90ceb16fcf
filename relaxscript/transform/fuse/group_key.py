"""Keys of groups of bindings: groups with the same key become the same function."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import Binary, FloatImm, IntImm, PrimExpr, Var as PrimVar
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    GlobalVar,
    Op,
    PrimValue,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

__all__ = ["GroupKey"]

_PLAIN = frozenset({str, int, bool, type(None), DataType})


class GroupKey:
    """The key of the function of a group that takes `params`, with these attributes.

    Two groups with the same `key` differ in names and places only, so that their functions are
    structurally equal. Others may be, too: what is rare has no key, and is like nothing else.
    `sizes` are the shape variables that the group mentions, in their order.
    """

    def __init__(
        self, group: Sequence[Binding], params: Sequence[Expr], attrs: Mapping[str, Any]
    ) -> None:
        self._variables: dict[Expr, int] = {}
        self._numbers: dict[PrimVar, int] = {}
        # By identity. Each is held here, so that no other gets its place in memory meanwhile.
        self._infos: dict[int, tuple[StructInfo | None, Hashable]] = {}
        parts: list[Hashable] = [len(params), self._attribute(attrs)]
        for param in params:
            parts.append(self._struct_info(struct_info_of_leaf(param)))
            self._variables[param] = len(self._variables)
        for binding in group:
            parts.append(self._expr(binding.value))
            parts.append(self._struct_info(binding.var.struct_info))
            self._variables[binding.var] = len(self._variables)
        self.key = tuple(parts)
        self.sizes = tuple(self._numbers)

    def _expr(self, expr: Expr) -> Hashable:
        if isinstance(expr, (Var, Constant)):
            number = self._variables.get(expr)
            # A constant that is no parameter is the same one, since each is one object.
            return expr if number is None else ("variable", number)
        match expr:
            case Call(op=op, args=args, attrs=attrs, sinfo_args=infos):
                called = self._expr(op), tuple([self._expr(arg) for arg in args])
                said = tuple([self._struct_info(info) for info in infos])
                return "call", *called, None if attrs is None else self._attribute(attrs), said
            case Op(name) | GlobalVar(name):
                return expr.__class__, name
            case Tuple(fields=fields):
                return "tuple", *[self._expr(field) for field in fields]
            case TupleGetItem(tuple_value=held, index=index):
                return "field", self._expr(held), index
            case PrimValue(value=scalar):
                return "scalar", self._scalar(scalar)
            case ShapeExpr(values=values):
                return "shape", *map(self._scalar, values)
            case StringImm(value=text):
                return "string", text
            case DataTypeImm(value=dtype):
                return "dtype", dtype
        return object()

    def _struct_info(self, info: StructInfo | None) -> Hashable:
        known = self._infos.get(id(info))
        if known is None:
            known = self._infos[id(info)] = info, self._describe(info)
        return known[1]

    def _describe(self, info: StructInfo | None) -> Hashable:
        match info:
            case TensorStructInfo(shape=None | ShapeExpr()):
                sizes = info.dims if info.dims is None else tuple(map(self._scalar, info.dims))
                return "tensor", info.dtype, info.vdevice, info.ndim, sizes
            case TupleStructInfo(fields=fields):
                return "tuple", *[self._struct_info(field) for field in fields]
            case ShapeStructInfo(values=values, ndim=ndim):
                sizes = values if values is None else tuple(map(self._scalar, values))
                return "shape", ndim, sizes
            case PrimStructInfo(dtype=dtype, value=value):
                return "scalar", dtype, value if value is None else self._scalar(value)
            case ObjectStructInfo():
                return "object"
        return object()

    def _scalar(self, e: PrimExpr) -> Hashable:
        match e:
            case IntImm(dtype=dtype, value=value):
                return dtype, value
            case PrimVar(dtype=dtype, type_annotation=None) if e.__class__ is PrimVar:
                return "variable", dtype, self._numbers.setdefault(e, len(self._numbers))
            case FloatImm(dtype=dtype, value=number):
                return "float", dtype, number.hex()
            case Binary(a=a, b=b):
                return e.__class__, self._scalar(a), self._scalar(b)
        return object()

    def _attribute(self, value: object) -> Hashable:
        if value.__class__ in _PLAIN:
            return value.__class__, value
        if isinstance(value, float):
            return "float", value.hex()
        if isinstance(value, tuple):
            return "tuple", *map(self._attribute, value)
        if isinstance(value, Mapping):
            return "attributes", *[(name, self._attribute(item)) for name, item in value.items()]
        return self._scalar(value) if isinstance(value, PrimExpr) else object()
