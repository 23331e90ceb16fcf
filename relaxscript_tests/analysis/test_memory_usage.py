"""What functions allocate, as text."""

from __future__ import annotations

import math

import pytest

from relaxscript.analysis import estimate_memory_usage
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.transform import StaticPlanBlockMemory

MODULE = """
@I.ir_module
class M:
    @T.prim_func
    def exp(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            y[i] = T.exp(x[i])

    @R.function(private=True)
    def plain(x: R.Tensor((4,), "float32")):
        return x

    @R.function(pure=False)
    def main(x: R.Tensor(({n},), "float32")):
        cls = M
        {variable}
        a = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0))
        cls.exp(x, a)
        b = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0))
        cls.exp(a, b)
        c = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0))
        cls.exp(b, c)
        d = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0))
        cls.exp(c, d)
        return d
"""


def test_tensors_are_counted_without_a_plan_and_storages_with_one():
    text = MODULE.format(n=8, variable="").replace("R.shape([n])", "R.shape([8])")
    mod = from_source(text)
    assert estimate_memory_usage(mod).splitlines() == [
        "main:",
        "  without planning: 4 allocations, 128 bytes",
        "  with planning: 4 allocations, 128 bytes (100.0 %)",
    ]
    assert estimate_memory_usage(StaticPlanBlockMemory()(mod)).splitlines() == [
        "main:",
        "  without planning: 4 allocations, 128 bytes",
        "  with planning: 3 allocations, 96 bytes (75.0 %)",
    ]


def test_sizes_that_are_known_at_run_time_are_counted():
    mod = from_source(MODULE.format(n='"n"', variable="n = T.int64()"))
    assert estimate_memory_usage(StaticPlanBlockMemory()(mod)).splitlines() == [
        "main:",
        "  without planning: 4 allocations, 0 bytes, and 4 of sizes that are known at run time",
        "  with planning: 3 allocations, 0 bytes, and 3 of sizes that are known at run time",
    ]


def test_a_module_without_allocations_is_said_to_have_none():
    mod = from_source("@R.function\ndef f(x: R.Object):\n    return x\n")
    said = estimate_memory_usage(IRModule({"f": mod}))
    assert said == "no function of the module allocates a tensor"


def test_only_modules_are_asked_about():
    with pytest.raises(TypeError, match="estimate_memory_usage"):
        estimate_memory_usage("main")


@pytest.mark.parametrize("size", ["0, 8", "1 << 30, 1 << 30", "1 << 30, 1 << 31"])
def test_sizes_are_products_however_large(size):
    made = from_source(
        f"""
@R.function(pure=False)
def main():
    a = R.builtin.alloc_tensor(R.shape([{size}]), R.dtype("int8"), R.prim_value(0))
    return a
"""
    )
    said = estimate_memory_usage(IRModule({"main": made}))
    count = math.prod([eval(dim) for dim in size.split(",")])
    assert f"1 allocation, {count} bytes" in said
