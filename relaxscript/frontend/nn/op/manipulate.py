"""Functions that arrange elements anew, or convert them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["astype", "permute_dims", "reshape"]


def astype(x: Tensor, dtype: str, name: str = "astype") -> Tensor:
    """The elements converted to a dtype."""
    return apply(R.astype, name, x, dtype)


def permute_dims(x: Tensor, axes: Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """The axes in another order; reversed without one."""
    return apply(R.permute_dims, name or "permute_dims", x, axes)


def reshape(x: Tensor, shape: Sequence[Any], name: str = "reshape") -> Tensor:
    """The elements in another shape; -1 is the size that is left over."""
    return apply(R.reshape, name, x, shape)
