"""Parts of tensors that workers or devices share evenly, and what one worker can know of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from relaxscript.errors import OperandError, Span, VMError
from relaxscript.ir import prim
from relaxscript.ir.distributed import DeviceMesh, Placement, placement_mistake, shard_counts
from relaxscript.ir.prim import INT64, const
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import walk
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text
from relaxscript.opdef.parameters import Tensor
from relaxscript.opdef.shapes import axis_in, dims_of, require_equal, tensor_of

__all__ = [
    "devices_of_results", "own_part", "part_of", "require_one_device", "require_placement",
    "require_workers",
]  # fmt: skip


def own_part(x: Tensor, num_workers: int, axis: int) -> Tensor:
    """The part of worker 0 of a tensor that is cut evenly along an axis."""
    size, left = divmod(x.shape[axis], num_workers)
    if left:
        message = f"axis {axis} has {x.shape[axis]} elements, which {num_workers} workers cannot"
        raise ValueError(f"{message} share evenly")
    part: Tensor = np.take(x, np.arange(size), axis=axis)
    return part


def part_of(
    context: InferContext, operand: str, info: TensorStructInfo, num_workers: int, axis: int
) -> StructInfo:
    """The part of one worker; raises `OperandError` where the parts would not be alike."""
    dims = dims_of(info)
    place = axis_in(axis, info.ndim if dims is None else len(dims), operand=operand)
    if dims is None:
        return tensor_of(None, info.dtype, info.vdevice, info.ndim)
    size, count = dims[place], const(num_workers, INT64)
    part = size // count
    fact = f"has {dim_text(size)} elements along axis {place}"
    error = OperandError(
        operand,
        fact,
        also={"num_workers": f"is {num_workers}"},
        message="workers cannot share the tensor evenly",
        help=f"cut along an axis that {num_workers} divides",
    )
    text = f"`{operand}` {fact}, which {num_workers} workers can share evenly for some values only"
    require_equal(context, size, part * count, error, text)
    return tensor_of((*dims[:place], part, *dims[place + 1 :]), info.dtype, info.vdevice)


def require_workers(num_workers: int) -> None:
    """Raise `OperandError` (RX0204) for a number of workers below 1."""
    if num_workers < 1:
        raise OperandError(
            "num_workers", f"is {num_workers}", message="there is at least one worker",
            code="RX0204",
        )  # fmt: skip


def require_placement(
    context: InferContext, tensor: TensorStructInfo, mesh: DeviceMesh, placement: Placement,
    operand: str = "placement",
) -> None:  # fmt: skip
    """Raise `OperandError` where a tensor cannot lie so; defer what depends on its dimensions."""
    fact = f'is "{placement}"' if operand == "placement" else f'gives the placement "{placement}"'
    mistake = placement_mistake(tensor, mesh, placement)
    if mistake is not None:
        fix = None if mistake.fix is None else {operand: mistake.fix}
        raise OperandError(
            operand, fact, message=mistake.message, code="RX0204", help=mistake.help, fix=fix
        )
    for axis, count in shard_counts(mesh, placement).items():
        if tensor.dims is not None and count > 1:
            size = tensor.dims[axis]
            held = f"axis {axis} has {dim_text(size)} elements"
            text = f"{held}, which {count} devices share evenly for some values only"
            error = OperandError(operand, fact, message=text, code="RX0204")
            evenly = size // prim.const(count, size.dtype) * prim.const(count, size.dtype)
            require_equal(context, size, evenly, error, text)


def require_one_device(infos: Iterable[StructInfo], span: Span | None) -> None:
    """Raise `VMError` where the results of a call on local parts lie on several devices."""
    count = devices_of_results(infos)
    if count > 1:
        message = f"`R.dist.call_tir_local_view` runs on each of {count} devices, and here is one"
        raise VMError(message, span=span, code="RX0606")


def devices_of_results(infos: Iterable[StructInfo]) -> int:
    """The number of devices of the mesh on which results lie; 0 where none is distributed."""
    whole = TupleStructInfo.make(tuple(infos))
    meshes = [p.device_mesh for p in walk(whole) if isinstance(p, DTensorStructInfo)]
    return max((mesh.size for mesh in meshes), default=0)
