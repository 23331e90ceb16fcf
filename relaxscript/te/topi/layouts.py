"""Tensors whose axes are in one of the orders of `sinfo/axis_order.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relaxscript.ir.prim import PrimExpr
from relaxscript.sinfo.axis_order import AxisOrder, plain_order
from relaxscript.te.compute import compute
from relaxscript.te.tensor import Tensor

from .tensor import INJECTIVE

__all__ = ["arranged", "unpack"]


def unpack(tensor: Tensor, order: AxisOrder) -> tuple[Tensor, AxisOrder]:
    """A tensor none of whose axes is packed, with its layout: the same one where none was."""
    if not order.is_packed:
        return tensor, order
    made = compute(
        order.sizes(tensor.shape), lambda *i: tensor[tuple(order.spread(i))],
        name="T_layout_trans", tag=INJECTIVE, varargs_names=_names(len(order.letters)),
    )  # fmt: skip
    return made, plain_order(order.letters)


def arranged(
    order: AxisOrder, shape: Sequence[PrimExpr], element: Callable[..., Any], name: str,
    loops: Mapping[str, str] | None = None,
) -> Any:  # fmt: skip
    """The tensor of a shape in a layout whose elements are a function of their plain indices.

    `loops` has the names of loops by the letters of their axes.
    """
    own = plain_order(order.letters) if order.is_packed else order
    names = [f"ax{axis}" if loops is None else loops[own.text[axis]] for axis in range(own.rank)]
    made = compute(
        own.spread(order.sizes(shape)), lambda *i: element(*own.gather(i)), name=name, tag=name,
        varargs_names=names,
    )  # fmt: skip
    if not order.is_packed:
        return made
    return compute(
        shape, lambda *i: made[tuple(order.gather(i))], name="T_layout_trans", tag=INJECTIVE,
        varargs_names=_names(order.rank),
    )  # fmt: skip


def _names(rank: int) -> list[str]:
    return [f"ax{axis}" for axis in range(rank)]
