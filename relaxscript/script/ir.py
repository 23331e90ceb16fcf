"""The names behind `I.`: modules, their attributes and global infos.

from relaxscript.script import ir as I
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relaxscript.ir.module import DummyGlobalInfo, VDevice

from .names.members import absent_member
from .names.safe_callables import safe_callables
from .names.tir_statements import Range
from .parser.decorated import Module
from .parser.entry import ir_module

__all__ = [
    "Module", "Range", "dummy_global_info", "ir_module", "lookup_vdevice", "module_attrs",
    "module_global_infos", "module_names", "vdevice",
]  # fmt: skip


def module_attrs(attrs: Mapping[str, Any], allow_overwrite: bool = False) -> None:
    """Attributes of the module; written in the body of the class."""


def module_global_infos(global_infos: Mapping[str, Sequence[Any]]) -> None:
    """Global infos of the module by kind, for example its virtual devices."""


def module_names(names: Mapping[str, str]) -> None:
    """The names of functions that are no names of Python, by how the class calls them.

    `I.module_names({"relu_1": "relu.1"})` is written in the body of the class.
    """


def vdevice(target: Any = "llvm", vdevice_id: int = 0, memory_scope: str = "global") -> VDevice:
    """A virtual device: a target, its number, a memory scope."""
    return VDevice(target, vdevice_id, memory_scope)


def lookup_vdevice(target_kind: str | None = None, device_index: int = -1) -> VDevice:
    """The module's virtual device of that kind and number, where a virtual device is written.

    Without a kind, or with a number below 0, the first. Which one is meant is looked up where it
    is used: `R.Tensor((4,), "float32", I.lookup_vdevice("llvm", 1))`.
    """
    return vdevice(target_kind or "", max(device_index, 0))


def dummy_global_info() -> DummyGlobalInfo:
    """A global info that says nothing."""
    return DummyGlobalInfo()


safe_callables(
    Range, module_attrs, module_global_infos, module_names, vdevice, lookup_vdevice,
    dummy_global_info,
)  # fmt: skip

if not TYPE_CHECKING:
    __dir__ = __all__.copy  # a prompt offers names of the language

    def __getattr__(name: str) -> Any:
        return absent_member(sys.modules[__name__], "I", name)
