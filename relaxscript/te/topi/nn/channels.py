"""Channels, rows and columns rearranged. Source: TVM `topi.nn.flatten`, `topi.nn.pixel_shuffle`."""

from __future__ import annotations

import math
from typing import Any

from relaxscript.arith import simplify
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.te.compute import compute
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.operands import topi_function
from relaxscript.te.topi.tensor import INJECTIVE
from relaxscript.te.topi.transform import reshaped

__all__ = ["flatten", "pixel_shuffle"]


@topi_function
def flatten(data: Tensor) -> Any:
    """All elements of each sample along one axis: the first axis stays.

    Raises `OperandError` for a tensor without axes.
    """
    if not data.ndim:
        raise OperandError(
            "data", "has rank 0", message="`topi.nn.flatten` keeps an axis", code="RX0203"
        )
    samples, *sizes = data.shape
    length = math.prod(sizes, start=prim.const(1, samples.dtype))

    return reshaped(data, (samples, simplify(length)), "tensor")


@topi_function
def pixel_shuffle(data: Tensor, upscale_factor: int, name: str = "PixelShuffle") -> Any:
    """(N, C * r * r, H, W) as (N, C, H * r, W * r): channels become neighbours, `r` the factor.

    Raises `OperandError` for a tensor without these axes, and for a factor below 1.
    """
    if data.ndim < 3:
        raise OperandError(
            "data", f"has rank {data.ndim}", code="RX0203",
            message="`topi.nn.pixel_shuffle` takes channels, rows and columns",
        )  # fmt: skip
    r = upscale_factor
    if r < 1:
        raise OperandError(
            "upscale_factor", f"is {r}", code="RX0204",
            message="a tensor grows by a factor of at least 1",
        )  # fmt: skip
    *front, channels, height, width = data.shape
    shape = [*front, simplify(channels // (r * r)), simplify(height * r), simplify(width * r)]

    def element(*indices: PrimExpr) -> PrimExpr:
        *own, c, y, x = indices
        channel = c * (r * r) + y % r * r + x % r
        found: PrimExpr = data[(*own, channel, y // r, x // r)]
        return found

    return compute(shape, element, name=name, tag=INJECTIVE)
