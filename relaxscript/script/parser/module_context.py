"""The state that functions of one module share while it is parsed: names, infos and signatures."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable
from typing import Any

from relaxscript.errors import nearest
from relaxscript.ir.module import GlobalInfo, Target, VDevice
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal

__all__ = ["ModuleContext", "ModuleName"]


class ModuleName:
    """The module's own name inside its functions, `Digits` or `cls`."""


class ModuleContext:
    """The module that is being parsed; a function on its own is a module without names."""

    def __init__(
        self, name: str = "", functions: Iterable[str] = (), check_well_formed: bool = True
    ) -> None:
        self.name = name
        self.check_well_formed = check_well_formed
        self.global_vars = {function: GlobalVar(function) for function in functions}
        self.signatures: dict[str, StructInfo] = {}
        self.global_infos: dict[str, tuple[GlobalInfo, ...]] = {}
        self.broken: set[str] = set()
        self.infos_are_broken = False  # what is listed is not known, as it could not be read
        self.prim_funcs: set[str] = set()
        self.definitions: dict[str, ast.FunctionDef] = {}
        # The definition of the macro that a callee is, where it is one.
        self.macro_named: Callable[[ast.expr], ast.FunctionDef | None] = lambda callee: None
        # Macros of the class, and functions from outside that the module takes in, by their names.
        self.macros: dict[str, Any] = {}
        self.adopted: dict[str, Any] = {}
        # All that was taken in, and where it is mentioned.
        self.captured: list[tuple[Any, ast.expr]] = []
        # What was taken in by its identity; the object is kept so that no other gets its address.
        self.known_objects: dict[int, tuple[Any, GlobalVar]] = {}
        # What was made while the module was read, by its hash.
        self.made: dict[int, list[tuple[Any, GlobalVar]]] = {}
        self._adopted_vars: dict[str, GlobalVar] = {}
        self._mentions: dict[str, list[str]] = {}
        self.itself = ModuleName()

    @property
    def is_absent(self) -> bool:
        """True if a function on its own is parsed."""
        return not self.name

    def var_of(self, name: str) -> GlobalVar:
        """The one GlobalVar of a name, of a function of the class or of one taken in."""
        known = self.global_vars.get(name)
        return self._adopted_vars.setdefault(name, GlobalVar(name)) if known is None else known

    def free_name(self, wanted: str, taken: Container[str] = ()) -> str:
        """`wanted`, with a number behind it where that is taken."""
        name, number = wanted, 0
        known = (self.global_vars, self.adopted, self.macros, taken)
        while any(name in names for names in known):
            number += 1
            name = f"{wanted}_{number}"
        return name

    def symbol(self, function: str) -> str:
        """The name, outside of the class, of what scripts call `function`."""
        var = self.global_vars.get(function)
        return function if var is None else var.name_hint

    def sign(self, function: str, info: StructInfo) -> None:
        """Note the signature of a function, which scripts call `function`."""
        self.signatures[self.symbol(function)] = info

    def reaches(self, caller: str, callee: str) -> bool:
        """True if a function mentions another, by itself or through those it mentions."""
        seen: set[str] = set()
        pending = [caller]
        while pending:
            for name in self.mentioned(pending.pop()):
                if name == callee:
                    return True
                if name not in seen:
                    seen.add(name)
                    pending.append(name)
        return False

    def mentioned(self, caller: str) -> list[str]:
        """The functions of the module that a function mentions, by syntax."""
        known = self._mentions.get(caller)
        if known is None:
            definition = self.definitions.get(caller)
            known = [] if definition is None else self._mentioned_in(definition)
            self._mentions[caller] = known
        return known

    def _mentioned_in(self, definition: ast.FunctionDef) -> list[str]:
        # `R.add` is no mention of a function `add`: the module has its own name, and aliases.
        aliases = {self.name}
        found: list[tuple[str, str]] = []
        # Macros may be given the module.
        pending: list[Any] = [definition]
        macros: set[ast.AST] = set()
        while pending:
            node = pending.pop()
            match node:
                case ast.Name() | ast.Constant():
                    continue  # most of a tree
                case ast.Attribute(value=ast.Name(id=owner), attr=name):
                    if name in self.global_vars:
                        found.append((owner, name))
                    continue
                case ast.Assign(targets=targets, value=ast.Name(id=owner)) if owner in aliases:
                    aliases.update(t.id for t in targets if isinstance(t, ast.Name))
                case ast.Call(func=func):
                    macro = self.macro_named(func)
                    if macro is not None and macro not in macros:
                        macros.add(macro)
                        args = macro.args
                        named = (*args.posonlyargs, *args.args, *args.kwonlyargs)
                        aliases.update(arg.arg for arg in named)
                        pending.insert(0, macro)
            pending += _inner_syntax(node)
        return list(dict.fromkeys(name for owner, name in found if owner in aliases))

    def devices(self, asked: VDevice) -> str:
        """Help for whoever asked for a virtual device that the module has not."""
        listed = self._listed_devices()
        if listed:
            return f"the module has {', '.join(f'`{d.short}`' for d in listed)}"
        declared = f'I.vdevice("{asked.target.kind}", {asked.vdevice_id})'
        return f'declare it: `I.module_global_infos({{"vdevice": [{declared}]}})`'

    def _listed_devices(self) -> list[VDevice]:
        return [v for v in self.global_infos.get("vdevice", ()) if isinstance(v, VDevice)]

    def similar_vdevice(self, asked: VDevice) -> VDevice | None:
        """The module's device of the same number and scope whose kind is spelled much the same."""
        near = nearest(asked.target.kind, [v.target.kind for v in self._listed_devices()])
        return self.vdevice(asked.replace(target=Target(near))) if near else None

    def vdevice(self, asked: VDevice) -> VDevice | None:
        """The module's own virtual device that an annotation names, or None.

        "vdevice:1" is number 1 of the list.
        """
        listed = self._listed_devices()
        if asked.target.kind == "vdevice":
            return listed[asked.vdevice_id] if asked.vdevice_id < len(listed) else None
        for known in listed:
            if structural_equal(known, asked):
                return known
        if asked.target.attrs:
            return None
        of_kind = [known for known in listed if asked.target.kind in ("", known.target.kind)]
        for known in of_kind if asked.target.kind else ():
            place = asked.vdevice_id, asked.memory_scope
            if (known.vdevice_id, known.memory_scope) == place:
                return known
        if 0 <= asked.vdevice_id < len(of_kind) and asked.memory_scope == "global":
            return of_kind[asked.vdevice_id]
        return None


def _inner_syntax(node: Any) -> list[Any]:
    """The nodes directly inside of one, last ones first.

    It takes half the time of `ast.iter_child_nodes`, and every undeclared function is walked.
    """
    inner: list[Any] = []
    for name in reversed(getattr(node, "_fields", ())):
        value = getattr(node, name, None)
        if value.__class__ is list:
            inner += value[::-1]
        elif isinstance(value, (ast.expr, ast.arguments, ast.pattern)):
            inner.append(value)
    return inner
