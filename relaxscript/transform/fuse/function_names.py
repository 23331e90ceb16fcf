"""Names of functions of groups: what they call, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.walk import walk

__all__ = ["FunctionNames", "without_unused"]

_LONGEST_NAME = 200


class FunctionNames:
    """The names that a module has, and new ones beside them."""

    def __init__(self, mod: IRModule) -> None:
        self._taken = {gvar.name_hint for gvar in mod.functions}
        self._counts: dict[str, int] = {}

    def fused(self, parts: Sequence[str]) -> str:
        """`fused_add_multiply`; a name that is too long says how many functions it leaves out."""
        wanted, length = "fused", len("fused")
        for number, part in enumerate(parts):
            length += 1 + len(part)
            if number and length > _LONGEST_NAME:
                wanted += f"_and_{len(parts) - number}_more"
                break
            wanted += f"_{part}"
        return self.unique(wanted)

    def unique(self, wanted: str) -> str:
        """The name, with a number behind it where it is taken."""
        name, number = wanted, self._counts.get(wanted, 0)
        while name in self._taken:
            number += 1
            name = f"{wanted}{number}"
        self._counts[wanted] = number
        self._taken.add(name)
        return name


def without_unused(mod: IRModule, names: set[str]) -> IRModule:
    """The module without those functions that no other one of it names; it is changed."""
    for gvar, func in mod.functions.items():
        if gvar.name_hint not in names:
            names = names - {n.name_hint for n in walk(func) if isinstance(n, GlobalVar)}
    for name in names:
        del mod[name]
    return mod
