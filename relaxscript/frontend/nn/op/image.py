"""Images of another size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from relaxscript.errors.suggest import did_you_mean, nearest
from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.frontend.nn.trace import model_error
from relaxscript.ir.prim import PrimExpr
from relaxscript.script import relax as R

__all__ = ["interpolate"]

# What each mode is for the operators: the method, where elements are, and how those are rounded.
_MODES = {
    "nearest": ("nearest_neighbor", "asymmetric", "floor"),
    "nearest-exact": ("nearest_neighbor", "tf_half_pixel_for_nn", "floor"),
    "linear": ("linear", "half_pixel", "round"),
    "bilinear": ("linear", "half_pixel", "round"),
    "trilinear": ("linear", "half_pixel", "round"),
    "cubic": ("cubic", "half_pixel", "round"),
    "bicubic": ("cubic", "half_pixel", "round"),
}


def interpolate(
    x: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool | None = None, data_layout: str = "NCHW", name: str = "interpolate",
) -> Tensor:  # fmt: skip
    """Images of another `size`, or of one that is `scale_factor` times theirs, rounded down.

    Both are one number, or one for each of height and width; with `data_layout="NCDHW"` for each
    of depth, height and width. `mode` is "nearest", "nearest-exact", "bilinear", "bicubic" or
    "trilinear". Elements are at the middle of their pixels, and "nearest" takes the one before.
    With `align_corners` the corners stay. Places follow from the sizes, so that only
    `recompute_scale_factor=True` says more than is done anyway.

    Raises `DiagnosticError` (RX0711) for a mode that there is not, and for `antialias`. Exactly one
    of `size` and `scale_factor` is to be given.
    """
    if mode not in _MODES:
        raise model_error(
            f"`interpolate` has no mode {mode!r}",
            help=did_you_mean(
                nearest(str(mode), _MODES), "write one of " + ", ".join(f'"{m}"' for m in _MODES)
            ),
        )
    if antialias:
        raise model_error("`interpolate` smooths nothing before it", help="leave out `antialias`")
    method, places, rounding = _MODES[mode]
    if align_corners and method != "nearest_neighbor":
        places = "align_corners"
    attrs = {
        "layout": data_layout, "method": method, "coordinate_transformation_mode": places,
        "rounding_method": rounding, "cubic_alpha": -0.75,
    }  # fmt: skip
    sizes = _sizes(x, size, scale_factor, recompute_scale_factor, data_layout)
    operator = R.image.resize3d if len(data_layout) == 5 else R.image.resize2d
    return apply(operator, name, x, sizes, **attrs)


def _sizes(x: Tensor, size: Any, factor: Any, recompute: bool | None, layout: str) -> Any:
    """The sizes along the axes of an image."""
    if (size is None) == (factor is None):
        raise model_error(
            "`interpolate` takes either `size` or `scale_factor`",
            help="write for example `nn.op.interpolate(x, scale_factor=2)`",
        )
    if factor is None:
        return size
    if x.ndim not in (-1, len(layout)):
        raise model_error(
            f"`interpolate` takes images with the axes {layout!r}, this one has rank {x.ndim}",
            help="write `data_layout=`, or give it axes: `nn.op.unsqueeze(x, dim)`",
        )
    axes = [axis for axis, letter in enumerate(layout) if letter not in "NC"]
    factors = list(factor) if isinstance(factor, Sequence) else [factor] * len(axes)
    if len(factors) != len(axes):
        raise model_error(
            f"`interpolate` takes {len(axes)} scale factors for {layout!r}, not {len(factors)}"
        )
    return [_scaled(x.shape[axis], by, recompute) for axis, by in zip(axes, factors)]


def _scaled(dim: Any, factor: Any, recompute: bool | None) -> Any:
    """A size times a factor, rounded down."""
    if factor == int(factor):
        return dim * int(factor)
    if isinstance(dim, PrimExpr):
        raise model_error(
            f"the size {dim} times {factor} is known only when the program runs",
            help="write a whole `scale_factor`, or the `size`",
        )
    if recompute is False and dim * factor != int(dim * factor):
        raise model_error(
            f"the size {dim} times {factor} is no integer, and places follow from the sizes",
            help="leave out `recompute_scale_factor=False`",
        )
    return math.floor(dim * factor)
