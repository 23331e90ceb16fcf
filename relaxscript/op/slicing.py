"""Parts of tensors: ranges along axes, and axes turned round.

Bounds are those of Python's slices: a negative one counts from the end, and one that is too large
stops at the end. With a negative stride the elements come in reverse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxscript.arith import YES, prove_equal, simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Expr, PrimValue, Tuple
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import DeferredCheck, InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import (
    InferLayoutOutput,
    LayoutContext,
    NLayout,
    Order,
    along_axis,
    places_of,
)
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Tensor, Value, Values
from relaxscript.opdef.prim_operands import integer_in, require_integer
from relaxscript.opdef.shapes import (
    ONE,
    ZERO,
    axes_in,
    axis_in,
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    require_equal,
    require_inside,
    same_dim,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.opdef.traits import Trait

from .gradients import R, add_at, fields_of, known_dims, numbers_below

__all__ = ["dynamic_strided_slice", "flip", "slice_scatter", "strided_slice"]

_INT64 = DataType("int64")
_FAR = (1 << 63) - 1  # a bound that no dimension reaches: the end, wherever that is


@op(traits={Trait.MIXED_FOLLOW})
def strided_slice(
    x: Tensor,
    axes: Values,
    begin: Values,
    end: Values,
    strides: Values | None = None,
    assume_inbound: bool = False,
) -> Tensor:
    """`x[begin:end:strides]` along each of `axes`, whole along the others.

    `axes`, `begin`, `end` and `strides` (1 where left out) are scalars, as many of each. With
    `assume_inbound` the bounds must be there, so that the length needs no limits. Raises
    `IndexError` where they are not.
    """
    steps: Sequence[Any] = (1,) * len(axes) if strides is None else strides
    parts = [slice(None)] * x.ndim
    for axis, first, last, step in zip(axes, begin, end, steps):
        place, low, high, by = (integer_in(value) for value in (axis, first, last, step))
        if assume_inbound:
            _require_inbound(low, high, x.shape[place], place)
        parts[place] = slice(low, high, by)
    return x[tuple(parts)]


def _require_inbound(low: int, high: int, size: int, axis: int) -> None:
    for bound in (low, high):
        if not -size <= bound <= size:
            raise IndexError(f"the bound {bound} is not among the {size} along axis {axis}")


class _Range(NamedTuple):
    """The bounds of a slice along one axis, as far as they are known, and where they were given."""

    axis: int
    begin: PrimExpr | None
    end: PrimExpr | None
    stride: PrimExpr | None
    position: int


@strided_slice.infer_rule
def _(
    context: InferContext,
    x: TensorStructInfo,
    axes: tuple[StructInfo, ...],
    begin: tuple[StructInfo, ...],
    end: tuple[StructInfo, ...],
    strides: tuple[StructInfo, ...] | None = None,
    assume_inbound: bool = False,
) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    ranges = _ranges(rank, axes, begin, end, strides)
    if not ranges:
        return x
    if dims is None:
        return tensor_of(None, x.dtype, x.vdevice, rank)
    lengths: list[PrimExpr | None] = list(dims)
    for part in ranges:
        lengths[part.axis] = _length(context, dims[part.axis], part, assume_inbound)
    known = [length for length in lengths if length is not None]
    return tensor_of(known if len(known) == rank else None, x.dtype, x.vdevice, rank)


def _ranges(
    rank: int,
    axes: tuple[StructInfo, ...],
    begin: tuple[StructInfo, ...],
    end: tuple[StructInfo, ...],
    strides: tuple[StructInfo, ...] | None,
) -> list[_Range]:
    given = {"begin": begin, "end": end}
    if strides is not None:
        given["strides"] = strides
    _require_as_many({name: len(infos) for name, infos in given.items()}, len(axes))
    values = {name: _scalars(name, infos) for name, infos in {"axes": axes, **given}.items()}
    found = []
    places = axes_in([_known_axis(value) for value in values["axes"]], rank, "axes")
    steps = values.get("strides", [ONE] * len(axes))
    for index, parts in enumerate(zip(places, values["begin"], values["end"], steps)):
        stride = parts[3]
        if isinstance(stride, IntImm) and stride.value == 0:
            raise OperandError(
                f"strides[{index}]" if len(axes) > 1 else "strides",
                "is 0" if len(axes) > 1 else "has the stride 0",
                message="a stride of 0 leads nowhere",
                code="RX0204",
            )
        found.append(_Range(*parts, index))
    return found


@strided_slice.operand_rule
def _(x: Expr, axes: Expr, **bounds: Expr | None) -> None:
    if isinstance(axes, Tuple):
        written = {name: len(e.fields) for name, e in bounds.items() if isinstance(e, Tuple)}
        _require_as_many(written, len(axes.fields))


def _require_as_many(bounds: Mapping[str, int], axes: int) -> None:
    for name, many in bounds.items():
        if many != axes:
            raise OperandError(
                name,
                f"has {quantity(many, 'value')}",
                also={"axes": f"names {quantity(axes, 'axis')}"},
                message="each axis has a bound of each kind",
                code="RX0204",
            )


def _scalars(name: str, infos: Sequence[StructInfo]) -> list[PrimExpr | None]:
    """The values of integers, None where one is known only later."""
    named = ((f"{name}[{index}]", info) for index, info in enumerate(infos))
    return [require_integer(operand, info, "a bound") for operand, info in named]


def _known_axis(value: PrimExpr | None) -> int:
    if isinstance(value, IntImm):
        return value.value
    raise OperandError(
        "axes",
        "names an axis that is known only later",
        message="the axes of a slice are numbers written out",
        code="RX0204",
    )


def _length(context: InferContext, size: PrimExpr, part: _Range, inbound: bool) -> PrimExpr | None:
    """The number of elements of a slice along an axis; None where that cannot be said."""
    low, high, stride = part.begin, part.end, part.stride
    if inbound:
        for name, bound in (("begin", low), ("end", high)):
            _require_promised(context, name, bound, size, part.axis)
    if low is None or high is None or not isinstance(stride, IntImm):
        return None
    if all(isinstance(e, IntImm) for e in (size, low, high)):
        return _length_in_numbers(size, low, high, stride.value)  # type: ignore[arg-type]
    first = _from_start(context, size, low)
    last = _from_start(context, size, high)
    if first is None or last is None:
        return None
    step = stride.value
    if inbound:
        distance = _difference(last, first) if step > 0 else _difference(first, last)
        none = prove_equal(simplify(prim.Max.make(distance, ZERO)), ZERO, context.facts)
        distance = ZERO if none is YES else distance
    elif step > 0:
        if isinstance(low, IntImm) and low.value < 0 and _is_number(high, _FAR):
            return _steps(simplify(prim.Min.make(size, number(-low.value))), step)
        end = size if _is_number(high, _FAR) else last
        upper = end if _is_below(high) or end is size else prim.Min.make(end, size)
        lower = prim.Max.make(first, ZERO) if _is_below(low) else first
        distance = prim.Max.make(_difference(upper, lower), ZERO)
    else:
        top = _difference(size, ONE)
        upper = top if _is_number(low, _FAR) else prim.Min.make(first, top)
        lower = number(-1) if _is_number(high, -_FAR) else prim.Max.make(last, number(-1))
        distance = prim.Max.make(_difference(upper, lower), ZERO)
    return _steps(simplify(distance), abs(step))


def _require_promised(
    context: InferContext, name: str, bound: PrimExpr | None, size: PrimExpr, axis: int
) -> None:
    """A bound that is said to be in the tensor is; one that is not known yet is looked at later."""
    shown = "a bound known later" if bound is None else f"the bound {dim_text(bound)}"
    error = OperandError(
        name,
        f"has {shown}",
        also={"x": f"has {dim_text(size)} elements along axis {axis}"},
        message="a bound that is said to be in the tensor is not",
        code="RX0204",
        help="leave out `assume_inbound=True`: the bound then stops at the end",
    )
    text = f"`{name}` has {shown}, and `x` has {dim_text(size)} elements along axis {axis}"
    if bound is None:
        context.require(DeferredCheck(name, size, size, "inside", text))
        return
    wide = bound if bound.dtype is _INT64 else prim.Cast.make(_INT64, bound)
    require_inside(context, wide, size, error, text)
    require_inside(context, prim.Sub.make(ZERO, size), wide, error, text)


def _length_in_numbers(size: IntImm, low: IntImm, high: IntImm, step: int) -> PrimExpr:
    return number(len(range(*slice(low.value, high.value, step).indices(size.value))))


def _from_start(context: InferContext, size: PrimExpr, bound: PrimExpr) -> PrimExpr | None:
    """A bound counted from the start; None where it is not known from which end it counts."""
    if isinstance(bound, IntImm):
        return bound if bound.value >= 0 else simplify(prim.Add.make(size, bound))
    bound = bound if bound.dtype is _INT64 else prim.Cast.make(_INT64, bound)
    negative = simplify(prim.Min.make(bound, ZERO))
    return bound if prove_equal(negative, ZERO, context.facts) is YES else None


def _is_below(bound: PrimExpr) -> bool:
    return isinstance(bound, IntImm) and bound.value < 0


def _is_number(bound: PrimExpr, value: int) -> bool:
    """True if a bound is at least as far from 0 as `value`, on its side."""
    if not isinstance(bound, IntImm):
        return False
    return bound.value >= value if value > 0 else bound.value <= value


def _difference(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return simplify(prim.Sub.make(a, b))


def _steps(distance: PrimExpr, step: int) -> PrimExpr:
    """The distance in steps, rounded up."""
    if step == 1:
        return distance
    raised = prim.Add.make(distance, number(step - 1))
    return simplify(prim.FloorDiv.make(raised, number(step)))


@strided_slice.layout_rule
def _(
    context: LayoutContext, x: Order, axes: NLayout, begin: NLayout, end: NLayout, strides: NLayout,
    assume_inbound: bool,
) -> InferLayoutOutput:  # fmt: skip
    named = [_known_axis(value) for value in _scalars("axes", context.operands[1])]
    places = Tuple.make(tuple(PrimValue.make(number(place)) for place in places_of(named, x)))
    return InferLayoutOutput((x, axes, begin, end, strides), x, new_args={"axes": places})


@strided_slice.compute()
def _(
    context: ComputeContext, x: Any, axes: Any, begin: Any, end: Any, strides: Any = None,
    assume_inbound: bool = False,
) -> Any:  # fmt: skip
    parts = {}
    for index, axis in enumerate(axes_in(list(map(int, axes)), x.ndim)):
        step = 1 if strides is None else int(strides[index])
        start = topi.slicing.first_of(x.shape[axis], begin[index], step, assume_inbound)
        parts[axis] = topi.slicing.Slice(start, step)
    return topi.slicing.sliced(x, context.shape, parts)


@strided_slice.gradient
def _(
    context: GradientContext, x: Expr, axes: Expr, begin: Expr, end: Expr, strides: Expr | None,
    assume_inbound: bool,
) -> Gradients:  # fmt: skip
    places = fields_of(axes)
    steps = (1,) * len(places) if strides is None else fields_of(strides)
    bounds = list(zip(places, fields_of(begin), fields_of(end), steps))
    found = _put_slice(context.grad, x, bounds, assume_inbound)
    return found, None, None, None, None


def _put_slice(part: Expr, x: Expr, bounds: Sequence[tuple[Any, ...]], inbound: bool) -> Expr:
    """A tensor like `x` of zeros but for the slice that some bounds say, which is `part`."""
    if not bounds:
        return part
    (axis, first, last, step), *rest = bounds
    place = _number_of(axis, "axes", "an axis")
    by = _number_of(step, "strides", "a stride")
    size = known_dims("x", x)[place] if inbound else ONE
    whole = x
    if by < 0 and isinstance(
        size, IntImm
    ):  # a slice of the tensor turned round, in which ~i is where i was
        first, last, by, whole = _complement(first), _complement(last), -by, R.flip(x, place)
    taken = R.strided_slice(whole, [place], [first], [last], [by], inbound)
    inner = _put_slice(part, taken, rest, inbound)
    if not isinstance(size, IntImm):  # it has the promised length, which bounds do not show
        places = R.strided_slice(numbers_below(size), [0], [first], [last], [by], True)
        return add_at(inner, R.zeros_like(x), places, place)
    found: Expr = R.slice_scatter(R.zeros_like(x), inner, first, last, by, place)
    return found if whole is x else R.flip(found, place)


def _number_of(value: Any, name: str, what: str) -> int:
    """A scalar that is in the program as a number."""
    info = struct_info_of_leaf(value) if isinstance(value, Expr) else None
    if isinstance(info, PrimStructInfo) and isinstance(info.value, IntImm):
        return info.value.value
    if isinstance(value, int):
        return value
    raise OperandError(
        name,
        f"has {what} that is known only later",
        message="the gradient of a slice is written for axes and strides that are numbers",
        code="RX0204",
    )


def _complement(bound: Expr) -> Expr:
    """`-1 - bound`: the same place, counted from the other end."""
    info = struct_info_of_leaf(bound)
    value = info.value if isinstance(info, PrimStructInfo) else None
    if value is None:
        raise OperandError(
            "strides",
            "turns round a slice whose bounds are known only later",
            message="the gradient of a slice in reverse is written for bounds that are expressions",
            code="RX0204",
        )
    wide = value if value.dtype is _INT64 else prim.Cast.make(_INT64, value)
    found = simplify(prim.Sub.make(number(-1), wide))
    if _is_number(found, _FAR - 1):
        found = number(_FAR)
    return PrimValue.make(ZERO if _is_number(found, -_FAR) else found)


# ---------------------------------------------------------------- what a slice is replaced by


@op(alike=("input_tensor", "src"))
def slice_scatter(
    input_tensor: Tensor, src: Tensor, start: Value, end: Value, step: Value, axis: int = 0
) -> Tensor:
    """`input_tensor` with `src` in place of its slice `start:end:step` along an axis.

    The bounds are scalars and stop at the ends of the tensor, as those of Python do; the step
    is positive. Raises `ValueError` where `src` is not as long as the slice.
    """
    first, last, by = (integer_in(value) for value in (start, end, step))
    if by < 1:
        raise ValueError(f"the step is {by}, but goes forward")
    places = range(*slice(first, last, by).indices(input_tensor.shape[axis]))
    if len(places) != src.shape[axis]:
        raise ValueError(f"the slice has {len(places)} elements, `src` has {src.shape[axis]}")
    result = input_tensor.copy()
    np.moveaxis(result, axis, 0)[list(places)] = np.moveaxis(src, axis, 0)
    return result


@slice_scatter.infer_rule
def _(
    context: InferContext,
    input_tensor: TensorStructInfo,
    src: TensorStructInfo,
    start: StructInfo,
    end: StructInfo,
    step: StructInfo,
    axis: int = 0,
) -> StructInfo:
    operands = {"input_tensor": input_tensor, "src": src}
    dtype, vdevice = common_dtype(operands), common_vdevice(operands)
    given = {"start": start, "end": end, "step": step}
    bounds = [require_integer(name, info, "a bound") for name, info in given.items()]
    first, last, by = bounds
    if isinstance(by, IntImm) and by.value < 1:
        raise OperandError("step", f"is {by.value}", message="the step goes forward", code="RX0204")
    dims, parts = dims_of(input_tensor), dims_of(src)
    rank = input_tensor.ndim if dims is None else len(dims)
    own = src.ndim if parts is None else len(parts)
    if min(rank, own) >= 0 and rank != own:
        also = {"input_tensor": shape_fact(input_tensor, dims)}
        raise OperandError("src", shape_fact(src, parts), also=also, help="both have one rank")
    place = axis_in(axis, max(rank, own), "axis", "input_tensor")
    if dims is not None and parts is not None:
        length = _length(context, dims[place], _Range(place, first, last, by, 0), False)
        if length is None:
            text = f"`src` has {dim_text(parts[place])} elements along axis {place}"
            context.require(DeferredCheck("src", parts[place], dims[place], "inside", text))
        wanted = [dim if a != place else length for a, dim in enumerate(dims)]
        for index, (a, b) in enumerate(zip(wanted, parts)):
            _require_length(context, index, a, b)
    return tensor_of(dims, dtype, vdevice, rank)


@slice_scatter.gradient
def _(
    context: GradientContext, input_tensor: Expr, src: Expr, start: Expr, end: Expr, step: Expr,
    axis: int,
) -> Gradients:  # fmt: skip
    by_input = R.slice_scatter(context.grad, R.zeros_like(src), start, end, step, axis)
    by_part = R.strided_slice(context.grad, [axis], [start], [end], [step])
    return by_input, by_part, None, None, None


def _require_length(context: InferContext, axis: int, a: PrimExpr | None, b: PrimExpr) -> None:
    if a is None or same_dim(a, b):
        return
    fact = f"has {dim_text(b)} elements along axis {axis}"
    also = {"input_tensor": f"has a slice of {dim_text(a)} elements there"}
    text = f"`src` has {dim_text(b)} elements along axis {axis}, not {dim_text(a)}"
    require_equal(context, a, b, OperandError("src", fact, also=also), text)


@slice_scatter.compute()
def _(
    context: ComputeContext, input_tensor: Any, src: Any, start: Any, end: Any, step: Any,
    axis: int = 0,
) -> Any:  # fmt: skip
    return topi.slice_scatter(input_tensor, src, start, end, int(step), axis)


# ---------------------------------------------------------------- bounds that are computed


@op()
def dynamic_strided_slice(x: Tensor, begin: Tensor, end: Tensor, strides: Tensor) -> Tensor:
    """`x[begin:end:strides]`, with one bound of each kind for each axis of `x`.

    `begin`, `end` and `strides` are tensors of rank 1 and dtype int64. Raises `ValueError` for
    a stride of 0.
    """
    bounds = zip(begin.tolist(), end.tolist(), strides.tolist())
    return x[tuple(slice(*bound) for bound in bounds)]


@dynamic_strided_slice.infer_rule
def _(
    context: InferContext,
    x: TensorStructInfo,
    begin: TensorStructInfo,
    end: TensorStructInfo,
    strides: TensorStructInfo,
) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    bounds = {"begin": begin, "end": end, "strides": strides}
    for name, info in bounds.items():
        _require_bounds(context, name, info, rank)
    vdevice = common_vdevice({"x": x, **bounds})
    return tensor_of(None, x.dtype, vdevice, rank)


dynamic_strided_slice.lacks(
    "compute", "the shape of its result depends on what the bounds hold", packed=True
)


def _require_bounds(context: InferContext, name: str, info: TensorStructInfo, rank: int) -> None:
    if not info.dtype.is_void and info.dtype is not _INT64:
        raise OperandError(
            name,
            f"has dtype {info.dtype}",
            message="the bounds of a slice are int64",
            code="RX0202",
            help=f'write `R.astype({name}, "int64")`',
            fix={name: 'R.astype({}, "int64")'},
        )
    dims = dims_of(info)
    message = "the bounds of a slice are a tensor of rank 1, with one for each axis"
    if (info.ndim if dims is None else len(dims)) not in (-1, 1):
        raise OperandError(name, shape_fact(info, dims), message=message)
    if dims is not None and rank >= 0:
        also = {"x": f"has rank {rank}"}
        error = OperandError(name, f"has {dim_text(dims[0])} elements", also=also, message=message)
        text = f"`{name}` has {dim_text(dims[0])} elements, and `x` has rank {rank}"
        require_equal(context, dims[0], number(rank), error, text)


dynamic_strided_slice.lacks("gradient", "only the run shows which elements it takes")


# ---------------------------------------------------------------- turning round


@op()
def flip(data: Tensor, axis: int) -> Tensor:
    """`data` with the elements along `axis` in reverse order."""
    return np.flip(data, axis)


@flip.infer_rule
def _(context: InferContext, data: TensorStructInfo, axis: int) -> StructInfo:
    dims = dims_of(data)
    axis_in(axis, data.ndim if dims is None else len(dims), "axis", "data")
    return data


flip.layout_rule(along_axis)


@flip.compute()
def _(context: ComputeContext, data: Any, axis: int) -> Any:
    return topi.flip(data, axis)


@flip.gradient
def _(context: GradientContext, data: Expr, axis: int) -> Gradients:
    return (R.flip(context.grad, axis),)
