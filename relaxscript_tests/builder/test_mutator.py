"""Mutators: what changes is normalised and typed again, and all else is the same object."""

from __future__ import annotations

import inspect

import pytest

from relaxscript import op
from relaxscript.analysis import ill_formed, well_formed
from relaxscript.builder import ExprMutator, mutator
from relaxscript.errors import DiagnosticError
from relaxscript.ir import relax
from relaxscript.ir.relax import (
    BindingBlock,
    Call,
    Constant,
    Expr,
    Function,
    If,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples
from relaxscript_tests.growth import growth
from relaxscript_tests.test_visitor import long_function, nested_function

F4 = TensorStructInfo((4,))


def function(*lines: str, params: str = 'x: R.Tensor(("n", 4), "float32")') -> Function:
    return from_source(
        "\n".join(["@R.function", f"def main({params}):", *map("    {}".format, lines)])
    )


def script(func: Function) -> list[str]:
    """The lines of the body of a function."""
    return [line.strip() for line in func.script().split("\n") if " = " in line or "->" in line]


class Half(ExprMutator):
    """Makes every `R.exp` one of float16."""

    def value(self, expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.op == op.exp.op:
            return op.exp(op.astype(expr.args[0], "float16"))
        return expr


class Copy(ExprMutator):
    """Writes every call as a new node."""

    def value(self, expr: Expr) -> Expr:
        if isinstance(expr, Call):
            return Call.make(
                expr.op, expr.args, expr.attrs, expr.sinfo_args, expr.arg_spans, span=expr.span
            )
        return expr


@pytest.mark.slow
def test_what_does_not_change_is_the_same_object():
    for seed in range(examples(300)):
        module = random_module(seed)
        for gvar, func in module.relax_functions().items():
            assert ExprMutator(module).function(func, gvar.name_hint) is func


@pytest.mark.slow
def test_a_program_that_is_written_anew_is_equal_and_well_formed():
    for seed in range(examples(200)):
        module = random_module(seed)
        made = module.clone()
        for gvar, func in module.relax_functions().items():
            made[gvar] = Copy(module).function(func)
        assert_structural_equal(made, module)
        assert well_formed(made) == well_formed(module)


def test_what_follows_from_a_change_is_typed_again():
    made = Half().function(
        function(
            "with R.dataflow():",
            "    a = R.exp(x)",
            "    b = R.add(a, a)",
            "    R.output(b)",
            "return b",
        )
    )
    assert script(made) == [
        'def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float16"):',
        "n = T.int64()",
        'lv: R.Tensor((n, 4), "float16") = R.astype(x, dtype="float16")',
        'a: R.Tensor((n, 4), "float16") = R.exp(lv)',
        'b: R.Tensor((n, 4), "float16") = R.add(a, a)',
    ]
    assert well_formed(made)


def test_variables_keep_their_identity_where_the_same_is_known_of_them():
    func = function("a = R.exp(x)", "b = R.add(a, a)", "return b")
    made = Copy().function(func)
    assert made is not func
    bindings = zip(made.body.blocks[0].bindings, func.body.blocks[0].bindings)
    assert all(new.var is old.var for new, old in bindings)


def test_a_branch_in_which_nothing_changes_is_the_same_object():
    func = function(
        "if c:", "    r = R.exp(x)", "else:", "    r = R.log(x)", "return r",
        params='x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")',
    )  # fmt: skip
    made = Copy().function(func)
    assert made.body.blocks[0].bindings[0].value.false_branch is not (
        func.body.blocks[0].bindings[0].value.false_branch
    )
    made = Half().function(func)
    before, after = (f.body.blocks[0].bindings[0].value for f in (func, made))
    assert after.false_branch is before.false_branch
    assert made.ret_struct_info == TensorStructInfo((4,), "void")
    assert well_formed(made)


def test_a_local_function_that_changes_its_type_calls_itself_by_its_new_variable():
    func = function(
        "@R.function",
        'def g(y: R.Tensor((4,), "float32")) -> R.Tensor(ndim=1):',
        "    a = g(y)",
        "    b = R.exp(a)",
        "    return b",
        "c = g(x)",
        "return c",
        params='x: R.Tensor((4,), "float32")',
    )

    class Result(ExprMutator):
        def result_info(self, func: Function):
            return TensorStructInfo(None, "float32", ndim=1) if self.path[1:] else None

        def value(self, expr: Expr) -> Expr:
            return expr

    made = Result().function(func)
    local, call = made.body.blocks[0].bindings
    assert local.var is not func.body.blocks[0].bindings[0].var
    assert local.value.body.blocks[0].bindings[0].value.op is local.var
    assert call.value.op is local.var
    assert call.var.struct_info == TensorStructInfo(None, "float32", ndim=1)
    assert well_formed(made)


def test_shapes_that_a_replaced_variable_holds_are_held_by_the_new_one():
    func = function(
        "s: R.Shape(ndim=1) = R.shape_of(x)", "y = R.reshape(x, s)",
        "z = R.match_cast(y, R.Tensor(s))", "return z",
        params='x: R.Tensor("float32", ndim=1)',
    )  # fmt: skip
    old = func.body.blocks[0].bindings[0].var

    class Other(ExprMutator):
        def binding(self, binding):
            if binding.var is old:
                new = self.emit(binding.value, "t", binding.span)
                self.replace_var(old, new)
            else:
                super().binding(binding)

    made = Other().function(func)
    new, _, cast = made.body.blocks[0].bindings
    assert new.var.name_hint == "t"
    assert cast.struct_info.shape is new.var
    assert well_formed(made), ill_formed(made)


def test_the_condition_and_the_result_take_what_replaces_their_variables():
    func = function(
        "d = R.equal(c, c)", "if d:", "    r = R.exp(x)", "else:", "    r = x", "return r",
        params='x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")',
    )  # fmt: skip
    x, c = func.params
    old = func.body.blocks[0].bindings[0].var

    class Without(ExprMutator):
        def binding(self, binding):
            if binding.var is old:
                self.replace_var(old, c)
            elif isinstance(binding.value, If):
                self.replace_var(binding.var, x)
                super().binding(binding)
            else:
                super().binding(binding)

    made = Without().function(func)
    (binding,) = made.body.blocks[0].bindings
    assert binding.value.cond is c
    assert made.body.body is x
    assert well_formed(made)


def test_a_check_that_stays_checks_what_takes_the_place_of_its_value():
    func = function(
        "y = R.exp(x)", "m = T.int64()", "z = R.match_cast(y, R.Tensor((m, 4)))", "return z"
    )

    class Plain(ExprMutator):
        def value(self, expr: Expr) -> Expr:
            return op.abs(op.log(expr.args[0])) if isinstance(expr, Call) else op.log(expr)

    made = Plain().function(func)
    assert [type(b.value).__name__ for b in made.body.blocks[0].bindings] == [
        "Call", "Call", "Call", "Var",
    ]  # fmt: skip
    assert well_formed(made)


def test_a_value_that_does_not_fit_is_refused_where_the_binding_stands():
    class Wrong(ExprMutator):
        def value(self, expr: Expr) -> Expr:
            return op.matmul(expr.args[0], expr.args[0]) if isinstance(expr, Call) else expr

    func = function("y = R.exp(x)", "return y", params='x: R.Tensor((3, 4), "float32")')
    with pytest.raises(DiagnosticError, match="cannot multiply") as caught:
        Wrong().function(func)
    assert caught.value.diagnostics[0].code == "RX0203"


def test_what_is_not_in_normal_form_is_not_gone_through():
    x, c = Var("x", F4), Var("c", TensorStructInfo((), "bool"))
    y = Var("y", F4)
    inner = SeqExpr([BindingBlock([VarBinding(y, op.exp(x))])], y)
    func = Function([x, c], If(c, inner, SeqExpr([], x)), F4)
    assert ExprMutator().function(func) is func


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["if", "function"])
def test_nests_of_any_depth_are_rewritten(kind):
    func = nested_function(5_000, kind)
    assert ExprMutator().function(func) is func

    class AtTheEnd(ExprMutator):
        def branch_result(self, choice: If, value: Expr) -> Expr:
            return op.exp(value) if value is func.params[0] else value

        def result(self, func: Function, value: Expr) -> Expr:
            return op.exp(value) if isinstance(value, Var) else value

    assert AtTheEnd().function(func) is not func


@pytest.mark.slow
def test_ten_thousand_bindings_take_ten_times_the_steps_of_a_thousand():
    def prepare(count: int):
        func = long_function(count)
        return lambda: (ExprMutator().function(func), Half().function(func))

    assert growth(prepare, 1_000, 10) < 10.5


def test_the_example_of_the_docstring_cancels_two_negations():
    func = function("a = R.negative(x)", "b = R.negative(a)", "c = R.exp(b)", "return c")
    paragraphs = inspect.cleandoc(mutator.__doc__ or "").split("\n\n")
    example = "\n\n".join(part for part in paragraphs if part.startswith("    "))
    scope = {
        **vars(relax),
        **vars(mutator),
        "negative": op.negative,
        "module": None,
        "function": func,
    }
    exec(inspect.cleandoc(example), scope)
    made = scope["function"]
    assert [b.value for b in made.body.blocks[0].bindings][1] is func.params[0]
    assert well_formed(made)


def test_constants_stay_where_they_are_in_what_is_written_again():
    func = function('a = R.add(x, R.const(1.0, "float32"))', "b = R.exp(a)", "return b")
    made = Half().function(func)
    first = made.body.blocks[0].bindings[0]
    assert first is func.body.blocks[0].bindings[0]
    assert isinstance(first.value.args[1], Constant)


def test_a_cast_whose_value_is_replaced_stays_a_cast():
    class Again(ExprMutator):
        """Casts a new variable of the same value."""

        def binding(self, binding):
            if isinstance(binding, relax.MatchCast):
                value = self.emit(binding.value, "again", binding.span)
                self.replace_value(binding, value)
            else:
                self.keep(binding)

    func = function(
        'y = R.match_cast(x, R.Tensor((2, 4), "float32"))', "return y",
        params='x: R.Tensor(ndim=2, dtype="float32")',
    )  # fmt: skip
    made = Again().function(func)
    again, cast = made.body.blocks[0].bindings
    assert isinstance(cast, relax.MatchCast)
    assert cast.value is again.var
    assert cast.var is func.body.blocks[0].bindings[0].var
    assert well_formed(made)


def test_a_function_that_calls_none_of_the_operators_is_not_looked_through():
    class Half16(Half):
        operators = frozenset({op.exp.name})

        def begin(self, func):
            seen.append(func)

    seen = []
    without, with_one = function("a = R.log(x)", "return a"), function("a = R.exp(x)", "return a")
    assert Half16().function(without) is without
    assert Half16().function(with_one) is not with_one
    assert seen == [with_one]


def test_mutators_look_functions_up_in_the_module_itself_and_add_to_a_copy():
    class Extract(ExprMutator):
        """Calls a function of the module for the value of every binding."""

        def value(self, expr):
            x = Var("x", F4)
            body = SeqExpr((), x)
            return Call(self.builder.add_func(Function([x], body, F4), "same"), [expr.args[0]])

    module = from_source(
        "@I.ir_module\nclass M:\n    @R.function\n"
        '    def main(x: R.Tensor((4,), "float32")):\n        return R.exp(x)\n'
    )
    mutator = Extract(module)
    assert mutator.function(module["main"]) is not module["main"]
    assert [v.name_hint for v in module] == ["main"]
    assert [v.name_hint for v in mutator.builder.get()] == ["main", "same"]


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_an_annotation_that_is_checked_when_the_program_runs_stays_where_more_is_known():
    func = function(
        'b: R.Tensor((3,), "float32") = R.reshape(x, s)', "return b",
        params='x: R.Tensor("float32", ndim=1), s: R.Shape(ndim=1)',
    )  # fmt: skip

    class Flat(ExprMutator):
        def value(self, expr: Expr) -> Expr:
            return op.abs(func.params[0])

    made = Flat().function(func)
    assert repr(made.body.blocks[0].bindings[0].var.struct_info) == 'R.Tensor((3,), "float32")'
