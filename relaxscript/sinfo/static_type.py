"""The traditional type of a StructInfo, which has no expressions, and the order of such types.

Source: spec "Traditional Types" (erase_struct_info); TVM `relax.analysis.get_static_type`.
"""

from __future__ import annotations

from relaxscript.arith import YES
from relaxscript.errors import Diagnostic, DiagnosticError, InternalError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import hooks
from relaxscript.ir.node import fields_of
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    empty_derive,
)
from relaxscript.ir.types import (
    FuncType,
    ObjectType,
    PackedFuncType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
)
from relaxscript.ir.walk import post_order

from .subtyping import is_subtype

__all__ = ["erase_struct_info", "is_static_subtype", "static_type_for_users", "struct_info_of_type"]


def erase_struct_info(info: StructInfo) -> Type:
    """The type of the values that `info` describes: ranks, dtypes and structure only."""
    done: dict[int, Type] = {}
    for part in post_order(info):
        if isinstance(part, StructInfo):
            done[id(part)] = _static_type(part, done)
    return done[id(info)]


def _static_type(info: StructInfo, done: dict[int, Type]) -> Type:
    """The type of a StructInfo whose parts are `done`."""
    match info:
        case TupleStructInfo(fields):
            return TupleType.make(tuple(done[id(f)] for f in fields))
        case FuncStructInfo(params=None):
            return PackedFuncType.make()
        case FuncStructInfo(params=params, ret=ret):
            return FuncType.make(tuple(done[id(p)] for p in params or ()), done[id(ret)])
    kind = info.static_type
    return kind.make(*(getattr(info, field.name) for field in fields_of(kind)))


@hooks.static_type_of.fill
def static_type_for_users(info: StructInfo | None) -> Type:
    """`erase_struct_info` for people, who may ask it of a variable of which nothing is known."""
    if info is None:
        message = "nothing is known of this variable, so it has no type"
        help = 'write for example `Var("x", TensorStructInfo((2, 3), "float32"))`'
        raise DiagnosticError(
            Diagnostic("RX0201", message, caller_span(), help=help, nature="value")
        )
    return erase_struct_info(info)


def struct_info_of_type(static: Type) -> StructInfo:
    """The StructInfo that says what a type says and nothing else; functions are pure, the default.

    Raises `InternalError` for a type that no Relax value has.
    """
    return _convert(static, {})


def _convert(static: Type, done: dict[int, StructInfo]) -> StructInfo:
    """As `struct_info_of_type`; a part that several types share is described once."""
    found = done.get(id(static))
    if found is None:
        found = done[id(static)] = _convert_parts(static, done)
    return found


def _convert_parts(static: Type, done: dict[int, StructInfo]) -> StructInfo:
    match static:
        case TensorType(ndim, dtype):
            return TensorStructInfo.make(None, dtype, None, ndim)
        case ShapeType(ndim):
            return ShapeStructInfo.make(None, ndim)
        case PrimType(dtype):
            return PrimStructInfo.make(dtype, None)
        case TupleType(fields):
            return TupleStructInfo.make(tuple(_convert(f, done) for f in fields))
        case FuncType(arg_types, ret_type):
            params = tuple(_convert(p, done) for p in arg_types)
            return FuncStructInfo.make(params, _convert(ret_type, done))
        case PackedFuncType():
            return FuncStructInfo.make(None, ObjectStructInfo(), False, empty_derive)
        case ObjectType():
            return ObjectStructInfo()
    raise InternalError(f"no value of Relax has the type {static!r}")


def is_static_subtype(a: Type, b: Type) -> bool:
    """True if `a <: b`: every value of type `a` may be used where one of type `b` is expected.

    The order of types is that of the StructInfos that say the same. It is always decided, since
    there are no variables.
    """
    return is_subtype(struct_info_of_type(a), struct_info_of_type(b)) is YES
