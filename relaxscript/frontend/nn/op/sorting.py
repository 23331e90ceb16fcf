"""Elements in order."""

from __future__ import annotations

from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["argsort", "sort", "topk"]


def sort(x: Tensor, axis: int = -1, descending: bool = False, name: str = "sort") -> Tensor:
    """The elements in order along an axis."""
    return apply(R.sort, name, x, axis, descending)


def argsort(
    data: Tensor, axis: int = -1, descending: bool = False, dtype: str = "int32",
    name: str = "argsort",
) -> Tensor:  # fmt: skip
    """The indices of the elements in order along an axis."""
    return apply(R.argsort, name, data, axis, descending, dtype)


def topk(
    data: Tensor, k: int = 1, axis: int = -1, ret_type: str = "both", largest: bool = True,
    dtype: str = "int32", name: str = "topk",
) -> Any:  # fmt: skip
    """The `k` largest elements along an axis in order, or the smallest.

    `ret_type` says what of them: "values", "indices" (in `dtype`), or "both", as a tuple.
    """
    return apply(R.topk, name, data, k, axis, ret_type, largest, dtype)
