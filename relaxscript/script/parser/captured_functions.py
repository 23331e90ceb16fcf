"""Functions and modules that Python holds: what a script mentions of them joins its module.

A captured `PrimFunc` or `Function` is added under its own name (its `global_symbol`, else the name
that Python holds it under). The same function twice is one, and so are two that are structurally
equal; a name that is taken already gets a number. A member of a captured module brings what it
calls with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from relaxscript.analysis.derive import function_struct_info
from relaxscript.errors import did_you_mean, nearest
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.relax import ExternFunc, Function, GlobalVar
from relaxscript.ir.structural_equality import structural_equal, structural_hash
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk

from .diagnostics import UNKNOWN, Failed
from .macro import Macro
from .module_context import ModuleContext
from .script_context import ScriptContext

__all__ = [
    "adopt", "adopt_as", "adopt_made", "adopt_member", "called_names", "foreign_device",
    "macro_of_module",
    "with_symbol",
]  # fmt: skip


def macro_of_module(module: ModuleContext, name: str) -> Macro | None:
    """The macro of a name that the class defines; raises `Failed` for one that is wrong."""
    found = module.macros.get(name)
    if found is UNKNOWN:
        raise Failed
    return found if isinstance(found, Macro) else None


def adopt(
    cx: ScriptContext, module: ModuleContext, function: Any, name: str, node: ast.expr
) -> GlobalVar:
    """The name in the module of a captured function, which is added to it when it is new."""
    known = module.known_objects.get(id(function))
    if known is not None:
        return known[1]
    refuse_outside(cx, module, function, name, node)
    check_whole(cx, function, node)
    module.captured.append((function, node))
    shared = _equal(module, function)
    if shared is None:
        free = module.free_name(symbol_of(function) or name or "func")
        var = _enter(module, with_symbol(function, free), free)
    else:
        var = shared[1]
    module.known_objects[id(function)] = (function, var)
    return var


def adopt_member(
    cx: ScriptContext, module: ModuleContext, owner: IRModule, name: str, node: ast.expr
) -> GlobalVar:
    """The name in the module of a function of another, added together with what it calls."""
    if name not in owner:
        near = nearest(name, [var.name_hint for var in owner])
        written = ast.unparse(node.value) if isinstance(node, ast.Attribute) else ""
        raise cx.error(
            node, "RX0101", f"the module `{owner.__name__}` has no function `{name}`",
            help=did_you_mean(near),
            fix=f"{written}.{near}" if near and written else None,
        )  # fmt: skip
    wanted = owner[name]
    if id(wanted) not in module.known_objects:
        refuse_outside(cx, module, wanted, name, node)
        _join(module, owner, name, None, node)
    return module.known_objects[id(wanted)][1]


def adopt_as(
    cx: ScriptContext, module: ModuleContext, value: Any, name: str, node: ast.expr
) -> Any:
    """The function that a class takes over as `name = value`; `value` is a function, or a module
    and the name of its function."""
    if isinstance(value, tuple):
        owner, member = value
        return _join(module, owner, member, name, node)
    check_whole(cx, value, node)
    module.captured.append((value, node))
    module.known_objects.setdefault(id(value), (value, module.global_vars[name]))
    return with_symbol(value, name)


def adopt_made(module: ModuleContext, function: PrimFunc, name: str) -> GlobalVar:
    """The name in the module of a function that was made for it: `name`, or one like it.

    One that is equal to a function made before under such a name is that function.
    """
    alike = module.made.setdefault(structural_hash(function), [])
    for known, var in alike:
        if var.name_hint.startswith(name) and structural_equal(known, function):
            return var
    var = _enter(module, function, module.free_name(name))
    alike.append((function, var))
    module.known_objects[id(function)] = (function, var)
    return var


def check_whole(cx: ScriptContext, function: Any, node: ast.expr) -> None:
    """A function that calls others cannot be taken without them."""
    missing = called_names(function)
    if missing:
        raise cx.error(
            node, "RX0201", f"this function calls `{missing[0]}` of the module it comes from",
            help="capture that module, and write `Module.name_of_the_function`",
        )  # fmt: skip


def _join(
    module: ModuleContext, owner: IRModule, name: str, under: str | None, node: ast.expr
) -> Any:
    """Take in a function of another module and all that it calls; `under` a name of the class."""
    new_names: dict[str, str] = {} if under is None else {name: under}
    needed = _reachable(owner, name)
    module.captured += [(owner[inner], node) for inner in needed]
    for inner in needed:
        if inner not in new_names:
            known = module.known_objects.get(id(owner[inner])) or _equal(module, owner[inner])
            taken = set(new_names.values())
            shared = known is not None and known[1].name_hint not in taken
            free = known[1].name_hint if known and shared else module.free_name(inner, taken)
            new_names[inner] = free
    renamed = _rename_functions(IRModule({inner: owner[inner] for inner in needed}), new_names)
    for key, infos in owner.global_infos.items():
        module.global_infos.setdefault(key, infos)
    for inner, new in new_names.items():
        if new not in module.adopted and new not in module.global_vars:
            _enter(module, renamed[new], new)
        module.known_objects[id(owner[inner])] = (owner[inner], module.var_of(new))
    return renamed[new_names[name]]


def foreign_device(module: ModuleContext, function: Any) -> VDevice | None:
    """A virtual device of a captured function that the module does not list (criterion 24)."""
    listed = module.global_infos.get("vdevice", ())
    for device in walk(function):
        if isinstance(device, VDevice) and not any(structural_equal(device, d) for d in listed):
            return device
    return None


def refuse_outside(
    cx: ScriptContext, module: ModuleContext, function: Any, name: str, node: ast.expr
) -> None:
    """Only a module has a place for other functions."""
    if module.name:
        return
    kind = "PrimFunc" if isinstance(function, PrimFunc) else "Relax function"
    written = name or ast.unparse(node)
    raise cx.error(
        node, "RX0201", f"`{written}` is a {kind} that is outside, and a function on its own"
        " has no place for it",
        help="put both in a class under `@I.ir_module`",
    )  # fmt: skip


def symbol_of(function: Any) -> str:
    """The name of a public function; empty for a private one."""
    attrs = getattr(function, "attrs", None)
    return "" if attrs is None else str(attrs.get("global_symbol", ""))


def with_symbol(function: Any, name: str) -> Any:
    """A function as it is called in a module: the symbol of a public one is its name there."""
    if symbol_of(function) in ("", name):
        return function
    return function.with_attr("global_symbol", name)


def called_names(function: Any) -> list[str]:
    """The functions of its own module that a function mentions, each once."""
    if isinstance(function, ExternFunc):
        return []
    found = (node.name_hint for node in walk(function) if isinstance(node, GlobalVar))
    return list(dict.fromkeys(found))


def _reachable(owner: IRModule, name: str) -> list[str]:
    found = [name]
    for inner in found:  # grows while it is gone through
        found += [n for n in called_names(owner[inner]) if n in owner and n not in found]
    return found


def _rename_functions(part: IRModule, new_names: Mapping[str, str]) -> IRModule:
    """A module under other names, which may be each other's: first to names that nobody has."""
    first = part.replace_global_vars({old: f"{old}'" for old in new_names})
    return first.replace_global_vars({f"{old}'": new for old, new in new_names.items()})


def _equal(module: ModuleContext, function: Any) -> tuple[Any, GlobalVar] | None:
    candidates: Iterable[tuple[Any, GlobalVar]] = module.known_objects.values()
    for known, var in candidates:
        if type(known) is type(function) and structural_equal(known, function):
            return known, var
    return None


def _enter(
    module: ModuleContext, function: Function | PrimFunc | ExternFunc, name: str
) -> GlobalVar:
    module.adopted[name] = function
    module.signatures[name] = function_struct_info(function)
    return module.var_of(name)
