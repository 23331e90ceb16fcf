"""Rows of calls: one memory for all buffers, and functions that have code of their own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.codegen.llvm.buffer_address import CodegenOptions
from relaxscript.codegen.llvm.engine import Engine, ModuleParts
from relaxscript.codegen.llvm.function import ModuleText
from relaxscript.codegen.llvm.workspace import is_row_of_calls, plan_slots
from relaxscript.errors import VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import tir
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.transform.default_schedule.apply_default_schedule import SCHEDULE

HEAD = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def more(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            with T.block("more"):
                vi = T.axis.remap("S", [i])
                B[vi] = A[vi] + T.float32(1)

    @T.prim_func(private=True)
    def reaching(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            with T.block("reaching"):
                vi = T.axis.remap("S", [i])
                B[vi] = A[vi + 1]

    @T.prim_func
    def row(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        T.func_attr({ATTRS})
        n = T.int64()
        with T.block("root"):
            T.reads(x[0:n])
            T.writes(y[0:n])
"""
SCHEDULED = '{"tir.is_scheduled": True, "relaxscript.schedule": "calls"}'


OFTEN = """
    @T.prim_func
    def often(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        T.func_attr({ATTRS})
        n = T.int64()
        for i in range(2):
            M.row(x.data, y.data)
            M.row(y.data, x.data)
"""


def row_of(
    names: list[str], sizes: list[str], attrs: str = SCHEDULED, others: str = ""
) -> IRModule:
    """A module whose `row` calls functions one after the other, on memory of some sizes."""
    lines = [f't{k} = T.alloc_buffer(({size},), "float32")' for k, size in enumerate(sizes)]
    places = ["x", *(f"t{k}" for k in range(len(sizes))), "y"]
    pairs = itertools.pairwise(places)
    lines += [f"M.{name}({a}.data, {b}.data)" for name, (a, b) in zip(names, pairs, strict=True)]
    body = "\n".join(f"            {line}" for line in lines)
    return from_source(f"{HEAD}{body}\n{others}".replace("{ATTRS}", attrs))


def compiled(mod: IRModule, name: str = "row", **options: object):
    functions = {var.name_hint: f for var, f in mod.functions.items()}
    return compile_prim_funcs(functions, options, mod)[name]


def block_of(mod: IRModule) -> tir.Block:
    block: tir.Block = mod["row"].body.block
    return block


@pytest.mark.parametrize("attrs", [SCHEDULED, "{}"])
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("size", [0, 1, 5, 3000])
def test_a_row_does_what_its_calls_do_one_after_the_other(attrs, count, size):
    mod = row_of(["more"] * (count + 1), ["n"] * count, attrs)
    x, y, expected = (np.arange(size, dtype="float32") for _ in range(3))
    evaluate(mod["row"], [x, expected], mod)
    compiled(mod)(x, y)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(y, x + count + 1)


def test_a_buffer_takes_the_slot_of_one_that_is_dead_of_its_own_size_first():
    mod = row_of(["more"] * 6, ["n", "n * 2", "n", "n * 2", "n"])
    slots = [[buffer.name for buffer in slot] for slot in plan_slots(block_of(mod))]
    assert slots == [["t0", "t2", "t4"], ["t1", "t3"]]


def test_buffers_of_one_call_never_share_memory():
    mod = row_of(["more"] * 4, ["n", "n", "n"])
    slots = [{buffer.name for buffer in slot} for slot in plan_slots(block_of(mod))]
    assert not any({f"t{k}", f"t{k + 1}"} <= slot for slot in slots for k in range(2))


def test_blocks_that_compute_are_no_rows_of_calls():
    mod = row_of(["more"] * 2, ["n"])
    assert is_row_of_calls(block_of(mod))
    block = block_of(mod)
    store = tir.BufferStore(block.alloc_buffers[0], 1.0, [0])
    assert not is_row_of_calls(block.replace(body=tir.SeqStmt((block.body, store))))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_failure_of_a_function_with_code_of_its_own_is_told(place):
    names = ["more"] * 3
    names[place] = "reaching"
    mod = row_of(names, ["n", "n"])
    x, y = np.zeros(4, "float32"), np.zeros(4, "float32")
    with pytest.raises(VMError, match="index 4 is outside of dimension 0 of buffer `A`") as told:
        compiled(mod)(x, y)
    with pytest.raises(
        VMError, match="index 4 is outside of dimension 0 of buffer `A`"
    ) as expected:
        evaluate(mod["row"], [x, y], mod)
    assert told.value.diagnostic.message == expected.value.diagnostic.message


def test_memory_begins_as_zeros_where_that_is_asked_for():
    kernel = compiled(row_of(["more"] * 3, ["n", "n"]), zero_memory=True)
    x, y = np.ones(4, "float32"), np.zeros(4, "float32")
    kernel(x, y)
    np.testing.assert_array_equal(y, x + 3)


def test_sizes_beyond_all_memory_are_refused():
    kernel = compiled(row_of(["more"] * 2, ["n * 2305843009213693952"]))
    x = np.zeros(9, "float32")
    with pytest.raises(VMError, match="memory"):
        kernel(x, x.copy())


def parts_of(mod: IRModule) -> ModuleParts | None:
    text = ModuleText(CodegenOptions(), mod, as_written=True)
    scheduled = [f for f in mod.functions.values() if f.attrs and SCHEDULE in f.attrs]
    text.add_entries(scheduled)
    return text.parts()


def test_a_long_row_is_an_object_of_its_own_which_llvm_takes_as_it_stands():
    names, sizes = ["more"] * 12, ["n"] * 11
    parts = parts_of(row_of(names, sizes))
    assert "@relaxscript_entry(" not in parts.text
    assert parts.glue.count("define ") == 1
    assert parts.glue.count("declare i32 @relaxscript_f1(") == 1
    assert "define i32 @relaxscript_f1(" in parts.text
    assert parts_of(row_of(names[:2], ["8"])) is None


def test_a_long_row_is_called_by_what_is_in_the_other_object():
    mod = row_of(["more"] * 12, ["n"] * 11, others=OFTEN)
    assert parts_of(mod) is not None
    x, y = np.zeros(4, "float32"), np.zeros(4, "float32")
    compiled(mod, "often")(x, y)
    np.testing.assert_array_equal((x, y), ([48] * 4, [36] * 4))


def test_a_long_row_is_kept_with_what_it_calls(tmp_path, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(tmp_path / "cache"))
    mod = row_of(["more"] * 12, ["n"] * 11)
    x, y = np.arange(3, dtype="float32"), np.zeros(3, "float32")
    kernel = compiled(mod)
    kernel(x, y)
    linked = kernel.entry.code.linked
    assert np.array_equal(y, x + 12)
    again = Engine().link_stored(linked)
    assert again.linked == linked
    assert again.addresses.keys() == kernel.entry.code.addresses.keys()
