"""Questions about functions and modules: each by what it answers on a small program."""

from __future__ import annotations

import pytest

from relaxscript import analysis, ir
from relaxscript.analysis.components import components
from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import Call, Expr, GlobalVar, Op, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing.programs import random_function, random_module
from relaxscript_tests import examples


@R.function
def small(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    with R.dataflow():
        a = R.exp(x)
        b = R.add(a, a)
        d = R.add(b, x)
        R.output(d)

    @R.function
    def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        e = R.add(y, d)
        return e

    if c:
        e = inner(d)
        g = e
    else:
        g = d
    return g


def names(variables):
    return [v.name_hint for v in variables]


def bound(func, name):
    (binding,) = analysis.name_to_binding(func)[name]
    return binding


INNER = bound(small, "inner").value


def test_bound_variables_are_parameters_and_what_bindings_define():
    found = names(analysis.bound_vars(small))
    assert found[:6] == ["x", "c", "a", "b", "d", "inner"]
    assert found[6:8] == ["y", "e"]
    assert len(found) == len(set(analysis.bound_vars(small)))
    assert names(analysis.bound_vars(INNER)) == ["y", "e"]


def test_free_variables_are_used_and_not_defined():
    assert names(analysis.free_vars(INNER)) == ["d"]
    assert analysis.free_vars(small) == []
    x = Var("x", TensorStructInfo((4,)))
    assert analysis.free_vars(Call(Op("relax.add"), [x, x])) == [x]


def test_all_variables_are_those_defined_and_those_used():
    assert names(analysis.all_vars(INNER)) == ["y", "e", "d"]
    for seed in range(examples(60)):
        func = random_function(seed)
        free, defined = set(analysis.free_vars(func)), set(analysis.bound_vars(func))
        assert set(analysis.all_vars(func)) == free | defined


@I.ir_module
class Calls:
    @T.prim_func
    def kernel(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]

    @R.function
    def alone(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.call_tir(Calls.kernel, (x,), R.Tensor((4,), "float32"))

    @R.function
    def even(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = Calls.alone(x)
        z = Calls.odd(y)
        return Calls.odd(z)

    @R.function
    def odd(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return Calls.even(x)

    @R.function
    def itself(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = Calls.even(x)
        return Calls.itself(y)

    @R.function(pure=False)
    def loud(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.print(x, format="{}")
        return x


def test_the_functions_that_a_function_mentions_are_listed_once():
    assert names(analysis.all_global_vars(Calls["even"])) == ["alone", "odd"]
    assert names(analysis.all_global_vars(Calls["alone"])) == ["kernel"]
    assert analysis.all_global_vars(small) == []


def test_recursion_comes_in_groups():
    found = {tuple(sorted(names(group))) for group in analysis.detect_recursion(Calls)}
    assert found == {("even", "odd"), ("itself",)}
    assert analysis.detect_recursion(ir.IRModule()) == []


def test_components_are_who_reach_each_other_behind_those_that_they_reach():
    graph = {1: [2], 2: [3], 3: [1, 4], 4: [5], 5: [4], 6: [6, 1], 7: []}
    assert components(graph) == [[4, 5], [1, 2, 3], [6], [7]]
    chain = {i: [i + 1] for i in range(20000)} | {20000: [0]}
    assert components(chain) == [list(chain)]


def test_a_visit_calls_back_once_for_each_expression_operands_first():
    seen = []
    analysis.post_order_visit(small, seen.append)
    assert seen[-1] is small
    assert all(isinstance(expr, Expr) for expr in seen)
    assert len(set(map(id, seen))) == len(seen)
    position = {id(expr): number for number, expr in enumerate(seen)}
    for expr in seen:
        if isinstance(expr, Call):
            assert all(position[id(arg)] < position[id(expr)] for arg in expr.args)


def test_variables_are_mapped_to_their_values():
    values = analysis.get_var2val(small)
    assert values[bound(small, "inner").var] is INNER
    assert values[bound(INNER, "e").var].op.name == "relax.add"
    assert set(values) <= set(analysis.bound_vars(small))


def test_a_match_cast_is_no_value():
    @R.function
    def f(x: R.Object):
        y = R.match_cast(x, R.Tensor((4,), "float32"))
        return y

    assert analysis.get_var2val(f) == {}
    assert [b.value.name_hint for b in analysis.name_to_binding(f)["y"]] == ["x"]


def test_names_may_be_bound_more_than_once():
    assert {name: len(found) for name, found in analysis.name_to_binding(small).items()}["e"] == 2


def test_the_users_of_a_variable_are_the_variables_bound_to_what_uses_it():
    block = small.body.blocks[0]
    users = analysis.udchain(block)
    assert {v.name_hint: names(found) for v, found in users.items()} == {
        "x": ["a", "d"], "a": ["b"], "b": ["d"], "d": [],
    }  # fmt: skip


def test_impure_calls_are_found_where_they_are_made():
    contains = analysis.contains_impure_call
    assert contains(Calls["loud"])
    assert not contains(small)
    assert not contains(Calls["odd"], GlobalVar("even"))
    assert not contains(Calls["even"], module=Calls)

    @R.function(pure=False)
    def calls(x: R.Tensor((4,), "float32")):
        @R.function(pure=False)
        def g(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            R.print(y, format="{}")
            return y

        return g(x)

    assert contains(calls)
    local = bound(calls, "g")
    assert not contains(calls, local.var)
    assert contains(local.value)
    only_defined = calls.replace(body=calls.body.replace(body=calls.params[0], blocks=()))
    assert not contains(only_defined)


def test_of_functions_of_a_module_nothing_is_known_without_it():
    for module in (None, ir.IRModule()):
        with pytest.raises(DiagnosticError, match="nothing is known of the function `even`"):
            analysis.contains_impure_call(Calls["odd"], module=module)


def test_what_depends_on_the_weights_only_is_computable_at_compile_time():
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32"),
        v: R.Tensor(("m",), "float32"),
    ):  # fmt: skip
        R.func_attr({"num_input": 1})
        a = R.permute_dims(w)
        b = R.add(a, R.const(1.0, "float32"))
        y = R.matmul(x, b)
        s = R.shape([m, 2])
        t = R.shape([n, 2])
        return (y, s, t)

    assert names(analysis.computable_at_compile_time(main)) == ["w", "v", "a", "b", "s"]
    assert names(analysis.computable_at_compile_time(main.without_attr("num_input"))) == []


def test_a_size_that_the_weights_say_is_computable_at_compile_time():
    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Object):
        R.func_attr({"num_input": 1})
        m = T.int64()
        v = R.match_cast(w, R.Shape([m]))
        s = R.shape([m, 2])
        return (v, s)

    assert names(analysis.computable_at_compile_time(main)) == ["w", "v", "s"]


def test_what_a_call_of_the_module_gives_is_computable_where_it_is_known_to_be_pure():
    odd = Calls["odd"].with_attr("num_input", 0)
    assert names(analysis.computable_at_compile_time(odd)) == ["x"]
    assert len(analysis.computable_at_compile_time(odd, module=Calls)) == 2
    loud = Calls["loud"].with_attr("num_input", 0)
    assert names(analysis.computable_at_compile_time(loud)) == ["x"]


def test_recursion_in_random_modules_is_reached_again():
    for seed in range(examples(60)):
        mod = random_module(seed)
        for group in analysis.detect_recursion(mod):
            mentioned = {v.name_hint for g in group for v in analysis.all_global_vars(mod[g])}
            assert mentioned >= {g.name_hint for g in group}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: analysis.bound_vars(3), "`bound_vars.expr` must be an Expr, not int"),
        (lambda: analysis.detect_recursion(small), "`detect_recursion.mod` must be an IRModule"),
        (lambda: analysis.udchain(small), "`udchain.dfb` must be a DataflowBlock"),
        (lambda: analysis.remove_all_unused(Calls), "`remove_all_unused.func` must be a Function"),
    ],
)
def test_what_is_no_program_is_refused_by_name(ask, message):
    with pytest.raises(TypeError, match=message):
        ask()


def test_used_variables_are_those_that_stand_as_values():
    used = names(analysis.used_vars(small))
    assert "e" in used
    assert {"x", "c", "a", "b", "d", "y", "inner"} <= set(used)
    body = analysis.used_vars(INNER.body)
    assert names(body) == ["e", "y", "d"]
    x = small.params[0]
    assert analysis.used_vars(x) == [x]
    assert analysis.used_vars(Call(Op.get("relax.exp"), [x])) == [x]
    assert analysis.used_vars(Call(GlobalVar("g"), [])) == []
    with pytest.raises(TypeError, match="used_vars"):
        analysis.used_vars(3)


def test_well_formedness_is_answered_by_both_names():
    assert analysis.check_well_formed(small) is True
    assert analysis.check_well_formed(small, check_struct_info=False) is True
    lonely = small.body.blocks[0].bindings[0].var
    wrong = small.replace(body=small.body.replace(body=lonely))
    assert analysis.check_well_formed(wrong) is False
