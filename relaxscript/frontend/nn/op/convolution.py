"""Convolutions, with a bias for each channel of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

from .binary import add
from .manipulate import reshape

__all__ = ["conv1d", "conv1d_transpose", "conv2d", "conv3d"]

_Sizes = int | Sequence[int]


def conv1d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0,
    dilation: _Sizes = 1, groups: int = 1, name: str = "conv1d",
) -> Tensor:  # fmt: skip
    """Products of windows with a kernel, which is `(out, in / groups, width)`.

    `x` is `(batch, in, width)`; `bias` has a number for each channel of the result.
    """
    attrs = (stride, padding, dilation, groups)
    return _convolved(R.nn.conv1d, name, (x, weight, bias), attrs, "NCW")


def conv2d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0,
    dilation: _Sizes = 1, groups: int = 1, data_layout: str = "NCHW", name: str = "conv2d",
) -> Tensor:  # fmt: skip
    """Products of windows with a kernel, which is `(out, in / groups, height, width)`.

    `x` has the axes of `data_layout`; `bias` has a number for each channel of the result.
    """
    attrs = (stride, padding, dilation, groups)
    return _convolved(R.nn.conv2d, name, (x, weight, bias), attrs, data_layout)


def conv3d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0,
    dilation: _Sizes = 1, groups: int = 1, data_layout: str = "NCDHW", name: str = "conv3d",
) -> Tensor:  # fmt: skip
    """Products of windows with a kernel, which is `(out, in / groups, depth, height, width)`.

    `x` has the axes of `data_layout`; `bias` has a number for each channel of the result.
    """
    attrs = (stride, padding, dilation, groups)
    return _convolved(R.nn.conv3d, name, (x, weight, bias), attrs, data_layout)


def conv1d_transpose(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Sizes = 1, padding: _Sizes = 0,
    output_padding: _Sizes = 0, dilation: _Sizes = 1, groups: int = 1,
    name: str = "conv1d_transpose",
) -> Tensor:  # fmt: skip
    """Sums of a kernel times each element of `x`, which undo the shapes of a convolution.

    The kernel is `(in, out / groups, width)`; `bias` has a number for each channel of the result.
    """
    attrs = (stride, padding, output_padding, dilation, groups)
    return _convolved(R.nn.conv1d_transpose, name, (x, weight, bias), attrs, "NCW")


def _convolved(
    operator: Callable[..., Any], name: str, operands: tuple[Tensor, Tensor, Tensor | None],
    attrs: tuple[Any, ...], layout: str,
) -> Tensor:  # fmt: skip
    """A convolution, and the bias along the channels of its result."""
    x, weight, bias = operands
    found = apply(operator, name, x, weight, *attrs, data_layout=layout)
    if bias is None:
        return found
    return add(found, reshape(bias, [-1 if axis == "C" else 1 for axis in layout]))
