"""PrimFuncs as a plan of memory sees them: what becomes of the memory of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.analysis.op_pattern import overwritten_buffers
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Call, PrimExpr
from relaxscript.ir.relax import Expr, GlobalVar, Op
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk

__all__ = ["Kernels"]


class Kernels:
    """The PrimFuncs of a module, at each of which is looked once."""

    def __init__(self, module: IRModule) -> None:
        self._module = module
        self._found: dict[Expr, PrimFunc | None] = {}
        self._hands_on: dict[PrimFunc, bool] = {}
        self._overwritten: dict[PrimFunc, frozenset[int]] = {}

    def find(self, callee: Expr) -> PrimFunc | None:
        """The PrimFunc that a callee is; None where it is none of the module."""
        if not isinstance(callee, GlobalVar):
            return None
        if callee not in self._found:
            known = callee in self._module
            func = self._module[callee] if known else None
            self._found[callee] = func if isinstance(func, PrimFunc) else None
        return self._found[callee]

    def hands_on(self, callee: Expr) -> bool:
        """True if a callee may give its arguments' memory to somebody, who may keep it."""
        func = self.find(callee)
        if func is None:
            return True
        if func not in self._hands_on:
            self._hands_on[func] = any(map(_gives_memory, walk(func.body)))
        return self._hands_on[func]

    def overwrites(self, callee: Expr, args: Sequence[Expr], arg: Expr) -> bool:
        """True if a direct call is proved to write all of `arg`, whatever that held before.

        It is one of `args` once, so that the callee reads it by no other name.
        """
        func = self.find(callee)
        positions = [i for i, other in enumerate(args) if other is arg]
        if func is None or len(positions) != 1:
            return False
        if func not in self._overwritten:
            buffers = overwritten_buffers(func)
            places = enumerate(func.params)
            self._overwritten[func] = frozenset(
                i for i, param in places if func.buffer_map.get(param) in buffers
            )
        return positions[0] in self._overwritten[func]


def _gives_memory(node: object) -> bool:
    if not isinstance(node, Call):
        return False
    return not isinstance(node.op, Op) or any(map(_is_memory, node.args))


def _is_memory(arg: object) -> bool:
    """True for an address; a function that takes it may keep what it points to."""
    return isinstance(arg, PrimExpr) and arg.dtype.kind == "handle"
