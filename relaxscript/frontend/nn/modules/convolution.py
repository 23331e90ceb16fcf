"""Convolutions with weights of their own."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.module import Module
from relaxscript.frontend.nn.parameter import Parameter
from relaxscript.frontend.nn.tensor import Tensor
from relaxscript.frontend.nn.trace import model_error

__all__ = ["Conv1D", "Conv2D", "Conv3D", "ConvTranspose1D"]


class Conv1D(Module):
    """`nn.op.conv1d`; `weight` is `(out_channels, in_channels / groups, kernel_size)`.

    Raises `DiagnosticError` (RX0711) for channels that groups cannot share.
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1,
        padding: int = 0, dilation: int = 1, groups: int = 1, bias: bool = True,
        dtype: str | None = None,
    ) -> None:  # fmt: skip
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        share = _share(in_channels, groups, out_channels)
        self.weight = Parameter((out_channels, share, *_sizes(kernel_size, 1)), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Images of one axis, `(batch, in_channels, width)`, with other channels."""
        attrs = (self.stride, self.padding, self.dilation, self.groups)
        return op.conv1d(x, self.weight, self.bias, *attrs)


class Conv2D(Module):
    """`nn.op.conv2d`; `weight` is `(out_channels, in_channels / groups, height, width)`.

    `kernel_size` is one number or two. Raises `DiagnosticError` (RX0711) for channels that groups
    cannot share.
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1, groups: int = 1, bias: bool = True,
        dtype: str | None = None, data_layout: str = "NCHW",
    ) -> None:  # fmt: skip
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.data_layout = data_layout
        share = _share(in_channels, groups, out_channels)
        self.weight = Parameter((out_channels, share, *_sizes(kernel_size, 2)), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Images with the axes of `data_layout`, with other channels."""
        attrs = (self.stride, self.padding, self.dilation, self.groups, self.data_layout)
        return op.conv2d(x, self.weight, self.bias, *attrs)


class Conv3D(Module):
    """`nn.op.conv3d`; `weight` is `(out_channels, in_channels / groups, depth, height, width)`.

    `kernel_size` is one number or three. Raises `DiagnosticError` (RX0711) for channels that
    groups cannot share.
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1, groups: int = 1, bias: bool = True,
        dtype: str | None = None, data_layout: str = "NCDHW",
    ) -> None:  # fmt: skip
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.data_layout = data_layout
        share = _share(in_channels, groups, out_channels)
        self.weight = Parameter((out_channels, share, *_sizes(kernel_size, 3)), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Volumes with the axes of `data_layout`, with other channels."""
        attrs = (self.stride, self.padding, self.dilation, self.groups, self.data_layout)
        return op.conv3d(x, self.weight, self.bias, *attrs)


class ConvTranspose1D(Module):
    """`nn.op.conv1d_transpose`; `weight` is `(in_channels, out_channels / groups, kernel_size)`.

    Raises `DiagnosticError` (RX0711) for channels that groups cannot share.
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1,
        padding: int = 0, output_padding: int = 0, dilation: int = 1, groups: int = 1,
        bias: bool = True, dtype: str | None = None,
    ) -> None:  # fmt: skip
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.output_padding = output_padding
        share = _share(out_channels, groups, in_channels)
        self.weight = Parameter((in_channels, share, *_sizes(kernel_size, 1)), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Images of one axis, `(batch, in_channels, width)`, with other channels."""
        attrs = (self.stride, self.padding, self.output_padding, self.dilation, self.groups)
        return op.conv1d_transpose(x, self.weight, self.bias, *attrs)


def _share(channels: int, groups: int, others: int) -> int:
    """The channels of each group."""
    for count in (channels, others):
        if groups < 1 or count % groups:
            raise model_error(
                f"{groups} groups cannot share {count} channels",
                help="write `groups=1`, or numbers of channels that are multiples of `groups`",
            )
    return channels // groups


def _sizes(kernel_size: int | Sequence[int], rank: int) -> tuple[int, ...]:
    """The size of a kernel along each axis."""
    sizes = (kernel_size,) * rank if isinstance(kernel_size, int) else tuple(kernel_size)
    if len(sizes) != rank:
        raise model_error(
            f"`kernel_size` has {len(sizes)} numbers, and images have {rank} axes",
            help="write one number, or one for each axis",
        )
    return sizes
