"""Functions of a module by what they are, so that one that is there already is found."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from relaxscript.ir.module import IRModule, ModuleFunction
from relaxscript.ir.prim import IntImm, Var as PrimVar
from relaxscript.ir.relax import Function, GlobalVar
from relaxscript.ir.structural_equality import structural_hash
from relaxscript.ir.tir import PrimFunc

__all__ = ["KnownFunctions"]


class KnownFunctions:
    """The names of functions by their outlines, and by their hashes where outlines are the same.

    A hash takes the time of the whole function, as long as half of making the PrimFunc of an
    operator. An outline takes that of the parameters, and tells most functions apart.
    """

    def __init__(self, mod: IRModule) -> None:
        self._rows: dict[Hashable, _Row] = {}
        self._unseen: list[GlobalVar] = list(mod.functions)

    def add(self, gv: GlobalVar) -> None:
        """Note that a module has a function by this name now."""
        self._unseen.append(gv)

    def alike(self, func: ModuleFunction, mod: IRModule) -> Iterator[GlobalVar]:
        """The names in a module of what may be the same function."""
        for gv in self._unseen:
            if gv in mod:
                self._row(mod[gv]).unhashed.append(gv)
        self._unseen.clear()
        row = self._rows.get(_outline(func))
        if row is None:
            return
        for gv in row.unhashed:
            if gv in mod:
                row.by_hash.setdefault(structural_hash(mod[gv]), []).append(gv)
        row.unhashed.clear()
        for gv in row.by_hash.get(structural_hash(func), ()):
            if gv in mod:
                yield gv

    def _row(self, func: ModuleFunction) -> _Row:
        return self._rows.setdefault(_outline(func), _Row())


class _Row:
    """The functions of one outline."""

    def __init__(self) -> None:
        self.unhashed: list[GlobalVar] = []
        self.by_hash: dict[int, list[GlobalVar]] = {}


def _outline(func: ModuleFunction) -> Hashable:
    """The part of a function that those equal to it have alike, read off its parameters alone."""
    if isinstance(func, PrimFunc):
        return PrimFunc, *[_of_parameter(func, param) for param in func.params]
    if isinstance(func, Function):
        return Function, *[type(param.struct_info) for param in func.params]
    return (type(func),)


def _of_parameter(func: PrimFunc, param: PrimVar) -> Hashable:
    buffer = func.buffer_map.get(param)
    if buffer is None:
        return param.dtype
    sizes = [dim.value if isinstance(dim, IntImm) else None for dim in buffer.shape]
    return buffer.dtype, *sizes
