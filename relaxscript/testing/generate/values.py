"""The bindings of random programs that make values: operators, constants, tuples, match_casts."""

from __future__ import annotations

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError, OperandError
from relaxscript.ir import prim
from relaxscript.ir.relax import Call, Constant, Expr, PrimValue, Tuple, TupleGetItem, Var
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import REGISTRY, ArgumentError, Operator, PlainContext, base
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.manipulate import permute_dims

from .arguments import arguments_for
from .context import VOID, GeneratorContext
from .struct_info import fields, shape_of, tensor_of

__all__ = [
    "emit_alias", "emit_constant", "emit_field", "emit_match_cast", "emit_match_cast_to_variable",
    "emit_operator", "emit_product", "emit_scalar", "emit_shape", "emit_tuple", "emit_weaker",
]  # fmt: skip

NUMBERS = (0.0, 1.0, -1.0, 2.0, 3.0, 0.5, float("inf"), float("-inf"), float("nan"))
WHOLE = (0.0, 1.0, 2.0, 3.0)
# Operators whose operands are functions or descriptions of results; there are steps for these.
SPECIAL = {"callee", "dtype", "sinfo", "text"}


def emit_operator(cx: GeneratorContext) -> bool:
    """A call of an operator, of a few the first that takes what there is."""
    return any(emit_any_operator(cx) for _ in range(4))


def emit_any_operator(cx: GeneratorContext) -> bool:
    operators = [op for _, op in sorted(REGISTRY.items()) if _is_plain(op, cx.pure)]
    operator = cx.choices.pick(operators)
    arguments = arguments_for(cx.choices, operator, cx.values, cx.dim)
    if arguments is None:
        return False
    try:
        call = operator.build((), arguments)
        context = PlainContext(cx.builder.get())
        operator.infer(call, context)
    except (OperandError, ArgumentError):
        return False
    # What depends on dimensions may fail when it runs; that is tried only now and then.
    if context.deferred_checks and not cx.choices.chance(3):
        return False
    return cx.emit(call)


def emit_product(cx: GeneratorContext) -> bool:
    """A matrix times its transpose: two operands that go together are seldom in scope."""
    matrices = [
        v for v in cx.values if isinstance(v.struct_info, TensorStructInfo)
        and v.struct_info.ndim == 2 and v.struct_info.dtype.kind in ("int", "uint", "float")
    ]  # fmt: skip
    if not matrices:
        return False
    matrix = cx.choices.pick(matrices)
    turned = cx.bind(permute_dims.build((matrix,), {}))
    if turned is None:
        return False
    return cx.emit(matmul.build((matrix, turned), {}))


def emit_constant(cx: GeneratorContext) -> bool:
    dtype = cx.dtype()
    shape = [cx.choices.integer(0, 3) for _ in range(cx.choices.pick((0, 1, 2)))]
    count = int(np.prod(shape))
    options = NUMBERS if dtype.is_float else WHOLE
    numbers = [cx.choices.pick(options) for _ in range(min(count, 4))]
    data = np.resize(np.array(numbers or [0.0]), count).astype(dtype.numpy)
    cx.values.append(Constant(data.reshape(shape)))
    return cx.choices.chance(50) or cx.emit(cx.values[-1])


def emit_tuple(cx: GeneratorContext) -> bool:
    return cx.emit(random_tuple(cx))


def random_tuple(cx: GeneratorContext) -> Tuple:
    chosen = [cx.choices.pick(cx.values) for _ in range(cx.choices.integer(0, 3))]
    return Tuple(tuple(chosen))


def emit_field(cx: GeneratorContext) -> bool:
    tuples = [v for v in cx.values if fields(v.struct_info)]
    if not tuples:
        return False
    value = cx.choices.pick(tuples)
    index = cx.choices.integer(0, len(fields(value.struct_info)) - 1)
    return cx.emit(TupleGetItem(value, index))


def emit_alias(cx: GeneratorContext) -> bool:
    return cx.emit(cx.choices.pick(cx.values))


def emit_shape(cx: GeneratorContext) -> bool:
    return cx.emit(shape_of([cx.dim() for _ in range(cx.choices.integer(0, 3))]))


def emit_scalar(cx: GeneratorContext) -> bool:
    dtype = DataType(cx.choices.pick(("int64", "float64", "bool", "int32", "float32")))
    number = cx.choices.integer(0, 1 if dtype.is_bool else 5)
    return cx.emit(PrimValue(prim.const(number, dtype)))


# ---- what is known of values


def emit_weaker(cx: GeneratorContext) -> bool:
    """Bind a value to a variable that says less of it than is known."""
    value = cx.choices.pick(cx.values)
    info = value.struct_info
    var = cx.bind(value, weaker_info(cx, info))
    if var is None:
        return False
    cx.truth[var] = cx.truth.get(value, info)
    return True


def weaker_info(cx: GeneratorContext, info: StructInfo) -> StructInfo:
    """Some of what a StructInfo says."""
    if cx.choices.chance(25):
        return ObjectStructInfo()
    match info:
        case TensorStructInfo(dtype=dtype, vdevice=device, ndim=ndim):
            kept = VOID if cx.choices.chance(30) else dtype
            return TensorStructInfo(None, kept, device, cx.choices.pick((ndim, -1)))
        case ShapeStructInfo(ndim=ndim):
            return ShapeStructInfo(None, cx.choices.pick((ndim, -1)))
        case PrimStructInfo(dtype=dtype):
            return PrimStructInfo(dtype)
        case TupleStructInfo(known):
            return TupleStructInfo(tuple([weaker_info(cx, field) for field in known]))
    return info


def emit_match_cast(cx: GeneratorContext) -> bool:
    """A match_cast that says what is known, or names dimensions that were unknown."""
    value = cx.choices.pick(cx.values)
    found: list[prim.Var] = []
    info = cast_info(cx, cx.truth.get(value, value.struct_info), found)
    try:
        cx.values.append(cx.builder.match_cast(value, info, cx.name()))
    except DiagnosticError:
        return False
    cx.dims += found
    return True


def cast_info(cx: GeneratorContext, info: StructInfo, found: list[prim.Var]) -> StructInfo:
    """A StructInfo to match a value of `info` against; `found` gets the new shape variables."""
    if cx.choices.chance(15):
        return info
    match info:
        case TensorStructInfo(dtype=dtype, ndim=ndim) if ndim >= 0 and not dtype.is_void:
            return tensor_of([cast_dim(cx, found) for _ in range(ndim)], dtype)
        case ShapeStructInfo(ndim=ndim) if ndim >= 0:
            return ShapeStructInfo(tuple([cast_dim(cx, found) for _ in range(ndim)]))
        case PrimStructInfo(dtype=DataType("int64")):
            return PrimStructInfo(prim.INT64, cast_dim(cx, found))
        case TupleStructInfo(known):
            return TupleStructInfo(tuple([cast_info(cx, field, found) for field in known]))
    return info


def cast_dim(cx: GeneratorContext, found: list[prim.Var]) -> prim.PrimExpr:
    """A new variable, or now and then something that may or may not be the same."""
    if cx.choices.chance(5):
        return cx.dim()
    found.append(cx.fresh_dim())
    return found[-1]


def emit_match_cast_to_variable(cx: GeneratorContext) -> bool:
    """A match_cast of a tensor to a shape that a variable holds, its own as a rule."""
    tensors = [v for v in cx.values if isinstance(v.struct_info, TensorStructInfo)]
    if not tensors:
        return False
    value = cx.choices.pick(tensors)
    if cx.choices.chance(80) and not cx.emit(Call(base.shape_of.op, (value,))):
        return False
    shapes = [v for v in cx.values if _holds_shape(v)]
    info = value.struct_info
    assert isinstance(info, TensorStructInfo)
    if not shapes:
        return False
    wanted = TensorStructInfo(shapes[-1], info.dtype, info.vdevice)
    try:
        cx.values.append(cx.builder.match_cast(value, wanted, cx.name()))
    except DiagnosticError:
        return False
    return True


def _holds_shape(value: Expr) -> bool:
    return isinstance(value, Var) and isinstance(value.struct_info, ShapeStructInfo)


def _is_plain(operator: Operator, pure: bool) -> bool:
    """True if the general step can call an operator: it takes values, and prints nothing."""
    return operator.pure and not any(p.kind in SPECIAL for p in operator.parameters)
