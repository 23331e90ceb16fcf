"""Convolutions of tensors in one order of their axes, which their names say.

Source: TVM `topi.nn.conv2d_nchw` and those like it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.te.compute import dtype_of
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.operands import topi_function

from .convolution import conv_of, each_channel, read_orders

__all__ = [
    "conv1d_ncw", "conv1d_nwc", "conv2d_hwcn", "conv2d_nchw", "conv2d_nhwc", "conv3d_ncdhw",
    "conv3d_ndhwc", "depthwise_conv2d_nchw", "depthwise_conv2d_nhwc", "group_conv1d_ncw",
    "group_conv1d_nwc", "group_conv2d_nchw", "group_conv2d_nhwc",
]  # fmt: skip


def _one_axis(layout: str) -> Callable[..., Any]:
    name = f"conv1d_{layout.lower()}"

    def convolution(
        data: Tensor, kernel: Tensor, strides: Any = 1, padding: Any = "VALID", dilation: Any = 1,
        out_dtype: Any = None,
    ) -> Any:  # fmt: skip
        return conv_of(
            f"topi.nn.{name}", data, kernel, strides, padding, dilation, 1, layout, "", out_dtype
        )

    return _named(convolution, name, layout)


def _one_axis_in_groups(layout: str) -> Callable[..., Any]:
    name = f"group_conv1d_{layout.lower()}"

    def convolution(
        data: Tensor, kernel: Tensor, strides: Any = 1, padding: Any = "VALID", dilation: Any = 1,
        groups: int = 1, out_dtype: Any = None,
    ) -> Any:  # fmt: skip
        return conv_of(
            f"topi.nn.{name}", data, kernel, strides, padding, dilation, groups, layout, "",
            out_dtype,
        )  # fmt: skip

    return _named(convolution, name, layout)


def _two_axes(layout: str) -> Callable[..., Any]:
    name = f"conv2d_{layout.lower()}"

    def convolution(
        Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any,
        out_dtype: Any = None,
    ) -> Any:  # fmt: skip
        return conv_of(
            f"topi.nn.{name}", Input, Filter, stride, padding, dilation, 1, layout, "", out_dtype
        )

    return _named(convolution, name, layout)


def _in_groups(name: str, layout: str) -> Callable[..., Any]:
    def convolution(
        Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any, groups: int,
        out_dtype: Any = None,
    ) -> Any:  # fmt: skip
        return conv_of(
            f"topi.nn.{name}", Input, Filter, stride, padding, dilation, groups, layout, "",
            out_dtype,
        )  # fmt: skip

    return _named(convolution, name, layout)


def _named(function: Callable[..., Any], name: str, layout: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The convolution of tensors of the layout {layout}; see `topi.nn.conv`."
    return topi_function(function)


conv1d_ncw = _one_axis("NCW")
conv1d_nwc = _one_axis("NWC")
conv2d_hwcn = _two_axes("HWCN")
conv2d_nchw = _two_axes("NCHW")
conv2d_nhwc = _two_axes("NHWC")
conv3d_ncdhw = _in_groups("conv3d_ncdhw", "NCDHW")
conv3d_ndhwc = _in_groups("conv3d_ndhwc", "NDHWC")
group_conv1d_ncw = _one_axis_in_groups("NCW")
group_conv1d_nwc = _one_axis_in_groups("NWC")
group_conv2d_nchw = _in_groups("group_conv2d_nchw", "NCHW")
group_conv2d_nhwc = _in_groups("group_conv2d_nhwc", "NHWC")


# ---------------------------------------------------------------- each channel on its own


def _depthwise(layout: str) -> Callable[..., Any]:
    name = f"depthwise_conv2d_{layout.lower()}"
    kernel_layout = "CMHW" if layout == "NCHW" else "HWCM"

    def convolution(
        Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any,
        out_dtype: Any = None,
    ) -> Any:  # fmt: skip
        callee = f"topi.nn.{name}"
        of_data, of_kernel = read_orders(
            callee, Input, Filter, (layout, kernel_layout), ("NCHW", "CMHW")
        )
        dtype = Input.dtype if out_dtype is None else dtype_of(out_dtype, "out_dtype")
        return each_channel(
            callee, Input, Filter, (stride, padding, dilation), of_data, of_kernel, dtype
        )

    made = _named(convolution, name, layout)
    made.__doc__ = (
        f"The convolution of each channel by kernels of its own, of the layout {kernel_layout}: "
        "the result has M channels for each."
    )
    return made


depthwise_conv2d_nchw = _depthwise("NCHW")
depthwise_conv2d_nhwc = _depthwise("NHWC")
