"""Operators on values of any kind: shapes, scalars, printing, assertions, closures.

Source: spec "Notable Operators"; TVM `relax.print`, `relax.assert_op` for the strings of formats.
Calls of PrimFuncs and packed functions are in `calls.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.arith import NO, YES
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, VMError, quantity
from relaxscript.format_string import FormatError, check_format
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Call, Expr, ExternFunc, GlobalVar, ShapeExpr, StringImm
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import DeferredCheck, InferContext
from relaxscript.opdef.decomposition import DecompositionContext
from relaxscript.opdef.format import shape_fact
from relaxscript.opdef.operands import wrong_kind
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import (
    Callee,
    ResultInfo,
    ShapeLike,
    Spread,
    Tensor,
    Text,
    Value,
    Values,
)
from relaxscript.opdef.shapes import dims_of, number, require_dtype, tensor_of
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait
from relaxscript.runtime.values import Closure, Prim, Shape, format_values, prim_value
from relaxscript.sinfo import (
    apply_partially,
    check_compatibility,
    explain_mismatch,
    mismatch_fact,
    shape_var_mapping,
    substitute_shape_vars,
)

from .gradients import R
from .results import described_result

__all__ = [
    "assert_op", "compute_prim_value", "invoke_closure", "invoke_pure_closure", "make_closure",
    "null_value", "print", "shape_of", "shape_to_tensor", "tensor_to_shape",
]  # fmt: skip

_INT64 = DataType("int64")
_BOOL = DataType("bool")
_UNIT = TupleStructInfo.make(())
_OBJECT = ObjectStructInfo()
# The packed function that gives the shape which a tensor holds.
_TENSOR_TO_SHAPE = "vm.builtin.tensor_to_shape"


@op(traits={Trait.AS_IS})
def null_value() -> Value:
    """The null object, which tells an operator that an operand is left out."""
    return


@null_value.infer_rule
def _(context: InferContext) -> StructInfo:
    return _OBJECT


# ---------------------------------------------------------------- shapes and scalars


@op(traits={Trait.AS_IS})
def shape_of(expr: Tensor) -> Shape:
    """The shape of a tensor, as a shape value."""
    return Shape(expr.shape)


@shape_of.infer_rule
def _(context: InferContext, expr: TensorStructInfo) -> StructInfo:
    dims = dims_of(expr)
    return ShapeStructInfo.make(dims, expr.ndim if dims is None else len(dims))


@op(traits={Trait.AS_IS})
def tensor_to_shape(expr: Tensor) -> Shape:
    """The shape whose dimensions are the elements of a tensor of rank 1 and dtype int64."""
    return Shape(int(dim) for dim in expr)


@tensor_to_shape.infer_rule
def _(context: InferContext, expr: TensorStructInfo) -> StructInfo:
    dims = dims_of(expr)
    rank = expr.ndim if dims is None else len(dims)
    if rank not in (-1, 1):
        raise OperandError(
            "expr",
            shape_fact(expr, dims),
            message="the dimensions of a shape are a tensor of rank 1",
        )
    if not expr.dtype.is_void and expr.dtype is not _INT64:
        raise OperandError(
            "expr",
            f"has dtype {expr.dtype}",
            message="the dimensions of a shape are int64",
            code="RX0202",
            help='write `R.astype(expr, "int64")`',
            fix={"expr": 'R.astype({}, "int64")'},
        )
    length = dims[0] if dims else None
    return ShapeStructInfo.make(None, length.value if isinstance(length, prim.IntImm) else -1)


@tensor_to_shape.rule("decompose")
def _(context: DecompositionContext, expr: Expr) -> Expr | None:
    info = context.struct_info(tensor_to_shape(expr))
    assert isinstance(info, ShapeStructInfo), "a tensor holds a shape"
    if info.ndim < 0:
        return None
    callee, unknown = ExternFunc.make(_TENSOR_TO_SHAPE), ShapeStructInfo.make(None, info.ndim)
    held = context.emit(Call.make(R.call_pure_packed.op, (callee, expr), None, (unknown,)))
    dims = tuple(prim.Var.make("d" if k == 0 else f"d_{k}", prim.INT64) for k in range(info.ndim))
    context.match_cast(held, ShapeStructInfo.make(dims, info.ndim))
    return ShapeExpr.make(dims)


@op()
def shape_to_tensor(expr: ShapeLike) -> Tensor:
    """The dimensions of a shape as a tensor of rank 1 and dtype int64."""
    return np.array(expr, np.int64)


@shape_to_tensor.infer_rule
def _(context: InferContext, expr: ShapeStructInfo) -> StructInfo:
    known = expr.ndim >= 0
    return tensor_of((number(expr.ndim),) if known else None, _INT64, None, 1)


@shape_to_tensor.compute()
def _(context: ComputeContext, expr: list[PrimExpr]) -> te.Tensor:
    return topi.tensor.listed(expr, _INT64, "T_shape")


@op(traits={Trait.AS_IS})
def compute_prim_value(value: ShapeLike) -> Value:
    """The value of a scalar expression, given as the only dimension of a shape.

    In script it is `R.prim_value(n * 2)`. Unlike the dimension of a tensor it may be negative.
    """
    (only,) = value
    return only


@compute_prim_value.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    value = bound["value"]
    if isinstance(value, prim.PrimExpr):  # of any dtype, where a dimension is an integer
        return {"value": ShapeExpr.make((value,))}
    return bound


@compute_prim_value.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    (shape,) = compute_prim_value.operand_infos(call, context)
    if shape.values is None or len(shape.values) != 1 or not isinstance(call.args[0], ShapeExpr):
        raise OperandError(
            "value",
            f"is {_shape_fact(shape)}",
            message="one scalar expression is computed at a time",
            code="RX0204",
            help="write `R.prim_value(n * 2)`",
        )
    (value,) = shape.values
    return PrimStructInfo.make(value.dtype, value)


def _shape_fact(shape: ShapeStructInfo) -> str:
    """A fact about a shape value, as a message says it."""
    return "a shape" if shape.ndim < 0 else f"a shape of {shape.ndim} dimensions"


# ---------------------------------------------------------------- printing and asserting


@op(traits={Trait.IMPURE, Trait.AS_IS}, order=("format", "values"))
def print(*values: Value, format: Text = "") -> Value:
    """Print values on a line, one after the other or by a `format`: "n is {}, loss {:.3f}".

    Fields are those of `str.format` without attributes, items and conversions; a width or precision
    is at most 1000. Raises `VMError` (RX0606) where a value does not go with its field.
    """
    sys.stdout.write(format_values(format, values) + "\n")
    return ()


@print.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    print.operand_infos(call, context)
    _require_format(call.args)
    return _UNIT


def _require_format(args: Sequence[Expr]) -> None:
    """Refuse a format that its values do not go with; one that is known only later is read then."""
    form, count = (args[0] if args else None), len(args) - 1
    if isinstance(form, StringImm):
        try:
            check_format(form.value, count)
        except FormatError as error:
            fact = f"is given {quantity(count, 'value')}"
            raise OperandError(
                "format", fact, message=f"this is no format: {error}", code="RX0204"
            ) from None


@op(traits={Trait.IMPURE, Trait.AS_IS}, order=("condition", "format", "format_args"))
def assert_op(condition: Value, format_args: Spread | None = None, format: Text = "") -> Value:
    """Stop with a message unless the condition, a bool of rank 0, holds.

    The message is `format`, filled with `format_args` as `R.print` does. Raises `VMError`.
    """
    if not bool(np.asarray(prim_value(condition) if isinstance(condition, Prim) else condition)):
        told = format_values(format, format_args or ())
        raise VMError(f"Assertion Failed: {told}" if told else "Assertion Failed", code="RX0611")
    return ()


@assert_op.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    condition = assert_op.operand_infos(call, context)[0]
    _require_format(call.args[1:])
    match condition:
        case TensorStructInfo():
            rank = condition.ndim
            if rank not in (-1, 0):
                raise OperandError(
                    "condition",
                    shape_fact(condition),
                    message="a condition is one bool, a tensor of rank 0",
                )
            require_dtype("condition", condition.dtype, "bool")
        case PrimStructInfo(dtype):
            require_dtype("condition", dtype, "bool")
        case _:
            raise wrong_kind("condition", condition, "tensor")
    return _UNIT


# ---------------------------------------------------------------- closures


@op(traits={Trait.CAPTURES, Trait.AS_IS})
def make_closure(func: Callee, args: Values) -> Callable[..., Any]:
    """A closure: `func` with its last arguments given."""
    return func.bind(args) if isinstance(func, Closure) else lambda *given: func(*given, *args)


@make_closure.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    callee, args = call.args
    _require_function(context, "func", callee)
    try:
        info = context.struct_info(callee)
    except OperandError:
        return _OBJECT  # a function that is added later
    given = context.struct_info(args)
    if not isinstance(info, FuncStructInfo) or info.params is None:
        return _OBJECT
    if not isinstance(given, TupleStructInfo):
        return _OBJECT
    _require_fitting(context, info.params, given.fields)
    return apply_partially(info, given.fields)


def _require_fitting(
    context: InferContext, params: Sequence[StructInfo], given: Sequence[StructInfo]
) -> None:
    """Refuse captured values that are no last arguments of the function (RX0206)."""
    count = len(params) - len(given)
    if count < 0:
        raise OperandError(
            "args",
            f"gives {len(given)} of them",
            message=f"a closure gives arguments of its function, and this one takes {len(params)}",
            code="RX0206",
        )
    mapping = shape_var_mapping(params[count:], given)
    for index, (param, argument) in enumerate(zip(params[count:], given)):
        expected = substitute_shape_vars(param, mapping)
        answer = check_compatibility(argument, expected, context.facts)
        if answer is YES:
            continue
        if answer is NO:
            raise OperandError(
                f"args[{index}]",
                mismatch_fact(argument, expected),
                message=f"a captured value does not fit parameter {count + index} of the function",
                code="RX0206",
                help=f"the parameter is `{expected!r}`",
            )
        reason = explain_mismatch(argument, expected) or "it cannot be known now"
        context.require(DeferredCheck(f"args[{index}]", argument, expected, "fits", reason))


def _require_function(context: InferContext, operand: str, callee: Expr) -> None:
    """Refuse what is known to be no function; a closure that nothing is known of may be one."""
    if isinstance(callee, GlobalVar):
        return
    info = context.struct_info(callee)
    if not isinstance(info, (FuncStructInfo, ObjectStructInfo)):
        raise wrong_kind(operand, info, "function")


@op(traits={Trait.CALLS_OUT, Trait.IMPURE, Trait.AS_IS})
def invoke_closure(closure: Callee, args: Values, sinfo_args: ResultInfo) -> Value:
    """The result of a closure, which `sinfo_args` describes."""
    return closure(*args)


@op(traits={Trait.CALLS_OUT, Trait.AS_IS})
def invoke_pure_closure(closure: Callee, args: Values, sinfo_args: ResultInfo) -> Value:
    """The result of a closure that has no side effects, which `sinfo_args` describes."""
    return closure(*args)


def _invoke_infos(context: InferContext, call: Call) -> StructInfo:
    _require_function(context, "closure", call.args[0])
    return described_result(context, call)


invoke_closure.infer_call_rule(_invoke_infos)
invoke_pure_closure.infer_call_rule(_invoke_infos)


for _operator in (null_value, shape_of, tensor_to_shape, compute_prim_value):
    _operator.lacks("gradient", "its result is no tensor of floats")
    _operator.lacks("compute", "the machine makes its result, of what it knows of a value")
shape_to_tensor.lacks("gradient", "its result is no tensor of floats")


for _operator in (print, assert_op):
    _operator.lacks("gradient", "it is called for its effect")
    _operator.lacks("compute", "it is called for its effect")


for _operator in (make_closure, invoke_closure, invoke_pure_closure):
    _operator.lacks("gradient", "nothing is known of the function that a value holds")
    _operator.lacks("compute", "it calls a function, or keeps one")
