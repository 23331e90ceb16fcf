"""The frame of a module: functions by name, declared before or when they are defined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.analysis.derive import function_struct_info
from relaxscript.errors import did_you_mean, nearest
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.relax import BaseFunc, ExternFunc, GlobalVar, remember_struct_info
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal, structural_hash

from .base import Frame, IRBuilder, builder_error, innermost

__all__ = ["ModuleFrame", "module_frame"]


class ModuleFrame(Frame):
    """`with I.ir_module():`; functions inside are added under their names."""

    written = "I.ir_module"

    def __init__(self) -> None:
        self.global_vars: dict[str, GlobalVar] = {}
        self.functions: dict[str, Any] = {}
        self.signatures: dict[str, StructInfo] = {}
        # The functions that were made on the way, by their hashes.
        self.made: dict[int, list[GlobalVar]] = {}
        self.attrs: dict[str, Any] = {}
        self.global_infos: dict[str, tuple[Any, ...]] = {}

    def open(self, builder: IRBuilder) -> ModuleFrame:
        if builder.frames:
            raise builder_error(
                "RX0105", f"a module is not allowed in `{builder.frames[-1].written}`"
            )
        return self

    def close(self, builder: IRBuilder) -> None:
        for name in self.global_vars:
            if name not in self.functions:
                raise builder_error(
                    "RX0101", f"the function `{name}` is declared and never defined",
                    f'define it: `I.def_function("{name}", function)`',
                )  # fmt: skip
        functions = {var: self.functions[name] for name, var in self.global_vars.items()}
        builder.finish(IRModule(functions, self.attrs or None, self.global_infos))

    def declare(self, name: str, signature: Any) -> GlobalVar:
        """A name of the module, and the type of what it will be."""
        if not isinstance(signature, (BaseFunc, ExternFunc, StructInfo)):
            raise builder_error("RX0201", f"`{name}` is declared by a function or by its type")
        if name in self.global_vars:
            raise builder_error("RX0302", f"the module has a function `{name}` already")
        info = signature if isinstance(signature, StructInfo) else function_struct_info(signature)
        self.global_vars[name] = declared = GlobalVar(name)
        self.signatures[name] = info
        remember_struct_info(declared, info)
        return declared

    def define(self, name: str, function: Any) -> None:
        """The function of a name, declared or not."""
        if not isinstance(function, (BaseFunc, ExternFunc)):
            raise builder_error("RX0201", f"{function!r} cannot be a function of a module")
        if name in self.functions:
            raise builder_error(
                "RX0302", f"the module has two functions `{name}`", "rename one of them"
            )
        if name not in self.global_vars:
            self.global_vars[name] = GlobalVar(name)
        self.functions[name] = function
        self.signatures[name] = function_struct_info(function)

    def add(self, function: Any, wanted: str, taken: str) -> GlobalVar:
        """The name of a function that was made; one that is equal under such a name is shared.

        The function that is open is called `taken`, and gets its place in the module at its end.
        """
        alike = self.made.setdefault(structural_hash(function), [])
        for var in alike:
            known = self.functions[var.name_hint]
            if var.name_hint.startswith(wanted) and structural_equal(known, function):
                return var
        names = (wanted, *(f"{wanted}_{number}" for number in range(1, len(self.global_vars) + 2)))
        name = next(name for name in names if name != taken and name not in self.global_vars)
        self.define(name, function)
        alike.append(self.global_vars[name])
        return self.global_vars[name]

    def add_attrs(self, attrs: Mapping[str, Any], allow_overwrite: bool) -> None:
        """Attributes of the module; one that is there already is replaced only when allowed."""
        for key, value in attrs.items():
            if key in self.attrs and not allow_overwrite:
                raise builder_error(
                    "RX0302", f"the module has the attribute `{key}` already",
                    "write `allow_overwrite=True` to replace it",
                )  # fmt: skip
            self.attrs[key] = value

    def lookup_vdevice(self, kind: str | None, index: int) -> VDevice:
        """One of the module's virtual devices: of a kind, or of all when the kind is None."""
        known: Sequence[Any] = self.global_infos.get("vdevice", ())
        found = [d for d in known if kind in (None, d.target.kind)]
        if not 0 <= index < len(found):
            near = nearest(kind or "", [d.target.kind for d in known])
            raise builder_error(
                "RX0101", f"the module has no virtual device `{kind}:{index}`",
                did_you_mean(near, "list them by `I.module_global_infos`"),
            )  # fmt: skip
        device: VDevice = found[index]
        return device


def module_frame(what: str) -> ModuleFrame:
    """The module that is open; `what` needs one."""
    frame = innermost(ModuleFrame)
    if frame is None:
        raise builder_error(
            "RX0105", f"`{what}` belongs in a module", "open one: `with I.ir_module():`"
        )
    return frame
