"""Functions that arrange elements anew, or convert them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = [
    "astype", "broadcast_to", "chunk", "concat", "pad", "permute", "permute_dims", "repeat",
    "reshape", "split", "squeeze", "take", "unsqueeze",
]  # fmt: skip


def astype(x: Tensor, dtype: str, name: str = "astype") -> Tensor:
    """The elements converted to a dtype."""
    return apply(R.astype, name, x, dtype)


def broadcast_to(x: Tensor, shape: Sequence[Any], name: str = "broadcast_to") -> Tensor:
    """The elements spread to a shape: axes of size 1, and axes in front that `x` has not."""
    return apply(R.broadcast_to, name, x, shape)


def chunk(x: Tensor, chunks: int, dim: int = 0, name: str = "chunk") -> Any:
    """A tuple of so many parts along an axis, all of one size but the last."""
    return apply(R.split, name, x, chunks, dim)


def concat(x: Sequence[Tensor], dim: int, name: str = "concat") -> Tensor:
    """The tensors one behind the other along an axis."""
    return apply(R.concat, name, x, dim)


def pad(
    x: Tensor, pad: Sequence[int], mode: str = "constant", value: float = 0.0, name: str = "pad"
) -> Tensor:
    """The elements with others around.

    `pad` has for each axis, the first one first, how many are before and how many behind. They
    are `value` ("constant"), or made of the elements ("reflect", "replicate", "circular").
    """
    return apply(R.nn.pad, name, x, pad, mode, value)


def permute(x: Tensor, axes: Sequence[int] | None, name: str = "permute") -> Tensor:
    """The axes in another order; reversed where that is None."""
    return apply(R.permute_dims, name, x, axes)


def permute_dims(x: Tensor, axes: Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """The axes in another order; reversed without one."""
    return apply(R.permute_dims, name or "permute_dims", x, axes)


def repeat(x: Tensor, repeats: int, axis: int | None = None, name: str = "repeat") -> Tensor:
    """Each element as many times, along an axis or of the flattened tensor."""
    return apply(R.repeat, name, x, repeats, axis)


def reshape(x: Tensor, shape: Sequence[Any], name: str = "reshape") -> Tensor:
    """The elements in another shape; -1 is the size that is left over."""
    return apply(R.reshape, name, x, shape)


def split(
    ary: Tensor, indices_or_sections: int | Sequence[int], axis: int = 0, name: str = "split"
) -> Any:
    """A tuple of so many parts along an axis, or of those that begin at these indices."""
    return apply(R.split, name, ary, indices_or_sections, axis)


def squeeze(x: Tensor, axis: int = -1, name: str = "squeeze") -> Tensor:
    """The tensor without an axis, whose size is 1."""
    return apply(R.squeeze, name, x, axis)


def take(x: Tensor, indices: Tensor, axis: int | None = None, name: str = "take") -> Tensor:
    """The elements at indices along an axis; without one `x` has one axis.

    Each index must be there.
    """
    return apply(R.take, name, x, indices, axis)


def unsqueeze(x: Tensor, dim: int, name: str = "unsqueeze") -> Tensor:
    """The tensor with a new axis of size 1 at `dim`."""
    return apply(R.expand_dims, name, x, dim)
