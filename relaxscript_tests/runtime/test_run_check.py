"""Matching values against checks: what passes, what is bound, and what the messages say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from relaxscript.errors import InternalError, VMError
from relaxscript.runtime.packed_func import PackedFunc
from relaxscript.runtime.run_check import (
    AnyCheck,
    DimBind,
    DimConst,
    DimExpr,
    DimLoad,
    FuncCheck,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
    describe,
    describe_dim,
    describe_variables,
    evaluate_dim,
    match,
    match_arguments,
    origins_of,
)
from relaxscript.runtime.values import Closure, DeviceTensor, Prim, Shape, cpu

N, M = DimBind(0, "n"), DimBind(1, "m")
LOAD_N = DimLoad(0, "n")
TWICE_N = DimExpr(lambda h: 2 * h[0], "2 * n")


def tensor(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


def arguments(values, checks, names=("x", "w", "b"), slots=2):
    heap = [None] * slots
    match_arguments(values, checks, heap, names[: len(checks)], "main")
    return heap


def refused(values, checks, message, code="RX0601"):
    with pytest.raises(VMError) as info:
        arguments(values, checks)
    assert info.value.diagnostic.message == message
    assert info.value.code == code
    return info.value


def test_any_value_passes_where_nothing_is_wanted():
    for value in (None, 5, "s", object(), (), tensor(2)):
        assert arguments([value], [AnyCheck()]) == [None, None]


def test_a_variable_in_binding_position_takes_the_size():
    assert arguments([tensor(4, 7)], [TensorCheck("float32", 2, (N, M))]) == [4, 7]


def test_a_dimension_names_the_argument_the_expression_and_the_origin():
    error = refused(
        [tensor(4, 3), tensor(4, 7)],
        [TensorCheck("float32", 2, (N, DimConst(3))), TensorCheck("float32", 2, (LOAD_N, TWICE_N))],
        "`w.shape[1]` is 7; must be `2 * n` with `n = 4` from `x.shape[0]`, that is 8",
    )
    assert (
        "expected a tensor of shape (n, 2 * n) and dtype float32, "
        "got a tensor of shape (4, 7) and dtype float32" in str(error)
    )


def test_a_plain_variable_names_its_origin():
    refused(
        [tensor(4), tensor(5)],
        [TensorCheck(dims=(N,)), TensorCheck(dims=(LOAD_N,))],
        "`w.shape[0]` is 5; must be `n = 4` from `x.shape[0]`",
    )


def test_two_binding_positions_of_one_variable_must_agree():
    checks = [TensorCheck(dims=(N, N))]
    assert arguments([tensor(3, 3)], checks)[0] == 3
    refused(
        [tensor(3, 4)],
        checks,
        "`x.shape[1]` is 4; must be `n = 3` from `x.shape[0]`",
    )


def test_a_constant_dimension_must_be_met():
    refused(
        [tensor(2, 3)],
        [TensorCheck("float32", 2, (N, DimConst(4)))],
        "`x.shape[1]` is 3; must be 4",
    )


def test_a_variable_may_be_used_before_the_parameter_that_binds_it():
    # the example of the spec: M and N come from y, x has M * N elements
    product = DimExpr(lambda h: h[0] * h[1], "M * N")
    checks = [TensorCheck(dims=(product,)), TensorCheck(dims=(N, M))]
    assert arguments([tensor(6), tensor(2, 3)], checks) == [2, 3]
    refused(
        [tensor(7), tensor(2, 3)],
        checks,
        "`x.shape[0]` is 7; must be `M * N` with `n = 2` from `w.shape[0]` and `m = 3` from "
        "`w.shape[1]`, that is 6",
    )


def test_a_wrong_data_type_is_named_with_the_right_one():
    error = refused(
        [tensor(2, dtype="float64")],
        [TensorCheck("float32")],
        "`x.dtype` is float64; must be float32",
    )
    assert '`.astype("float32")` converts an array' in str(error)


def test_a_wrong_rank_is_named_with_the_right_one():
    refused(
        [tensor(1, 2, 3)],
        [TensorCheck("float32", 2)],
        "`x.ndim` is 3; must be 2",
    )
    refused([tensor(2)], [TensorCheck(dims=(N, M))], "`x.ndim` is 1; must be 2")


def test_a_wrong_kind_of_value_is_described():
    refused([Shape([2])], [TensorCheck()], "`x` is the shape (2,); must be a tensor")
    refused(
        [[1, 2]],
        [TensorCheck("int64", 1)],
        "`x` is a list of 2; must be a tensor of rank 1 and dtype int64",
    )


def test_the_device_of_a_tensor_is_checked():
    there = DeviceTensor(tensor(2), cpu(1))
    assert arguments([there], [TensorCheck(device=cpu(1))])
    refused(
        [tensor(2)],
        [TensorCheck(device=cpu(1))],
        "`x` is on cpu:0; must be on cpu:1",
    )


def test_a_shape_held_by_a_variable_is_compared_whole():
    checks = [ShapeCheck(2), TensorCheck("float32", 2, shape_slot=0, shape_name="s")]
    assert arguments([Shape([2, 3]), tensor(2, 3)], checks)
    refused(
        [Shape([2, 3]), tensor(2, 4)],
        checks,
        "`w.shape` is (2, 4); must be `s = (2, 3)`",
    )


def test_a_tuple_is_no_shape_and_a_shape_no_tuple():
    refused(
        [(2, 3)],
        [ShapeCheck()],
        "`x` is a tuple of 2; must be a shape",
    )
    refused(
        [[2]],
        [TupleCheck((AnyCheck(),))],
        "`x` is a list of 1; must be a tuple of 1",
    )
    refused(
        [Shape([2])],
        [TupleCheck((AnyCheck(),))],
        "`x` is the shape (2,); must be a tuple of 1",
    )


def test_shapes_bind_and_check_their_dimensions():
    assert arguments([Shape([4, 8])], [ShapeCheck(2, (N, TWICE_N))])[0] == 4
    refused(
        [Shape([4, 9])],
        [ShapeCheck(2, (N, TWICE_N))],
        "`x[1]` is 9; must be `2 * n` with `n = 4` from `x[0]`, that is 8",
    )
    refused(
        [Shape([4])],
        [ShapeCheck(2)],
        "`len(x)` is 1; must be 2",
    )
    refused(
        [Shape([4])],
        [ShapeCheck(-1, (N, M))],
        "`len(x)` is 1; must be 2",
    )


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(5, "int64"), (5.0, "float64"), (True, "bool"), (Prim(5, "int32"), "int32")],
)
def test_a_prim_value_has_exactly_its_data_type(value, dtype):
    arguments([value], [PrimCheck(dtype)])
    for other in {"int64", "float64", "bool", "int32", "float32"} - {dtype}:
        with pytest.raises(VMError, match=f"of dtype {dtype}; must be of dtype {other}"):
            arguments([value], [PrimCheck(other)])


def test_a_mismatched_prim_says_how_to_make_the_right_one():
    error = refused(
        [5],
        [PrimCheck("float32")],
        "`x` is 5 of dtype int64; must be of dtype float32",
    )
    assert '`relaxscript.runtime.Prim(value, "float32")` makes one' in str(error)


def test_a_tensor_is_no_prim_value():
    refused(
        [np.array(5)],
        [PrimCheck("int64")],
        "`x` is a tensor of shape () and dtype int64; must be a scalar of dtype int64",
    )


def test_prim_values_bind_and_are_compared():
    assert arguments([4, tensor(4)], [PrimCheck("int64", N), TensorCheck(dims=(LOAD_N,))])[0] == 4
    refused(
        [3, tensor(4)],
        [PrimCheck("int64", TWICE_N), TensorCheck(dims=(N,))],
        "`x` is 3; must be `2 * n` with `n = 4` from `w.shape[0]`, that is 8",
    )
    refused([3], [PrimCheck("int64", DimConst(4))], "`x` is 3; must be 4")
    assert arguments([4], [PrimCheck("int64", DimConst(4))])
    refused(
        [3, tensor(4)],
        [PrimCheck("int64", N), TensorCheck(dims=(LOAD_N,))],
        "`w.shape[0]` is 4; must be `n = 3` from `x`",
    )


def test_a_shape_variable_takes_no_negative_value():
    assert arguments([0], [PrimCheck("int64", N)])[0] == 0
    refused(
        [-1],
        [PrimCheck("int64", N)],
        "`x` is -1; must be at least 0 to be the value of `n`",
    )


def test_tuples_are_matched_field_by_field():
    check = TupleCheck((TensorCheck(dims=(N,)), TupleCheck((ShapeCheck(1, (LOAD_N,)),))))
    assert arguments([(tensor(3), (Shape([3]),))], [check])[0] == 3
    refused(
        [(tensor(3), (Shape([4]),))],
        [check],
        "`x[1][0][0]` is 4; must be `n = 3` from `x[0].shape[0]`",
    )
    refused([(1,)], [check], "`len(x)` is 1; must be 2")
    refused(
        [None],
        [TupleCheck()],
        "`x` is None (the null object); must be the empty tuple",
    )


def test_closures_and_packed_functions_are_told_apart():
    closure, packed = Closure("f", len, info="pure"), PackedFunc("p", len)
    arguments([closure, packed], [FuncCheck(False), FuncCheck(True)])
    arguments([closure, packed], [FuncCheck(None), FuncCheck(None)])
    with pytest.raises(VMError, match=r"is a packed function \(`p`\); must be a function"):
        arguments([packed], [FuncCheck(False)])
    with pytest.raises(VMError, match=r"is a closure \(`f`\); must be a function"):
        arguments([closure], [FuncCheck(True)])


def test_a_closure_is_judged_by_its_information():
    closure = Closure("f", len, info="pure")
    arguments([closure], [FuncCheck(False, lambda info, heap: None, "a pure function")])
    refused(
        [closure],
        [FuncCheck(False, lambda info, heap: f"it is {info}", "an impure function")],
        "`x` is a closure (`f`) that does not fit: it is pure",
    )


def test_a_wrong_number_of_arguments_lists_the_parameters():
    checks = [AnyCheck()] * 3
    refused([1, 2], checks, "`main` takes 3 arguments (x, w, b), got 2", code="RX0602")
    refused([1, 2], checks[:1], "`main` takes 1 argument (x), got 2", code="RX0602")
    refused([1], [], "`main` takes 0 arguments, got 1", code="RX0602")


def test_an_expression_that_cannot_be_computed_names_its_variables():
    def divided(heap):  # Python's own words for this differ from version to version
        if heap[0] == 0:
            raise ZeroDivisionError("division by zero")
        return 12 // heap[0]

    quotient = DimExpr(divided, "12 // n")
    refused(
        [tensor(0), tensor(3)],
        [TensorCheck(dims=(N,)), TensorCheck(dims=(quotient,))],
        "`w.shape[0]` must be `12 // n`, which cannot be computed with `n = 0` from `x.shape[0]`: "
        "division by zero",
    )


def test_an_unbound_variable_is_our_mistake():
    with pytest.raises(InternalError, match="the shape variable `n` is used before it is bound"):
        arguments([tensor(2)], [TensorCheck(dims=(LOAD_N,))])


def test_match_cast_binds_anew_and_names_the_value():
    heap = [9, None]
    match(tensor(4), TensorCheck(dims=(N,)), heap, "the value of match_cast")
    assert heap[0] == 4
    with pytest.raises(VMError) as info:
        match(tensor(3), TensorCheck(dims=(TWICE_N,)), heap, "`y`", (), lambda: {0: ("n", "`x`")})
    assert info.value.diagnostic.message == (
        "`y.shape[0]` is 3; must be `2 * n` with `n = 4` from `x`, that is 8"
    )
    assert info.value.code == "RX0605"


def test_match_cast_compares_with_the_shapes_it_is_given():
    match(tensor(2, 3), TensorCheck(shape_slot=0, shape_name="s"), [], "`y`", [Shape([2, 3])])
    with pytest.raises(VMError, match=r"is \(2, 3\); must be `s = a list of 1`"):
        match(tensor(2, 3), TensorCheck(shape_slot=0, shape_name="s"), [], "`y`", [[2]])


def test_variables_of_unknown_origin_are_named_by_their_slot():
    assert describe_variables(TWICE_N, [4], {}) == " with `variable 0 = 4`"
    assert describe_variables(LOAD_N, [4], {}) == ""
    assert describe_variables(DimConst(4), [4], {}) == ""


def test_every_check_describes_itself():
    described = {
        "any value": AnyCheck(),
        "a tensor": TensorCheck(),
        "a tensor of shape (n,) and dtype int8 on cpu:1": TensorCheck("int8", 1, (N,), cpu(1)),
        "a tensor of rank 3": TensorCheck(ndim=3),
        "a shape": ShapeCheck(),
        "a shape of 2 dimensions": ShapeCheck(2),
        "the shape (n, 2 * n)": ShapeCheck(2, (N, TWICE_N)),
        "a scalar of dtype int64": PrimCheck("int64"),
        "a scalar of dtype int64 equal to `n`": PrimCheck("int64", N),
        "a tuple of 1": TupleCheck((AnyCheck(),)),
        "the empty tuple": TupleCheck(),
        "a pure function": FuncCheck(text="a pure function"),
    }
    assert [describe(check) for check in described.values()] == list(described)
    assert [describe_dim(d) for d in (DimConst(3), N, LOAD_N, TWICE_N)] == ["3", "n", "n", "2 * n"]


def test_origins_are_found_in_every_kind_of_check():
    checks = [
        TupleCheck((TensorCheck(dims=(DimConst(2), DimBind(0, "a"))),)),
        ShapeCheck(1, (DimBind(1, "b"),)),
        PrimCheck("int64", DimBind(2, "c")),
        TensorCheck(dims=(DimBind(0, "a"),)),
        AnyCheck(),
    ]
    assert origins_of(checks, ["`p`", "`q`", "`r`", "`s`", "`t`"]) == {
        0: ("a", "`p[0].shape[1]`"),
        1: ("b", "`q[0]`"),
        2: ("c", "`r`"),
    }


def test_dimensions_evaluate():
    assert [evaluate_dim(d, [4]) for d in (DimConst(3), LOAD_N, TWICE_N)] == [3, 4, 8]


SIZES = st.integers(0, 3)
DIMS = st.sampled_from(
    [
        N,
        M,
        DimConst(2),
        TWICE_N,
        DimExpr(lambda h: h[0] + h[1], "n + m"),
        LOAD_N,
    ]
)


@pytest.mark.slow
@given(st.lists(st.tuples(SIZES, DIMS), min_size=1, max_size=4), st.permutations(range(6)))
def test_the_order_of_parameters_decides_nothing(pairs, order):
    """The same pairs of value and check, in any order, pass or fail together and bind the same."""
    pairs = [*pairs, (2, N), (1, M)]  # every variable stands in a binding position
    order = [i for i in order if i < len(pairs)]
    order += [i for i in range(len(pairs)) if i not in order]

    def outcome(listed):
        values = [tensor(size) for size, _ in listed]
        checks = [TensorCheck("float32", 1, (dim,)) for _, dim in listed]
        heap = [None, None]
        try:
            match_arguments(values, checks, heap, [f"p{i}" for i in range(len(listed))], "f")
        except VMError:
            return "refused"
        return heap

    assert outcome(pairs) == outcome([pairs[i] for i in order])


@given(st.permutations(range(3)))
def test_nested_positions_bind_like_outer_ones(order):
    pairs = [
        ((tensor(2), Shape([3])), TupleCheck((TensorCheck(dims=(N,)), ShapeCheck(1, (M,))))),
        (tensor(5), TensorCheck(dims=(DimExpr(lambda h: h[0] + h[1], "n + m"),))),
        (Shape([4, 3]), ShapeCheck(2, (TWICE_N, DimLoad(1, "m")))),
    ]
    listed = [pairs[i] for i in order]
    values, checks = zip(*listed, strict=True)
    assert arguments(values, checks) == [2, 3]


def test_all_permutations_of_the_spec_example_agree():
    product = DimExpr(lambda h: h[0] * h[1], "M * N")
    pairs = [
        (tensor(6), TensorCheck(dims=(product,))),
        (tensor(2, 3), TensorCheck(dims=(N, M))),
        (6, PrimCheck("int64", product)),
    ]
    for listed in itertools.permutations(pairs):
        values, checks = zip(*listed, strict=True)
        assert arguments(values, checks) == [2, 3]


def test_a_function_of_another_type_is_shown_with_its_type():
    said = "a function of type `F`"
    check = FuncCheck(packed=False, refusal=lambda info, heap: "it is blue", text=said)
    error = refused(
        [Closure("g", len, "its info")],
        [check],
        "`x` is a closure (`g`) that does not fit: it is blue",
    )
    assert "expected a function of type `F`" in str(error)
    assert "its type is `'its info'`" in str(error)
    refused(
        [len],
        [FuncCheck(packed=True, text="a packed function")],
        "`x` is an object of class builtin_function_or_method; must be a packed function",
    )
