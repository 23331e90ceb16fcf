"""Tensors of random numbers: uniform, normal, whole and true or false.

All take the highest of the 64 bits that Threefry-2x32 gives for a key and the place of an element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from relaxscript.dtypes import DataType, converted
from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr, cast, const
from relaxscript.ir.relax import Call
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import DType, ShapeLike, Tensor
from relaxscript.opdef.shapes import of_shape
from relaxscript.opdef.tensor_expressions import te
from relaxscript.opdef.traits import Trait
from relaxscript.tir_builder import TIRBuilder

from . import loops
from .normal_quantile import normal_quantile
from .operands import require_key
from .threefry import random_bits

__all__ = ["bernoulli", "normal", "randint", "uniform"]

_PIECE = 1 << 14  # elements
_LIKE = TensorStructInfo.make(None, DataType("void"), None, -1)
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def _drawn(key: Any, shape: Any, dtype: Any, make: Callable[[Any], Any]) -> Any:
    """A tensor of what is made of the bits of each element, some at a time."""
    count = math.prod(shape)
    result = np.empty(count, dtype)
    for start in range(0, count, _PIECE):
        bits = random_bits(key, start, min(_PIECE, count - start))
        result[start : start + _PIECE] = make(bits)
    return result.reshape(tuple(shape))


@op("random.uniform", traits={Trait.RANDOM})
def uniform(
    key: Tensor,
    shape: ShapeLike,
    low: float = 0.0,
    high: float = 1.0,
    dtype: DType = "float32",  # type: ignore[assignment]
) -> Tensor:
    """Floats between `low` and `high`, all as likely, which `low` may be and `high` is not.

    A number from 0 to below 1 has as many random bits as `dtype` has room for. It is stretched in
    float64 and rounded once, which may give `high` after all.
    """
    digits = _digits(dtype)

    def make(bits: Any) -> Any:
        share = (bits >> np.uint64(64 - digits)).astype(np.float64) * 2.0**-digits
        return converted(low + (high - low) * share, dtype.numpy)

    return _drawn(key, shape, dtype.numpy, make)  # type: ignore[no-any-return]


def _digits(dtype: DataType) -> int:
    """The number of bits of the fractions of a float."""
    found: Any = ml_dtypes.finfo(dtype.numpy)  # type: ignore[no-untyped-call]
    return int(found.nmant) + 1


@op("random.normal", traits={Trait.RANDOM})
def normal(
    key: Tensor,
    shape: ShapeLike,
    mean: float = 0.0,
    std: float = 1.0,
    dtype: DType = "float32",  # type: ignore[assignment]
) -> Tensor:
    """Floats of the normal distribution with this mean and standard deviation.

    Each is the quantile (Wichura's AS 241) of a number between 0 and 1 of 53 bits. It is computed
    in float64 by arithmetic and square roots only, which all machines round alike, and rounded
    once. None is further than 8.3 standard deviations from the mean.
    """

    def make(bits: Any) -> Any:
        share = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        return converted(mean + std * normal_quantile(share), dtype.numpy)

    return _drawn(key, shape, dtype.numpy, make)  # type: ignore[no-any-return]


@op("random.randint", traits={Trait.RANDOM})
def randint(
    key: Tensor,
    shape: ShapeLike,
    low: int,
    high: int,
    dtype: DType = "int64",  # type: ignore[assignment]
) -> Tensor:
    """Integers from `low` to below `high`, all as likely.

    They are the remainders of 64 bits. None is likelier than another by more than one part in
    `2**64 / (high - low)`.
    """

    def make(bits: Any) -> Any:
        chosen = bits % np.uint64(high - low) + np.uint64(low & ((1 << 64) - 1))
        return chosen.astype(np.int64).astype(dtype.numpy)

    return _drawn(key, shape, dtype.numpy, make)  # type: ignore[no-any-return]


@op("random.bernoulli", traits={Trait.RANDOM})
def bernoulli(
    key: Tensor,
    shape: ShapeLike,
    p: float = 0.5,
    dtype: DType = "bool",  # type: ignore[assignment]
) -> Tensor:
    """True with probability `p`, or 1 in another `dtype`; else False, or 0."""

    def make(bits: Any) -> Any:
        share = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return (share < p).astype(dtype.numpy)

    return _drawn(key, shape, dtype.numpy, make)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- rules


def _declare(operator: Operator) -> None:
    @operator.infer_call_rule
    def rule(context: InferContext, call: Call) -> StructInfo:
        key, shape = operator.operand_infos(call, context)
        require_key(context, key)
        like = _LIKE.replace(dtype=operator.attributes(call)["dtype"], vdevice=key.vdevice)
        return of_shape(call.args[1], shape, like)


for _operator in (uniform, normal, randint, bernoulli):
    _declare(_operator)


def _require_float(dtype: DataType) -> None:
    if dtype not in _FLOATS:
        listed = ", ".join(_FLOATS)
        message = f"these random numbers are floats of one of {listed}"
        raise OperandError("dtype", f"is {dtype}", message=message, code="RX0202")


def _require_finite(**numbers: float) -> None:
    for name, value in numbers.items():
        if not math.isfinite(value):
            raise OperandError(name, f"is {value}", message="it is a finite number", code="RX0204")


@uniform.attribute_rule
def _(low: float, high: float, dtype: DataType) -> None:
    _require_float(dtype)
    _require_finite(low=low, high=high)
    if low > high:
        message = "numbers go from `low` to `high`"
        also = {"low": f"is {low}"}
        raise OperandError("high", f"is {high}", also=also, message=message, code="RX0204")


@normal.attribute_rule
def _(mean: float, std: float, dtype: DataType) -> None:
    _require_float(dtype)
    _require_finite(mean=mean, std=std)
    if std < 0:
        message = "a standard deviation is not below 0"
        raise OperandError("std", f"is {std}", message=message, code="RX0204")


@randint.attribute_rule
def _(low: int, high: int, dtype: DataType) -> None:
    if not dtype.is_integer:
        message = "these random numbers are integers"
        raise OperandError("dtype", f"is {dtype}", message=message, code="RX0202")
    if low >= high:
        message = "there is no integer from `low` to below `high`"
        also = {"low": f"is {low}"}
        raise OperandError("high", f"is {high}", also=also, message=message, code="RX0204")
    limits = np.iinfo(dtype.numpy)
    for name, value in (("low", low), ("high", high - 1)):
        if not limits.min <= value <= limits.max:
            message = f"{dtype} holds {limits.min} to {limits.max}"
            said = value if name == "low" else high
            raise OperandError(name, f"is {said}", message=message, code="RX0204")


@bernoulli.attribute_rule
def _(p: float, dtype: DataType) -> None:
    if not 0 <= p <= 1:
        message = "a probability is from 0 to 1"
        raise OperandError("p", f"is {p}", message=message, code="RX0204")


# ---------------------------------------------------------------- loops


@uniform.compute()
def _(
    context: ComputeContext, key: te.Tensor, shape: Any, low: float, high: float, dtype: DataType
) -> te.Tensor:
    def make(tb: TIRBuilder, bits: PrimExpr) -> PrimExpr:
        share = loops.share_of(bits, _digits(dtype))
        return cast(share * (float(high) - float(low)) + float(low), dtype)

    return loops.random_tensor(key, context.shape, dtype, make)


@normal.compute()
def _(
    context: ComputeContext, key: te.Tensor, shape: Any, mean: float, std: float, dtype: DataType
) -> te.Tensor:
    def make(tb: TIRBuilder, bits: PrimExpr) -> PrimExpr:
        high = te.element.right_shift(bits, const(12, bits.dtype))
        share = tb.let("share", (cast(high, DataType("float64")) + 0.5) * 2.0**-52)
        found = loops.normal_quantile(tb, share) * float(std) + float(mean)
        return cast(found, dtype)

    return loops.random_tensor(key, context.shape, dtype, make)


@randint.compute()
def _(
    context: ComputeContext, key: te.Tensor, shape: Any, low: int, high: int, dtype: DataType
) -> te.Tensor:
    def make(tb: TIRBuilder, bits: PrimExpr) -> PrimExpr:
        rest = te.element.floor_mod(bits, const(high - low, bits.dtype))
        found = rest + const(low & ((1 << 64) - 1), bits.dtype)
        return cast(cast(found, DataType("int64")), dtype)

    return loops.random_tensor(key, context.shape, dtype, make)


@bernoulli.compute()
def _(context: ComputeContext, key: te.Tensor, shape: Any, p: float, dtype: DataType) -> te.Tensor:
    def make(tb: TIRBuilder, bits: PrimExpr) -> PrimExpr:
        return cast(loops.share_of(bits, 53) < float(p), dtype)

    return loops.random_tensor(key, context.shape, dtype, make)


for _operator in (uniform, normal, randint, bernoulli):
    _operator.lacks("gradient", "random numbers do not follow from their key smoothly")
