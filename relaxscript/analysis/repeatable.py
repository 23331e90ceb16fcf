"""Functions that may be run twice where once was asked for."""

from __future__ import annotations

from relaxscript.ir import prim, relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.walk import walk
from relaxscript.op import Trait, traits_of

__all__ = ["is_repeatable"]

_EFFECTS = {Trait.IMPURE, Trait.WRITES_ARGS, Trait.CALLS_OUT}


def is_repeatable(mod: IRModule, name: str) -> bool:
    """True if running a function of a module twice does no more than running it once.

    So it and the functions that it mentions call nothing outside of the module. They have no side
    effects and write into none of their arguments.
    """
    todo, seen = [name], {name}
    while todo:
        name = todo.pop()
        if name not in mod:
            return False
        for node in walk(mod[name]):
            match node:
                case relax.GlobalVar(found) if found in mod and found not in seen:
                    seen.add(found)
                    todo.append(found)
                case relax.ExternFunc():
                    return False
                case relax.Call(op=relax.Op() as op) if traits_of(op) & _EFFECTS:
                    return False
                case prim.Call(op=called) if "packed" in str(called) or "extern" in str(called):
                    return False
    return True
