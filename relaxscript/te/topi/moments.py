"""Means and variances of elements along some axes, and what they normalize.

All is computed in the wide dtype that the elements are given in. Statistics keep their axes, with
size 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import FloatImm, PrimExpr, cast, const
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.te import reduction as rules
from relaxscript.te.compute import compute
from relaxscript.te.element import divide
from relaxscript.te.tensor import Tensor

from .broadcast import is_one
from .reduction import reduced

__all__ = [
    "Elements", "affine", "centred", "inverse_deviation", "mean_over", "mean_square_over",
    "quotient", "spread", "tensor_of", "wide_elements",
]  # fmt: skip

# A scalar by its indices: of a tensor, or one that is computed wherever it is needed.
Elements = Callable[[Sequence[PrimExpr]], PrimExpr]
Dims = Sequence[PrimExpr]
Axes = Collection[int]


def _spread_over(tensor: Tensor, at: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
    """The indices of an element of a tensor that has size 1 where it is repeated."""
    return tuple(const(0, size.dtype) if is_one(size) else i for size, i in zip(tensor.shape, at))


def wide_elements(tensor: Tensor, wide: DataType) -> Elements:
    """The elements of a tensor in another dtype, spread over a shape of its rank."""
    return lambda at: cast(tensor[_spread_over(tensor, at)], wide)


def spread(tensor: Tensor, axes: Sequence[int], wide: DataType) -> Elements:
    """The elements of a tensor whose axes are these axes of a shape."""
    return lambda at: cast(tensor[tuple(at[axis] for axis in axes)], wide)


def tensor_of(dims: Dims, element: Elements, name: str, tag: str = "injective") -> Tensor:
    """The tensor of a shape with these elements."""
    names = [f"ax{axis}" for axis in range(len(dims))]
    made: Tensor = compute(
        tuple(dims), lambda *i: element(i), name=name, tag=tag, varargs_names=names
    )
    return made


def mean_over(
    dims: Dims, axes: Axes, element: Elements, name: str, keepdims: bool = True
) -> Tensor:
    """The means of elements along some axes; NaN of nothing."""
    total = reduced(dims, axes, keepdims, lambda at, over: rules.sum(element(at), axis=over), name)
    size: PrimExpr = const(1, "int64")
    for axis in sorted(axes):
        size = cast(dims[axis], size.dtype) * size
    count = cast(size, total.dtype)
    return tensor_of(total.shape, lambda at: quotient(total[tuple(at)], count), "T_divide")


def quotient(total: PrimExpr, count: PrimExpr) -> PrimExpr:
    """A sum divided by how much there is; of nothing it is NaN, and 0 for integers."""
    if isinstance(count, FloatImm) and not count.value:
        return const(float("nan"), total.dtype)
    made: PrimExpr = divide(total, count)
    return made


def mean_square_over(
    dims: Dims, axes: Axes, element: Elements, name: str, keepdims: bool = True
) -> Tensor:
    """The means of the squares of elements: of centred ones that is their variance."""

    def square(at: Sequence[PrimExpr]) -> PrimExpr:
        e = element(at)
        return e * e

    return mean_over(dims, axes, square, f"{name}_square", keepdims)


def centred(element: Elements, mean: Tensor) -> Elements:
    """The distances of elements from their means."""
    return lambda at: element(at) - mean[_spread_over(mean, at)]


def inverse_deviation(variance: Tensor, epsilon: float, wide: DataType) -> Tensor:
    """One over the standard deviations, `epsilon` added to what the root is taken of."""

    def inverse(at: Sequence[PrimExpr]) -> PrimExpr:
        e = cast(variance[tuple(at)], wide)
        return const(1, wide) / FUNCTIONS["sqrt"](e + const(epsilon, wide))

    return tensor_of(variance.shape, inverse, "rsqrt")


def affine(element: Elements, gamma: Elements | None, beta: Elements | None) -> Elements:
    """Elements times `gamma` and plus `beta`, where these are given."""

    def changed(at: Sequence[PrimExpr]) -> PrimExpr:
        e = element(at)
        e = e if gamma is None else e * gamma(at)
        return e if beta is None else e + beta(at)

    return changed
