"""Patterns of PrimFuncs: those that scripts show, and the law that a pattern is never too good."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import tir
from relaxscript.analysis import OpPattern, op_pattern
from relaxscript.analysis.op_pattern import overwritten_buffers
from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import BufferStore, PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.op import REGISTRY, Operator
from relaxscript.script import from_source
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript_tests import examples
from relaxscript_tests.op.sampling import Sample, samples
from relaxscript_tests.op.test_compute import flat, legalised

PARAMS = 'x: T.Buffer((6, 4), "float32"), v: T.Buffer((4,), "float32"), i: T.Buffer((6,), "int64")'


def pattern(body: str, result: str = 'y: T.Buffer((6, 4), "float32")') -> OpPattern:
    """The pattern of a function with some statements."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    function = from_source(f"@T.prim_func\ndef f({PARAMS}, {result}):\n{lines}\n")
    assert isinstance(function, PrimFunc)
    return op_pattern(function)


def test_a_buffer_is_overwritten_where_all_of_it_is_written_and_nothing_older_read() -> None:
    params = 'x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")'
    for statement, names in {
        "for a in range(4):\n        y[a] = x[a]": {"y"},
        "for a in range(3):\n        y[a] = x[a]": set(),
        "for a in range(4):\n        y[a] = y[a] + x[a]": set(),
        "y[0] = x[0]": set(),
        "T.evaluate(0)": set(),
    }.items():
        function = from_source(f"@T.prim_func\ndef f({params}):\n    {statement}\n")
        assert isinstance(function, PrimFunc)
        assert {buffer.name for buffer in overwritten_buffers(function)} == names


@pytest.mark.parametrize("rows", [1, 6])
@pytest.mark.parametrize("columns", [1, 4])
def test_a_product_of_one_row_is_a_product(rows: int, columns: int) -> None:
    params = ", ".join(
        f'{name}: T.Buffer(({m}, {n}), "float32")'
        for name, m, n in (("x", rows, 8), ("w", 8, columns), ("y", rows, columns))
    )
    function = from_source(f"""
@T.prim_func
def f({params}):
    for i, j, k in T.grid({rows}, {columns}, 8):
        with T.block("y"):
            a, b, r = T.axis.remap("SSR", [i, j, k])
            with T.init():
                y[a, b] = T.float32(0)
            y[a, b] = y[a, b] + x[a, r] * w[r, b]
""")
    assert isinstance(function, PrimFunc)
    assert op_pattern(function) is OpPattern.OUT_ELEMWISE_FUSABLE


def test_a_sum_of_squares_of_one_operand_is_a_reduction() -> None:
    body = """
for a in range(6):
    y[a] = T.float32(0)
    for b in range(4):
        y[a] = y[a] + x[a, b] * x[a, b]
"""
    assert pattern(body, 'y: T.Buffer((6,), "float32")') is OpPattern.COMM_REDUCE


def elements(value: str, *before: str) -> str:
    """Statements that write `value` into each element of a matrix."""
    return "\n".join([*before, "for a, b in T.grid(6, 4):", f"    y[a, b] = {value}"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("T.exp(x[a, b])", OpPattern.ELEMWISE),
        ("x[a, b] + v[b]", OpPattern.ELEMWISE),
        ("T.float32(0)", OpPattern.ELEMWISE),
        ("T.if_then_else(a < b, x[a, b], T.float32(0))", OpPattern.ELEMWISE),
        ("v[b]", OpPattern.BROADCAST),
        ("v[b] * v[b]", OpPattern.BROADCAST),
        ("v[3 - b]", OpPattern.INJECTIVE),
        ("x[a, b] + v[0]", OpPattern.INJECTIVE),
        ("x[i[a], b]", OpPattern.INJECTIVE),
        ("x[5 - a, b]", OpPattern.INJECTIVE),
        ('T.call_extern("float32", "noise", x[a, b])', OpPattern.OPAQUE),
    ],
)
def test_the_elements_that_are_read_decide(value: str, expected: OpPattern) -> None:
    assert pattern(elements(value)) is expected


def test_a_part_of_an_operand_is_not_elementwise() -> None:
    body = "for a in range(2):\n    y[a] = v[a]"
    assert pattern(body, 'y: T.Buffer((2,), "float32")') is OpPattern.INJECTIVE


def test_a_lost_axis_of_one_element_is_a_broadcast() -> None:
    function = from_source(
        '@T.prim_func\ndef f(x: T.Buffer((6, 1), "float32"), y: T.Buffer((6,), "float32")):\n'
        "    for a in range(6):\n        y[a] = x[a, 0]\n"
    )
    assert op_pattern(function) is OpPattern.BROADCAST


SUM = """
y[0] = 0.0
for a in range(4):
    y[0] = y[0] + v[a]
"""
MATRIX_PRODUCT = """
for a, b, c in T.grid(6, 4, 4):
    with T.block("product"):
        va, vb, vc = T.axis.remap("SSR", [a, b, c])
        with T.init():
            y[va, vb] = T.float32(0)
        y[va, vb] = y[va, vb] + x[va, vc] * x[vc, vb]
"""
ROWS = """
for a, b in T.grid(6, 4):
    with T.block("rows"):
        va, vb = T.axis.remap("SR", [a, b])
        with T.init():
            y[va] = T.float32(0)
        y[va] = {}
"""
LARGEST = """
s = T.alloc_buffer((6,))
for a, b in T.grid(6, 4):
    with T.block("largest"):
        va, vb = T.axis.remap("SR", [a, b])
        with T.init():
            y[va] = T.int64(0)
            s[va] = T.float32(0)
        w: T.int64 = T.if_then_else(s[va] < x[va, vb], T.int64(vb), y[va])
        z: T.float32 = T.max(s[va], x[va, vb])
        y[va] = w
        s[va] = z
"""
ROW = 'y: T.Buffer((6,), "float32")'
ONE = 'y: T.Buffer((1,), "float32")'


@pytest.mark.parametrize(
    ("body", "result", "expected"),
    [
        (SUM, ONE, OpPattern.COMM_REDUCE),
        (ROWS.format("y[va] + x[va, vb]"), ROW, OpPattern.COMM_REDUCE),
        (ROWS.format("T.max(x[va, vb] * v[vb], y[va])"), ROW, OpPattern.COMM_REDUCE),
        (ROWS.format("y[va] + v[vb]"), ROW, OpPattern.OUT_ELEMWISE_FUSABLE),
        (ROWS.format("y[va] * T.float32(2) + x[va, vb]"), ROW, OpPattern.OUT_ELEMWISE_FUSABLE),
        (ROWS.format("x[va, vb] - y[va]"), ROW, OpPattern.OUT_ELEMWISE_FUSABLE),
        (MATRIX_PRODUCT, 'y: T.Buffer((6, 4), "float32")', OpPattern.OUT_ELEMWISE_FUSABLE),
        (LARGEST, 'y: T.Buffer((6,), "int64")', OpPattern.OUT_ELEMWISE_FUSABLE),
    ],
)
def test_combined_values_are_reductions(body: str, result: str, expected: OpPattern) -> None:
    assert pattern(body, result) is expected


def test_what_goes_through_a_buffer_between_adds_up() -> None:
    body = 't = T.alloc_buffer((6, 4), "float32")\nfor c, d in T.grid(6, 4):\n    t[c, d] = {}'
    exp = body.format("T.exp(x[c, d])")
    assert pattern(elements("t[a, b] + v[b]", exp)) is OpPattern.ELEMWISE
    assert pattern(elements("t[5 - a, b]", exp)) is OpPattern.INJECTIVE
    sums = "t = T.alloc_buffer((6,))\nfor c in range(6):\n    t[c] = 0.0\n"
    sums += "    for d in range(4):\n        t[c] = t[c] + x[c, d]"
    assert pattern(elements("x[a, b] / t[a]", sums)) is OpPattern.OUT_ELEMWISE_FUSABLE


def test_memory_of_one_iteration_is_followed() -> None:
    local = """
t = T.alloc_buffer((1,))
for a in range(6):
    t[0] = T.float32(0)
    for b in range(4):
        t[0] = t[0] + x[a, b]
    y[a] = t[0]
"""
    assert pattern(local, ROW) is OpPattern.OUT_ELEMWISE_FUSABLE
    value = "t = T.alloc_buffer((1,))\nfor a in range(4):\n    t[0] = v[a]\n    y[a] = t[0]"
    assert pattern(value, 'y: T.Buffer((4,), "float32")') is OpPattern.ELEMWISE


@pytest.mark.parametrize(
    "body",
    [
        # A scan, also over what was written before.
        "for a in range(4):\n    y[a] = T.if_then_else(a > 0, y[a - 1], T.float32(0)) + v[a]",
        "for a in range(4):\n    y[a] = 0.0\nfor a in range(3):\n    y[a + 1] = y[a] + v[a]",
        "for a in range(4):\n    y[a] = 0.0\nfor a in range(4):\n    y[a] = y[3 - a] + v[a]",
        "t = T.alloc_buffer((1,))\nt[0] = 0.0\nfor a in range(4):\n    t[0] = t[0] + v[a]\n"
        "    y[a] = t[0]",
        "t = T.alloc_buffer((1,))\nt[0] = 0.0\nfor a in range(4):\n    y[a] = t[0]\n"
        "    t[0] = t[0] + v[a]",
        # A scatter, and elements that nothing writes.
        "for a in range(4):\n    y[i[a]] = v[a]",
        "for a in range(3):\n    y[a] = v[a]",
        "for a in range(4):\n    if a < 3:\n        y[a] = v[a]",
        "y[0] = v[0]",
        # What is in the result already, and what is left of an iteration.
        "for a in range(4):\n    y[a] = y[a] + v[a]",
        "for a in range(4):\n    w: T.float32 = y[a]\n    y[a] = v[a]\n    y[a] = y[a] + w",
        "t = T.alloc_buffer((1,))\nfor a in range(4):\n    t[0] = v[a]\n"
        "for a in range(4):\n    y[a] = t[0]",
        "t = T.alloc_buffer((4,))\nfor a in range(4):\n    y[a] = t[a]",
        # Two stores of which either may be the last.
        "for a in range(4):\n    for b in range(4):\n        if v[a] > 1.0:\n"
        "            y[b] = v[a]\n    y[a] = 0.0",
        "for a in range(4):\n    for b in range(4):\n        y[b] = v[a]\n    y[a] = 0.0",
        # Loops that the elements decide.
        "for a in range(4):\n    y[a] = 0.0\nfor a in range(i[0]):\n    y[0] = v[0]",
        "T.evaluate(0)",
    ],
)  # fmt: skip
def test_what_is_not_proved_is_opaque(body: str) -> None:
    assert pattern(body, 'y: T.Buffer((4,), "float32")') is OpPattern.OPAQUE


def test_two_values_combined_together_depend_on_all_that_is_read() -> None:
    body = """
s = T.alloc_buffer((6,))
for a in range(6):
    y[a] = T.float32(0)
    s[a] = T.float32(0)
for a, b in T.grid(6, 4):
    y[a] = y[a] + s[a]
    s[a] = s[a] + x[a, b]
"""
    assert pattern(body, ROW) is OpPattern.OUT_ELEMWISE_FUSABLE


def test_both_branches_count() -> None:
    body = "for a in range(4):\n    if v[a] > T.float32(0):\n        y[a] = v[a]\n    else:\n"
    row = 'y: T.Buffer((4,), "float32")'
    assert pattern(body + "        y[a] = T.float32(0)", row) is OpPattern.ELEMWISE
    assert pattern(body + "        y[a] = v[3 - a]", row) is OpPattern.INJECTIVE


def test_operands_that_share_memory_are_opaque() -> None:
    data = tir.Var("data", tir.PointerType(tir.PrimType("float32")))
    x, y = (tir.Buffer(name, (4,), "float32", data) for name in "xy")
    k = tir.Var("k", "int64")
    loop = tir.For(k, 0, 4, "serial", BufferStore(y, x[k], [k]))
    assert op_pattern(PrimFunc([x, y], loop)) is OpPattern.OPAQUE


def test_random_functions_are_what_they_were_made_as() -> None:
    found = {op_pattern(random_prim_func(seed)) for seed in range(examples(400))}
    assert OpPattern.ELEMWISE in found
    assert OpPattern.COMM_REDUCE in found
    assert max(found) <= OpPattern.OUT_ELEMWISE_FUSABLE


# ---------------------------------------------------------------- the law

COMPUTED = [o for o in REGISTRY.values() if "compute" in o.rules]
# Operands of more elements would only take longer.
MOST_ELEMENTS = 24


def only_function(module: IRModule) -> PrimFunc | None:
    found = [f for f in module.functions.values() if isinstance(f, PrimFunc)]
    return found[0] if len(found) == 1 else None


def spatial(operator: Operator) -> Iterator[tuple[Sample, IRModule, PrimFunc]]:
    """Samples whose PrimFunc is elementwise, a broadcast or injective."""
    every = list(samples(operator, ("float32", "int64")))
    random.Random(operator.name).shuffle(every)
    count = 0
    for sample in every:
        arrays = [v for v in sample.values.values() if isinstance(v, np.ndarray)]
        if (
            len(arrays) < len(sample.values)
            or max((a.size for a in arrays), default=99) > MOST_ELEMENTS
        ):
            continue
        module = legalised(sample)
        function = None if module is None else only_function(module)
        if module is None or function is None or op_pattern(function) > OpPattern.INJECTIVE:
            continue
        yield sample, module, function
        count += 1
        if count == examples(20):
            return


def changes(sample: Sample, module: IRModule) -> Iterator[tuple[int, tuple[int, ...], list[Any]]]:
    """Operand, index, and where the results differ once the operand's element there is another."""
    machine = rx.VirtualMachine(rx.build(module, "reference"))
    values = list(sample.values.values())
    with np.errstate(all="ignore"):
        before = flat(machine["main"](*values))
        for number, value in enumerate(values):
            for index in np.ndindex(value.shape):
                others = value[value != value[index]]
                if not others.size:
                    continue
                other = value.copy()
                other[index] = others[0]
                after = flat(machine["main"](*values[:number], other, *values[number + 1 :]))
                yield number, index, [
                    differs(a, b) for a, b in zip(after, before)
                ]  # fmt: skip


def differs(a: Any, b: Any) -> Any:
    """Where two results differ; one NaN is as good as another."""
    return np.asarray((a != b) & ~((a != a) & (b != b)))


def is_projection(shape: tuple[int, ...], index: tuple[int, ...], changed: Any) -> bool:
    """True if the changed places have an index as theirs, along some axes in their order."""
    mine = [(k, size) for k, size in zip(index, shape) if size != 1]
    places = np.argwhere(changed)
    return any(
        all(changed.shape[axis] == size for axis, (_, size) in zip(axes, mine))
        and all((places[:, axis] == k).all() for axis, (k, _) in zip(axes, mine))
        for axes in combinations(range(changed.ndim), len(mine))
    )


@pytest.mark.parametrize("operator", COMPUTED, ids=repr)
def test_no_pattern_of_a_compute_is_better_than_its_elements_show(operator: Operator) -> None:
    for sample, module, function in spatial(operator):
        found = op_pattern(function)
        loads = sum(isinstance(node, tir.BufferLoad) for node in walk(function.body))
        counts: dict[tuple[int, int], Any] = {}
        for number, index, differ in changes(sample, module):
            shape = list(sample.values.values())[number].shape
            for k, changed in enumerate(differ):
                counts[number, k] = counts.get((number, k), 0) + changed
                if found <= OpPattern.BROADCAST and changed.any():
                    assert is_projection(shape, index, changed), f"{sample}: {found!r}"
                if found is OpPattern.ELEMWISE and shape == changed.shape:
                    assert not np.delete(changed.reshape(-1), np.ravel_multi_index(index, shape)
                                         if shape else 0).any(), f"{sample}"  # fmt: skip
        assert all((count <= loads).all() for count in counts.values()), f"{sample}: {found!r}"
