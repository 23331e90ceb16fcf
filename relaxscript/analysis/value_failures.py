"""PrimFuncs that a run may refuse for what it finds in their buffers."""

from __future__ import annotations

from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import AssertStmt, BufferStore, PrimFunc
from relaxscript.ir.walk import walk

__all__ = ["fails_by_values"]


def fails_by_values(func: PrimFunc) -> bool:
    """True if elements or sizes may make a PrimFunc fail, as far as its form tells.

    Such a function asserts something, calls others, or divides integers by what is no constant. Or
    what it loads decides on a place in a buffer.
    """
    return any(_may_fail(node) for node in walk(func.body))


def _may_fail(node: Node) -> bool:
    match node:
        case AssertStmt():
            return True
        case prim.Call(op=op):
            return isinstance(op, GlobalVar) or "extern" in op.name or "packed" in op.name
        case prim.FloorDiv(b=b) | prim.FloorMod(b=b) | prim.Mod(b=b) | prim.Div(b=b):
            integer = b.dtype.is_integer
            return integer and not (isinstance(b, prim.IntImm) and b.value != 0)
        case prim.BufferLoad(indices=indices) | BufferStore(indices=indices):
            return any(isinstance(part, prim.BufferLoad) for i in indices for part in walk(i))
    return False
