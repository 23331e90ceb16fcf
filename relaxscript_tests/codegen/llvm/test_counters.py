"""Times that code takes of the PrimFuncs that it calls."""

from __future__ import annotations

import platform
import time

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func, counters
from relaxscript.errors import VMError
from relaxscript.script import from_source

MODULE = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def double(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            B[i] = A[i] * T.float32(2)

    @T.prim_func(private=True)
    def root(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            assert A[i] >= T.float32(0), "a root of what is less than nothing"
            B[i] = T.sqrt(A[i])

    @T.prim_func(private=True)
    def both(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
        n = T.int64()
        C = T.alloc_buffer((n,), "float32")
        M.double(A.data, C.data)
        M.root(C.data, B.data)

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return R.call_tir(M.both, (x,), out_sinfo=R.Tensor((n,), "float32"))
"""
MOD = from_source(MODULE)
ONES = np.ones(100, "float32")


def test_only_code_that_was_asked_to_takes_times():
    plain = compile_prim_func(MOD["both"], "both", {}, MOD)
    timed = compile_prim_func(MOD["both"], "both", {"profile": True}, MOD)
    assert plain.counters is None
    assert "counter" not in plain.llvm_ir
    assert timed.llvm_ir.count("call i64 @llvm.read") == 4


def test_each_call_is_noted_with_its_place_in_the_order_of_the_run():
    kernel = compile_prim_func(MOD["both"], "both", {"profile": True}, MOD)
    kernel.counters.begin()
    start, taken = time.perf_counter(), np.empty_like(ONES)
    kernel(ONES, taken)
    end = time.perf_counter()
    first, second = kernel.counters.taken()
    assert (first[0], second[0]) == ("double", "root")
    assert [call[1].text for call in (first, second)] == [
        "M.double(A.data, C.data)", "M.root(C.data, B.data)",
    ]  # fmt: skip
    assert first[2] + first[3] <= second[2]
    assert min(first[3], second[3]) >= 0
    # The clocks agree as well as they were compared.
    assert start - 1e-3 < first[2] < second[2] + second[3] < end + 1e-3


def test_a_new_beginning_forgets_what_was_noted():
    kernel = compile_prim_func(MOD["both"], "both", {"profile": True}, MOD)
    for _ in range(2):
        kernel.counters.begin()
        kernel(ONES, np.empty_like(ONES))
        assert len([*kernel.counters.taken()]) == 2


def test_calls_for_which_there_is_no_room_are_not_noted(monkeypatch):
    monkeypatch.setattr(counters, "MOST", 3)
    text = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def one(A: T.Buffer((1,), "int64")):
        A[0] = A[0] + T.int64(1)

    @T.prim_func
    def many(A: T.Buffer((1,), "int64")):
        for i in range(100):
            M.one(A.data)
"""
    module = from_source(text)
    kernel = compile_prim_func(module["many"], "many", {"profile": True}, module)
    kernel.counters.begin()
    value = np.zeros(1, "int64")
    kernel(value)
    assert (value[0], len([*kernel.counters.taken()])) == (100, 3)


@pytest.mark.parametrize(("machine", "instruction"), [
    ("x86_64", "llvm.readcyclecounter"), ("AMD64", "llvm.readcyclecounter"),
    ("aarch64", "llvm.readsteadycounter"),
])  # fmt: skip
def test_the_clock_is_one_that_every_program_may_read(monkeypatch, machine, instruction):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert counters._instruction() == instruction


def test_a_profile_tells_what_kernels_call():
    model = rx.jit(MOD)
    report = model.profile("main", ONES)
    assert np.array_equal(report.result, np.sqrt(2 * ONES))
    rows = {row.name: row for row in report.rows}
    assert {"double", "root"} <= {*rows}
    assert "both" not in rows
    assert [event.name for event in report.events if event.name in ("both", "double", "root")] == [
        "both", "double", "root",
    ]  # fmt: skip
    assert [line.place.line for line in report.lines if line.seconds] == [21, 22, 27]
    assert model.executable.counters == ()


def test_code_that_is_new_runs_once_before_where_nobody_can_tell():
    seen = []
    rx.register_func("test.note", lambda x: seen.append(x.shape) or x)
    noting = MODULE.replace("@R.function\n", "@R.function(pure=False)\n").replace(
        "        return R.call_tir(",
        '        z = R.call_packed("test.note", x, sinfo_args=R.Tensor((n,), "float32"))\n'
        "        return R.call_tir(",
    )
    rx.jit(from_source(noting)).profile("main", ONES)
    assert seen == [(100,)]
    report = rx.jit(MOD).profile("main", ONES)
    assert [row.count for row in report.rows if row.name == "double"] == [1]


def test_a_program_that_fails_tells_the_same_error_under_profile():
    model = rx.jit(MOD)
    with pytest.raises(VMError, match="less than nothing") as plain:
        model.main(-ONES)
    with pytest.raises(VMError, match="less than nothing") as profiled:
        model.profile("main", -ONES)
    assert str(profiled.value) == str(plain.value)
