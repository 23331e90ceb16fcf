"""OutlineNative: rows of calls of PrimFuncs become one PrimFunc each, where nothing is lost."""

from __future__ import annotations

import numpy as np

import relaxscript as rx
from relaxscript.ir.module import IRModule
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same, check_executors_agree
from relaxscript.transform import OutlineNative
from relaxscript_tests.transform.before_after import check

KERNELS = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def double(A: T.Buffer(("n", 4), "float32"), B: T.Buffer(("n", 4), "float32")):
        T.func_attr({"tir.is_scheduled": True, "relaxscript.schedule": "elementwise"})
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj]

    @T.prim_func(private=True)
    def halves(
        A: T.Buffer((4, 4), "float32"),
        B: T.Buffer((4, 2), "float32"),
        C: T.Buffer((4, 2), "float32"),
    ):
        T.func_attr({"tir.is_scheduled": True, "relaxscript.schedule": "elementwise"})
        for i, j in T.grid(4, 2):
            with T.block("halves"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
                C[vi, vj] = A[vi, vj + 2]

    @T.prim_func(private=True)
    def first(A: T.Buffer(("n", 4), "float32"), B: T.Buffer(("n", 4), "float32")):
        T.func_attr({"tir.is_scheduled": True, "relaxscript.schedule": "elementwise"})
        n = T.int64()
        for i in range(n):
            with T.block("first"):
                vi = T.axis.remap("S", [i])
                B[vi, 0] = A[vi, 0]

    @T.prim_func(private=True)
    def shifted(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), k: T.int64):
        T.func_attr({"tir.is_scheduled": True, "relaxscript.schedule": "elementwise"})
        for i in range(4):
            with T.block("shifted"):
                vi = T.axis.remap("S", [i])
                B[vi] = A[vi] + T.Cast("float32", k)

"""
OPEN = 'R.Tensor((n, 4), "float32")'
X = np.arange(12, dtype="float32").reshape(3, 4)


def main(body: str, params: str = 'x: R.Tensor(("n", 4), "float32")', head: str = "") -> str:
    lines = "\n".join(f"        {line}" for line in body.strip().split("\n"))
    return f"""{KERNELS}{head}
    @R.function
    def main({params}):
        n = T.int64()
        cls = M
{lines}
"""


def natives(mod: IRModule) -> list[str]:
    return [var.name_hint for var in mod.functions if "_native" in var.name_hint]


def test_calls_that_follow_each_other_are_one():
    double = "R.call_tir(cls.double, ({}), out_sinfo=" + OPEN + ")"
    before = main(f"a = {double.format('x,')}\nb = {double.format('a,')}\nreturn b")
    native = """
    @T.prim_func(private=True)
    def main_native(x: T.Buffer(("n", 4), "float32"), t1: T.Buffer(("n", 4), "float32")):
        T.func_attr({
            "tir.is_scheduled": True, "relaxscript.schedule": "calls", "relaxscript.writes": [1]
        })
        n = T.int64()
        with T.block("root"):
            T.reads(x[T.int64(0):n, T.int64(0):T.int64(4)])
            T.writes(t1[T.int64(0):n, T.int64(0):T.int64(4)])
            t0 = T.alloc_buffer((n, 4))
            M.double(x.data, t0.data)
            M.double(t0.data, t1.data)
"""
    made = OutlineNative()(from_source(before))
    assert natives(made) == ["main_native"]
    wanted = from_source(
        main(f"b = R.call_tir(cls.main_native, (x,), out_sinfo={OPEN})\nreturn b", head=native)
    )
    for name in ("main", "main_native"):
        assert_same(made[name], wanted[name])
    assert OutlineNative()(made) is made
    assert_same(from_source(made.script(show_meta=True)), made)
    result = check_executors_agree(made, [X])
    np.testing.assert_array_equal(result, X * 4)


def test_what_no_schedule_has_arranged_stays():
    double = "R.call_tir(cls.double, ({}), out_sinfo=" + OPEN + ")"
    text = main(f"a = {double.format('x,')}\nb = {double.format('a,')}\nreturn b")
    check(OutlineNative(), text.replace('"relaxscript.schedule"', '"another"'))


def test_a_single_call_stays_what_it_is():
    check(OutlineNative(), main(f"a = R.call_tir(cls.double, (x,), out_sinfo={OPEN})\nreturn a"))


def test_constants_between_calls_do_not_part_them():
    mod = from_source(main(
        f"a = R.call_tir(cls.double, (x,), out_sinfo={OPEN})\n"
        'c = R.const([[1.0, 2.0, 3.0, 4.0]], "float32")\n'
        f"b = R.call_tir(cls.double, (a,), out_sinfo={OPEN})\n"
        'd = R.call_tir(cls.double, (c,), out_sinfo=R.Tensor((1, 4), "float32"))\n'
        "return (b, d)"
    ))  # fmt: skip
    made = OutlineNative()(mod)
    assert natives(made) == ["main_native"]
    assert made["main"].script().count("R.call_tir(") == 1
    one, other = check_executors_agree(made, [X])
    np.testing.assert_array_equal(one, X * 4)
    np.testing.assert_array_equal(other, [[2, 4, 6, 8]])


def test_what_is_used_behind_the_row_is_a_result_of_it():
    mod = from_source(main(
        f"a = R.call_tir(cls.double, (x,), out_sinfo={OPEN})\n"
        f"b = R.call_tir(cls.double, (a,), out_sinfo={OPEN})\n"
        "return (a, b)"
    ))  # fmt: skip
    made = OutlineNative()(mod)
    assert natives(made) == ["main_native"]
    one, other = check_executors_agree(made, [X])
    np.testing.assert_array_equal(one, X * 2)
    np.testing.assert_array_equal(other, X * 4)


def test_fields_of_a_tuple_of_results_are_tensors_of_the_row():
    infos = 'R.Tensor((4, 2), "float32")'
    mod = from_source(main(
        f"t = R.call_tir(cls.halves, (x,), out_sinfo=[{infos}, {infos}])\n"
        "b = t[0]\n"
        "c = t[1]\n"
        "u = R.call_tir(cls.double, (y,), out_sinfo=R.Tensor((2, 4), 'float32'))\n"
        "return (c, u)",
        'x: R.Tensor((4, 4), "float32"), y: R.Tensor((2, 4), "float32")',
    ))  # fmt: skip
    made = OutlineNative()(mod)
    assert natives(made) == ["main_native"]
    x, y = np.arange(16, dtype="float32").reshape(4, 4), np.ones((2, 4), "float32")
    right, doubled = check_executors_agree(made, [x, y])
    np.testing.assert_array_equal(right, x[:, 2:])
    np.testing.assert_array_equal(doubled, y * 2)


def test_fields_of_a_tuple_from_outside_are_read_before_the_row():
    row = 'R.Tensor((4,), "float32")'
    body = f"""
a = R.call_tir(cls.double, (t[0],), out_sinfo={OPEN})
b = t[1]
c = R.call_tir(cls.double, (b,), out_sinfo={OPEN})
d = t[2]
return (a, c, d)
"""
    params = f't: R.Tuple(R.Tensor(("n", 4), "float32"), R.Tensor(("n", 4), "float32"), {row})'
    made = OutlineNative()(from_source(main(body, params)))
    assert natives(made) == ["main_native"]
    assert OutlineNative()(made) is made
    last = np.ones(4, "float32")
    one, other, same = check_executors_agree(made, [(X, X + 1, last)])
    np.testing.assert_array_equal(one, X * 2)
    np.testing.assert_array_equal(other, X * 2 + 2)
    np.testing.assert_array_equal(same, last)


def test_fields_of_a_tuple_beside_a_single_call_stay_where_they_are():
    params = 't: R.Tuple(R.Tensor(("n", 4), "float32"), R.Tensor(("n", 4), "float32"))'
    body = f"a = R.call_tir(cls.double, (t[0],), out_sinfo={OPEN})\nb = t[1]\nreturn (a, b)"
    check(OutlineNative(), main(body, params))


def test_a_call_that_leaves_out_elements_stays_for_they_are_zero():
    mod = from_source(main(
        f"a = R.call_tir(cls.first, (x,), out_sinfo={OPEN})\n"
        f"b = R.call_tir(cls.double, (a,), out_sinfo={OPEN})\n"
        "return b"
    ))  # fmt: skip
    assert OutlineNative()(mod) is mod


def test_integers_that_no_shape_says_are_passed_on():
    info = 'R.Tensor((4,), "float32")'
    mod = from_source(main(
        f"a = R.call_tir(cls.shifted, (x,), out_sinfo={info}, tir_vars=R.shape([n + 1]))\n"
        f"b = R.call_tir(cls.shifted, (a,), out_sinfo={info}, tir_vars=R.shape([n]))\n"
        "return b",
        'x: R.Tensor((4,), "float32"), s: R.Shape(["n"])',
    ))  # fmt: skip
    made = OutlineNative()(mod)
    assert natives(made) == ["main_native"]
    result = check_executors_agree(made, [np.zeros(4, "float32"), rx.runtime.Shape((5,))])
    np.testing.assert_array_equal(result, np.full(4, 11, "float32"))


def test_what_runs_in_python_between_calls_parts_them():
    mod = from_source(main(
        f"a = R.call_tir(cls.double, (x,), out_sinfo={OPEN})\n"
        "b = R.unique(a, sorted=True)\n"
        f"c = R.call_tir(cls.double, (a,), out_sinfo={OPEN})\n"
        "return (b, c)"
    ))  # fmt: skip
    assert OutlineNative()(mod) is mod


def test_the_memory_of_a_row_is_shared_by_what_does_not_live_together():
    from relaxscript.codegen.llvm.workspace import plan_slots

    double = "R.call_tir(cls.double, ({}), out_sinfo=" + OPEN + ")"
    lines = [f"x{k + 1} = {double.format(f'x{k},')}" for k in range(6)]
    mod = from_source(main("\n".join(["x0 = x", *lines, "return x6"])))
    made = OutlineNative()(rx.transform.CanonicalizeBindings()(mod))
    function = made["main_native"]
    assert isinstance(function, PrimFunc)
    slots = plan_slots(function.body.block)
    assert [[buffer.name for buffer in slot] for slot in slots] == [
        ["t0", "t2", "t4"],
        ["t1", "t3"],
    ]


def test_a_failing_call_in_a_row_is_told_as_it_is_alone():
    text = main(
        f"a = R.call_tir(cls.double, (x,), out_sinfo={OPEN})\n"
        f"b = R.call_tir(cls.reaching, (a,), out_sinfo={OPEN})\n"
        "return b",
        head="""
    @T.prim_func(private=True)
    def reaching(A: T.Buffer(("n", 4), "float32"), B: T.Buffer(("n", 4), "float32")):
        T.func_attr({"tir.is_scheduled": True, "relaxscript.schedule": "elementwise"})
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("reaching"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi + 1, vj]
""",
    )
    made = OutlineNative()(from_source(text))
    assert natives(made) == ["main_native"]
    error = check_executors_agree(made, [X])
    assert error.code == "RX0614"
    plain = check_executors_agree(from_source(text), [X])
    assert (plain.code, plain.diagnostic.message) == (error.code, error.diagnostic.message)
