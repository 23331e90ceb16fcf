"""Statements of PrimFuncs, modules of them, and what is printed and read back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import FloatImm
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.ir.tir import LetStmt
from relaxscript.script import from_source, ir as I, tir as T
from relaxscript.testing.prim_funcs import prim_funcs
from relaxscript_tests.script.parser.reading import nodes

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off


# ---------------------------------------------------------------- statements


def test_numbers_take_the_data_type_of_the_buffer():
    @T.prim_func
    def f(x: T.Buffer((4,), "float16"), k: T.Buffer((4,), "int8"), b: T.Buffer((4,), "bool")):
        x[0] = 1
        x[1] = 0.5
        k[0] = 7
        b[0] = True

    values = [store.value for store in nodes(f, tir.BufferStore)]
    assert [v.dtype for v in values] == ["float16", "float16", "int8", "bool"]
    assert isinstance(values[0], FloatImm)


def test_slices_are_vectors():
    @T.prim_func
    def f(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32")):
        x[0:8:2] = y[4:8] + y[0:4:1]
        x[8:12] = 1.0

    @T.prim_func
    def g(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32")):
        x[T.Ramp(0, 2, 4)] = y[T.Ramp(4, 1, 4)] + y[T.Ramp(0, 1, 4)]
        x[T.Ramp(8, 1, 4)] = T.Broadcast(T.float32(1), 4)

    assert_structural_equal(f.with_attr("global_symbol", "g"), g)


def test_an_element_is_updated_by_an_operator():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[1] *= 2.0

    @T.prim_func
    def g(x: T.Buffer((4,), "float32")):
        x[1] = x[1] * 2.0

    assert_structural_equal(f.with_attr("global_symbol", "g"), g)


def test_a_scalar_variable_lasts_to_the_end_of_its_statements():
    @T.prim_func
    def f(x: T.Buffer((4,), "int32")):
        for i in range(4):
            a = x[i] + 1
            b: T.int32 = 3
            x[i] = a + b
        x[0] = 1

    a, b = nodes(f, LetStmt)
    assert (a.var.name, a.var.dtype, b.value.dtype) == ("a", "int32", "int32")
    assert isinstance(a.body, LetStmt)
    assert isinstance(b.body, tir.BufferStore)


def test_a_scalar_variable_may_be_bound_anew_beside_its_first_binding():
    @T.prim_func
    def f(x: T.Buffer((4,), "int32")):
        a = x[0]
        a = a + 1
        a += 2
        x[1] = a

    array = np.array([5, 0, 0, 0], "int32")
    evaluate(f, [array])
    assert array[1] == 8


def test_let_with_an_end_of_its_own():
    @T.prim_func
    def f(x: T.Buffer((4,), "int32")):
        with T.LetStmt(x[0] + 1) as a:
            x[1] = a
        x[2] = 0

    first, second = f.body.seq
    assert isinstance(first, LetStmt)
    assert isinstance(second, tir.BufferStore)


def test_while_assert_evaluate_and_return():
    @T.prim_func
    def f(x: T.Buffer((4,), "int32"), n: T.int32) -> T.int32:
        """What stands here means nothing."""
        assert n > 0, f"n is at least {1}"
        while x[0] < n:
            x[0] += 1
        pass  # noqa: PIE790
        T.evaluate(n)
        return x[0]

    assert nodes(f, tir.AssertStmt)[0].message.value == "n is at least 1"
    assert evaluate(f, [np.zeros(4, "int32"), 3]) == 3


def test_a_return_without_a_value_at_the_end_says_nothing():
    @T.prim_func
    def f(x: T.Buffer((4,), "int32")) -> None:
        x[0] = 1
        return

    assert isinstance(f.body, tir.BufferStore)


def test_memory_of_the_body():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        p = T.allocate([8], "float32", "local")
        A = T.decl_buffer((8,), "float32", data=p, scope="local")
        with T.decl_buffer((2,), "int32") as B:
            B[0] = 1
        q = T.allocate_const([1, 2], "int32", [2])
        C = T.Buffer((2,), "int32", data=q)
        A[0] = x[C[1]]

    allocations = nodes(f, tir.Allocate)
    assert [(a.buffer_var.name, a.dtype) for a in allocations] == [("p", "float32"), ("B", "int32")]
    assert allocations[0].buffer_var.type_annotation.storage_scope == "local"
    assert [d.buffer.name for d in nodes(f, tir.DeclBuffer)] == ["A", "B", "C"]
    assert nodes(f, tir.DeclBuffer)[0].buffer.data is allocations[0].buffer_var
    assert nodes(f, tir.AllocateConst)[0].data.tolist() == [1, 2]


def test_the_address_of_a_buffer_is_its_pointer():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        T.evaluate(T.call_extern("int32", "touch", x.data))

    x, _ = f.buffer_map.values()
    assert nodes(f, prim.Call)[0].args[1] is x.data


def test_hints_hold_what_follows_them():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        T.attr(n, "first", 1)
        with T.attr(T.iter_var(n, (0, 4), "ThreadIndex", "threadIdx.x"), "second", 2):
            x[0] = 0.0
        x[1] = 0.0

    first, second = nodes(f, tir.AttrStmt)
    assert (first.attr_key, second.attr_key) == ("first", "second")
    assert isinstance(first.body, tir.SeqStmt)
    assert second.node.thread_tag == "threadIdx.x"


def test_loads_and_stores_with_predicates():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), n: T.int32):
        mask = T.Broadcast(n > 0, 4)
        x.vstore([T.Ramp(0, 1, 4)], x.vload([T.Ramp(4, 1, 4)], predicate=mask), predicate=mask)
        T.buffer_store(x, x.vload([0], "float32x4"), [T.Ramp(0, 1, 4)])

    first, second = nodes(f, tir.BufferStore)
    assert first.predicate is first.value.predicate is not None
    assert structural_equal(second.value.indices[0], prim.Ramp(prim.const(0), prim.const(1), 4))


# ---------------------------------------------------------------- modules


def test_functions_of_the_module_are_called_by_its_name_or_an_alias():
    @I.ir_module
    class Module:
        @T.prim_func
        def main(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            cls = Module
            for i in range(4):
                cls.scale(x, T.float32(2))
                y[i] = Module.square(x[i])

        @T.prim_func
        def scale(x: T.Buffer((4,), "float32"), by: T.float32):
            x[0] = x[0] * by

        @T.prim_func(private=True)
        def square(a: T.float32) -> T.float32:
            return a * a

    main = Module["main"]
    first, second = [c for c in nodes(main, prim.Call) if isinstance(c.op, GlobalVar)]
    x, _ = main.buffer_map.values()
    assert (first.op, first.dtype) == (Module.get_global_var("scale"), "void")
    assert first.args[0] is x.data
    assert (second.op.name_hint, second.dtype) == ("square", "float32")


# ---------------------------------------------------------------- printing


EVERYTHING = """
@T.prim_func(private=True)
def f(a: T.handle, c: T.Buffer((8, 8), "int64"), m: T.int64, s: T.bool):
    n, k = T.int64(), T.int64(is_size_var=True)
    A = T.match_buffer(a, (n, k, "q"), "float16", strides=(8, 1, 1))
    for i in T.parallel(n):
        for j in T.unroll(2, k):
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("b"):
                    vi = T.axis.spatial(n, i)
                    vj = T.axis.S((2, k), j)
                    vt = T.axis.R(4, t + 1)
                    B = T.match_buffer(A[vi, 0:vj, 0:4], (vj, 4), "float16", strides=("s1", "s2"))
                    D = T.alloc_buffer((vj,), "float16", scope="local")
                    D[0] = B[0, 0] + A[vi, vj, vt]
                    with T.block("inner"):
                        wi = T.axis.scan(4, 2)
                        wo = T.axis.opaque(4, 3)
                        c[wi, wo] = T.Cast("int64", D[wi]) + T.shift_left(m, 2) + m % 3 + m // 2
    with T.attr(c.data, "hint", 1):
        c[0, 0] = T.min(m, 3, 4)
    if s:
        T.evaluate(T.call_packed("foo", c[0, 0], 1, T.address_of(c[1, 1])))
    p = T.allocate_const([1, 2, 3], "int32", [3])
    P = T.Buffer((3,), "int32", data=p)
    c[0, P[1]] = T.Select(s, T.int64(4), m) & 7 | (m ^ 1) ** 2
    x = T.int32()
    c[1, T.Let(x + 1, where={x: P[0]})] = -m
    c[0, 0:4] = T.Ramp(T.int64(0), 1, 4) * T.Broadcast(m, 4)
    T.buffer_store(c, T.Broadcast(m, 4), [0, T.Ramp(0, 1, 4)], predicate=T.Broadcast(s, 4))
    assert s and not m == 4 or m != 2, "message"
    c[0, 1] = abs(m) + T.cast(T.float32(1.5), "int64") + T.ceildiv(m, 4) + T.max_value("int64")
    while c[0, 0] < 4:
        c[0, 0] += 1
    with T.decl_buffer((4,), "float32") as Z:
        Z[0] = T.float32("inf") + T.float32("nan")
"""


def test_what_is_printed_is_read_back():
    f = from_source(EVERYTHING)
    text = f.script()
    assert_structural_equal(from_source(text), f)
    assert from_source(text).script() == text


@pytest.mark.slow
@given(prim_funcs())
def test_random_functions_are_read_back(f):
    text = f.script()
    assert_structural_equal(from_source(text), f)
