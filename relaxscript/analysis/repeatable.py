"""Functions that may be run twice where once was asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from relaxscript.ir import prim, relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.stmt_functor import all_parts
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import children, compounds, walk
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
    function = mod[name]
    if isinstance(function, PrimFunc):
        return _look_at_prim_func(mod, function)
    if isinstance(function, relax.Function):
        return _look_at_function(mod, function)
    return _Look(True, frozenset())


def _look_at_prim_func(mod: IRModule, function: PrimFunc) -> _Look:
    mentioned, has_effects = set[str](), False
    for node in all_parts(function):
        match node:
            case prim.Call(op=relax.GlobalVar(found)) if found in mod:
                mentioned.add(found)
            case prim.Call() if _calls_out(node):
                has_effects = True
    return _Look(has_effects, frozenset(mentioned))


def _look_at_function(mod: IRModule, function: relax.Function) -> _Look:
    mentioned, has_effects = set[str](), False
    # Mentions of PrimFuncs, and calls by operators, for which they write new tensors only.
    values = calls = 0
    for node in compounds(function):
        if node.__class__ is relax.Call and isinstance(node.op, relax.Op):
            traits = traits_of(node.op)
            has_effects = has_effects or not traits.isdisjoint(_EFFECTS)
            calls += Trait.CALLS_PRIM_FUNC in traits
        for leaf in _OPERANDS.get(node.__class__, children)(node):
            if leaf.__class__ is relax.GlobalVar and leaf in mod:
                mentioned.add(leaf.name_hint)
                values += isinstance(mod[leaf], PrimFunc)
            elif leaf.__class__ is relax.ExternFunc:
                has_effects = True
            elif leaf.__class__ in _OF_SCALARS:
                has_effects = has_effects or any(map(_calls_out, walk(leaf)))
    return _Look(has_effects or values > calls, frozenset(mentioned))


# What is directly in a node, without what is known of it.
_OPERANDS: dict[type[Node], Callable[[Any], Iterable[Node]]] = {
    relax.Call: lambda call: (call.op, *call.args),
    relax.VarBinding: lambda binding: (binding.value,),
    relax.MatchCast: lambda binding: (binding.value,),
    relax.Tuple: lambda whole: whole.fields,
    relax.Function: lambda function: (function.body,),
}
_OF_SCALARS = (relax.PrimValue, relax.ShapeExpr)


def _calls_out(node: Node) -> bool:
    """True if a scalar is a call of something outside of the module."""
    match node:
        case prim.Call(op=relax.Op(called)):
            return "packed" in called or "extern" in called
    return False
