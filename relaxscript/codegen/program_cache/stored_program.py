"""A program as bytes, and back: a table of rows, the arrays that the compiler made, addresses.

    8 bytes    the length of the table
    JSON       the table
    the rest   arrays, as a file of safetensors

The table has the functions, instructions and constants of the program, and descriptions of what is
linked to it. Machine code is told by the keys of objects in the same cache, kernels by their
signatures. So a program is read without any pass, and without a code generator. What only a failure
or a curious user asks for is compiled again then: why a status means what, and the PrimFunc.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from relaxscript.codegen.llvm.engine import Code, LinkedObject, stored_code
from relaxscript.codegen.llvm.kernel import Kernel, KernelEntry, KernelSource
from relaxscript.codegen.native.entries import EntryCall, NativeEntry, stored_entries
from relaxscript.codegen.vm.externals import External
from relaxscript.dtypes import DataType, result_dtype
from relaxscript.ir import tir
from relaxscript.ir.prim import INT64, IntImm
from relaxscript.runtime import Executable
from relaxscript.runtime.object_cache import ALIGNMENT
from relaxscript.semantics.prim_func_abi import PrimFuncSignature
from relaxscript.weights.header import array_of, bytes_of, read_header

from .checks import WRITERS as CHECK_WRITERS
from .program_key import MOST_BYTES, ProgramKey
from .read_rows import RowReader
from .rows import WRITERS, Array, Arrays, NotStorable, Rows

__all__ = ["bytes_of_program", "read_program"]

WRITERS.update(CHECK_WRITERS)
Kernels = Mapping[str, Callable[..., Any]]


# ---------------------------------------------------------------- writing


def bytes_of_program(executable: Executable, kernels: Kernels, key: ProgramKey) -> bytes:
    """A program as bytes; `kernels` are those of its PrimFuncs.

    Raises `NotStorable` where it holds what only this process can have.
    """
    own = Arrays(MOST_BYTES)
    rows = Rows(key.places, own, key.arrays)
    codes: dict[LinkedObject, int] = {}
    if executable.externals.keys() != executable.made_of.keys():
        raise NotStorable("functions that are linked by hand")
    if executable.counters:
        raise NotStorable("code that takes times")
    table = {
        "functions": list(map(rows.value, executable.functions)),
        "instructions": list(map(rows.value, executable.instructions)),
        "constants": list(map(rows.value, executable.constants)),
        "externals": {name: rows.value(made) for name, made in executable.made_of.items()},
        "kernels": {name: _kernel(rows, kernel, codes) for name, kernel in kernels.items()},
        "codes": list(map(_code, codes)),
        "entries": [_entry(rows, entry, kernels) for entry in executable.entries.values()],
        "arrays": [[str(result_dtype(array)), array.shape] for array in own.arrays],
        "rows": rows.rows,
    }
    arrays = bytes_of({str(n): _padded(array) for n, array in enumerate(own.arrays)})
    text = json.dumps(table, separators=(",", ":")).encode()
    before = 8 + len(text) + 8 + int.from_bytes(arrays[:8], "little")
    text += b" " * (-before % ALIGNMENT)
    return b"".join((len(text).to_bytes(8, "little"), text, arrays))


def _kernel(rows: Rows, kernel: Any, codes: dict[LinkedObject, int]) -> list[Any]:
    """A kernel: its place in the machine code, and what its arguments must be."""
    if not isinstance(kernel, Kernel) or kernel.source.hooks:
        raise NotStorable("code that calls functions of Python")
    entry, signature = kernel.entry, kernel.signature
    code = codes.setdefault(entry.code.linked, len(codes))
    nothing = tir.Evaluate.make(IntImm.make(INT64, 0))
    called = rows.value(kernel.func.replace(body=nothing, attrs=None))
    result = None if entry.result is None else str(entry.result)
    return [kernel.name, code, entry.symbol, result, entry.level, called, sorted(signature.written)]


def _entry(rows: Rows, entry: NativeEntry, kernels: Kernels) -> list[Any]:
    """A native function: its code, what that is told, and the kernels that it calls."""
    linked, call = entry.code.linked, entry.call
    by_kernel = {id(kernel): name for name, kernel in kernels.items()}
    called = [by_kernel[id(kernel)] for kernel in call.kernels]
    names = [name for name, _ in linked.functions]
    constants = list(map(rows.value, call.constants))
    return [call.name, entry.symbol, linked.key, names, called, constants]


def _code(linked: LinkedObject) -> list[Any]:
    if any(isinstance(function, int) for _, function in linked.functions):
        raise NotStorable("code that knows addresses of this process")
    return [linked.key, linked.entries, linked.functions]


def _padded(array: Array) -> Array:
    """The bytes of an array, so many that the next one is aligned as well.

    Of dtypes and shapes the table tells.
    """
    padded = np.zeros(-(-array.nbytes // ALIGNMENT) * ALIGNMENT, np.uint8)
    padded[: array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
    return padded


# ---------------------------------------------------------------- reading


def read_program(
    content: memoryview, key: ProgramKey, sources: Callable[[str], KernelSource]
) -> Executable | None:
    """The program that `bytes_of_program` wrote; None where its machine code is not there.

    `sources` gives what a kernel was made of, by its name. What it gives is asked for late.
    """
    size = 8 + int.from_bytes(content[:8], "little")
    table = json.loads(bytes(content[8:size]))
    own = _arrays(table["arrays"], content[size:])
    reader = RowReader(table["rows"], key.places.sources, key.array, own)
    codes = [_linked(*code) for code in table["codes"]]
    if None in codes:
        return None
    kernels = {
        name: _read_kernel(name, kernel, codes, reader, sources)
        for name, kernel in table["kernels"].items()
    }
    entries = _read_entries(table["entries"], kernels, reader)
    if entries is None:
        return None
    made_of: dict[str, External] = {n: reader.value(v) for n, v in table["externals"].items()}
    made = Executable.trusted(
        reader.values(table["functions"]),
        reader.values(table["instructions"]),
        reader.values(table["constants"]),
        {name: made.make(kernels) for name, made in made_of.items()},
        made_of,
    )
    made.entries, made.kernels = entries, kernels
    return made


def _read_entries(
    written: list[list[Any]], kernels: Mapping[str, Kernel], reader: RowReader
) -> dict[str, NativeEntry] | None:
    """The native functions by their names; None where their code is not there."""
    calls = {
        symbol: EntryCall(
            name, tuple(kernels[kernel] for kernel in called), tuple(reader.values(constants))
        )
        for name, symbol, _, _, called, constants in written
    }
    if not calls:
        return {}
    _, _, key, names, _, _ = written[0]  # all are in one object
    return stored_entries(key, calls, names)


def _arrays(described: Iterable[Any], content: memoryview) -> list[Array]:
    """The arrays where they are in the content, which nobody writes into."""
    tensors, _ = read_header(content)
    found = (array_of(content, tensors[str(number)]) for number in range(len(tensors)))
    return [
        _unpadded(array, DataType(dtype).numpy, shape)
        for array, (dtype, shape) in zip(found, described, strict=True)
    ]


def _unpadded(array: Array, dtype: np.dtype[Any], shape: list[int]) -> Array:
    return array[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


def _linked(key: str, entries: list[str], functions: list[list[str]]) -> Code | None:
    called = tuple((symbol, name) for symbol, name in functions)
    return stored_code(LinkedObject(key, tuple(entries), called))


def _read_kernel(
    name: str, written: list[Any], codes: list[Code | None], reader: RowReader,
    sources: Callable[[str], KernelSource],
) -> Kernel:  # fmt: skip
    shown, number, symbol, result, level, func, wrote = written
    code = codes[number]
    assert code is not None  # who asks has looked
    dtype = None if result is None else DataType(result)
    signature = partial(_signature, reader, func, shown, wrote)
    return Kernel(shown, KernelEntry(code, symbol, dtype, level), signature, partial(sources, name))


def _signature(reader: RowReader, func: int, name: str, wrote: list[int]) -> PrimFuncSignature:
    signature = PrimFuncSignature(reader.value(func), frozenset(wrote))
    signature.name = name
    return signature
