"""Compiled PrimFuncs: `compile_prim_func`, `compile_prim_funcs` and the `Kernel`s they give.

A kernel is called like `interpreter.tir.evaluate` calls the PrimFunc, and does the same. Arguments
are first tested by a small function written for its signature; what does not pass (another layout
in memory, read-only arrays, wrong arguments) takes the slow way, which copies or complains.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir import tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim_checks import shorten
from relaxscript.runtime.progress import note_progress
from relaxscript.semantics import tir_errors
from relaxscript.semantics.prim_func_abi import (
    BufferParam,
    MemoryParam,
    PrimFuncSignature,
    prim_func_name,
)
from relaxscript.transform.default_schedule.apply_default_schedule import SCHEDULE

from .buffer_address import CodegenOptions
from .call_stub import fast_call
from .counters import SYMBOL, CallCounters
from .engine import AS_WRITTEN, Code, assembly_text, compile_text, optimised_text
from .external import PackedCallback
from .function import RESULT, RETURNED, ModuleText
from .interrupts import POLL, poll_address
from .intrinsics import C_FUNCTIONS
from .ir_writer import DETAILS, Explain

__all__ = ["Kernel", "KernelEntry", "KernelSource", "compile_prim_func", "compile_prim_funcs"]

# What is in the text of code that looks for signals, or that calls a function of the user's choice.
_CALLS_OUT = ("@relaxscript.interrupted", "@relaxscript.extern.")
_C_SYMBOLS = (*C_FUNCTIONS, "malloc", "calloc", "free", "time")


def compile_prim_func(
    func: tir.PrimFunc,
    name: str | None = None,
    options: Mapping[str, Any] | None = None,
    module: IRModule | None = None,
) -> Kernel:
    """Compile a PrimFunc, and the PrimFuncs of `module` that it calls, for this computer.

    `name` is the name in messages, that of the function unless given. Options: `check` (True)
    tests every index that is not proved inside its buffer and raises `VMError` for those outside;
    `level` (2) is the level of optimisation from 0 to 3; `zero_memory` (False) lets all memory
    that the function makes begin as zeros. Loops of kind parallel run serially.
    Raises `DiagnosticError` (RX0505) naming what cannot be compiled, (RX0703) for an unknown
    option.
    """
    chosen = _options(options or {})
    name = name or prim_func_name(func)
    return _compile_together({name: func}, chosen, module, chosen.level)[name]


def compile_prim_funcs(
    functions: Mapping[str, tir.PrimFunc],
    options: Mapping[str, Any] | None = None,
    module: IRModule | None = None,
) -> dict[str, Kernel]:
    """Compile PrimFuncs, by their names in messages, as `compile_prim_func` does each.

    Those that a schedule has written with vectors are one module of LLVM, which costs about a
    millisecond. Their code is what is written, whatever the level. Others are optimised one by one.
    """
    chosen = _options(options or {})
    written = {name: func for name, func in functions.items() if is_scheduled(func)}
    note_progress(f"{len(written)} of {len(functions)} kernels at once")
    together = _compile_together(written, chosen, module, AS_WRITTEN) if written else {}
    made = {}
    for name, func in functions.items():
        if name in together:
            made[name] = together[name]
            continue
        note_progress(f"kernel {len(made) + 1} of {len(functions)}, {name}")
        made[name] = compile_prim_func(func, name, options, module)
    return made


def is_scheduled(func: tir.PrimFunc) -> bool:
    """True if a schedule has written the vectors and loops of a PrimFunc as they are to be run."""
    return func.attrs is not None and SCHEDULE in func.attrs


def _compile_together(
    functions: Mapping[str, tir.PrimFunc],
    options: CodegenOptions,
    module: IRModule | None,
    level: int,
) -> dict[str, Kernel]:
    """The kernels of PrimFuncs that are one module of LLVM."""
    text = ModuleText(options, module, level == AS_WRITTEN)
    try:
        text.add_entries(functions.values())
    except RecursionError:
        message = "an expression or statement is nested too deeply to be compiled"
        span = next(iter(functions.values())).span if len(functions) == 1 else None
        raise tir_errors.invalid("RX0505", message, span) from None
    llvm_ir = str(text)
    used: dict[str, str | int] = {s: s for s in _C_SYMBOLS if s in text.sites.declarations}
    used.update(text.sites.externs)
    used.update({symbol: hook.address for symbol, hook in text.sites.hooks.items()})
    code = compile_text(llvm_ir, tuple(text.entries.values()), used, level, text.parts())
    return {
        name: _kernel(func, name, text, llvm_ir, code, level) for name, func in functions.items()
    }


def _kernel(
    func: tir.PrimFunc, name: str, text: ModuleText, llvm_ir: str, code: Code, level: int
) -> Kernel:
    source = KernelSource(func, llvm_ir, text.sites.explanations, text.sites.hooks)
    signature = PrimFuncSignature(func)
    signature.name = name
    entry = KernelEntry(code, text.entries[func], text.results[func], level)
    return Kernel(name, entry, lambda: signature, lambda: source)


@lru_cache(maxsize=4)  # the kernels of a program share their text
def _calls_out(llvm_ir: str) -> bool:
    return any(name in llvm_ir for name in _CALLS_OUT)


def _options(given: Mapping[str, Any]) -> CodegenOptions:
    known = {"check": bool, "level": int, "zero_memory": bool, "profile": bool}
    for key, value in given.items():
        if key not in known:
            near = nearest(key, known)
            help_ = did_you_mean(near, f"there are {', '.join(known)}", '"')
            message = f'the code generator has no option "{key}"'
            raise DiagnosticError(Diagnostic("RX0703", message, None, help=help_))
        if not isinstance(value, known[key]) or (key == "level" and value not in range(4)):
            message = f'the code generator cannot take {shorten(value)} for "{key}"'
            raise DiagnosticError(Diagnostic("RX0703", message, None))
    return CodegenOptions(**given)


class KernelEntry(NamedTuple):
    """A function in linked code: its symbol there, the dtype of what it returns, the level."""

    code: Code
    symbol: str
    result: DataType | None
    level: int


class KernelSource(NamedTuple):
    """All that code was made of: the PrimFunc, the text of LLVM, the reasons of failures.

    `hooks` are functions of Python that the code calls.
    """

    func: tir.PrimFunc
    llvm_ir: str
    explanations: Sequence[Explain]
    hooks: Mapping[str, PackedCallback | CallCounters]


class Kernel:
    """A compiled PrimFunc; any number of threads may call it at once.

    Called with numpy arrays and numbers in the order of `func.params`, it writes into the arrays.
    It gives what `T.ret` returns, else None. Raises `VMError` as `interpreter.tir.evaluate` does;
    compiled without `check`, it reads and writes wherever its indices lead.
    """

    def __init__(
        self, name: str, entry: KernelEntry, signature: Callable[[], PrimFuncSignature],
        source: Callable[[], KernelSource],
    ) -> None:  # fmt: skip
        self.name = name
        self.entry = entry
        self._make_signature = signature
        self._make_source = source
        self._local = _Details()

    @cached_property
    def signature(self) -> PrimFuncSignature:
        """The parameters, and what arguments must be."""
        return self._make_signature()

    @cached_property
    def source(self) -> KernelSource:
        """The source of the code."""
        return self._make_source()

    @property
    def counters(self) -> CallCounters | None:
        """The times of what the code calls, None where it takes none."""
        found = self.source.hooks.get(SYMBOL)
        return found if isinstance(found, CallCounters) else None

    @property
    def func(self) -> tir.PrimFunc:
        """The PrimFunc that was compiled."""
        return self.source.func

    @property
    def llvm_ir(self) -> str:
        """The text of the LLVM module before optimisation."""
        return self.source.llvm_ir

    @cached_property
    def _entry(self) -> Callable[..., int]:
        """The code as a function of C."""
        params = self.signature.params
        kinds = [_c_type(p.var.dtype) for p in params]
        memory = [p for p in params if isinstance(p, MemoryParam)]
        kinds += [ctypes.c_int64] * (len(self.signature.variables) + len(memory))
        made = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *kinds)
        code: Callable[..., int] = made(self.address)
        return code

    @cached_property
    def _call(self) -> Callable[..., Any]:
        """The function that tests arguments and calls the code; made at the first call."""
        tools = {"slow": self.call_slowly, "entry": self._entry, "local": self._local,
                 "finish": self.finish}  # fmt: skip
        return fast_call(self.signature, self.entry.result is not None, tools)

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)

    def prepare(self) -> None:
        """Make now what the first call makes."""
        self._call  # noqa: B018

    def __repr__(self) -> str:
        return f"<Kernel {self.name}>"

    @property
    def address(self) -> int:
        """The address of the code, which lives as long as this kernel (`function.py`)."""
        return self.entry.code.addresses[self.entry.symbol]

    @property
    def calls_out(self) -> bool:
        """True if the code may call functions of Python, or of C that are not our own choice."""
        return bool(self.source.hooks) or _calls_out(self.llvm_ir)

    @property
    def returns(self) -> bool:
        """True if a call gives a number, besides what it writes."""
        return self.entry.result is not None

    def failure(self, status: int, details: Sequence[int]) -> BaseException:
        """The error of a call that ended with a status, by the words that it left."""
        return self.source.explanations[status - 1](details)

    @property
    def optimised_ir(self) -> str:
        """The text of the LLVM module after optimisation."""
        return optimised_text(self.llvm_ir, self.entry.level)

    @property
    def assembly(self) -> str:
        """The text of the machine code."""
        return assembly_text(self.llvm_ir, self.entry.level)

    def call_slowly(self, args: Sequence[Any]) -> Any:
        """Check everything, copy arrays whose layout the code does not know, call, copy back."""
        frame = self.signature.bind(args)
        values, sizes, copies = [], [], _Copies()
        for i, param in enumerate(self.signature.params):
            value = frame[1 + i]
            if isinstance(param, BufferParam | MemoryParam):
                strided = isinstance(param, BufferParam) and bool(param.buffer.strides)
                if isinstance(param, MemoryParam):
                    sizes.append(value.nbytes)
                value = copies.usable(value, strided, i in self.signature.written).ctypes.data
            values.append(value)
        variables = frame[1 + len(values) :][: len(self.signature.variables)]
        result = self.finish(self._entry(self._local.address, *values, *variables, *sizes))
        copies.write_back()
        return result

    def finish(self, status: int) -> Any:
        """The result of the call that just ended in this thread; raises the error of its status."""
        words = self._local.words
        if status:
            raise self.failure(status, list(words))
        result = self.entry.result
        if result is None or not words[RETURNED]:
            return None
        words[RETURNED] = 0
        return _decode(words[RESULT], result)


def _c_type(dtype: DataType) -> Any:
    if dtype.kind == "handle":
        return ctypes.c_void_p
    return ctypes.c_double if dtype.is_float else ctypes.c_int64


def _decode(word: int, dtype: DataType) -> Any:
    raw = np.array([word], "int64")
    if dtype.is_float:
        return float(raw.view("float64")[0])
    return raw.astype(dtype.numpy)[0].item()


class _Details(threading.local):
    """The words into which code writes what a message needs; each thread has its own."""

    def __init__(self) -> None:
        self.words = (ctypes.c_int64 * DETAILS)()
        self.words[POLL], self._poll = poll_address()
        self.address = ctypes.addressof(self.words)


class _Copies:
    """Copies of arrays whose layout the code does not know."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Any, Any, bool]] = {}

    def usable(self, array: Any, strided: bool, written: bool) -> Any:
        """The array itself, or a compact copy of it; one copy for each array."""
        flags = array.flags
        whole = all(step % array.itemsize == 0 for step in array.strides)
        if flags.aligned and (flags.c_contiguous or (strided and whole)):
            return array
        key = (array.__array_interface__["data"][0], array.shape, array.strides)
        _, copy, before = self._made.get(key, (None, None, False))
        if copy is None:
            copy = np.array(array, order="C")
        self._made[key] = (array, copy, before or written)
        return copy

    def write_back(self) -> None:
        """Give what was written to the arrays themselves."""
        for array, copy, written in self._made.values():
            if written:
                array[...] = copy
