"""Frames of TIR make what the decorator makes, and print to the same scripts."""

from __future__ import annotations

import numpy as np

import relaxscript as rx
from relaxscript.ir.relax import Call, GlobalVar
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import BlockRealize, Evaluate, SeqStmt
from relaxscript.script import from_source, relax, tir
from relaxscript.script.ir_builder import IRBuilder, ir as I, relax as R, tir as T
from relaxscript.script.names.relax_typed import DTYPES


def check(made, expected=None):
    """What was made prints as what parses back to it, and is what was expected."""
    text = made.script()
    again = from_source(text)
    assert_structural_equal(again, made)
    assert again.script() == text
    if expected is not None:
        assert_structural_equal(made, expected)
        assert text == expected.script()
    return text


def test_blocks_with_axes_regions_and_init():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("product")
        T.func_attr({"tir.noalias": True})
        A = T.arg("A", T.Buffer(("n", 3), "float32"))
        B = T.arg("B", T.Buffer((3, 4), "float32"))
        C = T.arg("C", T.Buffer(("n", 4), "float32"))
        with T.grid(A.shape[0], 4, 3) as (i, j, k), T.block("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            T.block_attr({"note": "none"})
            with T.init():
                T.buffer_store(C, 0.0, [vi, vj])
            T.buffer_store(C, C[vi, vj] + A[vi, vk] * B[vk, vj], [vi, vj])

    @tir.prim_func
    def product(
        A: tir.Buffer(("n", 3), "float32"),
        B: tir.Buffer((3, 4), "float32"),
        C: tir.Buffer(("n", 4), "float32"),
    ):
        tir.func_attr({"tir.noalias": True})
        n = tir.int64()
        for i, j, k in tir.grid(n, 4, 3):
            with tir.block("product"):
                vi, vj, vk = tir.axis.remap("SSR", [i, j, k])
                tir.reads(A[vi, vk], B[vk, vj])
                tir.writes(C[vi, vj])
                tir.block_attr({"note": "none"})
                with tir.init():
                    C[vi, vj] = tir.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    check(ib.get(), product)
    a, b = np.ones((2, 3), "float32"), np.ones((3, 4), "float32")
    c = np.zeros((2, 4), "float32")
    rx.jit(rx.IRModule({"product": ib.get()}))["product"](a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_a_declared_function_is_called_with_scalars_or_with_tensors():
    @tir.prim_func
    def after(n: tir.int32) -> tir.int32:
        return n + 1

    tensor = relax.Tensor((4,), "int32")
    with IRBuilder() as ib, I.ir_module():
        next_one = I.decl_function("after", after)
        copy = I.decl_function("copy", relax.Callable([tensor], tensor))
        with T.prim_func():
            T.func_name("count")
            A = T.arg("A", T.Buffer((4,), "int32"))
            with T.serial(0, 4) as i:
                T.buffer_store(A, next_one(i), [i])
        with R.function():
            R.func_name("main")
            x = R.arg("x", tensor)
            R.func_ret_value(R.emit(copy(x)))
        with R.function():
            R.func_name("copy")
            R.func_ret_value(R.arg("x", tensor))
        I.def_function("after", after)
    mod = ib.get()
    text = check(mod)
    assert "A[i] = Module.after(i)" in text
    assert "cls.copy(x)" in text
    assert next_one(tir.int32(1)).dtype == "int32"
    assert isinstance(next_one(relax.prim_value(1)), Call)
    assert GlobalVar("f")(3).dtype == "void"
    a = np.zeros(4, "int32")
    mod.count(a)
    assert a.tolist() == [1, 2, 3, 4]


def test_regions_that_are_not_written_are_derived():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        A = T.arg("A", T.Buffer((8,), "float32"))
        B = T.arg("B", T.Buffer((8,), "float32"))
        with T.serial(8) as i, T.block("copy"):
            vi = T.axis.spatial(8, i)
            T.where(i < 6)
            T.buffer_store(B, A[vi], [vi])

    @tir.prim_func
    def f(A: tir.Buffer((8,), "float32"), B: tir.Buffer((8,), "float32")):
        for i in range(8):
            with tir.block("copy"):
                vi = tir.axis.spatial(8, i)
                tir.where(i < 6)
                B[vi] = A[vi]

    check(ib.get(), f)


def test_every_kind_of_loop_and_branch():
    with IRBuilder() as ib, T.prim_func(is_private=True):
        A = T.arg("A", T.Buffer((64,), "int32"))
        n = T.arg("n", T.int32())
        with T.parallel(2) as i, T.unroll(2) as j, T.vectorized(0, 4) as k:
            T.buffer_store(A, n, [i * 8 + j * 4 + k])
        with T.If(n > 3):
            with T.Then():
                T.buffer_store(A, 1, [0])
            with T.Else(), T.If(n > 2), T.Then():
                T.buffer_store(A, 2, [0])
        with T.While(A[0] < 10):
            T.buffer_store(A, A[0] + 1, [0])
        with T.grid(3) as i:
            T.evaluate(A[i])

    @tir.prim_func(private=True)
    def f(A: tir.Buffer((64,), "int32"), n: tir.int32):
        for i in tir.parallel(2):
            for j in tir.unroll(2):
                for k in tir.vectorized(4):
                    A[i * 8 + j * 4 + k] = n
        if n > 3:
            A[0] = 1
        elif n > 2:
            A[0] = 2
        while A[0] < 10:
            A[0] = A[0] + 1
        for i in range(3):
            tir.evaluate(A[i])

    check(ib.get(), f)


def test_memory_variables_assertions_and_hints():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        a = T.arg("a", T.handle())
        A = T.match_buffer(a, (8,), "float32")
        assert A.name == "a"
        IRBuilder.name("A", A)
        D = IRBuilder.name("D", T.alloc_buffer((8,), "float32"))
        with T.LetStmt(A[0] + 1.0) as x:
            IRBuilder.name("x", x)
            T.buffer_store(D, x, [0])
            with T.Assert(x > 0.0, "positive"):
                with T.allocate([4], "float32") as p:
                    IRBuilder.name("p", p)
                    with T.decl_buffer((4,), "float32", data=p) as E:
                        IRBuilder.name("E", E)
                        T.buffer_store(E, D[0], [0])

    @tir.prim_func
    def f(a: tir.handle):
        A = tir.match_buffer(a, (8,), "float32")
        D = tir.alloc_buffer((8,), "float32")
        x: tir.float32 = A[0] + tir.float32(1)
        D[0] = x
        assert x > tir.float32(0), "positive"
        p = tir.allocate([4], "float32")
        E = tir.decl_buffer((4,), "float32", data=p)
        E[0] = D[0]

    check(ib.get(), f)


def test_hints_constants_and_memory_of_a_buffer():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        A = T.arg("A", T.Buffer((4,), "int32"))
        with T.attr(0, "pragma_note", 1):
            with T.allocate_const([1, 2, 3, 4], "int32", [4]) as p:
                with T.decl_buffer((4,), "int32", data=p) as C:
                    with T.serial(4, annotations={"note": 1}) as i:
                        T.buffer_store(A, C[i], [i])
        with T.decl_buffer((2,), "int32") as own:
            T.buffer_store(own, 1, [0])
        with T.LetStmt(3, T.int64) as x:
            T.evaluate(x)
    check(ib.get())


def test_a_result_and_a_matched_region():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        T.func_ret(T.int32)
        A = T.arg("A", T.Buffer((8, 8), "float32"))
        with T.block("part"):
            B = IRBuilder.name("B", T.match_buffer(A[0:4, 2:6], (4, 4)))
            T.buffer_store(B, 1.0, [0, 0])
        T.evaluate(T.ret(T.int32(0)))
    check(ib.get())


def test_the_other_axes():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        A = T.arg("A", T.Buffer((8,), "int32"))
        with T.grid(8, 8, 8) as (i, j, k), T.block("axes"):
            vi = T.axis.reduce(8, i)
            vj = T.axis.scan((0, 8), j)
            vk = T.axis.opaque(8, k)
            T.buffer_store(A, vj + vk, [vi])
    text = check(ib.get())
    assert '"RCO"' in text


def test_statements_without_a_prim_func():
    with IRBuilder() as ib:
        A = T.buffer_var("float32")
        with T.block("b"):
            T.evaluate(0)
    assert isinstance(ib.get(), BlockRealize)
    assert A.dtype == "handle"
    with IRBuilder() as ib:
        T.evaluate(1)
        T.evaluate(2)
    assert isinstance(ib.get(), SeqStmt)
    with IRBuilder() as ib, T.prim_func():
        pass
    assert isinstance(ib.get().body, Evaluate)


def test_a_buffer_that_exists_is_a_parameter():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        given = rx.tir.Buffer("x", (4,), "float32")
        A = T.arg("A", given)
        T.buffer_store(A, 1.0, [0])
        T.buffer_store(given, 2.0, [1])
    assert "A: T.Buffer((4,)" in check(ib.get())
    assert (A.name, given.name) == ("A", "x")


def test_threads_are_launched_around_statements():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        A = T.arg("A", T.buffer((64,), "float32"))
        by = IRBuilder.name("by", T.env_thread("blockIdx.y"))
        with T.launch_thread(by, 2), T.launch_thread("threadIdx.x", 32) as tx:
            IRBuilder.name("tx", tx)
            T.buffer_store(A, 1.0, [by * 32 + tx])

    @tir.prim_func
    def f(A: tir.Buffer((64,), "float32")):
        by = tir.env_thread("blockIdx.y")
        with tir.launch_thread(by, 2):
            with tir.launch_thread("threadIdx.x", 32) as tx:
                A[by * 32 + tx] = tir.float32(1)

    check(ib.get(), f)


def test_every_name_of_scripts_is_there_but_what_only_scripts_have():
    scripts_only = {"macro", "meta_var", "dim", *DTYPES}
    assert set(tir.__all__) - set(T.__all__) <= scripts_only
    assert set(T.__all__) - set(tir.__all__) == {"arg", "func_name", "func_ret"}
    assert all(hasattr(T, name) for name in T.__all__)


def test_a_buffer_made_by_hand_is_stored_into():
    with IRBuilder() as ib:
        made = T.Buffer((128, 128), "float32")
        row = T.int32()
        T.buffer_store(made, 0.1, [0, row])
    store = ib.get()
    assert store.buffer is made
    assert store.indices[1] is row


def test_axes_of_variables_without_a_name():
    with IRBuilder() as ib, T.block("b"):
        x, y = T.axis.spatial(8, T.int32()), T.axis.reduce(16, T.int32())
        T.evaluate(x + y)
    realize = ib.get()
    assert [axis.var.name for axis in realize.block.iter_vars] == ["v", "v_1"]
    assert [value.dtype for value in realize.iter_values] == ["int32", "int32"]


def test_a_prefetch_without_ranges_is_of_the_whole_buffer():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("copy")
        A = T.arg("A", T.Buffer((4, 8), "float32"))
        B = T.arg("B", T.Buffer((4, 8), "float32"))
        T.prefetch(A, [])
        T.prefetch(A, [T.Range(0, 4), T.Range(0, 2)])
        T.buffer_store(B, A[0, 0], [0, 0])
    assert "T.prefetch(A, [])" in check(ib.get())
    result = np.zeros((4, 8), "float32")
    rx.jit(ib.get().with_attr("global_symbol", "copy"))["copy"](np.ones_like(result), result)
    assert result[0, 0] == 1


def test_a_statement_that_is_a_prefetch_needs_no_function():
    with IRBuilder() as ib:
        T.prefetch(T.Buffer((8,), "float32"), [])
    assert ib.get().bounds == ()


def test_dimensions_in_strings_are_names_and_arithmetic():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        A = T.arg("A", T.Buffer(("n * 2", "n"), "float32"))
        T.buffer_store(A, 1.0, [0, 0])
    assert 'A: T.Buffer(("n * 2", "n")' in check(ib.get())


def test_axes_are_called_after_the_names_of_their_loops():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("fill")
        A = T.arg("A", T.Buffer((8,), "float32"))
        with T.serial(8) as i:
            IRBuilder.name("row", i)
            with T.block("fill"):
                vrow = T.axis.remap("S", [i])
                T.buffer_store(A, 1.0, [vrow])
    assert i.name == "i"
    text = check(ib.get())
    assert "for row in range(8)" in text
    assert 'vrow = T.axis.remap("S", [row])' in text


def test_buffers_of_a_piece_have_their_names():
    with IRBuilder() as ib:
        B = T.buffer((8,), "float32")
        T.evaluate(B[0])
        IRBuilder.name("B", B)
    assert B.name == "buffer"
    assert ib.get().value.buffer.name == "B"


def test_a_buffer_of_a_region_has_its_shape_where_none_is_named():
    with IRBuilder() as ib, T.prim_func():
        T.func_name("f")
        A = T.arg("A", T.Buffer((16, 64), "int32"))
        with T.block("b"):
            IRBuilder.name("B", T.match_buffer(A[8:16, 32:64]))
            T.evaluate(0)

    @tir.prim_func
    def f(A: tir.Buffer((16, 64), "int32")):
        with tir.block("b"):
            B = tir.match_buffer(A[8:16, 32:64], (8, 32), "int32")
            tir.evaluate(0)

    check(ib.get(), f)
