"""What matches: each pattern by itself, values behind variables, choices, and how much it costs."""

from __future__ import annotations

import itertools

import pytest

from relaxscript import relax, tir
from relaxscript.dpl import (
    FunctionPattern,
    has_attr,
    has_dtype,
    is_call_dps_packed,
    is_call_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_expr,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    make_fused_bias_activation_pattern,
    wildcard,
)
from relaxscript.dpl.matcher import Matcher
from relaxscript.dpl.of_expression import pattern_of
from relaxscript.ir.relax import Call, Constant, Function, GlobalVar, Tuple, Var
from relaxscript.op import REGISTRY
from relaxscript.relax import op
from relaxscript.relax.analysis import get_var2val
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples
from relaxscript_tests.op.sampling import samples

from . import block, mistake_of, variables

X = Var("x", relax.TensorStructInfo((2, 3), "float32"))
Y = Var("y", relax.TensorStructInfo((2, 3), "float32"))


def test_a_variable_is_looked_at_as_its_value():
    func = block()
    values, var = get_var2val(func), variables(func)
    pattern = is_op("relax.nn.relu")(is_op("relax.add")(wildcard(), wildcard()))
    assert pattern.match(values[var["b"]], values)
    assert pattern.match(var["b"], values)
    assert not pattern.match(values[var["b"]])  # nothing is known of `a`


def test_is_var_matches_what_has_no_value():
    func = block()
    values, var = get_var2val(func), variables(func)
    assert is_var().match(var["x"], values)
    assert is_var("x").match(var["x"])
    assert not is_var("y").match(var["x"])
    assert is_var().match(var["a"])
    assert not is_var().match(var["a"], values)
    assert is_dfv("a").match(var["a"])
    assert not is_dfv().match(var["x"])


def test_operands_of_add_and_multiply_match_in_either_order():
    for name in ("add", "multiply"):
        pattern = is_op(f"relax.{name}")(is_var("y"), is_var("x"))
        assert pattern.match(getattr(op, name)(X, Y))
    assert not is_op("relax.subtract")(is_var("y"), is_var("x")).match(op.subtract(X, Y))
    assert not is_op("relax.maximum")(is_var("y"), is_var("x")).match(op.maximum(X, Y))


def test_one_pattern_at_two_places_is_one_value():
    w = wildcard()
    pattern = is_op("relax.add")(w, w)
    assert pattern.match(op.add(X, X))
    assert not pattern.match(op.add(X, Y))
    assert is_op("relax.add")(w, w.dup()).match(op.add(X, Y))
    alias = Var("z", X.struct_info)
    assert pattern.match(op.add(X, alias), {alias: X})


def test_one_constant_pattern_at_two_places_is_equal_constants():
    c = is_const()
    one, same, other = relax.const(1.0), relax.const(1.0), relax.const(2.0)
    assert is_op("relax.subtract")(c, c).match(op.subtract(one, same))
    assert not is_op("relax.subtract")(c, c).match(op.subtract(one, other))


def test_or_takes_the_other_side_where_a_later_part_fails():
    w = wildcard()
    either = is_op("relax.nn.relu")(w) | is_op("relax.nn.relu")(wildcard())
    assert is_op("relax.subtract")(either, w).match(op.subtract(op.nn.relu(X), Y))
    assert is_op("relax.add")(is_var("y") | wildcard(), w & is_var("y")).match(op.add(X, Y))


def test_not_matches_what_its_pattern_does_not():
    assert (~is_var("x")).match(Y)
    assert not (~is_var("x")).match(X)
    pattern = is_op("relax.divide")(~is_const(), wildcard())
    assert pattern.match(op.divide(X, Y))
    assert not pattern.match(op.divide(relax.const(1.0), Y))
    # What follows a rejection is not a part of it.
    assert not (is_op("relax.divide")(~is_const(), is_const())).match(op.divide(X, Y))
    assert (~(~is_var("x"))).match(X)


def test_a_rejection_leaves_nothing_among_what_matched():
    inner = is_var("y")
    matched = (~inner).extract_matched_expr(X)
    assert matched is not None
    assert inner not in matched


def test_attributes_are_those_of_the_call_and_of_its_defaults():
    call = op.sum(X, axis=[1])
    pattern = is_op("relax.sum")(wildcard())
    assert pattern.has_attr({"axis": [1]}).match(call)
    assert pattern.has_attr({"axis": (1,), "keepdims": False}).match(call)
    assert not pattern.has_attr({"axis": [0]}).match(call)
    assert not pattern.has_attr({"keepdims": 0}).match(call)
    assert not wildcard().has_attr({"axes": [1]}).match(call)
    assert has_attr({"axis": [1]}).match(call)
    assert not has_attr({"axis": [1]}).match(X)


def test_dtypes_and_static_types_are_those_of_the_value():
    assert has_dtype("float32").match(X)
    assert not has_dtype("float16").match(X)
    assert is_var().has_dtype("float32").match(X)
    assert has_dtype("int64").match(relax.PrimValue(1))
    assert not has_dtype("float32").match(relax.Tuple([X]))
    assert wildcard().has_type(relax.TensorType(2, "float32")).match(X)
    assert not wildcard().has_type(relax.TensorType(3, "float32")).match(X)


def test_shapes_are_compared_by_what_is_known_of_their_variables():
    n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
    x = Var("x", relax.TensorStructInfo((n, n + n), "float32"))
    assert wildcard().has_shape((n, 2 * n)).match(x)
    assert not wildcard().has_shape((n, 2 * m)).match(x)  # unknown is no match
    assert not wildcard().has_shape((n, 2 * n + 1)).match(x)
    assert not wildcard().has_shape((n,)).match(x)
    assert not wildcard().has_shape((2, 3)).match(Var("y", relax.TensorStructInfo(ndim=2)))
    assert wildcard().has_shape((2, 3)).match(X)
    assert is_shape((n, 4)).match(relax.ShapeExpr((n, 4)))
    assert not is_shape((m, 4)).match(relax.ShapeExpr((n, 4)))
    assert not is_shape(()).match(X)


def test_a_struct_info_matches_what_it_is_sure_to_describe():
    wide = relax.TensorStructInfo(dtype="float32", ndim=2)
    assert wildcard().has_struct_info(wide).match(X)
    assert not wildcard().has_struct_info(X.struct_info).match(Var("w", wide))


def test_tuples_match_field_by_field_or_in_any_order():
    pair = Tuple([X, Y])
    assert is_tuple([is_var("x"), is_var("y")]).match(pair)
    assert not is_tuple([is_var("y"), is_var("x")]).match(pair)
    assert is_tuple([is_var("y"), is_var("x")], unordered=True).match(pair)
    assert not is_tuple([is_var("y"), is_var("y")], unordered=True).match(pair)
    assert not is_tuple([wildcard()]).match(pair)
    item = relax.TupleGetItem(Var("t", relax.TupleStructInfo([X.struct_info] * 2)), 1)
    assert is_tuple_get_item(wildcard()).match(item)
    assert is_tuple_get_item(wildcard(), 1).match(item)
    assert not is_tuple_get_item(wildcard(), 0).match(item)


def test_a_field_of_a_tuple_pattern_is_a_pattern():
    fields = is_tuple([is_var("x"), is_var("y")])
    t = Var("t", relax.TupleStructInfo([X.struct_info] * 2))
    item = relax.TupleGetItem(t, 1)
    assert fields[1].match(item, {t: Tuple([X, Y])})
    assert fields[-1].match(item, {t: Tuple([X, Y])})
    assert fields[None].match(item, {t: Tuple([X, Y])})
    assert not fields[0].match(item, {t: Tuple([X, Y])})
    with pytest.raises(IndexError, match="the tuple pattern has 2 fields, so none at 2"):
        fields[2]


def test_unordered_fields_find_the_one_order_that_there_is():
    names = [Var(name, X.struct_info) for name in "abcdef"]
    pattern = is_tuple([wildcard() & is_var(name) for name in "fedcba"], unordered=True)
    assert pattern.match(Tuple(names))


def test_calls_may_have_more_arguments_only_where_the_pattern_says_so():
    assert is_op("relax.add")(wildcard(), varg_default_wildcard=True).match(op.add(X, Y))
    assert not wildcard()(wildcard()).match(op.add(X, Y))
    assert wildcard()(wildcard(), wildcard()).match(op.add(X, Y))


def test_functions_of_the_module_and_packed_functions_match_by_name():
    @I.ir_module
    class Model:
        @T.prim_func
        def copy(x: T.Buffer((2, 3), "float32"), y: T.Buffer((2, 3), "float32")):
            for i, j in T.grid(2, 3):
                with T.block("copy"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    y[vi, vj] = x[vi, vj]

        @R.function(pure=False)
        def main(x: R.Tensor((2, 3), "float32")):
            cls = Model
            a = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((2, 3), "float32"))
            b = R.call_dps_packed("f", (a,), out_sinfo=R.Tensor((2, 3), "float32"))
            c = R.call_packed("g", b, sinfo_args=R.Tensor((2, 3), "float32"))
            return c

    func = Model["main"]
    values, var = get_var2val(func), variables(func)
    a, b, c = (values[var[name]] for name in "abc")
    assert is_call_tir("copy").match(a)
    assert not is_call_tir("paste").match(a)
    assert is_call_tir("copy", [is_var("x")]).match(a)
    assert not is_call_tir("copy", [is_var("x"), wildcard()]).match(a)
    assert not is_call_tir("copy", [is_var("x")], wildcard()).match(a)
    assert is_call_dps_packed("f").match(b)
    assert not is_call_dps_packed("g").match(b)
    assert is_call_dps_packed("f", [is_call_tir("copy")]).match(b, values)
    assert is_call_packed("g").match(c)
    assert not is_call_packed("f").match(c)
    assert is_call_packed("g", [is_call_dps_packed("f")]).match(c, values)
    assert is_gv("f").match(GlobalVar("f"))
    assert not is_gv("f").match(GlobalVar("g"))
    assert is_gv().match(GlobalVar("f"))


def test_a_function_matches_by_its_parameters_and_result():
    func = block()
    quotient = is_op("relax.divide")(wildcard(), wildcard())
    assert FunctionPattern([wildcard(), wildcard()], wildcard()).match(func)
    assert FunctionPattern(None, quotient).match(func)
    assert not FunctionPattern([wildcard()], wildcard()).match(func)
    x = wildcard()
    assert FunctionPattern([x, wildcard()], is_op("relax.divide")(wildcard(), x)).match(func)
    assert not FunctionPattern([wildcard(), x], is_op("relax.divide")(wildcard(), x)).match(func)


def test_an_expression_matches_itself_and_what_has_its_structure():
    assert is_expr(X).match(X)
    assert not is_expr(X).match(Y)
    assert is_expr(op.add(X, Y)).match(op.add(X, Y))
    assert not is_expr(op.add(X, Y)).match(op.add(Y, X))
    assert is_expr(relax.const(1)).match(relax.const(1))
    assert is_const().match(relax.const(1))
    assert not is_const().match(relax.PrimValue(1))


def test_extract_matched_expr_gives_the_value_of_each_part():
    func = block()
    values, var = get_var2val(func), variables(func)
    x, y = wildcard(), wildcard()
    add = is_op("relax.add")(x, y)
    relu = is_op("relax.nn.relu")(add)
    matched = relu.extract_matched_expr(var["b"], values)
    assert matched is not None
    assert matched[relu] is values[var["b"]]
    assert matched[add] is values[var["a"]]
    assert (matched[x], matched[y]) == (var["x"], var["y"])
    assert relu.extract_matched_expr(var["c"], values) is None


def test_a_bias_and_an_activation_follow_where_they_are_asked_for():
    pattern = make_fused_bias_activation_pattern("relax.matmul", True, "relax.nn.relu")
    w, b = Var("w", relax.TensorStructInfo((3, 4), "float32")), Var("b", X.struct_info)
    product = op.matmul(X, w)
    assert pattern.match(op.nn.relu(op.add(product, b)))
    assert not pattern.match(op.nn.relu(product))
    assert make_fused_bias_activation_pattern("relax.matmul").match(product)
    reshaped = make_fused_bias_activation_pattern("relax.matmul", True, allow_reshape=True)
    assert reshaped.match(op.add(product, op.reshape(b, (2, 3))))


def test_what_a_branch_gives_may_be_called():
    choice = relax.If(relax.const(True), Var("f"), Var("g"))
    callee = Var("h")
    assert is_expr(choice)(wildcard()).match(Call(callee, [X]), {callee: choice})


def test_only_expressions_are_matched():
    mistake = mistake_of(lambda: wildcard().match(3))
    assert mistake.message == "patterns match expressions, not a int"
    assert "match these" in (mistake.help or "")


def test_a_pattern_made_of_an_expression_matches_it_and_gives_it_back():
    for seed in range(examples(100)):
        for func in random_module(seed).functions.values():
            if not isinstance(func, Function):
                continue
            values = get_var2val(func)
            for var, value in values.items():
                pattern = pattern_of(value, values)
                matched = pattern.extract_matched_expr(var, values)
                assert matched is not None
                assert matched[pattern] is Matcher(values).resolve(value)


def test_every_call_of_every_operator_is_matched_by_its_own_pattern():
    for operator in REGISTRY.values():
        for sample in itertools.islice(samples(operator), 2):
            pattern = pattern_of(sample.call)
            matched = pattern.extract_matched_expr(sample.call)
            assert matched is not None, operator.name
            assert matched[pattern] is sample.call


def chain(length: int) -> tuple[Var, dict[Var, relax.Expr]]:
    """The last variable of a chain of sums, each of the one before, and their values."""
    last, values = X, {}
    for i in range(length):
        var = Var(f"lv{i}", X.struct_info)
        values[var] = (
            Call.make(op.add.op, (last, Y)) if i % 2 else Call.make(op.nn.relu.op, (last,))
        )
        last = var
    return last, values


def test_neither_deep_patterns_nor_long_chains_take_recursion():
    last, values = chain(10_000)
    pattern = pattern_of(values[last], values)
    assert pattern.match(last, values)
    assert repr(pattern).count("is_op") == 10_000


def test_constants_are_compared_by_their_elements():
    a, b = Constant([1.0, 2.0]), Constant([1.0, 2.0])
    assert is_expr(a).match(b)
    assert not is_expr(a).match(Constant([1.0, 3.0]))
