"""The native entries of a module: found, compiled, and made into built-in functions."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relaxscript.codegen.llvm import Kernel
from relaxscript.codegen.llvm.engine import (
    AS_IT_STANDS,
    Code,
    LinkedObject,
    compile_text,
    stored_code,
)
from relaxscript.codegen.llvm.ir_writer import DETAILS, FailureSites
from relaxscript.dtypes import DataType
from relaxscript.ir import tir
from relaxscript.ir.module import IRModule
from relaxscript.runtime.dispatch import VMClosure
from relaxscript.runtime.result_blocks import BLOCKS
from relaxscript.runtime.values import Prim, Shape
from relaxscript.semantics.prim_funcs import symbol_of

from .builtin import MethodDef, address_of, builtin_function, layout_is_known, numpy_function
from .entry import Unwritable, write_entry
from .plan import EntryPlan
from .plan_reader import ModuleKernels, entry_plan, prim_func_plan
from .support import PYTHON_FUNCTIONS, SHARED_TEXTS, SharedText

__all__ = ["BoundEntry", "EntryCall", "NativeEntry", "native_entries", "stored_entries"]

DTYPE, PRIM_DTYPE = "relaxscript.dtype.", "relaxscript.prim_dtype."


@dataclass(frozen=True)
class EntryCall:
    """All that the code of a function refers to: by name, the kernels of its calls, constants."""

    name: str
    kernels: tuple[Kernel, ...]
    constants: tuple[np.ndarray[Any, Any], ...]


class NativeEntry:
    """The code of one function, its symbol there, and what it refers to."""

    def __init__(self, call: EntryCall, code: Code, symbol: str) -> None:
        self.call = call
        self.code = code
        self.symbol = symbol
        self.address = code.addresses[symbol]

    def bind(self, closure: VMClosure) -> Any:
        """A built-in function that runs this code, and the closure where the code gives up.

        The closure is its `__self__`.
        """
        function = closure.vm.executable.functions[closure.index]
        doc = _documentation(self.call.name, function.param_names)
        definition = MethodDef.of(self.call.name, self.address, doc)
        closure.native = BoundEntry(self, definition)
        return builtin_function(definition, closure)


class BoundEntry:
    """The entry behind a built-in function, which the closure that is its `__self__` keeps."""

    def __init__(self, entry: NativeEntry, definition: MethodDef) -> None:
        self.entry = entry
        self._definition = definition

    def enable(self, enabled: bool) -> None:
        """Say whether the code is to run; without it all calls go to the closure."""
        slow = _shared_symbols(["relaxscript_slowly"])["relaxscript_slowly"]
        self._definition.redirect(self.entry.address if enabled else slow)


def native_entries(module: IRModule, kernels: Mapping[str, Any]) -> dict[str, NativeEntry]:
    """The entries of those functions of a lowered module that are calls of kernels only.

    `kernels` has the callables of its PrimFuncs by their names. There are none where arrays lie in
    memory in another way than is known here.
    """
    if not layout_is_known():
        return {}
    sites, functions = FailureSites(), list[str]()
    calls: dict[str, EntryCall] = {}
    for plan in _plans(module, kernels):
        symbol = f"relaxscript_call{len(calls)}"
        try:
            functions.append(write_entry(plan, symbol, sites))
        except Unwritable:
            continue
        calls[symbol] = EntryCall(
            plan.name, tuple(call.kernel for call in plan.calls), plan.constants
        )
    if not calls:
        return {}
    text = "\n".join([*sites.declarations.values(), *functions]) + "\n"
    symbols = {**_symbols(calls), **_shared_symbols(sites.declarations)}
    return _entries(calls, compile_text(text, tuple(calls), symbols, AS_IT_STANDS))


def _plans(module: IRModule, kernels: Mapping[str, Any]) -> Iterator[EntryPlan]:
    """The plans of the functions that can be called, as far as there are any.

    These are the Relax functions, or of a module without such, the public PrimFuncs.
    """
    relax_functions = module.relax_functions()
    source = ModuleKernels(module, kernels)
    for var, function in relax_functions.items():
        plan = entry_plan(var.name_hint, function, source)
        if plan is not None:
            yield plan
    for name in () if relax_functions else kernels:
        prim_func = module[name]
        if isinstance(prim_func, tir.PrimFunc) and (symbol := symbol_of(prim_func)):
            plan = prim_func_plan(name, prim_func, source)
            if plan is not None:
                yield replace(plan, name=symbol)


def stored_entries(
    key: str, calls: Mapping[str, EntryCall], names: Iterable[str]
) -> dict[str, NativeEntry] | None:
    """The entries whose object the cache has by a key; None where it has not.

    `calls` are by the symbols of the functions, `names` those of all symbols that their code knows.
    """
    if not layout_is_known():
        return {}
    symbols = {**_symbols(calls), **_shared_symbols(names)}
    code = stored_code(LinkedObject(key, tuple(calls), tuple(sorted(symbols.items()))))
    return None if code is None else _entries(calls, code)


def _entries(calls: Mapping[str, EntryCall], code: Code) -> dict[str, NativeEntry]:
    return {call.name: NativeEntry(call, code, symbol) for symbol, call in calls.items()}


def _symbols(calls: Mapping[str, EntryCall]) -> dict[str, int]:
    """The addresses of what each function refers to."""
    found: dict[str, int] = {}
    for symbol, call in calls.items():
        for place, kernel in enumerate(call.kernels):
            found[f"{symbol}.kernel.{place}"] = kernel.address
        for index, data in enumerate(call.constants):
            found[f"{symbol}.constant.{index}"] = data.ctypes.data
    return found


def _shared_symbols(names: Iterable[str]) -> dict[str, int]:
    """The addresses of what entries of all modules refer to, as far as they are named."""
    named = set(names)
    found = {name: address_of(name) for name in PYTHON_FUNCTIONS if name in named}
    for shared in SHARED_TEXTS:
        if not named.isdisjoint(shared.functions):
            addresses = _code_of(shared).addresses
            found |= {name: addresses[name] for name in shared.functions if name in named}
    found |= {
        name: id(_dtype(name.removeprefix(DTYPE))) for name in named if name.startswith(DTYPE)
    }
    found |= {
        name: id(_data_type(name.removeprefix(PRIM_DTYPE)))
        for name in named
        if name.startswith(PRIM_DTYPE)
    }
    if "relaxscript.ndarray" in named:
        found["relaxscript.ndarray"] = id(np.ndarray)
    if "relaxscript.none" in named:
        found["relaxscript.none"] = id(None)
    return found


@functools.cache
def _dtype(name: str) -> np.dtype[Any]:
    """The one object that numpy has for a dtype, kept for good since code knows where it is."""
    return DataType(name).numpy


@functools.cache
def _data_type(name: str) -> DataType:
    """The one object for a dtype of ours, kept for good as well."""
    return DataType(name)


@functools.cache
def _code_of(shared: SharedText) -> Code:
    """The code of functions that entries of all modules share, kept for good."""
    symbols: dict[str, str | int] = {name: address_of(name) for name in PYTHON_FUNCTIONS}
    symbols |= {
        "relaxscript.raise_failure": id(_raise_failure),
        "relaxscript.ndarray": id(np.ndarray),
        "relaxscript.none": id(None),
        "relaxscript.true": id(True),
        "relaxscript.false": id(False),
        "relaxscript.int": id(int),
        "relaxscript.float": id(float),
        "relaxscript.tuple": id(tuple),
        "relaxscript.shape": id(Shape),
        "relaxscript.prim": id(Prim),
        "relaxscript.new_tuple": id(_new_tuple),
        "relaxscript.memory_error": id(MemoryError),
        "relaxscript.value_error": id(ValueError),
        "relaxscript.blocks": ctypes.addressof(BLOCKS.table),
        "relaxscript.new_block": id(_new_block),
        "relaxscript.new_array": numpy_function("PyArray_NewFromDescr"),
        "relaxscript.set_base": numpy_function("PyArray_SetBaseObject"),
    }
    used = {name: address for name, address in symbols.items() if f"@{name}" in shared.text}
    return compile_text(shared.text, shared.functions, used, AS_IT_STANDS)


# What code knows by its address.
_new_block = BLOCKS.new
_new_tuple = tuple.__new__


def _raise_failure(closure: VMClosure, status: int, place: int, address: int) -> None:
    """Raise what the machine raises where a kernel of a function ends with a status.

    Only one is explained here before or at which arguments were written into: so there are no
    branches, and the kernels are those of the function's own calls.
    """
    words = list((ctypes.c_int64 * DETAILS).from_address(address))
    entry: NativeEntry = closure.native.entry
    closure.vm.fail(closure.index, entry.call.kernels[place].failure(status, words), place)


def _documentation(name: str, params: tuple[str, ...]) -> str:
    """The text for `help` and `inspect.signature`."""
    text = "A Relax function as native code; `__self__` is its closure."
    plain = all(map(str.isidentifier, (name, *params)))
    return f"{name}({', '.join(params)})\n--\n\n{text}" if plain else text
