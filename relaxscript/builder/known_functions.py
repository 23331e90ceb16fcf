"""Functions of a module by what they are, so that one that is there already is found."""

from __future__ import annotations

from collections.abc import Iterator

from relaxscript.ir.module import IRModule, ModuleFunction
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.structural_equality import structural_hash

__all__ = ["KnownFunctions"]


class KnownFunctions:
    """The names of functions by hash.

    A hash takes the time of the whole function: only functions of a kind that somebody looks for
    are hashed.
    """

    def __init__(self, mod: IRModule) -> None:
        self._by_hash: dict[int, list[GlobalVar]] = {}
        self._unhashed: dict[type, list[GlobalVar]] = {}
        for gv, func in mod.functions.items():
            self.add(gv, func)

    def add(self, gv: GlobalVar, func: ModuleFunction) -> None:
        """Note that a module has a function by this name now."""
        self._unhashed.setdefault(type(func), []).append(gv)

    def alike(self, func: ModuleFunction, mod: IRModule) -> Iterator[GlobalVar]:
        """The names in a module of what may be the same function."""
        for gv in self._unhashed.pop(type(func), ()):
            if gv in mod:
                self._by_hash.setdefault(structural_hash(mod[gv]), []).append(gv)
        for gv in self._by_hash.get(structural_hash(func), ()):
            if gv in mod:
                yield gv
