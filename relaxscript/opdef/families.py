"""Families: operators that differ only in what they compute for one element or one axis.

`elementwise`, `comparison` and `reduction` define an operator in one line of a table. Shapes,
dtypes, devices and purity are stated once, here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo

from .compute import ComputeContext
from .context import InferContext
from .layout import follow, reduced
from .operator import Operator, register
from .parameters import Parameter
from .shapes import (
    ONE,
    axes_in,
    broadcast_shapes,
    common_dtype,
    common_vdevice,
    dims_of,
    is_accepted,
    require_dtype,
    same_dims,
    tensor_of,
)
from .tensor_expressions import topi
from .traits import Trait

__all__ = [
    "binary_rule",
    "comparison",
    "compute_elements",
    "elementwise",
    "reduce_info",
    "reduction",
    "unary",
    "unary_rule",
]

_BOOL = DataType("bool")
_FOLLOWS = frozenset({Trait.MIXED_FOLLOW})
_Meaning = Callable[..., Any]


def _operator(name: str, meaning: _Meaning, doc: str, parameters: Any, **options: Any) -> Operator:
    operator = Operator(name, meaning, parameters=tuple(parameters), **options)
    operator.__doc__ = doc
    operator.__module__ = "relaxscript.op"
    return register(operator)


def _operand(name: str, wants: str) -> Parameter:
    annotation = wants.capitalize()
    return Parameter(name, "operand", wants=wants, annotation=annotation)


def compute_elements(
    operator: Operator, te: _Meaning | None, ulp: float = 0, sums: float = 0
) -> None:
    """Declare the compute of an operator whose elements are `te` of those of its operands."""
    if te is None:
        return
    name = f"T_{operator.__name__}"

    @operator.compute(ulp=ulp, sums=sums)
    def rule(context: ComputeContext, *operands: Any, **attributes: Any) -> Any:
        given = functools.partial(te, **attributes) if attributes else te
        tag = topi.tag.BROADCAST if len(operands) > 1 else topi.tag.ELEMWISE
        return topi.broadcast.elements(context.shape, given, operands, name, tag)


def _differentiate(operator: Operator, accepts: str, grad: _Meaning | None) -> None:
    """Declare the gradient of an operator on elements, or why there is none."""
    if grad is not None:
        operator.gradient(grad)
    elif accepts in ("bits", "bool", "integer"):
        operator.lacks("gradient", "its results are integers or bools")


# ---------------------------------------------------------------- two operands, element by element


def elementwise(
    name: str, accepts: str, meaning: _Meaning, doc: str, symbol: str | None = None,
    te: _Meaning | None = None, ulp: float = 0, grad: _Meaning | None = None,
    traits: frozenset[Trait] = frozenset(),
) -> Operator:  # fmt: skip
    """An operator on two tensors of one dtype, broadcast to each other, or on two scalars.

    `accepts` says which dtypes: any, number, float, bits, integer or bool.
    """
    operands = [_operand("x1", "scalar"), _operand("x2", "scalar")]
    operator = _operator(name, meaning, doc, operands, symbol=symbol, traits=_FOLLOWS | traits)
    operator.infer_rule(binary_rule(accepts))
    operator.layout_rule(follow)
    compute_elements(operator, te, ulp)
    _differentiate(operator, accepts, grad)
    operator.prim_rule(_prim_rule(accepts))
    return operator


def comparison(
    name: str, accepts: str, meaning: _Meaning, doc: str, symbol: str | None = None,
    te: _Meaning | None = None, ulp: float = 0, grad: _Meaning | None = None,
) -> Operator:  # fmt: skip
    """As `elementwise`, with a result of bools; two dtypes are compared as numbers."""
    operands = [_operand("x1", "scalar"), _operand("x2", "scalar")]
    operator = _operator(name, _compare(meaning), doc, operands, symbol=symbol, traits=_FOLLOWS)
    operator.infer_rule(binary_rule(accepts, _BOOL))
    operator.layout_rule(follow)
    compute_elements(operator, te, ulp)
    _differentiate(operator, "bits", grad)
    operator.prim_rule(_prim_rule(accepts, _BOOL))
    return operator


def _compare(function: _Meaning) -> _Meaning:
    """A comparison of arrays whose dtypes may differ: a float beside another is a float64."""

    def compare(x1: Any, x2: Any) -> Any:
        if x1.dtype != x2.dtype and not (x1.dtype.kind in "iub" and x2.dtype.kind in "iub"):
            x1, x2 = x1.astype(np.float64), x2.astype(np.float64)
        return function(x1, x2)

    return compare


def binary_rule(accepts: str, result: DataType | None = None) -> Callable[..., StructInfo]:
    """The rule of an operator on two broadcast tensors; `result` is its dtype, if fixed."""

    def rule(context: InferContext, x1: TensorStructInfo, x2: TensorStructInfo) -> StructInfo:
        dtype = x1.dtype
        if dtype is not x2.dtype and result is None:
            operands = {"x1": x1, "x2": x2}
            # The first is to blame where it alone is refused; integers are converted to floats.
            refused = not is_accepted(dtype, accepts)
            if is_accepted(x2.dtype, accepts) and (refused or x2.dtype.is_float > dtype.is_float):
                operands = {"x2": x2, "x1": x1}
            dtype = common_dtype(operands)
        # The first operand is enough: where both are known they agree, and void is checked below.
        require_dtype("x1", x1.dtype, accepts)
        require_dtype("x2", x2.dtype, accepts)
        dims = x1.dims
        if x1.vdevice is x2.vdevice and (
            (dims is not None and x2.dims is not None and same_dims(dims, x2.dims))
            or (dims is None and x1.shape is not None and x1.shape is x2.shape)
        ):
            if result is None and dtype is x1.dtype:
                return x1
            return TensorStructInfo.make(x1.shape, result or dtype, x1.vdevice, x1.ndim)
        return _broadcast_pair(context, x1, x2, result or dtype)

    return rule


def _prim_rule(accepts: str, result: DataType | None = None) -> Callable[..., PrimStructInfo]:
    """The rule of an operator on two scalars, which gives one; else as `binary_rule`."""

    def rule(x1: PrimStructInfo, x2: PrimStructInfo) -> PrimStructInfo:
        if result is None and x1.dtype is not x2.dtype:
            raise OperandError(
                "x2",
                f"is a scalar of {x2.dtype}",
                also={"x1": f"is a scalar of {x1.dtype}"},
                code="RX0202",
                help=_help_for_prim(x2, x1.dtype),
            )
        for name, info in (("x1", x1), ("x2", x2)):
            require_dtype(name, info.dtype, accepts, of_prim=True)
        return PrimStructInfo.make(result or x1.dtype)

    return rule


def _help_for_prim(info: PrimStructInfo, dtype: DataType) -> str:
    """The help for a scalar that needs a dtype: a cast where it is known, else a declaration."""
    if info.value is None:
        return f'declare it as `R.Prim("{dtype}")`'
    return f'write `R.prim_value(T.cast({info.value}, "{dtype}"))`'


def _broadcast_pair(
    context: InferContext, x1: TensorStructInfo, x2: TensorStructInfo, dtype: DataType
) -> StructInfo:
    operands = {"x1": x1, "x2": x2}
    vdevice = common_vdevice(operands)
    dims, rank = broadcast_shapes(context, operands)
    for info in (x1, x2):
        unchanged = info.dims is not None and dims is not None and same_dims(info.dims, dims)
        if unchanged and info.dtype is dtype and info.vdevice is vdevice:
            return info
    if dims is None:
        held = _held_shape(x1, x2)
        if held is not None:
            return TensorStructInfo.make(held.shape, dtype, vdevice, held.ndim)
    return tensor_of(dims, dtype, vdevice, rank)


def _held_shape(x1: TensorStructInfo, x2: TensorStructInfo) -> TensorStructInfo | None:
    """The operand whose shape, held by a variable, is that of the result."""
    if x1.shape is not None and x1.shape is x2.shape:
        return x1
    if x2.ndim == 0 and x1.shape is not None:
        return x1
    return x2 if x1.ndim == 0 and x2.shape is not None else None


# ---------------------------------------------------------------- one operand, element by element


def unary(
    name: str,
    accepts: str,
    meaning: _Meaning,
    doc: str,
    symbol: str | None = None,
    result: DataType | None = None,
    operand: str = "x",
    te: _Meaning | None = None,
    ulp: float = 0,
    grad: _Meaning | None = None,
    traits: frozenset[Trait] = frozenset(),
) -> Operator:
    """An operator on each element of one tensor; `result` is its dtype where that is fixed."""
    operands = [_operand(operand, "tensor")]
    operator = _operator(name, meaning, doc, operands, symbol=symbol, traits=_FOLLOWS | traits)
    operator.infer_rule(unary_rule(accepts, result, operand))
    operator.layout_rule(follow)
    compute_elements(operator, te, ulp)
    _differentiate(operator, accepts if result is None else "bits", grad)
    return operator


def unary_rule(
    accepts: str, result: DataType | None = None, operand: str = "x"
) -> Callable[..., StructInfo]:
    """The rule of an operator that keeps the shape of its operand."""

    def rule(context: InferContext, x: TensorStructInfo, **attributes: Any) -> StructInfo:
        require_dtype(operand, x.dtype, accepts)
        if result is None or result is x.dtype:
            return x
        return TensorStructInfo.make(x.shape, result, x.vdevice, x.ndim)

    return rule


# ---------------------------------------------------------------- along axes


def reduction(
    name: str, accepts: str, meaning: _Meaning, doc: str, te: _Meaning | None = None,
    ulp: float = 0, sums: float = 0, terms: _Meaning | None = None,
) -> Operator:  # fmt: skip
    """An operator that combines all elements along some axes, or along all where none is given.

    `meaning(x, axes, keepdims)` gets the axes as a tuple, counted from 0. `te` takes a tensor, the
    axes as they are given, and `keepdims`.
    """

    def over_axes(x: Any, axis: tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
        axes = range(x.ndim) if axis is None else axis
        return meaning(x, tuple(a % max(x.ndim, 1) for a in axes), keepdims)

    axis = Parameter("axis", "attribute", None, annotation="Axes | None")
    keepdims = Parameter("keepdims", "attribute", False, annotation="bool")
    operator = _operator(name, over_axes, doc, [_operand("x", "tensor"), axis, keepdims])

    @operator.infer_rule
    def rule(
        context: InferContext,
        x: TensorStructInfo,
        axis: tuple[int, ...] | None = None,
        keepdims: bool = False,
    ) -> StructInfo:
        require_dtype("x", x.dtype, accepts)
        return reduce_info(x, axis, keepdims, x.dtype)

    operator.layout_rule(reduced)

    if te is not None:

        @operator.compute(ulp=ulp, sums=sums, terms=terms)
        def loops(context: ComputeContext, x: Any, axis: Any, keepdims: bool) -> Any:
            return te(x, axis, keepdims)

    return operator


def reduce_info(
    x: TensorStructInfo, axis: tuple[int, ...] | None, keepdims: bool, dtype: DataType
) -> StructInfo:
    """The StructInfo of `x` without some of its axes, or with 1 in their place."""
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    axes = range(rank) if axis is None else axes_in(axis, rank)
    if axis == () and dtype is x.dtype:
        return x
    if dims is None:
        if axis is None and not keepdims:
            return tensor_of((), dtype, x.vdevice)
        if rank < 0:
            return tensor_of(None, dtype, x.vdevice)
        if keepdims and len(axes) == rank:
            return tensor_of((ONE,) * rank, dtype, x.vdevice)
        left = rank if keepdims else rank - len(axes)
        return tensor_of(None, dtype, x.vdevice, left)
    kept = [
        ONE if index in axes else dim
        for index, dim in enumerate(dims)
        if keepdims or index not in axes
    ]
    return tensor_of(kept, dtype, x.vdevice)
