from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from relaxscript.codegen.llvm import Kernel, compile_prim_func
from relaxscript.errors import DiagnosticError, Source, VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript_tests.fresh_python import imported_by
from relaxscript_tests.prim_func_examples import axis, block, f32, reduction, zeros
from relaxscript_tests.prim_funcs import elementwise, load, loop, prim_func, store

Y = tir.Buffer("y", (4,))
I = Var("i")  # noqa: E741


@pytest.mark.slow
def test_llvm_is_not_loaded_before_something_is_compiled():
    assert "llvmlite" not in imported_by("import relaxscript.codegen.llvm")


def failures(body, args=None, **options):
    """The texts of the errors of the evaluator and of compiled code, over `y`."""
    func = prim_func([Y], body)
    found = []
    for call in (lambda a: evaluate(func, a), lambda a: compile_prim_func(func, None, options)(*a)):
        with pytest.raises(VMError) as caught:
            call([zeros(4)] if args is None else args)
        found.append((str(caught.value), caught.value.span))
    assert found[0] == found[1]
    return found[0][0]


SPAN = Source("model.py", "y[i] = 1 // i\n").between(7, 13)


@pytest.mark.parametrize("kind", [prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod])
@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_division_by_zero_is_an_error_with_its_place(kind, dtype):
    divided = kind(const(1, dtype), prim.Cast(dtype, I)).replace(span=SPAN)
    message = failures(loop(I, 1, store(Y, prim.Cast("float32", divided), I)))
    assert message.startswith("an integer was divided by zero [RX0614]")
    assert "model.py:1:8" in message


def test_a_zero_in_any_lane_is_an_error():
    lanes = prim.FloorDiv(prim.Broadcast(const(6), 4), prim.Ramp(const(-1), const(1), 4))
    run = prim.Ramp(const(0), const(1), 4)
    assert "divided by zero" in failures(store(Y, prim.Cast("float32x4", lanes), run))


def test_an_assertion_that_fails_gives_its_message():
    check = tir.AssertStmt(load(Y, 0) > 1, prim.StringImm("y is small"), tir.Evaluate(const(0)))
    assert failures(check.replace(span=SPAN)).startswith("y is small [RX0611]")


@pytest.mark.parametrize("index", [4, -1, 1 << 40])
def test_checked_code_refuses_indices_out_of_bounds(index):
    wanted = f"index {index} is outside of dimension 0 of buffer `y`, which has 4 elements"
    assert wanted in failures(store(Y, load(Y, index), 0), check=True)
    assert wanted in failures(store(Y, const(1.0), index), check=True)


def test_checked_code_looks_at_every_lane():
    run = prim.Ramp(const(2), const(1), 4)
    message = failures(store(Y, prim.Broadcast(const(1.0), 4), run), check=True)
    assert "index 4 is outside" in message


def test_checked_code_refuses_regions_out_of_bounds():
    part = tir.Buffer("part", (3,))
    match = tir.MatchBufferRegion(part, tir.BufferRegion(Y, [tir.Range.from_min_extent(2, 3)]))
    body = block([], [], store(part, const(1.0), 0), match_buffers=(match,))
    assert "index 4 is outside of dimension 0 of buffer `y`" in failures(body, check=True)


def test_regions_of_another_shape_are_refused():
    n = Var("n", "int64")
    part = tir.Buffer("part", (2,))
    match = tir.MatchBufferRegion(part, tir.BufferRegion(Y, [tir.Range(0, n)]))
    body = block([], [], tir.Evaluate(const(0)), match_buffers=(match,))
    func = prim_func([Y], body, [n])
    for call in (lambda *a: evaluate(func, a), compile_prim_func(func)):
        with pytest.raises(VMError, match=r"`part` does not have the shape of its region, \(3,\)"):
            call(zeros(4), 3)


@pytest.mark.parametrize(
    ("extent", "message"),
    [(-1, "buffer `t` reaches beyond"), (1 << 30, "there is no memory for buffer `t`"),
     (1 << 40, "there is no memory for buffer `t`")],
)  # fmt: skip
def test_memory_that_there_is_not(extent, message):
    n, k = Var("n", "int64"), Var("k", "int64")
    t = tir.Buffer("t", (n, n))
    # All of it is used, so that no compiler can do without.
    fill = loop(k, n, store(t, load(Y, 0), k, k))
    body = block([], [], tir.SeqStmt([fill, store(Y, load(t, 0, 1), 0)]), alloc_buffers=(t,))
    func = prim_func([Y], body, [n])
    for call in (lambda *args: evaluate(func, args), compile_prim_func(func)):
        with pytest.raises(VMError, match=message):
            call(zeros(4), extent)


def test_a_constant_size_may_be_wrong_as_well():
    t = tir.Buffer("t", (const(-1), const(-1)))
    body = block([], [], store(Y, const(1.0), 0), alloc_buffers=(t,))
    assert "buffer `t` reaches beyond" in failures(body)


def test_code_that_failed_runs_again():
    func = elementwise(2, ["int32"], "int32", lambda x: 6 // x)
    kernel, out = compile_prim_func(func), zeros(2, dtype="int32")
    with pytest.raises(VMError, match="divided by zero"):
        kernel(np.array([1, 0], "int32"), out)
    kernel(np.array([2, 3], "int32"), out)
    assert out.tolist() == [3, 2]


def test_a_kernel_has_the_name_it_is_given():
    func = prim_func([Y], tir.Evaluate(const(0)), global_symbol="old")
    kernel = compile_prim_func(func, "new")
    assert isinstance(kernel, Kernel)
    assert repr(kernel) == "<Kernel new>"
    with pytest.raises(VMError, match="`new` takes 1 argument"):
        kernel()


def test_unknown_options_are_refused():
    func = prim_func([Y], tir.Evaluate(const(0)))
    with pytest.raises(DiagnosticError, match='has no option "chekc"') as caught:
        compile_prim_func(func, options={"chekc": True})
    assert caught.value.diagnostics[0].code == "RX0703"
    assert caught.value.diagnostics[0].help == 'did you mean "check"?'
    with pytest.raises(DiagnosticError, match='cannot take 7 for "level"'):
        compile_prim_func(func, options={"level": 7})
    with pytest.raises(DiagnosticError, match='cannot take a number of 16,610 bits for "level"'):
        compile_prim_func(func, options={"level": 10**5000})
    with pytest.raises(DiagnosticError, match='cannot take 1 for "check"'):
        compile_prim_func(func, options={"check": 1})


def test_the_code_can_be_read():
    kernel = compile_prim_func(elementwise(1000, ["float32"], "float32", lambda x: x + x))
    assert "define i32 @relaxscript_entry" in kernel.llvm_ir
    assert "x float>" in kernel.optimised_ir
    assert "relaxscript_entry" in kernel.assembly


def double(n=8):
    x, y = tir.Buffer("x", (n,)), tir.Buffer("y", (n,))
    return prim_func([x, y], loop(I, n, store(y, load(x, I) * const(2.0), I)))


LAYOUTS = {
    "compact": lambda a: a,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "every other": lambda a: np.repeat(a, 2)[::2],
    "repeated": lambda a: np.broadcast_to(a[:1], a.shape),
    "read-only": lambda a: _frozen(a),
    "not aligned": lambda a: np.frombuffer(b"\0" + a.tobytes(), "uint8")[1:].view(a.dtype),
    "a subclass": lambda a: a.view(np.recarray),
}


def _frozen(a):
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_of_any_layout_are_read(layout):
    given, out = LAYOUTS[layout](f32(8)), zeros(8)
    compile_prim_func(double())(given, out)
    np.testing.assert_array_equal(out, np.asarray(given) * 2)


@pytest.mark.parametrize("make", [lambda: zeros(16)[::2], lambda: zeros(8)[::-1], lambda: _odd(8)])
def test_arrays_of_any_layout_are_written(make):
    out = make()
    compile_prim_func(double())(f32(8), out)
    np.testing.assert_array_equal(out, f32(8) * 2)


def _odd(n):
    return np.zeros(4 * n + 1, "uint8")[1:].view("float32")


def test_what_is_not_written_keeps_its_values():
    x, y = tir.Buffer("x", (4,)), tir.Buffer("y", (4,))
    kernel = compile_prim_func(prim_func([x, y], store(y, load(x, 0), 1)))
    memory = f32(8)
    kernel(zeros(4), memory[::2])
    assert memory.tolist() == [1, 2, 0, 4, 5, 6, 7, 8]


def test_other_spellings_of_a_data_type_are_taken():
    odd = np.dtype("float32", metadata={"unit": "m"})
    given, out = f32(8).astype(odd), zeros(8)
    assert given.dtype is not out.dtype
    compile_prim_func(double())(given, out)
    assert out[0] == 2


def test_a_wrong_byte_order_is_refused():
    with pytest.raises(VMError, match="has dtype >f4, not float32"):
        compile_prim_func(double())(f32(8).astype(">f4"), zeros(8))


def test_many_threads_use_one_kernel():
    func = reduction(16, 16, 16)
    kernel, wrong = compile_prim_func(func), []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(50):
            a, b = (random.integers(-9, 9, (16, 16)).astype("float32") for _ in "ab")
            c = zeros(16, 16)
            kernel(a, b, c)
            if not (c == a @ b).all():
                wrong.append(seed)

    run_threads(work, 6)
    assert not wrong


def test_failures_in_many_threads_do_not_mix():
    n = Var("n", "int64")
    kernel = compile_prim_func(
        prim_func([Y], store(Y, const(1.0), n), [n]), options={"check": True}
    )
    wrong = []

    def work(seed):
        for k in range(100):
            index = 4 + seed * 1000 + k
            with pytest.raises(VMError) as caught:
                kernel(zeros(4), index)
            if f"index {index} is" not in str(caught.value):
                wrong.append(str(caught.value))

    run_threads(work, 6)
    assert not wrong


def test_many_threads_compile_at_once():
    results = {}

    def work(seed):
        func = elementwise(4, ["float32"], "float32", lambda x: x * const(float(seed)))
        out = zeros(4)
        compile_prim_func(func)(f32(4), out)
        results[seed] = out

    run_threads(work, 6)
    assert {seed: out[3] for seed, out in results.items()} == {k: 4.0 * k for k in range(6)}


def run_threads(work, count):
    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.slow
def test_kernels_come_and_go():
    for k in range(40):
        out = zeros(4)
        func = elementwise(4, ["float32"], "float32", lambda x, k=k: x + const(float(k)))
        compile_prim_func(func, options={"level": 1})(zeros(4), out)
        assert out[0] == k


def test_an_argument_that_is_too_large_for_code_is_refused():
    n = Var("n", "int64")
    x = tir.Buffer("x", (n, 0))
    kernel = compile_prim_func(prim_func([x], tir.Evaluate(const(0))))
    with pytest.raises(VMError, match="argument `x` is too large"):
        kernel(np.zeros((1 << 50, 0), "float32"))


def test_wide_signatures():
    count = 300
    buffers = [tir.Buffer(f"b{k}", (1,)) for k in range(count)]
    total = load(buffers[0], 0)
    for buffer in buffers[1:-1]:
        total = total + load(buffer, 0)
    args = [np.ones(1, "float32") for _ in range(count)]
    compile_prim_func(prim_func(buffers, store(buffers[-1], total, 0)))(*args)
    assert args[-1][0] == count - 1


def test_no_reference_to_arguments_is_kept():
    kernel, given, out = compile_prim_func(double()), f32(8), zeros(8)
    before = sys.getrefcount(given), sys.getrefcount(out)
    for _ in range(10):
        kernel(given, out)
    assert (sys.getrefcount(given), sys.getrefcount(out)) == before


def test_a_predicate_of_a_block_is_tested_before_its_axes_have_values():
    v = Var("v")
    inner = block([axis(v, 4)], [12 // I], store(Y, const(1.0), 0), predicate=prim.NE(I, const(0)))
    kernel = compile_prim_func(prim_func([Y], loop(I, 1, inner)))
    out = zeros(4)
    kernel(out)
    assert not out.any()
