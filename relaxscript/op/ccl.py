"""Operators by which workers that run the same program exchange tensors.

Each worker has a tensor of its own. A program that is run here is one worker, number 0, of one: it
reduces what is its own, and keeps what it would send to itself. Source: TVM `relax.op.ccl`.
"""

from __future__ import annotations

from typing import Any

from relaxscript.errors import OperandError, did_you_mean, nearest
from relaxscript.ir.prim import INT64, const
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.layout import (
    InferLayoutOutput,
    LayoutContext,
    Order,
    along_axis,
    declined,
    follow,
)
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import Tensor
from relaxscript.opdef.shapes import dims_of, tensor_of
from relaxscript.opdef.traits import Trait

from .shards import own_part, part_of, require_workers

__all__ = ["allgather", "allreduce", "broadcast_from_worker0", "scatter_from_worker0"]

_REDUCTIONS = ("sum", "prod", "min", "max", "avg")


@op("ccl.allreduce")
def allreduce(x: Tensor, op_type: str = "sum", in_group: bool = True) -> Tensor:
    """The tensors of all workers reduced to one, which each of them gets.

    `op_type` is "sum", "prod", "min", "max" or "avg". With `in_group` the workers of a group are
    meant, else all. One worker reduces its own tensor only, which is the result.
    """
    return x.copy()


@allreduce.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, op_type: str = "sum", in_group: bool = True
) -> StructInfo:
    return x


@allreduce.attribute_rule
def _(op_type: str, in_group: bool) -> None:
    if op_type not in _REDUCTIONS:
        near = nearest(op_type, _REDUCTIONS)
        raise OperandError(
            "op_type",
            f'is "{op_type}"',
            message=f"`op_type` is one of {', '.join(_REDUCTIONS)}",
            code="RX0204",
            help=did_you_mean(near and f'"{near}"'),
            fix={"op_type": f'"{near}"'} if near else None,
        )


@op("ccl.allgather", traits={Trait.OWN_TENSORS})
def allgather(x: Tensor, num_workers: int, in_group: bool = True) -> Tensor:
    """The tensors of all workers one behind the other along axis 0, which each of them gets.

    With `in_group` the workers of a group are meant, else all. What other workers have is not known
    to one that runs alone, so `num_workers` above 1 fails when it runs.
    """
    if num_workers != 1:
        message = f"`R.ccl.allgather` gathers from {num_workers} workers, and one runs"
        raise ValueError(message)
    return x.copy()


@allgather.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, num_workers: int, in_group: bool = True
) -> StructInfo:
    if x.ndim == 0:
        raise OperandError("x", "has rank 0", help="workers' tensors are joined along axis 0")
    dims = dims_of(x)
    if dims is None:
        return tensor_of(None, x.dtype, x.vdevice, x.ndim)
    gathered = dims[0] * const(num_workers, INT64)
    return tensor_of((gathered, *dims[1:]), x.dtype, x.vdevice)


@op("ccl.broadcast_from_worker0", traits={Trait.OWN_TENSORS})
def broadcast_from_worker0(x: Tensor) -> Tensor:
    """The tensor of worker 0, which each worker gets; `x` is read on that worker only."""
    return x.copy()


@broadcast_from_worker0.infer_rule
def _(context: InferContext, x: TensorStructInfo) -> StructInfo:
    return x


@op("ccl.scatter_from_worker0", traits={Trait.OWN_TENSORS})
def scatter_from_worker0(x: Tensor, num_workers: int, axis: int = 0) -> Tensor:
    """The part of a worker of the tensor of worker 0, cut evenly along `axis`.

    A worker that runs alone is number 0, and gets the first part.
    """
    return own_part(x, num_workers, axis)


@scatter_from_worker0.infer_rule
def _(context: InferContext, x: TensorStructInfo, num_workers: int, axis: int = 0) -> StructInfo:
    return part_of(context, "x", x, num_workers, axis)


def _with_workers(operator: Operator) -> None:
    @operator.attribute_rule
    def at_least_one(num_workers: int, **others: Any) -> None:
        require_workers(num_workers)


_with_workers(allgather)
_with_workers(scatter_from_worker0)


allreduce.layout_rule(follow)
broadcast_from_worker0.layout_rule(follow)
scatter_from_worker0.layout_rule(along_axis)


@allgather.layout_rule
def _(context: LayoutContext, x: Order, **attributes: Any) -> InferLayoutOutput:
    return InferLayoutOutput((x,), x) if x[0] == 0 else declined(context, (x,))


for _operator in (allreduce, allgather, broadcast_from_worker0, scatter_from_worker0):
    _operator.lacks("compute", "workers exchange tensors, which the machine does")
    _operator.lacks("gradient", "what it is made of is on other workers, too")
