"""The parameters that PrimFuncs are known to write wholly, by the form of their loops."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.script import from_source
from relaxscript.semantics.fill_sets import FILLS, filled_params
from relaxscript.transform import ApplyDefaultSchedule

PARAMS = 'x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")'


def prim_func(body: str, params: str = PARAMS) -> Any:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    return from_source(f"@T.prim_func\ndef f({params}):\n    n = T.int64()\n{lines}")


FILLED = {
    "loops and no block": """
for i, j in T.grid(n, 4):
    y[i, j] = x[i, j]
""",
    "a block whose axes are the loops": """
for i, j in T.grid(n, 4):
    with T.block("b"):
        vi, vj = T.axis.remap("SS", [i, j])
        y[vi, vj] = x[vi, vj]
""",
    "loops in another order": """
for j, i in T.grid(4, n):
    with T.block("b"):
        vi, vj = T.axis.remap("SS", [i, j])
        y[vi, vj] = x[vi, vj]
""",
    "a reduction that surely runs": """
for i, j, k in T.grid(n, 4, 3):
    with T.block("b"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            y[vi, vj] = T.float32(0)
        y[vi, vj] = y[vi, vj] + x[vi, vk]
""",
    "a loop inside of a block": """
for i in range(n):
    with T.block("b"):
        vi = T.axis.spatial(n, i)
        for j in range(4):
            y[vi, j] = x[vi, j]
""",
    "one of several statements": """
for i, j in T.grid(n, 2):
    y[i, j] = x[i, j]
for i, j in T.grid(n, 4):
    y[i, j] = x[i, j] + x[i, j]
""",
    "what is read when it is stored": """
for i, j in T.grid(n, 4):
    y[i, j] = x[i, j]
for i, j in T.grid(n, 4):
    y[i, j] = y[n - 1 - i, j] + x[i, j]
""",
    "a row that is read when it is stored": """
for i in range(n):
    for j in range(4):
        y[i, j] = x[i, j]
    for j in range(4):
        y[i, j] = y[i, 3 - j] + x[i, j]
""",
    "a sum in loops": """
for i, j in T.grid(n, 4):
    y[i, j] = T.float32(0)
    for k in range(n):
        y[i, j] = y[i, j] + x[k, j]
""",
    "a reduction that is begun in another block": """
for i, j in T.grid(n, 4):
    with T.block("begin"):
        vi, vj = T.axis.remap("SS", [i, j])
        y[vi, vj] = T.float32(0)
    for k in range(n):
        with T.block("b"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            y[vi, vj] = y[vi, vj] + x[vk, vj]
""",
}
LEFT = {
    "some columns": """
for i, j in T.grid(n, 3):
    y[i, j] = x[i, j]
""",
    "other rows": """
for i, j in T.grid(n, 4):
    y[n - 1 - i, j] = x[i, j]
""",
    "one place for two loops": """
for i, j in T.grid(n, 4):
    y[0, j] = x[i, j]
""",
    "the diagonal": """
for i in range(4):
    y[i, i] = x[i, i]
""",
    "where something holds": """
for i, j in T.grid(n, 4):
    if x[i, j] > T.float32(0):
        y[i, j] = x[i, j]
""",
    "where the predicate of a block holds": """
for i, j in T.grid(n, 4):
    with T.block("b"):
        vi, vj = T.axis.remap("SS", [i, j])
        T.where(j < 3)
        y[vi, vj] = x[vi, vj]
""",
    "a reduction over nothing, perhaps": """
for i, j, k in T.grid(n, 4, n):
    with T.block("b"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            y[vi, vj] = T.float32(0)
        y[vi, vj] = y[vi, vj] + x[vk, vj]
""",
    "from the second row on": """
for i, j in T.grid(n - 1, 4):
    with T.block("b"):
        vi = T.axis.spatial(n, i + 1)
        vj = T.axis.spatial(4, j)
        y[vi, vj] = x[vi, vj]
""",
    "until something is found": """
for i, j in T.grid(n, 4):
    if x[i, j] > T.float32(0):
        T.ret(0)
    y[i, j] = x[i, j]
""",
    "while something holds": """
while x[0, 0] > T.float32(0):
    for i, j in T.grid(n, 4):
        y[i, j] = x[i, j]
""",
    "what is added to": """
for i, j in T.grid(n, 4):
    y[i, j] = y[i, j] + x[i, j]
""",
    "a sum that nobody begins": """
for i, j, k in T.grid(n, 4, 3):
    with T.block("b"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        T.reads(y[vi, vj], x[vi, vk])
        T.writes(y[vi, vj])
        y[vi, vj] = y[vi, vj] + x[vi, vk]
""",
    "what is read where a part is stored": """
for i, j in T.grid(n, 2):
    y[i, j] = x[i, j]
for i, j in T.grid(n, 4):
    y[i, j] = y[i, j] + x[i, j]
""",
    "rows that are read before they are stored": """
for i in range(n):
    for j in range(4):
        y[i, j] = x[i, j]
    for j in range(4):
        y[i, j] = y[n - 1 - i, j] + x[i, j]
""",
    "what a condition reads": """
if y[0, 0] > T.float32(0):
    T.evaluate(0)
for i, j in T.grid(n, 4):
    y[i, j] = x[i, j]
""",
    "what an index reads": """
for i, j in T.grid(n, 4):
    y[i, j] = x[T.Cast("int64", y[0, 0]), j]
""",
    "a loop that begins at 1": """
for i in range(1, n):
    for j in range(4):
        y[i, j] = x[i, j]
""",
}


@pytest.mark.parametrize("body", FILLED.values(), ids=FILLED)
def test_a_parameter_that_is_written_wholly_is_filled(body: str) -> None:
    assert filled_params(prim_func(body)) == {1}


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_a_parameter_of_which_elements_may_be_left_is_not_filled(body: str) -> None:
    assert filled_params(prim_func(body)) == set()


def test_dimensions_of_one_and_rank_0_are_filled_by_a_store_at_0() -> None:
    one = prim_func("y[0] = x[0, 0]", 'x: T.Buffer(("n", 4)), y: T.Buffer((1,))')
    none = prim_func("y[()] = x[0, 0]", 'x: T.Buffer(("n", 4)), y: T.Buffer(())')
    assert filled_params(one) == filled_params(none) == {1}


CALLING = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def copy(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            y[i, j] = x[i, j]

    @T.prim_func
    def once(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        M.copy(x.data, y.data)

    @T.prim_func
    def perhaps(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i in range(n):
            M.copy(x.data, y.data)
"""


def test_what_a_called_function_fills_is_filled() -> None:
    module = from_source(CALLING)
    assert filled_params(module["once"], module) == {1}
    assert filled_params(module["perhaps"], module) == set()
    assert filled_params(module["once"]) == set()


SCHEDULED = """
@I.ir_module
class M:
    @T.prim_func
    def f(x: T.Buffer((1024,), "float32"), y: T.Buffer((1024,), "float32")):
        T.func_attr({"tir.noalias": True})
        for i in range(1024):
            with T.block("double"):
                vi = T.axis.spatial(1024, i)
                y[vi] = x[vi] + x[vi]
"""


def test_a_schedule_keeps_what_was_known_before() -> None:
    made = ApplyDefaultSchedule()(from_source(SCHEDULED))["f"]
    assert list(made.attrs[FILLS]) == [1]
    assert filled_params(made) == {1}
