"""The native entries of a module: found, compiled, and made into built-in functions."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from relaxscript.codegen.llvm.engine import AS_WRITTEN, Code, compile_text
from relaxscript.codegen.llvm.ir_writer import DETAILS, FailureSites
from relaxscript.dtypes import DataType
from relaxscript.ir.module import IRModule
from relaxscript.runtime.dispatch import VMClosure
from relaxscript.runtime.result_blocks import BLOCKS

from .builtin import MethodDef, address_of, builtin_function, layout_is_known, numpy_function
from .entry import Unwritable, write_entry
from .plan import EntryPlan, entry_plan
from .support import FUNCTIONS, PYTHON_FUNCTIONS, SUPPORT_TEXT

__all__ = ["BoundEntry", "NativeEntry", "native_entries"]


class NativeEntry:
    """The code of one function, and all that it refers to: constants and the kernel."""

    def __init__(self, plan: EntryPlan, code: Code, address: int) -> None:
        self.plan = plan
        self.address = address
        self._code = code

    def bind(self, closure: VMClosure) -> Any:
        """A built-in function that runs this code, and the closure where the code gives up.

        The closure is its `__self__`.
        """
        function = closure.vm.executable.functions[closure.index]
        doc = _documentation(self.plan.name, function.param_names)
        definition = MethodDef.of(self.plan.name, self.address, doc)
        closure.native = BoundEntry(self, definition)
        return builtin_function(definition, closure)


class BoundEntry:
    """The entry behind a built-in function, which the closure that is its `__self__` keeps."""

    def __init__(self, entry: NativeEntry, definition: MethodDef) -> None:
        self.entry = entry
        self._definition = definition

    def enable(self, enabled: bool) -> None:
        """Say whether the code is to run; without it all calls go to the closure."""
        slow = _support().addresses["relaxscript_slowly"]
        self._definition.redirect(self.entry.address if enabled else slow)


def native_entries(module: IRModule, kernels: Mapping[str, Any]) -> dict[str, NativeEntry]:
    """The entries of those functions of a lowered module that are one call of a kernel.

    `kernels` has the callables of its PrimFuncs by their names. There are none where arrays lie in
    memory in another way than is known here.
    """
    if not layout_is_known():
        return {}
    sites, functions = FailureSites(), list[str]()
    plans: dict[str, EntryPlan] = {}
    symbols: dict[str, str | int] = {}
    for var, function in module.relax_functions().items():
        plan = entry_plan(var.name_hint, function, module, kernels)
        symbol = f"relaxscript_call{len(plans)}"
        if plan is None:
            continue
        try:
            functions.append(write_entry(plan, symbol, sites))
        except Unwritable:
            continue
        plans[symbol] = plan
        symbols[f"{symbol}.kernel"] = plan.kernel.address
        for index, data in enumerate(plan.constants):
            symbols[f"{symbol}.constant.{index}"] = data.ctypes.data
    if not plans:
        return {}
    symbols |= _shared_symbols(sites.declarations)
    text = "\n".join([*sites.declarations.values(), *functions]) + "\n"
    code = compile_text(text, tuple(plans), symbols, AS_WRITTEN)
    return {
        plan.name: NativeEntry(plan, code, code.addresses[symbol]) for symbol, plan in plans.items()
    }


def _shared_symbols(declared: Mapping[str, str]) -> dict[str, int]:
    """The addresses of what entries of all modules refer to."""
    found = {name: address_of(name) for name in PYTHON_FUNCTIONS if name in declared}
    found |= {name: _support().addresses[name] for name in FUNCTIONS if name in declared}
    found["relaxscript.ndarray"] = id(np.ndarray)
    prefix = "relaxscript.dtype."
    for name in declared:
        if name.startswith(prefix):
            found[name] = id(_dtype(name.removeprefix(prefix)))
    return {name: address for name, address in found.items() if name in declared}


@functools.cache
def _dtype(name: str) -> np.dtype[Any]:
    """The one object that numpy has for a dtype, kept for good since code knows where it is."""
    return DataType(name).numpy


@functools.cache
def _support() -> Code:
    """The code that entries of all modules share."""
    symbols: dict[str, str | int] = {name: address_of(name) for name in PYTHON_FUNCTIONS}
    symbols |= {
        "relaxscript.raise_failure": id(_raise_failure),
        "relaxscript.ndarray": id(np.ndarray),
        "relaxscript.none": id(None),
        "relaxscript.memory_error": id(MemoryError),
        "relaxscript.value_error": id(ValueError),
        "relaxscript.blocks": ctypes.addressof(BLOCKS.table),
        "relaxscript.new_block": id(_new_block),
        "relaxscript.new_array": numpy_function("PyArray_NewFromDescr"),
        "relaxscript.set_base": numpy_function("PyArray_SetBaseObject"),
    }
    used = {name: address for name, address in symbols.items() if f"@{name}" in SUPPORT_TEXT}
    return compile_text(SUPPORT_TEXT, FUNCTIONS, used, AS_WRITTEN)


_new_block = BLOCKS.new  # which code knows by its address


def _raise_failure(closure: VMClosure, status: int, address: int) -> None:
    """Raise what the machine raises where the kernel of a function ends with a status."""
    words = list((ctypes.c_int64 * DETAILS).from_address(address))
    entry: NativeEntry = closure.native.entry
    closure.vm.fail(closure.index, entry.plan.kernel.failure(status, words))


def _documentation(name: str, params: tuple[str, ...]) -> str:
    """The text for `help` and `inspect.signature`."""
    text = "A Relax function as native code; `__self__` is its closure."
    plain = all(map(str.isidentifier, (name, *params)))
    return f"{name}({', '.join(params)})\n--\n\n{text}" if plain else text
