"""Keys of groups of bindings: groups with the same key become the same function."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir.node import Node
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
from relaxscript.ir.walk import variables
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

__all__ = ["DescribedInfos", "GroupKey"]

_PLAIN = frozenset({str, int, bool, type(None), DataType})


# StructInfos by identity, each with itself, so that no other gets its place in memory: its key, and
# its shape variables in the order in which the key numbers them.
DescribedInfos = dict[int, tuple[StructInfo | None, Hashable, tuple[PrimVar, ...]]]


class GroupKey:
    """The key of the function of a group that takes `params`, with these attributes.

    Two groups with the same `key` differ in names and places only, so that their functions are
    structurally equal. Others may be, too: what is rare has no key, and is like nothing else.
    `sizes` are the shape variables that the group mentions, in their order. Groups of one module
    share what is `described`: most are about the same StructInfos.
    """

    def __init__(
        self, group: Sequence[Binding], params: Sequence[Expr], attrs: Mapping[str, Any],
        described: DescribedInfos | None = None,
    ) -> None:  # fmt: skip
        self._variables: dict[Expr, int] = {}
        self._numbers: dict[PrimVar, int] = {}
        self._described = {} if described is None else described
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
        known = self._described.get(id(info))
        if known is None:
            numbers: dict[PrimVar, int] = {}
            known = info, _describe(info, numbers), tuple(numbers)
            self._described[id(info)] = known
        _, key, sizes = known
        if key is None:
            return self._rare(info)
        if not sizes:
            return key
        own = self._numbers
        return key, *[own.setdefault(var, len(own)) for var in sizes]

    def _scalar(self, e: PrimExpr) -> Hashable:
        return _scalar(e, self._numbers) or self._rare(e)

    def _rare(self, node: Node | None) -> Hashable:
        """The key of what is like nothing else; the group mentions its variables all the same."""
        for var in () if node is None else variables(node):
            if isinstance(var, PrimVar):
                self._numbers.setdefault(var, len(self._numbers))
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


def _describe(info: StructInfo | None, numbers: dict[PrimVar, int]) -> Hashable | None:
    """The key of a StructInfo, whose new shape variables get numbers; None for what is rare."""
    match info:
        case TensorStructInfo(shape=None | ShapeExpr(), dims=dims):
            sizes = _scalars(dims, numbers)
            said = "tensor", info.dtype, info.vdevice, info.ndim, sizes
            return None if sizes is None else said
        case TupleStructInfo(fields=fields):
            inner = [_describe(field, numbers) for field in fields]
            return None if None in inner else ("tuple", *inner)
        case ShapeStructInfo(values=values, ndim=ndim):
            sizes = _scalars(values, numbers)
            return None if sizes is None else ("shape", ndim, sizes)
        case PrimStructInfo(dtype=dtype, value=value):
            sizes = _scalars(value if value is None else (value,), numbers)
            return None if sizes is None else ("scalar", dtype, sizes)
        case ObjectStructInfo():
            return "object"
    return None


def _scalars(
    values: Sequence[PrimExpr] | None, numbers: dict[PrimVar, int]
) -> tuple[Hashable, ...] | str | None:
    """The keys of sizes; "unknown" where they are not known, None where one is rare."""
    if values is None:
        return "unknown"
    keys = [_scalar(e, numbers) for e in values]
    return None if None in keys else tuple(keys)


def _scalar(e: PrimExpr, numbers: dict[PrimVar, int]) -> Hashable | None:
    """The key of a scalar, whose new variables get numbers; None for what is rare."""
    match e:
        case IntImm(dtype=dtype, value=value):
            return dtype, value
        case PrimVar(dtype=dtype, type_annotation=None) if e.__class__ is PrimVar:
            return "variable", dtype, numbers.setdefault(e, len(numbers))
        case FloatImm(dtype=dtype, value=number):
            return "float", dtype, number.hex()
        case Binary(a=a, b=b):
            keys = _scalar(a, numbers), _scalar(b, numbers)
            return None if None in keys else (e.__class__, *keys)
    return None
