"""The forms of `R.` beside annotations and operators: leaf values, and what only scripts say."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType, converted, is_dtype
from relaxscript.errors import AdvisedValueError, Diagnostic, DiagnosticError, did_you_mean
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import relax as ir
from relaxscript.ir.prim import FloatImm, IntImm, PrimExpr, as_prim
from relaxscript.ir.relax import ExternFunc, ShapeExpr, TupleGetItem
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op.base import compute_prim_value
from relaxscript.opdef.aliases import nearest_dtype
from relaxscript.opdef.parameters import DTYPES

from .annotations import as_struct_info
from .safe_callables import safe_callables

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "ExternFunc", "ShapeExpr", "TupleGetItem", "const", "dataflow", "dtype", "emit_te", "func_attr",
    "match_cast", "match_shape", "output", "outputs", "prim_value", "shape", "str", "tuple",
]  # fmt: skip


class MatchCastValue:
    """The right side `R.match_cast(value, struct_info)` of an assignment."""

    def __init__(self, value: Any, struct_info: StructInfo) -> None:
        self.value = value
        self.struct_info = struct_info


class Dataflow:
    """The block that `with R.dataflow():` opens; it has a meaning in scripts only."""


def dataflow() -> Any:
    """A block of bindings without side effects or control flow; `R.output` says what leaves it.

    In a builder program write `with bb.dataflow():`; inside an `IRBuilder` it is a frame.
    """
    frames = builder_forms()
    return Dataflow() if frames is None else frames.dataflow()


def output(*names: Any) -> None:
    """The variables of a dataflow block that can be used after it."""
    frames = builder_forms()
    if frames is not None:
        frames.output(*names)


outputs = output


def emit_te(func: Any, *args: Any, **kwargs: Any) -> ir.Call:
    """A call of the PrimFunc that a function of tensor expressions describes.

    `func` is run now, with a `te.Tensor` for each tensor among the arguments; it gives one tensor
    or a list of them. `primfunc_name_hint` and `primfunc_attrs` are of the PrimFunc. It has a
    meaning in scripts, inside an `IRBuilder`, and in functions of a BlockBuilder.
    """
    frames = builder_forms()
    if frames is not None:
        made: ir.Call = frames.emit_te(func, *args, **kwargs)
        return made
    builder = BlockBuilder.current()
    if builder is None:
        raise DiagnosticError(
            Diagnostic(
                "RX0105", "`R.emit_te` belongs in a Relax function", caller_span(),
                help="call it in a script, or write `bb.emit_te(func, x)`",
            )
        )  # fmt: skip
    return builder.call_te(func, *args, **kwargs)


def func_attr(attrs: Mapping[str, Any]) -> None:  # type: ignore[valid-type]
    """Attributes of the function."""
    frames = builder_forms()
    if frames is not None:
        frames.func_attr(attrs)


def builder_forms() -> ModuleType | None:
    """The names of `R.` inside of an open `IRBuilder`; None outside, where scripts are parsed."""
    # Asked for, not imported: while a script is read nothing is, and then no builder is open.
    room = sys.modules.get("relaxscript.script.ir_builder")
    if room is None or not room.IRBuilder.is_in_scope():
        return None
    forms: ModuleType = room.relax
    return forms


def const(value: ArrayLike, dtype: Any = None) -> ir.Constant:
    """A constant tensor; without `dtype`, Python numbers are int32, float32 or bool.

    `value` is a number, nested lists of numbers, or an array (copied). Raises `ValueError` when the
    value does not fit the dtype exactly as numpy converts it.
    """
    if isinstance(value, np.ndarray) and dtype is None:
        if value.dtype.kind in "OSU":
            raise ValueError("a constant is made of numbers, a string is none")
        _dtype(value.dtype.name)
        return ir.Constant(value)
    array = _array(value)
    if dtype is not None:
        return ir.Constant(_convert_array(value, array, _dtype(dtype)))
    wanted = {"i": "int32", "u": "int32", "f": "float32", "b": "bool"}.get(array.dtype.kind)
    if wanted is None or isinstance(value, (np.ndarray, np.generic)):
        return ir.Constant(array)
    return ir.Constant(_convert_array(value, array, DataType(wanted)))


def _array(value: Any) -> np.ndarray[Any, Any]:
    """The array that a number, nested lists or an array mean; raises `ValueError`."""
    if isinstance(value, ir.Expr):
        raise ValueError("a constant is made of numbers, this is a value of the program")
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError("the lists of a constant have different lengths") from None
    if array.dtype.kind in "OSU" and not isinstance(value, np.ndarray):
        what = "a string" if array.dtype.kind in "SU" else "this"
        numbers = [n for n in np.ravel(array) if isinstance(n, int)]
        if numbers and len(numbers) == array.size:
            raise ValueError(f"{max(numbers, key=abs)} does not fit in int64")
        raise ValueError(f"a constant is made of numbers, {what} is none")
    return array


def _dtype(dtype: Any) -> DataType:
    if isinstance(dtype, builtins.str) and not (is_dtype(dtype) and DataType(dtype).in_relax):
        near = nearest_dtype(dtype, DTYPES)
        help = did_you_mean(near, quote='"')
        raise AdvisedValueError(f'"{dtype}" is not a dtype', help)
    return DataType(dtype)


def _convert_array(
    value: Any, array: np.ndarray[Any, Any], dtype: DataType
) -> np.ndarray[Any, Any]:
    if array.dtype.kind in "iu" and dtype.is_integer and array.size:
        limits = np.iinfo(dtype.numpy)
        low, high = int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            worst = low if low < limits.min else high
            raise ValueError(f"{worst} does not fit in {dtype}")
    with np.errstate(over="ignore"):
        made: np.ndarray[Any, Any] = converted(array, dtype.numpy)
    return made


def prim_value(value: Any) -> ir.Expr:
    """A scalar value: int64, float64 or bool for Python numbers; computed for other expressions."""
    if isinstance(value, float):
        return ir.PrimValue(FloatImm.make(DataType("float64"), value))
    scalar = as_prim(value)
    if isinstance(scalar, (IntImm, FloatImm)):
        return ir.PrimValue(scalar)
    return _compute_scalar(scalar)


def _compute_scalar(scalar: PrimExpr) -> ir.Expr:
    return compute_prim_value.build([scalar])


def str(value: Any) -> ir.StringImm:
    """A string as a value."""
    return ir.StringImm(value)


def dtype(value: Any) -> ir.DataTypeImm:
    """A dtype as a value."""
    return ir.DataTypeImm(value)


def shape(values: Any) -> ir.ShapeExpr:
    """A shape as a value; dimensions may use the shape variables in scope."""
    return ir.ShapeExpr(values)


def tuple(*fields: Any) -> ir.Tuple:
    """A tuple of values."""
    return ir.Tuple.make(_fields(fields))


def _fields(fields: Any) -> Any:
    return (*(ir.as_expr(f) for f in fields),)


def match_cast(value: Any, struct_info: Any) -> MatchCastValue:
    """Check a value at run time and bind new shape variables; written on the right of `=`."""
    return MatchCastValue(value, as_struct_info(struct_info))


def match_shape(value: Any, shape: Any) -> MatchCastValue:
    """Check the shape of a tensor, or a shape, at run time, and bind new shape variables.

    The older spelling of `R.match_cast(value, R.Tensor(shape))`; it has a meaning in scripts only,
    where the kind and dtype of `value` are known.
    """
    raise DiagnosticError(
        Diagnostic(
            "RX0201", "`R.match_shape` has a meaning in scripts only", caller_span(),
            help="write `R.match_cast(value, R.Tensor(shape, dtype))`",
        )
    )  # fmt: skip


safe_callables(
    const, dataflow, dtype, func_attr, output, prim_value, shape, str, tuple, match_cast,
    ExternFunc, ShapeExpr, TupleGetItem,
)  # fmt: skip
