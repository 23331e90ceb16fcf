"""Memory that functions allocate for their tensors, before and after it is planned.

Source: TVM `relax.analysis.estimate_memory_usage`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import quantity
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import INT64, IntImm, PrimExpr, const
from relaxscript.ir.relax import Call, DataTypeImm, Expr, Function
from relaxscript.ir.struct_info import ShapeStructInfo
from relaxscript.ir.walk import compounds
from relaxscript.op import builtin, memory

from .derive import Context
from .struct_infos import require_type

__all__ = ["bytes_of_tensor", "estimate_memory_usage"]

# With fewer elements than these, no product of sizes leaves int64.
_MOST = 1 << 56


def bytes_of_tensor(shape: Expr, dtype: Expr, context: Context) -> PrimExpr | None:
    """The bytes of a tensor of a shape and a dtype, None where one of them is not known."""
    info = context.struct_info(shape)
    if not isinstance(info, ShapeStructInfo) or info.values is None:
        return None
    if not isinstance(dtype, DataTypeImm):
        return None
    if all(isinstance(dim, IntImm) and dim.dtype is INT64 for dim in info.values):
        count = math.prod([dim.value for dim in info.values])  # type: ignore[attr-defined]
        if 0 < count < _MOST:  # as it is for most: products of numbers need no arithmetic of ours
            return const(count * dtype.value.itemsize, INT64)
    size: PrimExpr = const(dtype.value.itemsize, INT64)
    for dim in info.values:
        size = size * dim
    return simplify(size)


class _Allocations(NamedTuple):
    """Tensors or storages: how many, the bytes of those of known size, the number of the others."""

    number: int
    known: int
    unknown: int

    def __str__(self) -> str:
        others = f", and {self.unknown} of sizes that are known at run time" * bool(self.unknown)
        return f"{quantity(self.number, 'allocation')}, {self.known} bytes{others}"


def estimate_memory_usage(mod: IRModule) -> str:
    """The allocations of each function as text, without and with a plan of memory.

        main:
          without planning: 5 allocations, 160 bytes
          with planning: 2 allocations, 64 bytes (40.0 %)

    Without planning, each tensor that the function allocates has memory of its own. With it they
    are in the storages that `mod` allocates, several in one. So ask for a module after
    `StaticPlanBlockMemory`; before it, both say the same. Sizes that are only known at run time
    are counted, not added. Functions that allocate nothing are left out. Raises `TypeError` for
    what is no module.
    """
    require_type("estimate_memory_usage.mod", mod, IRModule)
    found = [
        line for var, function in mod.relax_functions().items()
        for line in _lines(var.name_hint, function, Context(mod))
    ]  # fmt: skip
    return "\n".join(found) or "no function of the module allocates a tensor"


def _lines(name: str, function: Function, context: Context) -> Iterator[str]:
    tensors: list[PrimExpr | None] = []
    planned: list[PrimExpr | None] = []
    for node in compounds(function):
        match node:
            case Call(op=builtin.alloc_tensor.op, args=(shape, dtype, *_)):
                size = bytes_of_tensor(shape, dtype, context)
                tensors.append(size)
                planned.append(size)
            case Call(op=memory.alloc_tensor.op, args=(_, _, shape, dtype)):
                tensors.append(bytes_of_tensor(shape, dtype, context))
            case Call(op=memory.alloc_storage.op, args=(size, *_)):
                planned.append(bytes_of_tensor(size, _BYTE, context))
    if not tensors and not planned:
        return
    before, after = _sum(tensors), _sum(planned)
    share = f" ({100 * after.known / before.known:.1f} %)" if before.known else ""
    yield f"{name}:"
    yield f"  without planning: {before}"
    yield f"  with planning: {after}{share}"


_BYTE = DataTypeImm.make(DataType("uint8"))


def _sum(sizes: list[PrimExpr | None]) -> _Allocations:
    known = [size.value for size in sizes if isinstance(size, IntImm)]
    return _Allocations(len(sizes), sum(known), len(sizes) - len(known))
