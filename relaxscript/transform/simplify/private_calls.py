"""Private functions that are called and nothing else: who changes one can change all its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from relaxscript.analysis.call_graph import values_in
from relaxscript.analysis.mentioned_functions import mentioned_functions
from relaxscript.analysis.weight_names import NUM_INPUT
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, BindingBlock, Call, Expr, Function, GlobalVar, Var
from relaxscript.ir.struct_info import ObjectStructInfo, StructInfo
from relaxscript.ir.walk import compounds, nodes_in, rewrite_compounds, walk

__all__ = ["CallSite", "Calls", "function_of", "infos_of", "joined", "private_calls", "with_calls"]

_OBJECT = ObjectStructInfo()


class CallSite(NamedTuple):
    """A call of a private function: the name of the function around it, and its binding."""

    caller: str
    binding: Binding

    @property
    def call(self) -> Call:
        """The call itself."""
        value = self.binding.value
        assert isinstance(value, Call)
        return value


Calls = Mapping[str, Sequence[CallSite]]
Blocks = tuple[BindingBlock, ...]


def private_calls(mod: IRModule) -> Calls:
    """All calls of each private function that is used in no other way, by its name.

    The module is in normal form, so every call is the value of a binding. Left out are functions
    that are values somewhere, and those with `num_input`, which says what their parameters are.
    """
    functions = mod.relax_functions()
    found: dict[str, list[CallSite]] = {
        var.name_hint: []
        for var, function in functions.items()
        if function.is_private and NUM_INPUT not in (function.attrs or {})
    }
    if not found:
        return found
    values: set[str] = set()
    for var, function in mod.functions.items():
        if isinstance(function, Function):
            _collect(var.name_hint, function, found, values)
        else:
            values |= mentioned_functions(function)
    for name, sites in found.items():
        count = len(function_of(mod, name).params)
        if any(len(site.call.args) != count for site in sites):
            values.add(name)
    return {name: sites for name, sites in found.items() if name not in values}


def _collect(
    caller: str, function: Function, calls: Mapping[str, list[CallSite]], values: set[str]
) -> None:
    """Note the calls of functions in one, and what it uses as values."""
    for node in compounds(function):
        if isinstance(node, Binding) and isinstance(node.value, Call):
            op = node.value.op
            if isinstance(op, GlobalVar) and op.name_hint in calls:
                calls[op.name_hint].append(CallSite(caller, node))
            continue
        parts: Sequence[Expr] = node.args if isinstance(node, Call) else tuple(values_in(node))
        for part in parts:
            if isinstance(part, GlobalVar):
                values.add(part.name_hint)
        if isinstance(node, (Call, Function)) and node.attrs:
            held = (leaf for part in nodes_in(node.attrs) for leaf in walk(part))
            values.update(leaf.name_hint for leaf in held if isinstance(leaf, GlobalVar))


def function_of(mod: IRModule, name: str) -> Function:
    """The Relax function of a name."""
    found = mod[name]
    assert isinstance(found, Function)
    return found


def infos_of(params: Sequence[Var]) -> tuple[StructInfo, ...]:
    """The StructInfos of parameters; an object where none is said."""
    return tuple([param.struct_info or _OBJECT for param in params])


def joined(first: Blocks, second: Blocks) -> Blocks:
    """Blocks and what follows them; no two ordinary ones are neighbours in normal form."""
    if not (first and second and type(first[-1]) is type(second[0]) is BindingBlock):
        return (*first, *second)
    seam = first[-1].replace(bindings=(*first[-1].bindings, *second[0].bindings))
    return (*first[:-1], seam, *second[1:])


def with_calls(function: Function, change: Callable[[Call], Call | None]) -> Function:
    """The function with other calls; None for one that stays."""

    def step(node: object) -> Binding | None:
        if not (isinstance(node, Binding) and isinstance(node.value, Call)):
            return None
        made = change(node.value)
        return None if made is None else node.replace(value=made)

    return rewrite_compounds(function, step)
