"""Conversion of operands as people write them to the expressions of a call.

Relax expressions are taken as they are. A numpy array becomes a Constant. A Python number becomes a
rank-0 Constant. Beside tensors it takes their dtype, provided that the dtype holds it: an int
beside floats is fine, a float beside ints is not. Alone it is bool, int64 or float32.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, converted
from relaxscript.errors import Described, DiagnosticError, OperandError
from relaxscript.ir import prim, relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim_checks import reason, shorten
from relaxscript.ir.relax import (
    Call,
    Constant,
    Expr,
    ExternFunc,
    GlobalVar,
    Op,
    ShapeExpr,
    StringImm,
    Tuple,
)
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.runtime.values import Prim

from .leaf_struct_info import struct_info_of_leaf
from .parameters import Parameter

__all__ = [
    "compute_operand", "convert_callee", "convert_dtype", "convert_many", "convert_operand",
    "convert_shape", "convert_sinfo", "convert_tensors", "convert_text", "dimension", "dtype_among",
    "not_an_operand", "number_constant", "wrong_kind",
]  # fmt: skip

_WANTED = {
    "tensor": "a tensor",
    "scalar": "a tensor",
    "shape": "a shape",
    "function": "a function",
    "packed": "a packed function",
    "prim": "a scalar",
    "tuple": "a tuple",
    "text": "a string",
    "dtype": 'a dtype, such as "float32"',
}
_CASTS = {
    "tensor": "R.Tensor(...)",
    "scalar": "R.Tensor(...)",
    "shape": "R.Shape(ndim=...)",
    "function": "R.Callable(...)",
    "prim": 'R.Prim("int64")',
    "tuple": "R.Tuple(...)",
}


def wrong_kind(operand: str, info: StructInfo | None, wanted: str) -> OperandError:
    """The error for an operand that is no tensor (shape, ...) or is not known to be one.

    A call that is made by hand may have none.
    """
    cast = _CASTS.get(wanted)
    noun = "None" if info is None else info.noun
    help = None
    if isinstance(info, ObjectStructInfo) and cast is not None:
        help = f"say what it is, which is checked when it runs: `R.match_cast({operand}, {cast})`"
    return OperandError(operand, f"is {noun}", wanted=_WANTED[wanted], code="RX0201", help=help)


def not_an_operand(operand: str, value: Any, wanted: str) -> OperandError:
    """The error for a Python value that is no Relax expression."""
    shown = "None" if value is None else f"a Python `{type(value).__name__}`"
    shown = value.describe() if isinstance(value, Described) else shown
    is_function = callable(value) and not isinstance(value, (type, Node))
    shown = "a function of Python" if is_function else shown
    shown = "a module" if isinstance(value, IRModule) else shown
    listed = isinstance(value, (list, tuple)) and wanted in ("tensor", "scalar")
    computed = listed and any(isinstance(item, Expr) for item in value)
    help = f"make a tensor of it: `R.const({operand})`" if listed else None
    if computed:
        help = f"make one tensor of it: `R.stack({operand})`, or `R.concat({operand})`"
    return OperandError(
        operand,
        f"is {shown}",
        wanted=_WANTED.get(wanted, "a value"),
        code="RX0201",
        help=help,
        fix={operand: "R.const({})"} if listed and not computed else None,
    )


# ---------------------------------------------------------------- numbers beside tensors


def dtype_among(values: Iterable[Any]) -> DataType | None:
    """The dtype of the first tensor (or scalar) among operands; None if there is none.

    It is "void" where the first tensor's dtype is not known.
    """
    for value in values:
        array = isinstance(value, (np.ndarray, np.generic))
        if array and (dtype := _data_type(value)) is not None:
            return dtype
        info = struct_info_of_leaf(value) if isinstance(value, Expr) else None
        if isinstance(info, (TensorStructInfo, PrimStructInfo, DTensorStructInfo)):
            return info.dtype
    return None


def _data_type(array: np.ndarray[Any, Any] | np.generic) -> DataType | None:
    """The dtype of an array; None for one that no tensor has, which is refused elsewhere."""
    try:
        return DataType(array.dtype.name)
    except ValueError:
        return None


def number_constant(operand: str, value: float, dtype: DataType | None) -> Constant:
    """The rank-0 Constant of a Python number beside operands of `dtype` (None: beside none)."""
    return Constant.make(_number_array(operand, value, dtype))


def _number_array(operand: str, value: float, dtype: DataType | None) -> np.ndarray[Any, Any]:
    if dtype is None:
        dtype = DataType(_natural(value, "float32"))
    if dtype.is_void:
        raise OperandError(
            operand,
            f"is the number {value!r}, and the dtype it should have is not known",
            code="RX0202",
            help=f'write it with its dtype: `R.const({value!r}, "float32")`',
        )
    if not _holds(dtype, value):
        name = type(value).__name__
        raise OperandError(
            operand,
            f"is the {name} {value!r}, which {dtype} does not hold",
            code="RX0202",
            help=_help_for_number(value, dtype),
        )
    array: np.ndarray[Any, Any] = converted(np.array(value), dtype.numpy)
    array.setflags(write=False)
    return array


def _natural(value: float, of_floats: str) -> str:
    if isinstance(value, bool):
        return "bool"
    return "int64" if isinstance(value, int) else of_floats


def _holds(dtype: DataType, value: float) -> bool:
    if isinstance(value, bool) or dtype.is_bool:
        return isinstance(value, bool) and dtype.is_bool
    if isinstance(value, int):
        if dtype.is_integer:
            low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
            return low <= value < low + (1 << dtype.bits)
        return _float_holds(dtype, value)
    # A literal such as 0.1 is rounded as everywhere; only what becomes infinite is refused.
    if not dtype.is_float:
        return False
    return -1 <= value <= 1 or not math.isfinite(value) or math.isfinite(_round(dtype, value))


def _float_holds(dtype: DataType, value: int) -> bool:
    if -2 <= value <= 2:
        return True
    if abs(value) > 1 << 1023:
        return False
    rounded = _round(dtype, float(value))
    return math.isfinite(rounded) and int(rounded) == value


def _round(dtype: DataType, value: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.array(value).astype(dtype.numpy).astype(np.float64))


def _help_for_number(value: float, dtype: DataType) -> str:
    if isinstance(value, float) and (dtype.is_integer or dtype.is_bool):
        return 'convert the tensor with `R.astype(..., "float32")`, or write an integer'
    natural = _natural(value, "float64")
    return f'write `R.const({value!r}, "{natural}")`, and convert the tensor with `R.astype`'


# ---------------------------------------------------------------- one operand


def convert_operand(
    parameter: Parameter, value: Any, alike: Callable[[], DataType | None], name: str = ""
) -> Expr:
    """An operand as an expression; `alike` gives the dtype that a number beside it takes."""
    operand = name or parameter.name
    match value:
        case Expr():
            return value
        case np.ndarray() | np.generic():
            return _array_constant(operand, value)
        case bool() | int() | float() if parameter.wants in ("tensor", "scalar"):
            return number_constant(operand, value, alike())
        case None:
            raise not_an_operand(operand, value, parameter.wants)
        case prim.Immediate() | Prim():
            return _prim_value(value)
        case prim.PrimExpr():
            return compute_operand(value)
        case list() | tuple() if parameter.wants == "value":
            fields = enumerate(value)
            return Tuple.make(
                tuple(convert_operand(parameter, v, alike, f"{operand}[{i}]") for i, v in fields)
            )
    if parameter.wants in ("tensor", "scalar"):
        raise not_an_operand(operand, value, parameter.wants)
    return _as_expr(operand, value, parameter.wants)


def _as_expr(operand: str, value: Any, wants: str) -> Expr:
    try:
        return relax.as_expr(value)
    except TypeError:
        raise not_an_operand(operand, value, wants) from None
    except DiagnosticError as error:  # a number beyond what scalars hold
        raise OperandError(operand, "is too large", message=reason(error), code="RX0202") from None


def _prim_value(value: prim.Immediate | Prim) -> relax.PrimValue:
    known = prim.const(value.value, value.dtype) if isinstance(value, Prim) else value
    return relax.PrimValue.make(known)


def compute_operand(value: prim.PrimExpr) -> Call:
    """A scalar expression as an operand, `R.prim_value(n * 2)`: a call, for it must be computed."""
    return Call.make(Op.make("relax.compute_prim_value"), (ShapeExpr.make((value,)),))


def _array_constant(operand: str, value: Any) -> Constant:
    try:
        return Constant(value)
    except ValueError as error:
        raise OperandError(operand, f"is an array whose {error}", code="RX0202") from None


def convert_tensors(parameter: Parameter, value: Any, alike: Callable[[], Any]) -> Expr:
    """A tuple of operands: a list or tuple of them, or an expression that evaluates to a tuple.

    A single operand that is no tuple becomes a tuple of one.
    """
    if isinstance(value, (list, tuple)):
        fields = [
            convert_operand(parameter, item, alike, f"{parameter.name}[{index}]")
            for index, item in enumerate(value)
        ]
        return Tuple.make(tuple(fields))
    single = convert_operand(parameter, value, alike)
    if isinstance(single, Tuple) or parameter.wants == "tensor":
        return single
    return (
        single
        if isinstance(struct_info_of_leaf(single), TupleStructInfo)
        else Tuple.make((single,))
    )


def convert_many(parameter: Parameter, value: Any, alike: Callable[[], Any]) -> tuple[Expr, ...]:
    """Any number of operands, each an argument of the call."""
    if value is None:
        return ()
    items = value if isinstance(value, (list, tuple)) else (value,)
    return tuple(
        convert_operand(parameter, item, alike, f"{parameter.name}[{index}]")
        for index, item in enumerate(items)
    )


def convert_text(parameter: Parameter, value: Any) -> Expr:
    """A string as a StringImm."""
    match value:
        case StringImm():
            return value
        case str():
            return StringImm.make(value)
    raise not_an_operand(parameter.name, value, "text")


def convert_dtype(parameter: Parameter, value: Any) -> Expr:
    """A dtype as an operand: a DataTypeImm, or an expression that evaluates to one."""
    literal = isinstance(value, (StringImm, relax.DataTypeImm))
    if isinstance(value, Expr) and not literal:
        return value
    try:
        found = DataType(value.value if literal else value)
    except (ValueError, TypeError):
        found = None
    if found is None or found.is_void or not found.in_relax:
        shown = f'"{value}"' if isinstance(value, str) else f"`{value}`"
        wanted = _WANTED["dtype"]
        raise OperandError(parameter.name, f"is {shown}", wanted=wanted, code="RX0201")
    return relax.DataTypeImm(found)


def convert_shape(parameter: Parameter, value: Any) -> Expr | None:
    """A shape: a ShapeExpr, an expression that evaluates to one, or a list of dimensions."""
    name = parameter.name
    match value:
        case None if not parameter.is_required:
            return None
        case Expr():
            return value
        case list() | tuple():
            return ShapeExpr.make(tuple(dimension(name, item) for item in value))
        case int() | prim.IntImm() | np.integer() if not isinstance(value, bool):
            return ShapeExpr.make((dimension(name, value),))
        case prim.PrimExpr():
            raise OperandError(
                name,
                "is a single dimension",
                message=f"`{name}` is a shape: a tuple of dimensions",
                code="RX0201",
                help=f"write `({value},)`",
                fix={name: "({},)"},
            )
    raise not_an_operand(name, value, "shape")


def dimension(operand: str, value: Any) -> prim.PrimExpr:
    """One dimension as a PrimExpr; raises `OperandError` for what is no integer."""
    if isinstance(value, relax.PrimValue):
        value = value.value
    if isinstance(value, prim.PrimExpr) and value.dtype.is_integer:
        return prim.as_dimension(value)
    number = None if isinstance(value, bool) else _whole_number(value)
    if number is None:
        raise OperandError(
            operand, f"has the dimension `{value!r}`, which is no integer", code="RX0204"
        )
    if abs(number) >> 63:
        raise OperandError(
            operand, f"has the dimension {shorten(number)}, which does not fit in int64",
            code="RX0204",
        )  # fmt: skip
    return prim.as_dimension(prim.as_prim(value))


def _whole_number(value: Any) -> int | None:
    """The number that a value is; None for one that is no integer, as most arrays are."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def convert_callee(parameter: Parameter, value: Any) -> Expr:
    """The callee: a GlobalVar or the name of one, or a packed function or its name."""
    match value:
        case Expr():
            return value
        case str() if parameter.wants == "packed":
            return ExternFunc.make(value)
        case str():
            return GlobalVar.make(value)
    raise not_an_operand(parameter.name, value, parameter.wants)


def convert_sinfo(parameter: Parameter, value: Any) -> tuple[StructInfo, ...]:
    """The StructInfo of results: one, a list, or an annotation such as `R.Tensor` itself."""
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return tuple(info for item in value for info in convert_sinfo(parameter, item))
    if callable(value) and not isinstance(value, (StructInfo, Expr)):
        try:
            value = value()
        except TypeError:  # no annotation that can be written without its parentheses
            raise _no_annotation(parameter, value) from None
    if not isinstance(value, StructInfo):
        raise _no_annotation(parameter, value)
    return (value,)


def _no_annotation(parameter: Parameter, value: Any) -> OperandError:
    return OperandError(
        parameter.name,
        f"is a Python `{type(value).__name__}`, not an annotation",
        code="RX0204",
        help='write for example `R.Tensor((2, 3), "float32")`',
        nature="type",
    )
