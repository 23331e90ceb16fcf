"""Names of functions of groups: what they call, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.ir.module import IRModule

__all__ = ["FunctionNames"]

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
