"""Calls of every intrinsic of LLVM in the table, made from its row: operands, arrays, functions.

`CASES` has each row with each dtype that its operands may have, as numbers and as vectors of
four lanes. A `Case` makes the PrimFunc that applies the intrinsic to arrays of special values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import const
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript.semantics.llvm_intrinsics import KINDS, LANES, ROWS, LLVMIntrinsic
from relaxscript_tests.prim_funcs import FLOATS, INTEGERS, interesting, loop, prim_func, store

ELEMENTS = [*INTEGERS, *FLOATS, "bool"]
# Vectors are tested of each width and kind, not of each with each sign.
OF_VECTORS = ["int8", "uint16", "int32", "uint64", *FLOATS, "bool"]
VECTOR = 4
# So many numbers each operand of three or more takes: all combinations of special values are many.
FEW = 9


class Case(NamedTuple):
    """An intrinsic with the dtypes of its operands, literals, and the result."""

    row: LLVMIntrinsic
    operands: tuple[DataType | prim.PrimExpr, ...]
    result: DataType

    def __str__(self) -> str:
        shown = [x if isinstance(x, DataType) else x.value for x in self.operands]
        return f"{self.row.name.removeprefix('llvm.')}-{'-'.join(map(str, [*shown, self.result]))}"

    @property
    def dtypes(self) -> list[DataType]:
        """The dtypes of the operands that are no literals."""
        return [x for x in self.operands if isinstance(x, DataType)]

    def arrays(self) -> list[Any]:
        """Special values for each operand that is no literal, in every combination."""
        values = [interesting(t.element) for t in self.dtypes]
        if len(values) > 2:
            step = [max(1, len(v) // FEW) for v in values]
            values = [v[::s] for v, s in zip(values, step, strict=True)]
        grids = np.meshgrid(*values, indexing="ij") if values else [np.zeros(1)]
        lanes = max((t.lanes for t in self.dtypes), default=1)
        made = []
        for grid, dtype in zip(grids, self.dtypes, strict=True):
            flat = grid.reshape(-1)
            if dtype.lanes == lanes > 1:
                # Neighbours of the same combination are turned, so that lanes differ.
                flat = np.stack([np.roll(flat, 7 * k) for k in range(lanes)], 1).reshape(-1)
            made.append(flat)
        return made

    def call(self, args: Sequence[Any], name: str | None = None) -> prim.PrimExpr:
        """The call with some operands for those that are no literals."""
        given = iter(args)
        operands = [next(given) if isinstance(x, DataType) else x for x in self.operands]
        return T["call_llvm_pure_intrin"](self.result, name or self.row.name, *operands)

    def func(self, arrays: Sequence[Any]) -> tuple[tir.PrimFunc, Any]:
        """A function of arrays that writes what the intrinsic gives, and what it writes into."""
        count = len(arrays[0]) // self.dtypes[0].lanes if arrays else 1
        i = prim.Var("i", "int64")
        result = self.result
        sources = [
            tir.Buffer(f"a{k}", (len(array),), dtype.element)
            for k, (array, dtype) in enumerate(zip(arrays, self.dtypes, strict=True))
        ]
        target = tir.Buffer("out", (count * result.lanes,), result.element)
        args = [
            prim.BufferLoad(b, (place(i, t),)) for b, t in zip(sources, self.dtypes, strict=True)
        ]
        body = loop(i, count, store(target, self.call(args), place(i, result)))
        return prim_func([*sources, target], body), np.zeros(
            count * result.lanes, result.element.numpy
        )


def place(i: prim.PrimExpr, dtype: DataType) -> prim.PrimExpr:
    """Where the i-th value of a dtype lies in a flat buffer."""
    if dtype.lanes == 1:
        return i
    return prim.Ramp(i * dtype.lanes, const(1, "int64"), dtype.lanes)


LITERALS = {
    "flag": [const(False), const(True)],
    "int": [const(0), *(const(1 << k) for k in range(1, 10)), const(0x3FC), const(0x264)],
    "real": [const(0.75, "float64")],
}


def choices(word: str, lanes: int) -> list[Any]:
    """What the operand of a word may be: dtypes, or literals."""
    if word in LITERALS:
        return LITERALS[word]
    kind = KINDS[word]
    wanted = lanes if word in LANES else VECTOR if word in ("mask",) or word[0] == "v" else 1
    elements = ELEMENTS if wanted == 1 else OF_VECTORS
    made = [DataType(t).with_lanes(wanted) for t in elements]
    return [t for t in made if kind.accepts(t)]


def cases(row: LLVMIntrinsic) -> Iterator[Case]:
    """The calls of a row."""
    if row.result == "void":
        return
    for lanes in (1, VECTOR) if any(word in LANES for word in row.words) else (1,):
        for chosen in combinations(row.words, lanes):
            operands = tuple(chosen[word] for word in row.operands)
            yield Case(row, operands, result_of(row, chosen))


def combinations(words: Sequence[str], lanes: int) -> Iterator[dict[str, Any]]:
    """Choices for each word; a second integer takes few dtypes of its own."""
    if not words:
        yield {}
        return
    *before, last = words
    for chosen in combinations(before, lanes):
        found = choices(last, lanes)
        if "e" in chosen:
            found = [t for t in found if t.element == chosen["e"]]
        elif before and last in ("i", "j", "n"):
            found = [t for t in found if t.element in ("int16", "int32", "uint64")]
        for option in found:
            yield {**chosen, last: option}


def result_of(row: LLVMIntrinsic, chosen: dict[str, Any]) -> DataType:
    if row.result is not None:
        return chosen[row.result]
    if row.name == "llvm.is.fpclass":
        return DataType("bool").with_lanes(chosen["f"].lanes)
    first = chosen[row.operands[-1] if "reduce" in row.name else row.operands[0]]
    return first.element if "reduce" in row.name else first


CASES = [case for row in ROWS.values() for case in cases(row)]
