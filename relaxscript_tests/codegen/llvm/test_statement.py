from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError, Source
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var, const
from relaxscript.ir.relax import GlobalVar
from relaxscript_tests.prim_func_examples import EXAMPLES, axis, block, run_example, zeros
from relaxscript_tests.prim_func_mistakes import REFUSED, I, Y
from relaxscript_tests.prim_funcs import both, load, loop, prim_func, store


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"check": True}, {"level": 0}], ids=str)
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_do_what_they_say(name, options):
    made = EXAMPLES[name]()
    kernel = compile_prim_func(made.func, options=options, module=made.module)
    run_example(made, lambda _: kernel(*made.args))


def refused(body, **options):
    """The message for a statement over `y` that cannot be compiled."""
    with pytest.raises(DiagnosticError) as caught:
        compile_prim_func(prim_func([Y], body), **options)
    return caught.value


@pytest.mark.parametrize("message", REFUSED)
def test_what_has_no_meaning_is_refused(message):
    assert message in refused(REFUSED[message]).msg


def test_a_statement_of_no_known_kind_is_refused():
    assert "`T.Stmt` cannot be run" in refused(tir.Stmt()).msg


def test_what_cannot_be_compiled_is_named_with_its_place():
    span = Source("model.py", "for i in T.thread_binding(4):\n").between(4, 5)
    threads = loop(I, 4, store(Y, const(1.0), 0), "thread_binding").replace(span=span)
    error = refused(threads)
    assert (error.diagnostics[0].code, error.diagnostics[0].span) == ("RX0505", span)
    assert "a loop over the threads of a GPU cannot run on the CPU" in error.msg


@pytest.mark.parametrize("dtype", ["int4", "float8_e8m0fnu", "int128"])
def test_data_types_without_instructions_are_refused(dtype):
    value = prim.Cast(dtype, const(1.0))
    error = refused(store(Y, prim.Cast("float32", value), 0))
    assert error.diagnostics[0].code == "RX0505"
    assert f"there is no code for values of {dtype}" in error.msg


def test_a_region_of_fewer_dimensions_is_refused():
    part = tir.MatchBufferRegion(tir.Buffer("p", (1, 4)), tir.BufferRegion(Y, [tir.Range(0, 4)]))
    body = block([], [], tir.Evaluate(const(0)), match_buffers=(part,))
    assert "buffer `p` has more dimensions than its region" in refused(body).msg


def test_a_view_of_memory_with_strides_is_refused():
    data = Var("data", "handle")
    x = tir.Buffer("x", (2,), data=data, strides=(Var("s", "int64"),))
    flat = tir.Buffer("flat", (4,), data=data)
    func = prim_func([x], tir.DeclBuffer(flat, store(flat, const(1.0), 0)))
    with pytest.raises(DiagnosticError, match="`flat` is declared over memory with strides"):
        compile_prim_func(func)


def test_deep_expressions_are_refused():
    value = load(Y, 0)
    for _ in range(5000):
        value = prim.Add.make(value, const(1.0))
    assert "nested too deeply to be compiled" in refused(store(Y, value, 0)).msg


@st.composite
def nests(draw):
    """A loop nest that reduces some axes of an array, its shape, and the axes that are kept."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    kept = [draw(st.booleans()) for _ in shape]
    kinds = draw(st.permutations(range(len(shape))))
    return shape, kept, kinds


@pytest.mark.slow
@given(nests(), st.sampled_from(["int32", "float32", "float16"]), st.sampled_from(["Add", "Max"]))
def test_random_reductions(nest, dtype, operation):
    shape, kept, order = nest
    loops = [Var(f"i{k}", "int64") for k in range(len(shape))]
    axes = [Var(f"v{k}", "int64") for k in range(len(shape))]
    symbols = [Var(f"n{k}", "int64") for k in range(len(shape))]
    out_axes = [v for v, keep in zip(axes, kept, strict=True) if keep]
    source = tir.Buffer("x", symbols, dtype)
    target = tir.Buffer("y", [n for n, keep in zip(symbols, kept, strict=True) if keep], dtype)
    made = getattr(prim, operation)(load(target, *out_axes), load(source, *axes))
    start = store(target, const(0, dtype), *out_axes)
    domains = [
        axis(v, n, "spatial" if keep else "reduce")
        for v, n, keep in zip(axes, symbols, kept, strict=True)
    ]
    body: tir.Stmt = block(domains, loops, store(target, made, *out_axes), init=start)
    for k in order:
        body = loop(loops[k], symbols[k], body)
    x = np.random.default_rng(sum(shape)).integers(-50, 50, shape).astype(dtype)
    y = np.full([n for n, keep in zip(shape, kept, strict=True) if keep], 99, dtype)
    # Where nothing is reduced, `init` runs before each store as well.
    both(prim_func([source, target], body), [x, y], check=True)


@pytest.mark.slow
@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=2),
    st.sampled_from(["serial", "parallel", "vectorized", "unrolled"]),
    st.integers(1, 5),
    st.integers(-3, 3),
)
def test_random_index_arithmetic(shape, kind, factor, shift):
    rows, columns = shape
    i, j = Var("i"), Var("j")
    x, y = tir.Buffer("x", (rows * columns,), "int32"), tir.Buffer("y", (rows, columns), "int32")
    place = (i * factor + j // 2 + shift) % (rows * columns)
    value = load(x, place) + prim.FloorDiv(i - j, const(factor)) * prim.FloorMod(j - i, const(3))
    body = loop(i, rows, loop(j, columns, store(y, value, i, j), kind))
    given_x = np.arange(rows * columns, dtype="int32")
    both(prim_func([x, y], body), [given_x, np.zeros((rows, columns), "int32")], check=True)


@pytest.mark.parametrize("kind", ["vectorized", "unrolled"])
@pytest.mark.parametrize("extent", [0, 3, 200, Var("n")])
@pytest.mark.parametrize("level", [0, 3])
def test_loops_that_llvm_cannot_change_are_compiled_in_silence(kind, extent, level, capfd):
    n = extent if isinstance(extent, Var) else Var("n")
    x = tir.Buffer("x", (256,))
    carried = store(x, load(x, I) * const(0.5) + load(x, I + 1), I + 1)
    func = prim_func([x], loop(I, extent, carried, kind), [n])
    both(func, [np.arange(256, dtype="float32"), 17], level=level)
    assert capfd.readouterr() == ("", "")


def test_unrolled_loops_are_written_out():
    body = loop(I, 4, store(Y, prim.Cast("float32", I), I), "unrolled")
    kernel = compile_prim_func(prim_func([Y], body))
    assert kernel.llvm_ir.count("store float") == 4


def test_unrolled_loops_that_would_be_long_are_loops():
    y, j = tir.Buffer("y", (40, 40)), Var("j")
    inner = loop(j, 40, store(y, const(1.0), I, j), "unrolled")
    kernel = compile_prim_func(prim_func([y], loop(I, 40, inner, "unrolled")))
    assert kernel.llvm_ir.count("store float") == 40


# ---------------------------------------------------------------- functions of the module


def pointer(name):
    return Var(name, "handle", prim.PointerType(prim.PrimType("float32")))


def calling(callee, *args, buffers=None, dtype="void"):
    """A module whose main calls `callee`, and main."""
    module = IRModule({"callee": callee})
    call = tir.Evaluate(prim.Call(dtype, module.get_global_var("callee"), args))
    main = prim_func(buffers or [], call, global_symbol="main")
    return module, main


def refused_call(callee, *args, buffers=None):
    module, main = calling(callee, *args, buffers=buffers)
    with pytest.raises(DiagnosticError) as caught:
        compile_prim_func(main, module=module)
    return caught.value.msg


A = tir.Buffer("a", (4,))
TAKES_A = prim_func([A], store(A, const(1.0), 0))


def test_calls_have_as_many_arguments_as_parameters():
    assert "`callee` takes 1 argument, not 0" in refused_call(TAKES_A)


def test_buffers_are_passed_by_their_pointer():
    assert "argument `a` is not the pointer of a buffer" in refused_call(TAKES_A, const(1))


def test_scalars_are_passed_in_their_data_type():
    callee = prim_func([], tir.Evaluate(const(0)), [Var("n")])
    assert "argument `n` is float32, not int32" in refused_call(callee, const(1.0))


def test_buffers_are_passed_in_their_data_type_and_rank():
    data = pointer("p")
    other = tir.Buffer("x", (4,), "int32", data)
    assert "`a` holds int32, not float32" in refused_call(TAKES_A, data, buffers=[other])
    square = tir.Buffer("x", (2, 2), data=data)
    assert "`a` has 2 dimensions, not 1" in refused_call(TAKES_A, data, buffers=[square])


def test_regions_with_strides_are_not_passed_as_compact_buffers():
    data = pointer("p")
    strided = tir.Buffer("x", (4,), data=data, strides=(Var("s", "int64"),))
    assert "`a` is a region with strides" in refused_call(TAKES_A, data, buffers=[strided])


def test_recursion_is_refused():
    callee = tir.PrimFunc([], tir.Evaluate(prim.Call("void", GlobalVar("callee"), ())))
    assert "a PrimFunc that calls itself has no code" in refused_call(callee)


def test_the_shape_of_what_is_passed_is_compared_at_run_time():
    data, n = pointer("p"), Var("n", "int64")
    module, main = calling(TAKES_A, data, buffers=[tir.Buffer("x", (n,), data=data)])
    kernel = compile_prim_func(main, module=module)
    kernel(zeros(4))
    with pytest.raises(RuntimeError, match="dimension 0 of argument `a` of `PrimFunc` is 5, not 4"):
        kernel(zeros(5))


def test_a_failure_inside_of_a_call_is_the_callers_too():
    check = tir.AssertStmt(const(False), prim.StringImm("too long"), tir.Evaluate(const(0)))
    module, main = calling(tir.PrimFunc([], check))
    with pytest.raises(RuntimeError, match="too long"):
        compile_prim_func(main, module=module)()


def test_returned_values_have_one_data_type():
    body = tir.IfThenElse(
        prim.EQ(load(Y, 0), const(0.0)),
        tir.Evaluate(prim.Call("int32", "tir.ret", (const(1),))),
        tir.Evaluate(prim.Call("float32", "tir.ret", (const(1.0),))),
    )
    assert "float32 is returned here, but int32 elsewhere" in refused(body).msg
