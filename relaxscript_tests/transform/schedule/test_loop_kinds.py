"""Loops that are parallel, vectorized, unrolled or bound to threads; annotations."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.tir import ForKind
from relaxscript.script import tir as T
from relaxscript.tir import Schedule

from .scheduled import arguments, body_of, chain, check, matmul, recurrence, refused, scale


def test_kinds_of_loops_are_printed_and_change_no_result():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(i, j_0, k, j_1)
    sch.parallel(i)
    sch.unroll(j_0)
    sch.vectorize(j_1)
    text = body_of(check(matmul, sch))
    assert "for i in T.parallel(12):" in text
    assert "for j_0 in T.unroll(2):" in text
    assert "for j_1 in T.vectorized(8):" in text
    assert sch.get(j_1).kind == ForKind.VECTORIZED


def test_a_vectorized_loop_of_any_length_runs_right():
    sch = Schedule(scale)
    i, j = sch.get_loops("scale")
    sch.vectorize(j)
    sch.parallel(i)
    check(scale, sch, sizes=(0, 1, 9))


def test_a_loop_that_is_bound_to_threads_runs_in_order():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    assert 'T.thread_binding(16, thread="threadIdx.x")' in body_of(check(matmul, sch))


def test_threads_of_one_block_may_add_to_one_sum():
    sch = Schedule(matmul)
    k = sch.get_loops("C")[2]
    refused(sch, lambda: sch.bind(k, "blockIdx.x"), "cannot be bound to `blockIdx.x`")
    refused(sch, lambda: sch.bind(k, "threadIdx.x"), "they share elements of `C`")


@pytest.mark.parametrize("kind", ["parallel", "vectorize"])
def test_iterations_that_depend_on_each_other_do_not_run_together(kind):
    sch = Schedule(matmul)
    k = sch.get_loops("C")[2]
    refused(
        sch, lambda: getattr(sch, kind)(k), "the iterations of the loop `k` depend on each other",
        "they share elements of `C`", "block `C` writes `C`",
    )  # fmt: skip
    moved = Schedule(recurrence)
    i, j = moved.get_loops("step")
    refused(moved, lambda: getattr(moved, kind)(i), "they share elements of `X`")
    getattr(moved, kind)(j)
    check(recurrence, moved)


def test_a_sum_without_init_is_told_to_be_split():
    @T.prim_func
    def total(X: T.Buffer((8,), "int32"), Y: T.Buffer((1,), "int32")):
        for i in range(8):
            with T.block("total"):
                vi = T.axis.reduce(8, i)
                T.reads(Y[0], X[vi])
                Y[0] = Y[0] + X[vi]

    sch = Schedule(total)
    (i,) = sch.get_loops("total")
    refused(
        sch, lambda: sch.parallel(i), "`sch.rfactor` gives each iteration an accumulator of its own"
    )
    sch.bind(i, "threadIdx.x")
    check(total, sch)


def test_calls_with_effects_keep_their_order():
    @T.prim_func
    def noisy(X: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("b"):
                vi = T.axis.opaque(8, i)
                T.reads(X[vi])
                T.writes()
                T.evaluate(T.call_extern("int32", "puts", X[vi]))

    sch = Schedule(noisy)
    (i,) = sch.get_loops("b")
    refused(sch, lambda: sch.parallel(i), "its calls may have effects")


def test_indices_that_are_read_may_be_equal():
    @T.prim_func
    def scatter(P: T.Buffer((8,), "int32"), X: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("b"):
                vi = T.axis.spatial(8, i)
                X[P[vi]] = vi

    sch = Schedule(scatter)
    (i,) = sch.get_loops("b")
    refused(sch, lambda: sch.parallel(i), "they share elements of `X`")


def test_threads_have_known_names_and_are_bound_once():
    sch = Schedule(chain)
    i, j = sch.get_loops("A")
    refused(sch, lambda: sch.bind(i, "threadIdx.w"), 'did you mean "threadIdx.x"?')
    refused(sch, lambda: sch.bind(i, 3), "there are no threads 3", "known are blockIdx.x")
    sch.bind(i, "threadIdx.x")
    refused(sch, lambda: sch.bind(j, "threadIdx.x"), "`i` is bound to `threadIdx.x` already")
    sch.bind(j, "threadIdx.y")
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    check(chain, sch)


def test_threads_that_exchange_elements_do_not_run_on_the_cpu():
    @T.prim_func
    def reverse(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
        S = T.alloc_buffer((8,), scope="shared")
        for t in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("load"):
                vi = T.axis.spatial(8, t)
                S[vi] = X[vi]
            with T.block("store"):
                vi = T.axis.spatial(8, t)
                Y[vi] = S[7 - vi]

    for run in (compile_prim_func, lambda func: evaluate(func, arguments(func))):
        with pytest.raises(DiagnosticError, match="exchange elements: they share elements of `S`"):
            run(reverse)


def test_annotations_come_and_go():
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i = sch.get_loops(block)[0]
    sch.annotate(block, "kind", "tile")
    sch.annotate(i, "pragma_unroll", 4)
    text = body_of(check(matmul, sch))
    assert 'T.block_attr({"kind": "tile"})' in text
    assert 'annotations={"pragma_unroll": 4}' in text
    sch.unannotate(block, "kind")
    sch.unannotate(i, "pragma_unroll")
    assert body_of(sch.mod["main"]) == body_of(matmul)
    refused(sch, lambda: sch.unannotate(block, "kind"), "`C` has no annotation 'kind'")
    sch.annotate(i, "kind", 1)
    refused(sch, lambda: sch.unannotate(i, "kinds"), 'did you mean "kind"?')
    refused(sch, lambda: sch.annotate(i, 3, 1), "an annotation has a name, not 3")
    refused(sch, lambda: sch.annotate(i, "x", np.ones), "`x`: ")
