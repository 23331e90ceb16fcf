"""Names of functions of groups: what they call, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.analysis.mentioned_functions import mentioned_functions
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import BindingBlock, Call, GlobalVar, VarBinding
from relaxscript.ir.walk import rewrite_compounds

__all__ = ["FunctionNames", "with_free_names", "without_unused"]

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
            names = names - mentioned_functions(func)
    for name in names:
        del mod[name]
    return mod


def with_free_names(mod: IRModule, wanted: Mapping[str, str]) -> IRModule:
    """The module whose functions have the names that they want, as far as these are free.

    It is changed. The functions are called by bindings only.
    """
    given: dict[str, GlobalVar] = {}
    for name, other in wanted.items():
        if other not in mod and all(other != gvar.name_hint for gvar in given.values()):
            given[name] = GlobalVar.make(other)
    if not given:
        return mod

    def step(node: Node) -> Node | None:
        if not isinstance(node, BindingBlock):
            return None
        return node.replace(bindings=tuple([_renamed(b, given) for b in node.bindings]))

    for gvar, func in mod.relax_functions().items():
        mod[gvar] = rewrite_compounds(func, step)
    for name, new in given.items():
        mod[new] = mod[name]
        del mod[name]
    return mod


def _renamed(binding: object, given: Mapping[str, GlobalVar]) -> object:
    """A binding of a call by another name, where the function has one."""
    match binding:
        case VarBinding(value=Call(args=(GlobalVar() as gvar, *rest)) as call):
            if gvar.name_hint in given:
                return binding.replace(value=call.replace(args=(given[gvar.name_hint], *rest)))
    return binding
