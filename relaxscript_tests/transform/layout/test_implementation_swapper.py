"""Results in the layouts that they had, whatever their number and size."""

from __future__ import annotations

import numpy as np

from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import AlterOpImpl
from relaxscript_tests.transform.before_after import check

BOTH = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def both(a: T.handle, b: T.handle, c: T.handle):
        T.func_attr({"operator_name": "test.both"})
        n = T.int64()
        A = T.match_buffer(a, (n, 6), "float32")
        B = T.match_buffer(b, (n, 6), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i, j in T.grid(n, 6):
            with T.block("both"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj]
        for i in range(n):
            with T.block("first"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi, 0]
{more}
    @R.function
    def main(x: R.Tensor(("n", 6), "float32")):
        n = T.int64()
        cls = M
{body}
        return y
"""
# The same on rows of eight, whose last two are padding.
NEW = """
    @T.prim_func(private=True)
    def test_both_replacement(a: T.handle, b: T.handle, c: T.handle):
        T.func_attr({"operator_name": "test.both"})
        n = T.int64()
        A = T.match_buffer(a, (n, 2, 4), "float32")
        B = T.match_buffer(b, (n, 2, 4), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i, j, k in T.grid(n, 2, 4):
            with T.block("both"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vi, vj, vk] + A[vi, vj, vk]
        for i in range(n):
            with T.block("first"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi, 0, 0]
"""
REMOVE_PAD = """
    @T.prim_func(private=True)
    def remove_pad(a: T.handle, b: T.handle):
        T.func_attr({"operator_name": "remove_pad", "tir.noalias": True})
        p0, p1, i0, i1 = T.int64(), T.int64(), T.int64(), T.int64()
        A = T.match_buffer(a, (p0, p1), "float32")
        B = T.match_buffer(b, (i0, i1), "float32")
        for i, j in T.grid(i0, i1):
            with T.block("output"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
"""


def module(more: str, body: str) -> str:
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    return BOTH.replace("{more}", more).replace("{body}", lines)


def pack(i, j):
    return i, j // 4, j % 4


def swapped() -> AlterOpImpl:
    func = from_source(module(NEW, "y = x"))["test_both_replacement"]
    return AlterOpImpl({"test.both": func}, {"test.both": [pack, pack, None]}, {}, {})


def test_each_result_comes_back_without_padding():
    step = swapped()
    infos = 'out_sinfo=[R.Tensor((n, {}), "float32"), R.Tensor((n,), "float32")]'
    before = module("", f"y = R.call_tir(cls.both, (x,), {infos.format(6)})")
    made = check(step, before, module(NEW + REMOVE_PAD, f"""
a = R.layout_transform(x, lambda i, j: (i, j // 4, j % 4))
b = R.call_tir(cls.test_both_replacement, (a,), {infos.format("2, 4")})
c = b[0]
d = R.layout_transform(c, lambda i, j, k: (i, j * 4 + k))
e = R.call_tir(cls.remove_pad, (d,), out_sinfo=R.Tensor((n, 6), "float32"))
f = b[1]
y = (e, f)
"""))  # fmt: skip
    assert step(made) is made
    x = np.arange(18, dtype="float32").reshape(3, 6)
    both, first = EXECUTORS["interpreter"](made)("main", x)
    np.testing.assert_array_equal(both, x + x)
    np.testing.assert_array_equal(first, x[:, 0])


def test_results_in_tuples_of_tuples_are_there_afterwards():
    info = 'R.Tuple(R.Tuple(R.Tensor((n, 6), "float32")), R.Tensor((n,), "float32"))'
    mod = from_source(module("", f"y = R.call_tir(cls.both, (x,), out_sinfo={info})"))
    made = swapped()(mod)
    x = np.arange(18, dtype="float32").reshape(3, 6)
    (both,), first = EXECUTORS["interpreter"](made)("main", x)
    np.testing.assert_array_equal(both, x + x)
    np.testing.assert_array_equal(first, x[:, 0])


def test_scalar_constants_stay():
    text = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def shift(A: T.Buffer((2, 6)), s: T.Buffer(()), B: T.Buffer((2, 6))):
        T.func_attr({{"operator_name": "test.shift"}})
        for i, j in T.grid(2, 6):
            B[i, j] = A[i, j] + s[()]

    @T.prim_func(private=True)
    def test_shift_replacement(A: T.Buffer((6, 2)), s: T.Buffer(()), B: T.Buffer((6, 2))):
        T.func_attr({{"operator_name": "test.shift"}})
        for i, j in T.grid(6, 2):
            B[i, j] = A[i, j] + s[()]

    @R.function
    def main(x: R.Tensor((2, 6), "float32")):
        cls = M
{}
        return y
"""
    call = '{} = R.call_tir(cls.{}, ({}, R.const(2, "float32")), R.Tensor(({}), "float32"))'
    before = text.format("        " + call.format("y", "shift", "x", "2, 6"))
    func = from_source(before)["test_shift_replacement"]
    turn = [lambda i, j: (j, i), lambda: (), lambda i, j: (j, i)]
    check(AlterOpImpl({"test.shift": func}, {"test.shift": turn}, {}, {}), before, text.format(
        "        a = R.layout_transform(x, lambda i, j: (j, i))\n        "
        + call.format("b", "test_shift_replacement", "a", "6, 2")
        + "\n        y = R.layout_transform(b, lambda i, j: (j, i))"
    ))  # fmt: skip
