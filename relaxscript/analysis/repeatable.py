"""Functions that may be run twice where once was asked for."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from relaxscript.ir import prim, relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.op import Trait, traits_of

__all__ = ["REPEATABLE", "is_repeatable", "run_once"]

# The attribute of a function of which passes made use of that it may be run again: what kept it
# from that in the source may have been of no use to it.
REPEATABLE = "relaxscript.repeatable"

_EFFECTS = {Trait.IMPURE, Trait.WRITES_ARGS, Trait.CALLS_OUT}


def is_repeatable(mod: IRModule, name: str) -> bool:
    """True if running a function of a module twice does no more than running it once.

    So it and the functions that it mentions call nothing outside of the module. They have no side
    effects and write into none of their arguments. PrimFuncs that no operator calls do.
    """
    looks = _Looks(mod)
    return not any(looks.at(found).has_effects for found in looks.reached({name}))


def run_once(mod: IRModule) -> frozenset[str]:
    """The Relax functions that may run within a call that cannot be repeated.

    These are the functions that are not repeatable, and what they mention.
    """
    looks = _Looks(mod)
    names = [var.name_hint for var in mod.relax_functions()]
    # From what has effects back to those that mention it, then forth again.
    mentioning: dict[str, list[str]] = {}
    for name in looks.reached(set(names)):
        for mentioned in looks.at(name).mentioned:
            mentioning.setdefault(mentioned, []).append(name)
    todo = [name for name in looks.found if looks.found[name].has_effects]
    once = set(todo)
    while todo:
        fresh = set(mentioning.get(todo.pop(), ())) - once
        once |= fresh
        todo += fresh
    return frozenset(looks.reached(once).intersection(names))


class _Look(NamedTuple):
    """Effects of a function itself, if any, and the functions that it mentions."""

    has_effects: bool
    mentioned: frozenset[str]


class _Looks:
    """Looks at the functions of a module, at each once."""

    def __init__(self, mod: IRModule) -> None:
        self.mod = mod
        self.found: dict[str, _Look] = {}

    def at(self, name: str) -> _Look:
        if name not in self.found:
            self.found[name] = _look(self.mod, name)
        return self.found[name]

    def reached(self, names: Collection[str]) -> set[str]:
        """The functions that some mention, and what these mention in turn, with themselves."""
        todo, seen = list(names), set(names)
        while todo:
            fresh = self.at(todo.pop()).mentioned - seen
            seen |= fresh
            todo += fresh
        return seen


def _look(mod: IRModule, name: str) -> _Look:
    if name not in mod:
        return _Look(True, frozenset())
    mentioned, has_effects = set[str](), False
    # Mentions of PrimFuncs, and calls by operators, for which they write new tensors only.
    values, calls = 0, set[int]()
    for node in walk(mod[name]):
        match node:
            case relax.GlobalVar(found) if found in mod:
                mentioned.add(found)
                values += isinstance(mod[found], PrimFunc) and isinstance(mod[name], relax.Function)
            case relax.ExternFunc():
                has_effects = True
            case relax.Call(op=relax.Op() as op) if traits_of(op) & _EFFECTS:
                has_effects = True
            case relax.Call(op=relax.Op() as op) if Trait.CALLS_PRIM_FUNC in traits_of(op):
                calls.add(id(node))  # inside of one that is shared is looked at once
            case prim.Call(op=relax.Op(called)) if "packed" in called or "extern" in called:
                has_effects = True
    return _Look(has_effects or values > len(calls), frozenset(mentioned))
