"""The functions of scalars under their names in scripts: `T.exp`, `T.ceildiv`, `T.max_value` ...

`FUNCTIONS` maps what follows `T.` to a Python function that builds the expression. Most build a
call of the intrinsic of that name (`intrinsic.py`), some (`ceildiv`, `max_value`) build other
expressions. They match the dtypes of their operands as Python's operators do. An operand that
cannot be taken raises an `OperandError` that names it.

Source: TVM `tir.op`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, did_you_mean, nearest
from relaxscript.errors.user_frame import report_at_caller

from .constant_folding import fold_binary
from .device_functions import device_function, operand
from .device_intrinsics import device_intrinsics
from .intrinsic import FLOATS, INTRINSICS, Intrinsic, op_named
from .prim import (
    Broadcast,
    Call,
    Div,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mod,
    PrimExpr,
    PrimExprLike,
    Select,
    StringImm,
    as_prim,
    cast,
    const,
    match_dtypes,
)
from .prim_operators import BUILDERS, ScalarLike
from .tir import Buffer

__all__ = [
    "DEVICE_FUNCTIONS", "FUNCTIONS", "absolute", "call_cpacked", "call_intrin", "call_packed",
    "ceildiv", "if_then_else", "infinity", "is_address_as_number", "match_operands", "max_value",
    "min_value", "packed_operand", "reinterpret",
]  # fmt: skip

BOOL = DataType("bool")
INT32 = DataType("int32")


def _refuse(row: Intrinsic, parameter: str, dtype: DataType) -> OperandError:
    floats = row.takes == FLOATS and not dtype.is_float
    return OperandError(
        parameter,
        f"is {dtype}",
        message=f"each operand of {{callee}} is {row.takes}",
        callee=f"T.{row.script_name}",
        code="RX0502",
        help=f'convert with `T.cast({parameter}, "float32")`' if floats else None,
        fix={parameter: 'T.cast({}, "float32")'} if floats else None,
    )


def match_operands(
    script_name: str, names: Sequence[str], a: Any, b: Any
) -> tuple[PrimExpr, PrimExpr]:
    """Two operands in one dtype; a plain number takes the other's."""
    a, b = (
        v if isinstance(v, (int, float)) else operand(script_name, n, v)
        for n, v in zip(names, (a, b), strict=True)
    )
    try:
        return match_dtypes(a, b)
    except TypeError:
        raise OperandError(
            names[1],
            f"is {as_prim(b).dtype}",
            also={names[0]: f"is {as_prim(a).dtype}"},
            message="the operands of {callee} have no common dtype",
            callee=f"T.{script_name}",
            code="RX0502",
        ) from None


def _builder(row: Intrinsic) -> Callable[..., PrimExpr]:
    """The function that builds a call of an intrinsic with a fixed number of operands."""

    def build(*values: PrimExprLike) -> PrimExpr:
        if len(values) == 2 and row.name != "tir.ldexp":
            args: tuple[PrimExpr, ...] = match_operands(row.script_name, row.parameters, *values)
        else:
            args = tuple(
                operand(row.script_name, n, v) for n, v in zip(row.parameters, values, strict=True)
            )
        checked = args[:1] if row.name == "tir.ldexp" else args
        for parameter, arg in zip(row.parameters, checked, strict=False):
            if not row.accepts(arg.dtype):
                raise _refuse(row, parameter, arg.dtype)
        return Call.make(row.result_dtype(args), row.op, args)

    return _operator_function(build, row)


def _operator_function(build: Callable[..., PrimExpr], row: Intrinsic) -> Callable[..., PrimExpr]:
    """Give a builder the signature of its row, so that wrong calls are refused by Python."""
    parameters = ", ".join(row.parameters)
    scope: dict[str, Any] = {
        "build": lambda dtype, *args: _typed_function(row, build(*args), dtype)
    }
    text = f"def {row.script_name}({parameters}, *, dtype=None): return build(dtype, {parameters})"
    exec(compile(text, f"{__file__}, {row.script_name}", "exec"), scope)  # ours in tracebacks, too
    made: Callable[..., PrimExpr] = scope[row.script_name]
    made.__doc__ = f"A call of `{row.name}`; each operand is {row.takes}."
    made.__module__ = __name__
    return made


def _typed_function(row: Intrinsic, made: PrimExpr, dtype: Any) -> PrimExpr:
    """A call whose dtype may be said; it follows from the operands."""
    if dtype is None or DataType(getattr(dtype, "dtype", dtype)) is made.dtype:
        return made
    raise OperandError(
        "dtype", f"is {dtype}", message=f"this call of {{callee}} gives {made.dtype}",
        callee=f"T.{row.script_name}", code="RX0502",
        help="leave `dtype` out, or convert the operands",
    )  # fmt: skip


def _rounding(row: Intrinsic) -> Callable[..., PrimExpr]:
    """Rounding functions leave integers as they are."""
    build = _builder(row)

    def rounding(x: PrimExprLike) -> PrimExpr:
        e = operand(row.script_name, "x", x)
        return e if e.dtype.is_integer else build(e)

    return _operator_function(rounding, row)


def _property(row: Intrinsic, of_integers: bool) -> Callable[..., PrimExpr]:
    """isnan and its kin: the answer for integers is known."""
    build = _builder(row)

    def predicate(x: PrimExprLike) -> PrimExpr:
        e = operand(row.script_name, "x", x)
        if e.dtype.is_float:
            return build(e)
        return const(of_integers, BOOL.with_lanes(max(e.dtype.lanes, 1)))

    return _operator_function(predicate, row)


def call_intrin(dtype: str, func_name: str, *args: Any) -> PrimExpr:
    """A call of an intrinsic by its name ("tir.exp"); raises `OperandError` for unknown names."""
    name = func_name if func_name.startswith("tir.") else f"tir.{func_name}"
    if name not in INTRINSICS:
        near = nearest(name, INTRINSICS)
        raise OperandError(
            "func_name",
            f'is "{func_name}"',
            message="there is no intrinsic of this name",
            code="RX0501",
            help=did_you_mean(near, quote='"'),
            fix={"func_name": f'"{near}"'} if near else None,
        )
    arity = INTRINSICS[name].arity
    if arity not in (None, len(args)):
        raise OperandError(
            "func_name",
            f"takes {arity}",
            message=f'"{name}" is called with {len(args)} operands here, not with {arity}',
            code="RX0103",
        )
    operands = tuple(operand("call_intrin", f"args[{i}]", v) for i, v in enumerate(args))
    return Call.make(DataType(dtype), INTRINSICS[name].op, operands)


def packed_operand(value: Any) -> Any:
    """An operand of a packed function; a buffer is handed over with its shape."""
    if not isinstance(value, Buffer):
        return value
    strides: Any = 0
    if value.strides:
        strides = FUNCTIONS["tvm_stack_make_shape"](*value.strides)
    return FUNCTIONS["tvm_stack_make_array"](
        value.data, FUNCTIONS["tvm_stack_make_shape"](*value.shape), strides,
        value.ndim, const(0, value.dtype), value.elem_offset or 0,
    )  # fmt: skip


def call_packed(*args: Any) -> PrimExpr:
    """A call of a packed function by its name, the first operand; others may be buffers."""
    return _call_by_name("call_packed", "tir.tvm_call_packed", args)


def call_cpacked(*args: Any) -> PrimExpr:
    """A call of a packed function of C by its symbol, the first operand."""
    return _call_by_name("call_cpacked", "tir.tvm_call_cpacked", args)


def _call_by_name(script_name: str, op: str, args: Sequence[Any]) -> PrimExpr:
    given = map(packed_operand, args)
    operands = tuple(operand(script_name, f"args[{i}]", v) for i, v in enumerate(given))
    if not operands or not isinstance(operands[0], StringImm):
        raise OperandError(
            "args[0]", f"is {operands[0].dtype}" if operands else "is missing", code="RX0502",
            message=f"`T.{script_name}` takes the name of a function first, a string",
        )  # fmt: skip
    return Call.make(INT32, op_named(op), operands)


def if_then_else(
    cond: PrimExprLike, t: PrimExprLike, f: PrimExprLike, *, dtype: str | None = None
) -> PrimExpr:
    """`t` or `f` by a condition; only the one that is chosen is evaluated."""
    condition = operand("if_then_else", "cond", cond)
    if not condition.dtype.is_bool:
        condition = cast(condition, BOOL)
    yes, no = match_operands("if_then_else", ("t", "f"), t, f)
    row = INTRINSICS["tir.if_then_else"]
    return _typed_function(row, Call.make(yes.dtype, row.op, (condition, yes, no)), dtype)


def absolute(x: PrimExprLike) -> PrimExpr:
    """The absolute value: `tir.fabs` of floats, a Select of signed integers."""
    e = operand("abs", "x", x)
    if e.dtype.is_float:
        return Call.make(e.dtype, op_named("tir.fabs"), (e,))
    if e.dtype.kind != "int":
        return e
    return Select.make(e >= 0, e, const(0, e.dtype) - e)


def reinterpret(dtype: str, value: PrimExprLike) -> PrimExpr:
    """The value of `dtype` with the same bits; one that has the dtype is itself."""
    e, target = operand("reinterpret", "value", value), DataType(dtype)
    if e.dtype is target:
        return e
    if e.dtype.bits * e.dtype.lanes != target.bits * target.lanes:
        raise OperandError(
            "value",
            f"is {e.dtype}",
            message=f"`T.reinterpret` cannot take the bits of {e.dtype} for those of {target}",
            code="RX0502",
        )
    return Call.make(target, op_named("tir.reinterpret"), (e,))


def is_address_as_number(call: Call) -> bool:
    """True if a call is the `T.reinterpret` of an address, as an integer of its width."""
    if call.op is not op_named("tir.reinterpret") or call.dtype not in ("int64", "uint64"):
        return False
    return call.args[0].dtype.kind == "handle"


def _exact(name: str, make: Any) -> Callable[[PrimExprLike, PrimExprLike], PrimExpr]:
    def build(a: PrimExprLike, b: PrimExprLike) -> PrimExpr:
        return make.make(*match_operands(name, ("a", "b"), a, b))  # type: ignore[no-any-return]

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"A `{make.__name__}` of two scalars in their common dtype."
    return build


def ceildiv(lhs: PrimExprLike, rhs: PrimExprLike) -> PrimExpr:
    """Division rounding up: `(lhs + rhs - 1) // rhs`, which is so for positive `rhs`."""
    a, b = match_operands("ceildiv", ("lhs", "rhs"), lhs, rhs)
    less: PrimExpr = const(b.value - 1, b.dtype) if isinstance(b, IntImm) else b - 1
    return FloorDiv.make(a + less, b)


def _float_info(dtype: DataType) -> Any:
    own = dtype.kind == "bfloat" or dtype.bits < 16
    info: Any = ml_dtypes.finfo if own else np.finfo
    return info(dtype.numpy)


def _constant(dtype: DataType, value: float) -> PrimExpr:
    element = dtype.element
    scalar: PrimExpr = (
        FloatImm(element, float(value)) if element.is_float else IntImm(element, int(value))
    )
    return scalar if dtype.lanes == 1 else Broadcast.make(scalar, dtype.lanes)


def min_value(dtype: str) -> PrimExpr:
    """The least finite value of a dtype."""
    t = DataType(dtype)
    if t.is_float:
        return _constant(t, float(_float_info(t.element).min))
    return _constant(t, -(1 << (t.bits - 1)) if t.kind == "int" else 0)


def max_value(dtype: str) -> PrimExpr:
    """The greatest finite value of a dtype."""
    t = DataType(dtype)
    if t.is_float:
        return _constant(t, float(_float_info(t.element).max))
    return _constant(t, (1 << (t.bits - (t.kind == "int"))) - 1)


def infinity(dtype: str) -> PrimExpr:
    """Plus infinity; raises `OperandError` for a dtype that has none."""
    t = DataType(dtype)
    if not t.is_float:
        raise OperandError(
            "dtype", f"is {t}", message="only floating-point numbers can be infinite", code="RX0502"
        )
    return _constant(t, float("inf"))


_ROUNDING = frozenset({"ceil", "floor", "nearbyint", "round", "trunc"})
# The names of the intrinsics of hardware and of run times.
DEVICE_FUNCTIONS = frozenset(line.name for line in device_intrinsics())
_PROPERTIES = {"isfinite": True, "isinf": False, "isnan": False}


def _function_of(row: Intrinsic) -> Callable[..., PrimExpr]:
    name = row.script_name
    if name in _ROUNDING:
        return _rounding(row)
    if name in _PROPERTIES:
        return _property(row, _PROPERTIES[name])
    return device_function(row) if name in DEVICE_FUNCTIONS else _builder(row)


_BUILT: dict[str, Callable[..., PrimExpr]] = {
    **{row.script_name: _function_of(row) for row in INTRINSICS.values()},
    "abs": absolute,
    "call_cpacked": call_cpacked,
    "call_intrin": call_intrin,
    "call_packed": call_packed,
    "ceildiv": ceildiv,
    "floordiv": _exact("floordiv", FloorDiv),
    "floormod": _exact("floormod", FloorMod),
    "if_then_else": if_then_else,
    "infinity": infinity,
    "max": _exact("max", Max),
    "max_value": max_value,
    "min": _exact("min", Min),
    "min_value": min_value,
    "reinterpret": reinterpret,
    "truncdiv": _exact("truncdiv", Div),
    "truncmod": _exact("truncmod", Mod),
}
FUNCTIONS = {name: report_at_caller(function) for name, function in _BUILT.items()}


def _bitwise(name: str, a: Any, b: Any) -> Any:
    """The call for Python's operator on bits; NotImplemented beside what is no scalar."""
    if any(isinstance(side, str) or not _is_scalar(side) for side in (a, b)):
        return NotImplemented
    try:
        call = FUNCTIONS[name](a, b)
    except OperandError as error:
        raise error.as_diagnostic_error(f"tir.{name}", None) from None
    known = fold_binary(_SYMBOLS[name], *call.args)  # type: ignore[attr-defined]
    return call if known is None else known


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (PrimExpr, ScalarLike)) or hasattr(value, "__index__")


_BITS = {
    "<<": "shift_left", ">>": "shift_right", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor",
}  # fmt: skip
_SYMBOLS = {name: symbol for symbol, name in _BITS.items()}
BUILDERS.update({symbol: partial(_bitwise, name) for symbol, name in _BITS.items()})
BUILDERS["~"] = lambda x, _: FUNCTIONS["bitwise_not"](x)
