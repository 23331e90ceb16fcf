"""Indices are checked where nothing proves them, and proved ones cost nothing."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import const
from relaxscript.script import from_source, tir as T
from relaxscript_tests.prim_funcs import both, load, loop, prim_func, store


@T.prim_func
def matmul(a: T.handle, b: T.handle, c: T.handle):
    n, m, k = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, (n, k))
    B = T.match_buffer(b, (k, m))
    C = T.match_buffer(c, (n, m))
    for i, j, r in T.grid(n, m, k):
        with T.block("C"):
            vi, vj, vr = T.axis.remap("SSR", [i, j, r])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vr] * B[vr, vj]


@T.prim_func
def tiled(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 64))
    C = T.match_buffer(c, (n, 64))
    for i, j, k, r in T.grid((n + 15) // 16, 16, 4, 16):
        with T.block("C"):
            vi = T.axis.spatial(n, i * 16 + j)
            vj = T.axis.spatial(64, k * 16 + r)
            T.where(i * 16 + j < n)
            C[vi, vj] = A[vi, vj] * T.float32(2)


@T.prim_func
def convolution(
    x: T.Buffer((1, 2, 6, 6), "float32"),
    w: T.Buffer((3, 2, 3, 3), "float32"),
    y: T.Buffer((1, 3, 6, 6), "float32"),
):
    padded = T.alloc_buffer((1, 2, 8, 8), "float32")
    for a, b, c, d in T.grid(1, 2, 8, 8):
        with T.block("pad"):
            va, vb, vc, vd = T.axis.remap("SSSS", [a, b, c, d])
            padded[va, vb, vc, vd] = T.if_then_else(
                1 <= vc and vc < 7 and 1 <= vd and vd < 7, x[va, vb, vc - 1, vd - 1], T.float32(0)
            )
    for a, b, c, d, e, f, g in T.grid(1, 3, 6, 6, 2, 3, 3):
        with T.block("y"):
            va, vb, vc, vd, ve, vf, vg = T.axis.remap("SSSSRRR", [a, b, c, d, e, f, g])
            with T.init():
                y[va, vb, vc, vd] = T.float32(0)
            y[va, vb, vc, vd] += padded[va, ve, vc + vf, vd + vg] * w[vb, ve, vf, vg]


@T.prim_func
def valid(x: T.handle, w: T.handle, y: T.handle):
    n, k = T.int64(), T.int64()
    X = T.match_buffer(x, (n,))
    W = T.match_buffer(w, (k,))
    Y = T.match_buffer(y, (n - k + 1,))
    for i, r in T.grid(n - k + 1, k):
        with T.block("y"):
            vi, vr = T.axis.remap("SR", [i, r])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] += X[vi + vr] * W[vr]


@T.prim_func
def softmax(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m))
    Y = T.match_buffer(y, (n, m))
    largest = T.alloc_buffer((n,))
    total = T.alloc_buffer((n,))
    for i, j in T.grid(n, m):
        with T.block("largest"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                largest[vi] = T.min_value("float32")
            largest[vi] = T.max(largest[vi], X[vi, vj])
    for i, j in T.grid(n, m):
        with T.block("total"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                total[vi] = T.float32(0)
            total[vi] += T.exp(X[vi, vj] - largest[vi])
    for i, j in T.grid(n, m):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.exp(X[vi, vj] - largest[vi]) / total[vi]


@T.prim_func
def runs(a: T.Buffer((64,), "float32"), b: T.Buffer((64,), "float32")):
    for i in range(16):
        b[i * 4 : i * 4 + 4] = a[i * 4 : i * 4 + 4]


@T.prim_func
def guarded(x: T.Buffer((9,), "float32"), d: T.int64, y: T.Buffer((9,), "float32")):
    assert d >= 2, "d is an index behind the first"
    assert d < 9, "d is an index"
    for i in range(12):
        if i < 9:
            y[i] = x[d - 2]


@T.prim_func
def flattened(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m))
    Y = T.match_buffer(y, (n * m,))
    for i in range(n * m):
        Y[i] = X[i // m, i % m]


@T.prim_func
def outer(x: T.handle, y: T.handle, z: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n,))
    Y = T.match_buffer(y, (m,))
    Z = T.match_buffer(z, (n * m,))
    for i in range(n * m):
        Z[i] = X[i // m] * Y[i % m]


@T.prim_func
def gather(x: T.Buffer((9,), "float32"), at: T.Buffer((4,), "int32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[at[i]]


CHECK = "icmp uge"
PROVED = [matmul, tiled, convolution, valid, softmax, runs, guarded, flattened, outer]


@pytest.mark.parametrize("function", PROVED, ids=lambda f: f.attrs["global_symbol"])
def test_proved_indices_are_not_checked(function):
    checked = compile_prim_func(function)
    assert CHECK not in checked.llvm_ir
    assert checked.llvm_ir == compile_prim_func(function, options={"check": False}).llvm_ir


def test_products_of_dimensions_do_not_wrap():
    """Of such sizes are arrays whose elements are all one."""
    one = np.zeros(1, "float32")
    x, y = (np.lib.stride_tricks.as_strided(one, (1 << bits,), (0,)) for bits in (33, 31))
    for run in (compile_prim_func(outer), lambda *args: evaluate(outer, args)):
        with pytest.raises(VMError, match="arguments of `outer` are too large together"):
            run(x, y, np.zeros(0, "float32"))


def test_an_index_that_is_divided_by_zero_fails_before_it_is_used():
    both(flattened, [np.zeros((3, 0), "float32"), np.zeros(0, "float32")])
    x, n, i = tir.Buffer("x", (4,), "int32"), prim.Var("n", "int32"), prim.Var("i", "int32")
    guard = prim.Or(i < 0, prim.GE(i // n, const(9)))
    body = tir.IfThenElse(guard, store(x, 1, i % n))
    for args in ((0, -1), (0, 1), (3, -1), (5, 49), (5, 9)):
        both(prim_func([x], body, [n, i]), [np.zeros(4, "int32"), *args])


def test_only_the_index_that_is_not_proved_is_checked():
    kernel = compile_prim_func(gather)
    assert kernel.llvm_ir.count(CHECK) == 1
    assert CHECK not in compile_prim_func(gather, options={"check": False}).llvm_ir
    x, y = np.arange(9, dtype="float32"), np.zeros(4, "float32")
    with pytest.raises(VMError, match="index 9 is outside of dimension 0 of buffer `x`") as caught:
        kernel(x, np.array([1, 8, 9, 0], "int32"), y)
    assert caught.value.code == "RX0614"
    assert caught.value.span.line == gather.span.line + 2
    assert y.tolist() == [1, 8, 0, 0]


@T.prim_func
def lanes(a: T.Buffer((6,), "float32"), d: T.int32, b: T.Buffer((6,), "float32")):
    b[d : d + 4] = a[d : d + 4]


def test_a_vector_of_one_lane_is_a_scalar():
    x, y = tir.Buffer("x", (4,)), tir.Buffer("y", (4,))
    i = prim.Var("i", "int32")
    one = prim.Ramp(i, const(3), 1)
    both(
        prim_func([x, y], loop(i, 4, store(y, prim.Broadcast(load(x, one), 1), one))),
        [np.arange(4.0, dtype="f4"), np.zeros(4, "float32")],
    )


@pytest.mark.parametrize("d", [0, 2, 3, 5, 6, -1, -5, 2**31 - 1, -(2**31)])
def test_a_run_of_lanes_is_checked_by_its_ends(d):
    a = np.arange(6, dtype="float32")
    args = [a, d, np.zeros(6, "float32")]
    both(lanes, args)
    text = compile_prim_func(lanes).llvm_ir
    assert text.count("load <4 x float>") == text.count("store <4 x float>") == 1


@pytest.mark.parametrize("d", [0, 3, 4, 9, -1])
def test_lanes_that_are_not_side_by_side_are_checked_before_any_is_written(d):
    out, i = tir.Buffer("out", (9,), "int32"), prim.Var("d", "int32")
    apart = prim.Ramp(i, const(2), 3)
    body = store(out, prim.Broadcast(const(5), 3), apart)
    both(prim_func([out], body, [i]), [np.zeros(9, "int32"), d])
    on = prim.Ramp(i, const(1), 3) < prim.Broadcast(const(5), 3)
    masked = tir.BufferStore(out, prim.Broadcast(const(5), 3), [apart], on)
    both(prim_func([out], masked, [i]), [np.zeros(9, "int32"), d])


@pytest.mark.parametrize("d", [1, 4])
def test_what_is_masked_is_not_checked(d):
    out, i = tir.Buffer("out", (3,), "int32"), prim.Var("d", "int32")
    value = prim.BufferLoad(out, [i])
    body = tir.BufferStore(out, value, [i], i < 3)
    both(prim_func([out], body, [i]), [np.zeros(3, "int32"), d])


def test_indices_of_all_widths_are_checked():
    for dtype, index in (("uint64", 2**64 - 1), ("int8", -1), ("uint8", 255), ("int64", 2**62)):
        out, i = tir.Buffer("out", (3,), "int32"), prim.Var("d", dtype)
        function = prim_func([out], store(out, const(1), i), [i])
        both(function, [np.zeros(3, "int32"), index])


@pytest.mark.parametrize("way", ["jit", "call_tir", "load", "tir"])
def test_every_way_to_run_checks(way, tmp_path):
    from relaxscript import I, R

    @I.ir_module
    class Gathering:
        @T.prim_func
        def gather(
            x: T.Buffer((9,), "float32"), at: T.Buffer((4,), "int32"), y: T.Buffer((4,), "float32")
        ):
            for i in range(4):
                y[i] = x[at[i]]

        @R.function
        def main(x: R.Tensor((9,), "float32"), at: R.Tensor((4,), "int32")):
            cls = Gathering
            return R.call_tir(cls.gather, (x, at), out_sinfo=R.Tensor((4,), "float32"))

    x, at = np.zeros(9, "float32"), np.full(4, -1, "int32")
    match way:
        case "jit":
            run = lambda: rx.jit(gather).gather(x, at, np.zeros(4, "float32"))  # noqa: E731
        case "call_tir":
            run = lambda: rx.jit(Gathering).main(x, at)  # noqa: E731
        case "load":
            rx.save(rx.build(Gathering, "llvm -check=0"), tmp_path / "gather.rx")
            loaded = rx.VirtualMachine(rx.load(tmp_path / "gather.rx"))
            run = lambda: loaded.main(x, at)  # noqa: E731
        case "tir":
            y = np.zeros(4, "float32")
            run = lambda: evaluate(Gathering["gather"], [x, at, y])  # noqa: E731
    with pytest.raises(VMError, match="index -1 is outside of dimension 0 of buffer `x`"):
        run()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool", "bfloat16"])
@pytest.mark.parametrize("lanes", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("step", [2, -1])
def test_lanes_of_step_two_and_backwards_are_two_runs_at_most(step: int, lanes: int, dtype: str):
    size = 2 * lanes - 1 if step == 2 else lanes
    first = 0 if step == 2 else lanes - 1
    text = f"""
@T.prim_func
def main(A: T.Buffer((3, {size}), "{dtype}"), B: T.Buffer((3, {lanes}), "{dtype}")):
    for i in range(3):
        B[i, T.Ramp(0, 1, {lanes})] = A[i, T.Ramp({first}, {step}, {lanes})]
"""
    func = from_source(text)
    kernel = compile_prim_func(func)
    x = np.random.default_rng(lanes).integers(0, 2 if dtype == "bool" else 100, (3, size))
    given = x.astype(func.buffer_map[func.params[0]].dtype.numpy)
    found, expected = (np.zeros((3, lanes), given.dtype) for _ in range(2))
    kernel(given, found)
    evaluate(func, [given, expected])
    assert found.tobytes() == expected.tobytes()
    assert found.tobytes() == given[:, ::step][:, :lanes].tobytes()
    assert kernel.llvm_ir.count("= load <") in (1, 2)


def test_lanes_of_step_two_that_may_be_outside_are_checked_one_by_one():
    text = """
@T.prim_func
def main(A: T.Buffer(("n",), "float32"), B: T.Buffer((4,), "float32")):
    n = T.int64()
    B[T.Ramp(0, 1, 4)] = A[T.Ramp(0, 2, 4)]
"""
    kernel = compile_prim_func(from_source(text))
    found = np.zeros(4, "float32")
    kernel(np.arange(7, dtype="float32"), found)
    assert found.tolist() == [0, 2, 4, 6]
    with pytest.raises(VMError, match="index 6 is outside of dimension 0 of buffer `A`"):
        kernel(np.arange(5, dtype="float32"), found)
