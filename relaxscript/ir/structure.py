"""Structure of the classes of nodes, for equality and hashes: parts, and what these define."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import prim, relax
from .module import IRModule
from .node import Node
from .tir import Buffer
from .walk import scope_order

__all__ = [
    "DEFINE", "INSIDE", "MAYBE", "USE", "VARIABLES", "ComparisonPlan", "as_tuples", "functions_of",
    "plan_of", "plans", "rule_name",
]  # fmt: skip


class ComparisonPlan(NamedTuple):
    """The order in which nodes of one class are compared: the fields to compare directly, those to
    descend into (the last first), and whether definitions inside end with the node.
    """

    leaves: tuple[str, ...]
    inner: tuple[tuple[str, int], ...]
    is_scope: bool


plans: dict[tuple[type[Node], bool], ComparisonPlan] = {}
VARIABLES = (prim.Var, relax.Var, Buffer)

# What a variable does where it occurs: it is used; it is defined unless it is known already (a
# dimension of a parameter); it is defined, whatever it meant before; and so is the variable of a
# binding, whose StructInfo defines nothing.
USE, MAYBE, DEFINE, BIND = range(4)
INSIDE = (USE, MAYBE, MAYBE, USE)


def plan_of(cls: type[Node], recursive: bool = False) -> ComparisonPlan:
    """The plan for comparing nodes of a class; a `recursive` binding is seen by its own value."""
    found = plans.get((cls, recursive))
    if found is None:
        hint = "name" if issubclass(cls, (prim.Var, Buffer)) else "name_hint"
        fields = scope_order(cls, recursive)
        if issubclass(cls, VARIABLES) or cls.__name__ == "Block":
            fields = tuple(f for f in fields if f.name != hint)
        defines = BIND if issubclass(cls, relax.VarBinding) else DEFINE
        leaves = tuple(f.name for f in fields if f.leaf)
        inner = [(f.name, defines if f.definition else USE) for f in fields if not f.leaf]
        found = plans[cls, recursive] = ComparisonPlan(leaves, tuple(reversed(inner)), cls.is_scope)
    return found


def functions_of(module: IRModule) -> list[tuple[str, Any]]:
    """The functions of a module, with their names."""
    return [(gv.name_hint, function) for gv, function in module.functions.items()]


def rule_name(rule: Any) -> str | None:
    """The name of a `derive_func`, which is a function of Python or, in a script, its name."""
    if isinstance(rule, str):
        return str(rule)
    return str(getattr(rule, "__name__", rule)) if callable(rule) else None


def as_tuples(value: Any) -> Any:
    """A list of nodes is one of their tuple."""
    if type(value) is list or type(value) is tuple:
        return tuple(map(as_tuples, value))
    return value
