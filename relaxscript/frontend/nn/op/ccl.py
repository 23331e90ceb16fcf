"""Exchange among workers; one that runs alone, as on a CPU, is all of them.

`R.ccl` says what each means there.
"""

from __future__ import annotations

from relaxscript.frontend.nn.tensor import Tensor, apply
from relaxscript.script import relax as R

__all__ = ["ccl_allgather", "ccl_allreduce", "ccl_broadcast_from_worker0"]


def ccl_allreduce(
    x: Tensor, op_type: str = "sum", in_group: bool = True, name: str = "ccl_allreduce"
) -> Tensor:
    """The tensors of all workers reduced to one: "sum", "prod", "min", "max" or "avg"."""
    return apply(R.ccl.allreduce, name, x, op_type, in_group)


def ccl_allgather(x: Tensor, num_workers: int, name: str = "ccl_allgather") -> Tensor:
    """The tensors of all workers one behind the other along axis 0.

    One worker alone has one tensor: more of them fail when the program runs.
    """
    return apply(R.ccl.allgather, name, x, num_workers)


def ccl_broadcast_from_worker0(x: Tensor, name: str = "broadcast_from_worker") -> Tensor:
    """The tensor of worker 0, which each worker gets."""
    return apply(R.ccl.broadcast_from_worker0, name, x)
