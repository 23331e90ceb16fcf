"""Tensor expressions become the PrimFuncs that the same loops in a script are, and run alike."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import te, tir, topi
from relaxscript.errors import DiagnosticError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir_compute import ProducerLoad
from relaxscript.script import from_source, tir as T

TARGETS = ["llvm", "reference"]


def run(function, *arrays, target="llvm"):
    """Run a PrimFunc on arrays, of which it writes some."""
    vm = rx.VirtualMachine(rx.build(rx.IRModule({"main": function}), target))
    vm["main"](*arrays)


def check_script(function):
    """What was made prints as a script that means the same."""
    assert_structural_equal(from_source(function.script()), function)


def test_the_example_of_the_docstring_is_what_happens():
    example = doctest.DocTestParser().get_doctest(te.__doc__, {}, "te", None, 0)
    said = []
    failed, tried = doctest.DocTestRunner().run(example, out=said.append)
    assert (failed, tried) == (0, 6), "".join(said)


def test_a_product_is_the_blocks_that_a_script_writes():
    a, b = te.placeholder((4, 3), name="a"), te.placeholder((3, 5), name="b")
    k = te.reduce_axis((0, 3), name="k")
    c = te.compute((4, 5), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")

    @T.prim_func
    def main(
        a: T.Buffer((4, 3), "float32"), b: T.Buffer((3, 5), "float32"),
        c: T.Buffer((4, 5), "float32"),
    ):  # fmt: skip
        T.func_attr({"tir.noalias": True})
        for i, j, k in T.grid(4, 5, 3):
            with T.block("c"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    c[v_i, v_j] = T.float32(0.0)
                c[v_i, v_j] = c[v_i, v_j] + a[v_i, v_k] * b[v_k, v_j]

    made = te.create_prim_func([a, b, c])
    assert_structural_equal(made, main)
    check_script(made)


def test_a_tensor_of_rank_0_is_a_block_that_says_what_it_reads():
    x = te.placeholder((3,), name="x")

    @T.prim_func
    def main(x: T.Buffer((3,), "float32"), y: T.Buffer((), "float32")):
        T.func_attr({"tir.noalias": True})
        with T.block("y"):
            vi = T.axis.spatial(1, T.int64(0))
            T.reads(x[1])
            T.writes(y[()])
            y[()] = x[1] * T.float32(2)

    made = te.create_prim_func([x, te.compute((), lambda: x[1] * 2.0, name="y")])
    assert_structural_equal(made, main)
    check_script(made)


def test_a_function_of_tensors_is_the_script_that_tvm_prints_of_it():
    a, b = te.placeholder((8, 8), "float32", name="A"), te.placeholder((8, 8), "float32", name="B")
    k = te.reduce_axis((0, 8), "k")
    y = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="Y")
    c = te.compute((8, 8), lambda i, j: te.max(y[i, j], 0), name="C")

    @T.prim_func
    def expected(
        A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"),
        C: T.Buffer((8, 8), "float32"),
    ):  # fmt: skip
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": T.bool(True)})
        Y = T.alloc_buffer((8, 8))
        for i, j, k in T.grid(8, 8, 8):
            with T.block("Y"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[v_i, v_j] = T.float32(0.0)
                Y[v_i, v_j] = Y[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]
        for i, j in T.grid(8, 8):
            with T.block("C"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                C[v_i, v_j] = T.max(Y[v_i, v_j], T.float32(0.0))

    function = te.create_prim_func([a, b, c]).with_attr({"global_symbol": "mm_relu"})
    assert_structural_equal(function, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_tensors_between_live_in_buffers_of_their_own(target):
    n = te.var("n", "int64")
    x = te.placeholder((n, 4), name="x")
    doubled = te.compute(x.shape, lambda i, j: x[i, j] * 2.0, name="doubled")
    y = te.compute((n,), lambda i: doubled[i, 0] - doubled[i, 3], name="y")
    made = te.create_prim_func([x, y])
    check_script(made)
    values, result = np.arange(12, dtype="float32").reshape(3, 4), np.zeros(3, "float32")
    run(made, values, result, target=target)
    np.testing.assert_array_equal(result, (values[:, 0] - values[:, 3]) * 2)


@pytest.mark.parametrize("target", TARGETS)
def test_a_condition_leaves_elements_out_of_a_reduction(target):
    x = te.placeholder((8,), name="x")
    k = te.reduce_axis((0, 8), name="k")
    y = te.compute((8,), lambda i: te.sum(x[k], axis=k, where=k < i), name="y")
    values, result = np.arange(1, 9, dtype="float32"), np.zeros(8, "float32")
    made = te.create_prim_func([x, y])
    check_script(made)
    run(made, values, result, target=target)
    np.testing.assert_array_equal(result, np.cumsum(values) - values)


@pytest.mark.parametrize("size", [0, 3, "n"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_reduction_of_nothing_is_what_it_starts_from(target, size):
    n = te.var("n", "int64") if size == "n" else size
    x, k = te.placeholder((4, n), name="x"), te.reduce_axis((0, n), name="k")
    rows = te.compute((4,), lambda i: te.sum(x[i, k], axis=k), name="rows")
    whole = te.compute((), lambda: te.max(x[0, k], axis=k), name="whole")
    made = te.create_prim_func([x, rows, whole])
    check_script(made)
    # Only where there may be nothing, the start is a block of its own.
    blocks = [s.name_hint for s in rx.ir.walk.walk(made.body) if isinstance(s, tir.Block)]
    apart = [] if size == 3 else ["rows_init", "whole_init"]
    assert sorted(set(blocks) - {"root"}) == sorted(["rows", "whole", *apart])
    for width in {0: [0], 3: [3], "n": [0, 5]}[size]:
        values = np.arange(4 * width, dtype="float32").reshape(4, width)
        sums, most = np.full(4, 7, "float32"), np.full((), 7, "float32")
        run(made, values, sums, most, target=target)
        np.testing.assert_array_equal(sums, values.sum(axis=1))
        np.testing.assert_array_equal(most, values[0].max(initial=-np.inf))


@pytest.mark.parametrize("target", TARGETS)
def test_several_values_are_combined_together(target):
    def later(a, b):
        takes = a[1] >= b[1]
        return te.if_then_else(takes, a[0], b[0]), te.if_then_else(takes, a[1], b[1])

    argmax = te.comm_reducer(later, lambda i, v: (te.const(-1, i), te.min_value(v)), name="argmax")
    x = te.placeholder((3, 8), name="x")
    k = te.reduce_axis((0, 8), name="k")
    place, most = te.compute((3,), lambda i: argmax((k, x[i, k]), axis=k), name="most")
    made = te.create_prim_func([x, place, most])
    check_script(made)
    values = np.random.default_rng(0).permutation(24).reshape(3, 8).astype("float32")
    places, found = np.zeros(3, "int32"), np.zeros(3, "float32")
    run(made, values, places, found, target=target)
    np.testing.assert_array_equal(places, values.argmax(axis=1))
    np.testing.assert_array_equal(found, values.max(axis=1))


def test_several_outputs_of_one_compute_share_their_loops():
    x = te.placeholder((5,), name="x")
    total, product = te.compute((5,), lambda i: (x[i] + 1.0, x[i] * 3.0), name="both")
    assert (total.name, product.name, total.op) == ("both.v0", "both.v1", product.op)
    made = te.create_prim_func([x, total, product])
    values = np.arange(5, dtype="float32")
    first, second = np.zeros(5, "float32"), np.zeros(5, "float32")
    run(made, values, first, second)
    np.testing.assert_array_equal(first, values + 1)
    np.testing.assert_array_equal(second, values * 3)
    assert sum(isinstance(s, tir.For) for s in rx.ir.walk.walk(made.body)) == 1


@pytest.mark.parametrize("reducer", ["max", "min"])
def test_the_identities_of_max_and_min_are_infinite(reducer):
    x, k = te.placeholder((2,), name="x"), te.reduce_axis((0, 2), name="k")
    y = te.compute((), lambda: getattr(te, reducer)(x[k], axis=k), name="y")
    worst = np.full(2, -np.inf if reducer == "max" else np.inf, "float32")
    result = np.zeros((), "float32")
    run(te.create_prim_func([x, y]), worst, result)
    assert result == worst[0]


def test_a_class_of_scalars_joins_two_whether_or_not_one_was_made_before():
    x, k = te.placeholder((2,), name="x"), te.reduce_axis((0, 2), name="k")
    for _ in range(2):  # the first `tir.Max` generates its constructor
        largest = te.comm_reducer(tir.Max, lambda t: te.min_value(t))(x[k], axis=k)
        assert isinstance(largest.combiner.result[0], tir.Max)
        assert isinstance(tir.Max(x[0], x[1]), tir.Max)


def test_all_and_any_join_conditions_and_reduce_them():
    x, k = te.placeholder((3,), "bool", name="x"), te.reduce_axis((0, 3), name="k")
    every = te.compute((), lambda: te.all(x[k], axis=k), name="every")
    some = te.compute((), lambda: te.any(x[k], axis=k), name="some")
    for values in ([True, True, True], [True, False, True], [False, False, False]):
        found = np.zeros((), "bool"), np.zeros((), "bool")
        run(te.create_prim_func([x, every, some]), np.array(values), *found)
        assert found == (all(values), any(values))
    i = te.var("i")
    assert isinstance(te.all(i > 0, i < 3), tir.And)
    assert isinstance(te.any(i > 0, i < 3), tir.Or)


def test_every_loop_has_the_dtype_that_is_asked_for():
    x = te.placeholder((8, 2), name="x")
    y = te.compute((8,), lambda i: x[i, 0] + (i * 2).astype("float32"), name="y")
    made = te.create_prim_func([x, y], index_dtype_override="int64")
    loops = [s.loop_var.dtype for s in rx.ir.walk.walk(made.body) if isinstance(s, tir.For)]
    assert loops == ["int64"]
    values, result = np.ones((8, 2), "float32"), np.zeros(8, "float32")
    run(made, values, result)
    np.testing.assert_array_equal(result, 1 + 2 * np.arange(8))


def test_statements_over_buffers_give_a_tensor():
    x = te.placeholder((4,), name="x")

    def reverse(ins, outs):
        tb = rx.tir_builder.TIRBuilder()
        with tb.serial(4) as i:
            tb.store(outs[0], (3 - i,), ins[0][i])
        return tb.body()

    y = te.extern((4,), x, reverse, name="y")
    made = te.create_prim_func([x, y])
    check_script(made)
    values, result = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    run(made, values, result)
    np.testing.assert_array_equal(result, values[::-1])


def test_a_scope_tags_what_is_computed_in_it():
    @te.tag_scope(topi.tag.INJECTIVE)
    def reversed_rows(x):
        with te.tag_scope(tag="inner"):
            inner = te.extern((4,), [x], lambda ins, outs: tir.call_packed("f", outs[0]))
        own = te.compute((4,), lambda i: x[i, 0], tag=topi.tag.ELEMWISE)
        return inner, own, te.compute((4, 3), lambda i, j: x[i, 2 - j])

    tensors = reversed_rows(te.placeholder((4, 3), name="x"))
    assert [t.op.tag for t in tensors] == ["inner", "elemwise", "injective"]
    assert te.compute((4,), lambda i: 0).op.tag == ""
    kinds = [(topi.tag.is_broadcast(t), topi.tag.is_injective(t)) for t in (
        "elemwise", "broadcast,x", "injective", "comm_reduce")]  # fmt: skip
    assert kinds == [(True, True), (True, True), (False, True), (False, False)]


def test_packed_functions_are_given_the_buffers_of_the_function():
    x = te.placeholder((4, 3), name="x")
    made = te.extern(
        [(4,), (4, 3)], [x], lambda ins, outs: tir.call_packed("f", *ins, *outs, 7), name="y"
    )
    prim_func = te.create_prim_func([x, *made])
    check_script(prim_func)
    for name, shape in (("x", "4, 3"), ("y_v0", "4"), ("y_v1", "4, 3")):
        assert f"{name}.data, T.tvm_stack_make_shape({shape})" in prim_func.script()


def test_a_plain_number_takes_the_dtype_of_the_scalar_beside_it():
    i, x = te.var("i", "int64"), te.placeholder((4,), dtype="float16")
    assert te.max(te.min(i, 3), 0).dtype == "int64"
    assert te.max(0, i, 2).dtype == "int64"
    assert te.sum(x[0], 1).dtype == "float16"
    product = te.comm_reducer(lambda a, b: a * b, lambda t: te.const(1, t))
    assert product(2, x[1]).dtype == "float16"


def test_a_tensor_is_indexed_axis_by_axis_and_all_at_once():
    x = te.placeholder((4, 3), name="x")
    i, j = te.var("i"), te.var("j")
    for element in (x[i, j], x[i][j], x(i, j)):
        assert isinstance(element, ProducerLoad)
        assert (element.producer, element.indices, str(element)) == (x, (i, j), "x[i, j]")


def test_operators_of_python_work_element_by_element():
    x, y = te.placeholder((4, 3), name="x"), te.placeholder((3,), name="y")
    a = np.arange(12, dtype="float32").reshape(4, 3)
    b = np.array([1, 2, 3], "float32")
    cases = [
        (x + y, a + b), (x - 1.0, a - 1), (2.0 * x, 2 * a), (x / y, a / b), (-x, -a),
        (y - x, b - a), (x < y, a < b), (x >= y, a >= b),
        ((x * 0.5).astype("int32"), (a * 0.5).astype("int32")),
    ]  # fmt: skip
    for tensor, expected in cases:
        result = np.zeros(expected.shape, expected.dtype)
        params = [t for t, needed in ((x, True), (y, y in inputs(tensor))) if needed]
        given = [a, b][: len(params)]
        run(te.create_prim_func([*params, tensor]), *given, result)
        np.testing.assert_array_equal(result, expected)


def inputs(tensor):
    return tensor.op.input_tensors


def test_names_are_used_once():
    x = te.placeholder((2,), name="x")
    y = te.compute((2,), lambda i: x[i] + 1.0, name="y")
    z = te.compute((2,), lambda i: y[i] + 1.0, name="y")
    text = te.create_prim_func([x, z]).script()
    assert 'y: T.Buffer((2,), "float32")' in text
    assert "y_1 = T.alloc_buffer((2,))" in text


def test_blocks_have_names_of_their_own_by_which_schedules_find_them():
    x = te.placeholder((2, 3), name="x")
    k = te.reduce_axis((0, 3), name="k")
    row = te.compute((2,), lambda i: te.sum(x[i, k], axis=k), name="sum")
    j = te.reduce_axis((0, 2), name="j")
    whole = te.compute((1,), lambda _: te.sum(row[j], axis=j), name="sum")
    sch = tir.Schedule(te.create_prim_func([x, whole]))
    names = [sch.get(sch.get_block(name)).name_hint for name in ("sum", "sum_1")]
    assert names == ["sum", "sum_1"]


def test_parameters_that_may_have_any_layout_are_listed():
    x, w = (te.placeholder((2, 2), name=name) for name in "xw")
    free = {"layout_free_placeholders": [w]}
    y = te.compute((2, 2), lambda i, j: x[i, j] * w[j, i], name="y", attrs=free)
    inner = {"layout_free_placeholders": [y]}
    z = te.compute((2, 2), lambda i, j: y[i, j] + 1.0, name="z", attrs=inner)
    function = te.create_prim_func([x, w, z])
    assert list(function.attrs["layout_free_buffers"]) == [1]
    check_script(function)


SIZE = te.placeholder((1,), "int64", name="size")


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda x: x[0, 0, 0], "the tensor `x` has 2 axes, not 3"),
        (lambda x: x[0.5], "axis 0 of the tensor `x` is indexed by a value of float32"),
        (lambda x: x[0][4], "axis 1 of the tensor `x` has extent 3, and no element 4"),
        (lambda x: x[-1], "axis 0 of the tensor `x` has extent 4, and no element -1"),
        (lambda x: te.compute((4,), lambda i: x[i]), "2 axes, and 1 of them are indexed"),
        (lambda x: te.compute((4,), lambda i: x), "`x` is a whole tensor"),
        (lambda x: te.compute((4,), lambda i: "one"), "an element of a tensor is a scalar"),
        (lambda x: te.compute((4,), lambda i: ()), "and there is none"),
        (lambda x: te.compute((4,), lambda i, j: 0), "1 axis, and the function takes 2 indices"),
        (lambda x: te.compute((4.5,), lambda i: 0), "a dimension is an integer, and axis 0 is"),
        (lambda x: te.compute((4, -1), lambda i, j: 0), "not negative, and axis 1 is -1"),
        (lambda x: te.reduce_axis(4), "where it begins and where it ends"),
        (lambda x: te.reduce_axis((0, 1.5)), "one end of its domain is float32"),
        (lambda x: te.sum(x[0, 0], axis=[te.var("k")]), "is not made by `te.reduce_axis`"),
        (lambda x: te.create_prim_func([x, 3]), "takes tensors"),
        (
            lambda x: te.create_prim_func([te.compute((4,), lambda i: x[i, 0])]),
            "the placeholder `x` is read, and is no parameter",
        ),
        (
            lambda x: te.create_prim_func([x, te.compute((4,), lambda i: x[i, te.var("m")])]),
            "the variable `m` is no parameter, and no dimension of one",
        ),
        (
            lambda x: te.create_prim_func([x, te.compute((4, 3), lambda i, j: x[i + 1, j])]),
            "`x` has no element 4 here: axis 0 has extent 4",
        ),
        (lambda x: te.compute(("n", 3), lambda i, j: x[i, j]), "axis 0 is a Python str"),
        (lambda x: te.compute((4,), lambda i: te.exp(x[i])), "and 1 of them are indexed"),
        (lambda x: te.compute((4,), lambda i: tir.Cast("int32", x[i])), "and 1 of them are"),
        (lambda x: te.compute((4,), lambda i: tir.Select(i > 1, x[i], x[i])), "1 of them are"),
        (lambda x: x[0].astype("int32"), "2 axes, and 1 of them are indexed"),
        (lambda x: te.compute((4,), [1, 2, 3, 4]), "what a tensor holds is said by a function"),
        (lambda x: te.extern((4,), x, None), "what a tensor holds is said by a function"),
        (lambda x: te.placeholder((4,), "flot32"), "'flot32' is not a dtype"),
        (lambda x: te.var("n", "itn64"), "'itn64' is not a dtype"),
        (lambda x: te.sum(x[0, 0]), "a reduction by `sum` goes over axes"),
        (lambda x: te.max(x[0, 0], axis=0), "axis 0 of the reduction is not made by"),
        (lambda x: te.exp(x), "`T.exp` takes scalar expressions"),
        (lambda x: te.placeholder((SIZE[0],)), "a size is known before any element of `size`"),
        (lambda x: te.reduce_axis((0, SIZE[0])), "a size is known before any element of `size`"),
        (
            lambda x: te.compute((4,), lambda i: (i > 1) - (i > 2)),
            "there is no `T.Sub` of conditions, of which the elements of `compute`",
        ),
        (lambda x: topi.logical_and(x, x), "`logical_and` takes conditions, and float32 is none"),
        (lambda x: topi.matrix_set_diag(x, x), "sets a vector for each matrix"),
        (lambda x: te.extern((4,), [x], lambda ins, outs: 3), "gives statements, or one call"),
        (lambda x: te.extern((4,), [], lambda ins, outs: 3), "say no one dtype"),
        (lambda x: x + te.placeholder((4,)), "`x` has 3 elements there, `placeholder` has 4"),
    ],
)
def test_a_mistake_names_the_axis_of_the_tensor(mistake, message):
    with pytest.raises(DiagnosticError, match=message.replace("(", r"\(")) as caught:
        mistake(te.placeholder((4, 3), name="x"))
    assert caught.value.diagnostics[0].span.filename == __file__


def test_a_reduction_is_a_tensor_of_its_own():
    x, k = te.placeholder((4,), name="x"), te.reduce_axis((0, 4), name="k")
    for body in (
        lambda i: te.sum(x[k], axis=k) + 1.0,
        lambda i: (te.sum(x[k], axis=k), te.sum(x[k], axis=k)),
    ):
        with pytest.raises(DiagnosticError, match="either one reduction or an expression"):
            te.compute((4,), body, name="y")


def test_a_reduction_combines_as_many_values_as_it_has():
    k = te.reduce_axis((0, 4), name="k")
    three = te.comm_reducer(lambda a, b, c: a, lambda t: 0)
    pair = te.comm_reducer(lambda a, b: (a[0], b[0], b[1]), lambda s, t: (0, 0))
    with pytest.raises(DiagnosticError, match="takes two values"):
        three(k.var, axis=k)
    with pytest.raises(DiagnosticError, match="2 values are combined, and 3 come out"):
        pair((k.var, k.var), axis=k)
    with pytest.raises(DiagnosticError, match="`where` is a condition"):
        te.sum(k.var, axis=k, where=k + 1)
