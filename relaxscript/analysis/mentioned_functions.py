"""The functions of its module that a function mentions, in calls or as values.

Passes that remove functions ask this of every function of a module, many times in a build. So what
is known of the leaves of a Relax function is passed by: types mention no function. Of a PrimFunc
the answer is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable

from relaxscript.ir import prim
from relaxscript.ir.module import ModuleFunction
from relaxscript.ir.node import Node
from relaxscript.ir.prim_func_facts import facts_of
from relaxscript.ir.relax import Binding, Call, Function, GlobalVar, SeqExpr, Tuple
from relaxscript.ir.stmt_functor import all_parts
from relaxscript.ir.tir import PrimFunc, Stmt
from relaxscript.ir.walk import compounds, nodes_in, walk

__all__ = ["mentioned_functions"]


def mentioned_functions(function: ModuleFunction) -> frozenset[str]:
    """The names of the functions that a function of a module mentions."""
    if isinstance(function, PrimFunc):
        facts = facts_of(function)
        if "mentioned" not in facts:
            facts["mentioned"] = _names(_in_prim_func(function))
        found: frozenset[str] = facts["mentioned"]
        return found
    return _names(_in_function(function) if isinstance(function, Function) else walk(function))


def _names(leaves: Iterable[object]) -> frozenset[str]:
    return frozenset([leaf.name_hint for leaf in leaves if isinstance(leaf, GlobalVar)])


def _in_function(function: Function) -> list[object]:
    leaves: list[object] = []
    for node in compounds(function):
        match node:
            case Call(op=op, args=args):
                leaves += (op, *args)
            case Binding(value=leaf) | SeqExpr(body=leaf):
                leaves.append(leaf)
            case Tuple(fields=fields):
                leaves += fields
    return leaves


def _in_prim_func(function: PrimFunc) -> list[Node]:
    """Calls and their arguments, and what attributes and annotations hold."""
    leaves = [node for held in nodes_in(function.attrs) for node in walk(held)]
    for part in all_parts(function):
        if part.__class__ is prim.Call:
            leaves += (part.op, *part.args)
        elif isinstance(part, Stmt) and (annotations := getattr(part, "annotations", None)):
            leaves += [node for held in nodes_in(annotations) for node in walk(held)]
    return leaves
