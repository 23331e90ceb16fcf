"""The namespace `I` of the builder: modules, their attributes, infos and declared functions.

from relaxscript.script.ir_builder import ir as I
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.ir.module import GlobalInfo, IRModule, VDevice
from relaxscript.ir.relax import GlobalVar
from relaxscript.script.ir import dummy_global_info, vdevice

from .module_frame import ModuleFrame, module_frame

__all__ = [
    "current_ir_module", "decl_function", "def_function", "dummy_global_info", "ir_module",
    "lookup_vdevice", "module_attrs", "module_get_attr", "module_get_attrs",
    "module_global_infos", "module_set_attr", "vdevice",
]  # fmt: skip


def ir_module() -> ModuleFrame:
    """A module: `with I.ir_module():`; the functions inside it need names."""
    return ModuleFrame()


def decl_function(func_name: str, func_signature: Any) -> GlobalVar:
    """The name of a function that is defined later; known by a function of its type, or by that."""
    return module_frame("I.decl_function").declare(func_name, func_signature)


def def_function(func_name: str, func: Any) -> None:
    """A function that exists already, under a name of the module."""
    module_frame("I.def_function").define(func_name, func)


def module_attrs(attrs: Mapping[str, Any], allow_overwrite: bool = False) -> None:
    """Attributes of the module."""
    module_frame("I.module_attrs").add_attrs(attrs, allow_overwrite)


def module_get_attrs() -> dict[str, Any]:
    """The attributes that the module has so far."""
    return dict(module_frame("I.module_get_attrs").attrs)


def module_get_attr(attr_key: str) -> Any:
    """One attribute of the module, or None."""
    return module_frame("I.module_get_attr").attrs.get(attr_key)


def module_set_attr(attr_key: str, attr_value: Any, allow_overwrite: bool = False) -> None:
    """One attribute of the module."""
    module_frame("I.module_set_attr").add_attrs({attr_key: attr_value}, allow_overwrite)


def module_global_infos(global_infos: Mapping[str, Sequence[GlobalInfo]]) -> None:
    """Global infos of the module by kind, for example its virtual devices."""
    frame = module_frame("I.module_global_infos")
    frame.global_infos.update({key: tuple(infos) for key, infos in global_infos.items()})


def lookup_vdevice(target_kind: str | None = None, device_index: int = -1) -> VDevice:
    """A virtual device of the module: of a kind, the one of that number (by default the first)."""
    return module_frame("I.lookup_vdevice").lookup_vdevice(target_kind, max(device_index, 0))


def current_ir_module() -> IRModule:
    """The module so far: the functions that are defined."""
    frame = module_frame("I.current_ir_module")
    functions = {frame.global_vars[name]: f for name, f in frame.functions.items()}
    return IRModule(functions, frame.attrs or None, frame.global_infos)
