"""Every intrinsic of LLVM in the table: as LLVM itself computes it, and alike in both executors."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.codegen.llvm.engine import compile_text
from relaxscript.dtypes import DataType
from relaxscript.interpreter.tir import evaluate
from relaxscript.semantics.llvm_intrinsics import NAMED, ROWS, suffix_of
from relaxscript_tests.llvm_rows import CASES, Case
from relaxscript_tests.prim_funcs import assert_same_bits, both
from relaxscript_tests.units import ulps

# What the C library computes, so that executors and LLVM may differ in the last place.
INEXACT = frozenset(f"llvm.{name}" for name in (
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "exp2", "log", "log10",
    "log2", "pow", "powi", "sin", "sinh", "tan", "tanh",
))  # fmt: skip


def by_kind(cases: list[Case]) -> dict[tuple[str, int], list[Case]]:
    """The cases of each row, by the lanes of the result: each is one test."""
    found: dict[tuple[str, int], list[Case]] = {}
    for case in cases:
        found.setdefault((case.row.name, case.result.lanes), []).append(case)
    return found


GROUPS = by_kind(CASES)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS, ids=lambda g: f"{g[0]}-{g[1]}")
def test_executors_agree(group):
    for case in GROUPS[group]:
        arrays = case.arrays()
        func, out = case.func(arrays)
        if case.row.name not in INEXACT:
            both(func, [*arrays, out], level=1)
            continue
        actual = out.copy()
        evaluate(func, [*arrays, out])
        compile_prim_func(func, options={"level": 1})(*arrays, actual)
        assert ulps(actual, out).max() <= 2, str(case)


def test_every_row_with_a_value_is_under_test():
    assert {case.row.name for case in CASES} == {n for n, r in ROWS.items() if r.result != "void"}


# ---------------------------------------------------------------- LLVM has the last word

# Bits that are the same in both; of narrow floats LLVM makes calls into another library.
ELEMENTS = {"float32": "float", "float64": "double", "bool": "i1",
            **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
            **{f"uint{bits}": f"i{bits}" for bits in (8, 16, 32, 64)}}  # fmt: skip
# Rows for which LLVM promises less than we do, and one that it has from yet another library.
FREE = {
    "llvm.fmuladd", "llvm.expect", "llvm.expect.with.probability", "llvm.canonicalize", "llvm.powi",
}  # fmt: skip


def type_of(x: DataType) -> str:
    element = ELEMENTS[x.element]
    return element if x.lanes == 1 else f"<{x.lanes} x {element}>"


def text_of(case: Case, counts: int) -> str:
    """A module that applies the intrinsic of LLVM to arrays of packed values."""
    dtypes = {case.row.result: case.result} if case.row.result else {}
    declared, given, lines = [], [], []
    loaded = 0
    for word, operand in zip(case.row.operands, case.operands, strict=True):
        if isinstance(operand, DataType):
            kind = type_of(operand)
            dtypes.setdefault(word, operand)
            memory = "i8" if operand == "bool" else kind
            size = operand.lanes * operand.element.itemsize
            lines += [
                f"  %o{loaded} = mul i64 %i, {size}",
                f"  %p{loaded} = getelementptr i8, ptr %a{loaded}, i64 %o{loaded}",
                f"  %m{loaded} = load {memory}, ptr %p{loaded}, align 1",
                f"  %v{loaded} = {'trunc i8' if operand == 'bool' else f'bitcast {kind}'} "
                f"%m{loaded} to {kind}",
            ]
            given.append(f"{kind} %v{loaded}")
            loaded += 1
        else:
            kind = type_of(operand.dtype)
            given.append(f"{kind} {int(operand.value)}")
        declared.append(kind)
    suffix = ".".join(suffix_of(dtypes[w]) for w in case.row.words if w in NAMED and w in dtypes)
    name = ".".join(filter(None, [case.row.name, suffix]))
    result = type_of(case.result)
    params = ", ".join([*(f"ptr %a{k}" for k in range(loaded)), "ptr %out"])
    stored = "i8" if case.result == "bool" else result
    body = "\n".join(lines)
    return f"""declare {result} @{name}({", ".join(declared)})
define void @entry({params}) {{
start:
  br label %loop
loop:
  %i = phi i64 [0, %start], [%next, %loop]
{body}
  %r = call {result} @{name}({", ".join(given)})
  %s = {"zext i1" if case.result == "bool" else f"bitcast {result}"} %r to {stored}
  %o = mul i64 %i, {case.result.lanes * case.result.element.itemsize}
  %p = getelementptr i8, ptr %out, i64 %o
  store {stored} %s, ptr %p, align 1
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {counts}
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


def defined(case: Case, arrays: list[Any]) -> list[Any]:
    """The arrays without what LLVM leaves undefined; of vectors, those with no such lane."""
    name = case.row.name
    if name in ("llvm.sshl.sat", "llvm.ushl.sat"):
        keep = (arrays[1] >= 0) & (arrays[1] < case.dtypes[0].bits)
    elif name in ("llvm.lrint", "llvm.llrint", "llvm.lround", "llvm.llround"):
        keep = np.abs(arrays[0]) < 1 << 15
    elif name == "llvm.get.active.lane.mask":
        keep = arrays[1] != 0  # a limit of zero is poison
    else:
        return arrays
    lanes = case.dtypes[0].lanes
    keep = keep.reshape(-1, lanes).all(axis=1).repeat(lanes)
    return [array[keep] for array in arrays]


def comparable(case: Case) -> bool:
    """Whether LLVM has the case, and means one value by it."""
    name, dtypes = case.row.name, case.dtypes
    literals = [x.value for x in case.operands if not isinstance(x, DataType)]
    if name in FREE or any(t.element not in ELEMENTS for t in (*dtypes, case.result)):
        return False
    if "flag" in case.row.operands and literals != [0]:
        return False
    if name == "llvm.is.fpclass" and literals[0] & 3 in (1, 2):
        return False
    if name == "llvm.ldexp":
        return dtypes[1].element == "int32"
    if name in ("llvm.lrint", "llvm.llrint", "llvm.lround", "llvm.llround"):
        wanted = ("int64",) if name[5:7] == "ll" else ("int32", "int64")
        return case.result in wanted
    if name in ("llvm.vector.reduce.fmin", "llvm.vector.reduce.fmax"):
        return False
    if name in ("llvm.minimumnum", "llvm.maximumnum"):
        return False  # LLVM 20 takes one for the other on x86
    return all(t.lanes == 1 or t.element != "bool" for t in (*dtypes, case.result))


NATIVE = by_kind([case for case in CASES if comparable(case)])


@pytest.mark.slow
@pytest.mark.parametrize("group", NATIVE, ids=lambda g: f"{g[0]}-{g[1]}")
def test_llvm_says_the_same(group):
    for case in NATIVE[group]:
        arrays = defined(case, case.arrays())
        func, out = case.func(arrays)
        evaluate(func, [*arrays, out])
        code = compile_text(text_of(case, len(out) // case.result.lanes), "entry", {}, 1)
        actual = np.zeros_like(out)
        entry = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(arrays) + 1))(code.address)
        entry(*(array.ctypes.data for array in arrays), actual.ctypes.data)
        if case.row.name in INEXACT:
            assert ulps(actual, out).max() <= 4, str(case)
            continue
        if case.row.name in ("llvm.minnum", "llvm.maxnum"):
            actual, out = actual + 0.0, out + 0.0  # which zero it is, LLVM leaves open
        assert_same_bits(actual, out)
