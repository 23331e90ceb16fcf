"""Steps that the decompositions of normalizations share; each is bound where it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir.relax import Constant, Expr
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op.gradients import R
from relaxscript.opdef.decomposition import DecompositionContext

__all__ = [
    "Step",
    "blend_steps",
    "expand",
    "normalization_steps",
    "permute",
    "round_step",
    "widen_step",
]

Step: TypeAlias = Callable[[], Expr]


def _dtype(tensor: Expr) -> DataType:
    info = tensor.struct_info
    assert isinstance(info, TensorStructInfo), "operands of normalizations are tensors"
    return info.dtype


def widen_step(context: DecompositionContext, tensor: Expr) -> Expr:
    """A tensor in float32, where its dtype is narrower."""
    dtype = _dtype(tensor)
    return context.emit(R.astype(tensor, "float32")) if dtype.bits <= 16 else tensor


def round_step(context: DecompositionContext, made: Expr, like: Expr) -> Expr:
    """A step in the dtype of an operand."""
    dtype = _dtype(like)
    rounded: Expr = R.astype(context.emit(made), dtype) if dtype.bits <= 16 else made
    return rounded


def _number(value: float, like: Expr) -> Constant:
    return Constant(np.array(value, _dtype(like).numpy))


def expand(context: DecompositionContext, parameter: Expr, axes: Sequence[int]) -> Expr:
    """A parameter with axes of size 1 besides its own."""
    return context.emit(R.expand_dims(parameter, axes)) if axes else parameter


def permute(context: DecompositionContext, parameter: Expr, order: Sequence[int]) -> Expr:
    """A parameter with its axes in an order."""
    in_order = list(order) == sorted(order)
    return parameter if in_order else context.emit(R.permute_dims(parameter, order))


def normalization_steps(
    context: DecompositionContext, x: Expr, mean: Step, variance: Step, epsilon: float,
    parameters: Sequence[Step | None],
) -> Expr:  # fmt: skip
    """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`; the last step is not bound.

    Each operand is computed where it is needed, as TVM does.
    """
    emit = context.emit
    apart = emit(R.subtract(x, mean()))
    spread = variance()
    above = emit(R.add(spread, _number(epsilon, spread)))
    made: Expr = R.divide(apart, emit(R.sqrt(above)))
    for parameter, combine in zip(parameters, (R.multiply, R.add)):
        if parameter is not None:
            made = combine(emit(made), parameter())
    return made


def blend_steps(context: DecompositionContext, moving: Expr, own: Expr, momentum: float) -> Expr:
    """`(1 - momentum) * moving + momentum * own`; the last step is not bound."""
    emit = context.emit
    rest = emit(R.multiply(_number(1 - momentum, own), moving))
    made: Expr = R.add(rest, emit(R.multiply(_number(momentum, own), own)))
    return made
