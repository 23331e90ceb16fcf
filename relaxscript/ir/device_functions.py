"""Functions that build calls of device intrinsics; `scalar_functions.py` has them beside its own.

`T.vectorlow("float32x4", v)` says the dtype of the result first, also as `dtype=`; of
`T.tvm_struct_get` it comes last, as in TVM. The number of operands is that of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import Described, OperandError

from .intrinsic import Intrinsic
from .prim import Call, PrimExpr, StringImm, as_prim, const

__all__ = ["TYPED_LAST", "builds", "device_function", "operand"]

# Calls whose dtype comes behind the operands.
TYPED_LAST = frozenset({"tir.tvm_struct_get"})


def operand(script_name: str, parameter: str, value: Any) -> PrimExpr:
    """An operand as people write it: numbers and texts are literals."""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return StringImm(value) if isinstance(value, str) else const(value)
    try:
        return as_prim(value)
    except TypeError:
        what = value.describe() if isinstance(value, Described) else type(value).__name__
        raise OperandError(
            parameter,
            f"is {what}, not a scalar",
            message="{callee} takes scalar expressions",
            callee=f"T.{script_name}",
            code="RX0502",
        ) from None


def _signature(row: Intrinsic) -> Signature:
    kind = Parameter.POSITIONAL_OR_KEYWORD
    plain = len(row.parameters) - len(row.defaults)
    values = [Parameter.empty] * plain + list(row.defaults)
    parameters = [Parameter(n, kind, default=v) for n, v in zip(row.parameters, values)]
    if row.is_typed:
        at = len(parameters) if row.name in TYPED_LAST else 0
        parameters.insert(at, Parameter("dtype", kind))
    if row.rest:
        parameters.append(Parameter("args", Parameter.VAR_POSITIONAL))
    return Signature(parameters)


def device_function(row: Intrinsic) -> Callable[..., PrimExpr]:
    """The function that builds a call of an intrinsic of the table."""
    signature = _signature(row)

    def build(*args: Any, **named: Any) -> PrimExpr:
        dtype = None
        if row.is_typed and "dtype" in named and row.name not in TYPED_LAST:
            args = (named.pop("dtype"), *args)
        elif not row.is_typed:
            dtype = named.pop("dtype", None)
        try:
            bound = signature.bind(*args, **named)
        except TypeError as error:
            raise TypeError(f"{row.script_name}() {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        dtype = given.pop("dtype", dtype)
        rest = given.pop("args", ())
        operands = [_operand(row, n, v) for n, v in given.items() if v is not None]
        operands += [operand(row.script_name, f"operand {i}", v) for i, v in enumerate(rest)]
        result = row.result_dtype(operands) if dtype is None else _dtype(row, dtype)
        check = _CHECKS.get(row.name)
        if check is not None:
            check(row, result, operands)
        return Call.make(result, row.op, tuple(operands))

    build.__name__ = build.__qualname__ = row.script_name
    vars(build)["__signature__"] = signature
    build.__module__ = __name__
    build.__doc__ = f"A call of `{row.name}`" + (
        "." if row.compiled else ", for which no code is made here."
    )
    return build


def builds(row: Intrinsic, call: Call) -> bool:
    """True if the function of an intrinsic builds a call; one made by hand may be any."""
    function = device_function(row)
    last = row.name in TYPED_LAST
    given = (*call.args, call.dtype) if last else (call.dtype, *call.args)
    try:
        if row.is_typed:
            function(*given)
        else:
            function(*call.args, dtype=call.dtype)
    except (OperandError, TypeError, ValueError, IndexError):
        return False
    return True


def _dtype(row: Intrinsic, value: Any) -> DataType:
    if isinstance(value, PrimExpr):
        raise OperandError(
            "dtype", "is a scalar", code="RX0502",
            message=f"`T.{row.script_name}` needs the dtype of its result",
            help='write it first, for example `"int32"`',
        )  # fmt: skip
    return DataType(value if isinstance(value, str) else getattr(value, "dtype", value))


def _operand(row: Intrinsic, parameter: str, value: Any) -> PrimExpr:
    made = operand(row.script_name, parameter, value)
    if parameter in row.texts and not isinstance(made, StringImm):
        raise OperandError(
            parameter, f"is {made.dtype}", code="RX0502",
            message=f"`T.{row.script_name}` takes a string here",
        )  # fmt: skip
    return made


# ---- what the intrinsics ask of their operands for which code is made


def _refuse(row: Intrinsic, parameter: str, dtype: DataType, wanted: str) -> OperandError:
    message = f"`T.{row.script_name}` takes {wanted}"
    return OperandError(parameter, f"is {dtype}", message=message, code="RX0502")


def _refuse_result(row: Intrinsic, dtype: DataType, wanted: DataType | str) -> OperandError:
    message = f"the result of `T.{row.script_name}` is {wanted} here"
    return OperandError("dtype", f"is {dtype}", message=message, code="RX0502")


def _half(row: Intrinsic, result: DataType, args: list[PrimExpr]) -> None:
    whole = args[0].dtype
    if whole.lanes < 2 or whole.lanes % 2:
        raise _refuse(row, "vec", whole, "a vector with an even number of lanes")
    if result != whole.with_lanes(whole.lanes // 2):
        raise _refuse_result(row, result, whole.with_lanes(whole.lanes // 2))


def _combine(row: Intrinsic, result: DataType, args: list[PrimExpr]) -> None:
    low, high = args[0].dtype, args[1].dtype
    if low != high:
        raise _refuse(row, "vec2", high, f"two vectors of one dtype, {low}")
    if result != low.with_lanes(low.lanes * 2):
        raise _refuse_result(row, result, low.with_lanes(low.lanes * 2))


def _dot(row: Intrinsic, result: DataType, args: list[PrimExpr]) -> None:
    for name, arg in zip(row.parameters, args[:2]):
        if arg.dtype not in ("int8x4", "uint8x4"):
            raise _refuse(row, name, arg.dtype, "vectors of four bytes")
    if args[2].dtype != "int32":
        raise _refuse(row, "acc", args[2].dtype, "an int32 to add to")


def _fixed_point(row: Intrinsic, result: DataType, args: list[PrimExpr]) -> None:
    for name, arg in zip(row.parameters, args):
        if not (arg.dtype == "int32" or (arg.dtype.is_bool and name.startswith("is_"))):
            raise _refuse(row, name, arg.dtype, "scalars of int32")


def _mask(row: Intrinsic, result: DataType, args: list[PrimExpr]) -> None:
    if not result.is_bool or result.lanes < 2:
        raise OperandError(
            "dtype", f"is {result}", code="RX0502",
            message=f"`T.{row.script_name}` gives a vector of bools",
            help='write for example `"boolx4"`',
        )  # fmt: skip
    for name, arg in zip(row.parameters, args):
        if not arg.dtype.is_integer or arg.dtype.lanes != 1:
            raise _refuse(row, name, arg.dtype, "integers")
    if args[0].dtype != args[1].dtype:
        raise _refuse(row, "limit", args[1].dtype, f"two integers of one dtype, {args[0].dtype}")


_CHECKS: dict[str, Callable[[Intrinsic, DataType, list[PrimExpr]], None]] = {
    "tir.dp4a": _dot,
    "tir.get_active_lane_mask": _mask,
    "tir.q_multiply_shift": _fixed_point,
    "tir.q_multiply_shift_per_axis": _fixed_point,
    "tir.vectorcombine": _combine,
    "tir.vectorhigh": _half,
    "tir.vectorlow": _half,
}
