"""Mutators by hooks: what changes is normal and typed again, all else is the same object."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import op
from relaxscript.analysis import ill_formed
from relaxscript.builder.expr_functor import HOOKS
from relaxscript.builder.expr_mutator import PyExprMutator, mutator
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
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

from .test_expr_functor import EVERY, PROGRAM, recorder, refusal

RELU = Op.get("relax.nn.relu")


def function(*lines: str, params: str = 'x: R.Tensor((3, 4), "float32")') -> Function:
    return from_source(
        "\n".join(["@R.function", f"def main({params}):", *map("    {}".format, lines)])
    )


def bindings(func: Function) -> list[Binding]:
    return [binding for block in func.body.blocks for binding in block.bindings]


def values(func: Function) -> list[str]:
    return [
        f"{b.var.name_hint} {b.var.struct_info!r} {b.value.op.name}"
        for b in bindings(func)
        if isinstance(b.value, Call)
    ]


class Half(PyExprMutator):
    """Computes what R.nn.relu is called for by R.exp in float16."""

    def visit_call_(self, call: Call) -> Expr:
        call = super().visit_call_(call)
        return op.exp(op.astype(call.args[0], "float16")) if call.op == RELU else call


class Again(PyExprMutator):
    """Writes every call as a new node."""

    def visit_call_(self, call: Call) -> Expr:
        made = super().visit_call_(call)
        return Call.make(
            made.op, made.args, made.attrs, made.sinfo_args, made.arg_spans, span=made.span
        )


# -- laws ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_mutator_that_changes_nothing_gives_the_same_object():
    every, log = recorder(*HOOKS, base=PyExprMutator)
    for seed in range(examples(200)):
        mod = random_module(seed)
        for func in mod.relax_functions().values():
            assert PyExprMutator(mod).visit_expr(func) is func
            assert every(mod).visit_expr(func) is func
    assert {name for name, _ in log} >= {*EVERY} - {"visit_string_imm_", "visit_data_type_imm_"}


@pytest.mark.slow
def test_a_program_that_is_written_anew_is_equal_and_well_formed():
    for seed in range(examples(300)):
        mod = random_module(seed)
        made = mod.clone()
        for gvar, func in mod.relax_functions().items():
            made[gvar] = Again(mod).visit_expr(func)
        assert_structural_equal(made, mod)
        assert ill_formed(made) == ()


class Renamed(PyExprMutator):
    """Binds every variable by another name."""

    def visit_var_def_(self, var: Var) -> Var:
        same = super().visit_var_def_(var)
        return type(var)(f"new_{var.name_hint}", same.struct_info)


class Through(PyExprMutator):
    """Binds every call to a variable of its own."""

    def visit_call_(self, call: Call) -> Expr:
        return self.builder_.emit(super().visit_call_(call))


@pytest.mark.slow
def test_a_program_whose_variables_are_renamed_is_the_same():
    for seed in range(examples(300)):
        mod = random_module(seed)
        made = mod.clone()
        for gvar, func in mod.relax_functions().items():
            made[gvar] = Renamed(mod).visit_expr(func)
        assert_structural_equal(made, mod)
        assert ill_formed(made) == ()


@pytest.mark.slow
def test_what_a_mutator_emits_into_any_program_is_well_formed():
    for seed in range(examples(200)):
        mod = random_module(seed)
        made = mod.clone()
        for gvar, func in mod.relax_functions().items():
            made[gvar] = Through(mod).visit_expr(func)
        assert ill_formed(made) == ()


# -- what becomes of a program ---------------------------------------------------------------------


def test_what_a_hook_gives_is_bound_step_by_step_and_what_follows_is_typed_again():
    func = function("with R.dataflow():", "    h = R.add(x, x)", "    a = R.nn.relu(h)",
                    "    b = R.add(a, a)", "    R.output(b)", "return b")  # fmt: skip
    made = Half().visit_expr(func)
    assert values(made) == [
        'h R.Tensor((3, 4), "float32") relax.add',
        'lv R.Tensor((3, 4), "float16") relax.astype',
        'a R.Tensor((3, 4), "float16") relax.exp',
        'b R.Tensor((3, 4), "float16") relax.add',
    ]
    assert repr(made.ret_struct_info) == 'R.Tensor((3, 4), "float16")'
    assert [type(block) for block in made.body.blocks] == [DataflowBlock]
    assert [type(b.var) for b in bindings(made)] == [DataflowVar] * 3 + [Var]
    assert bindings(made)[0] is bindings(func)[0]
    assert ill_formed(IRModule({"main": made})) == ()


def test_variables_keep_their_identity_where_the_same_is_known_of_them():
    func = function("a = R.exp(x)", "b = R.add(a, a)", "return b")
    made = Again().visit_expr(func)
    assert made is not func
    assert [b.var for b in bindings(made)] == [b.var for b in bindings(func)]
    assert made.params == func.params


def test_places_in_the_source_are_kept():
    func = function("a = R.nn.relu(x)", "b = R.exp(a)", "return b")
    made = Half().visit_expr(func)
    last_before, last = bindings(func)[-1], bindings(made)[-1]
    assert last.span == last_before.span
    assert last.value.span == last_before.value.span
    assert made.span == func.span
    assert made.body.body_span == func.body.body_span


def test_a_branch_in_which_nothing_changes_is_the_same_object():
    func = function("if c:", "    r = R.nn.relu(x)", "else:", "    r = R.exp(x)", "return r",
                    params='x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")')  # fmt: skip
    before, after = bindings(func)[0].value, bindings(Half().visit_expr(func))[0].value
    assert isinstance(after, If)
    assert after.false_branch is before.false_branch
    assert after.true_branch is not before.true_branch


def test_a_local_function_that_changes_its_type_calls_itself_by_its_new_variable():
    func = function("@R.function", "def g(y: R.Tensor((4,), 'float32')) -> R.Tensor:",
                    "    a = g(y)", "    return y", "b = g(x)", "return b",
                    params='x: R.Tensor((4,), "float32")')  # fmt: skip

    class Result(PyExprMutator):
        def visit_function_(self, op: Function) -> Expr:
            made = super().visit_function_(op)
            if op.attrs:  # the outer one
                return made
            return made.replace(ret_struct_info=TensorStructInfo((4,), "float32"))

    made = Result().visit_expr(func)
    local, call = bindings(made)
    assert local.var is not bindings(func)[0].var
    assert bindings(local.value)[0].value.op is local.var
    assert call.value.op is local.var
    assert ill_formed(IRModule({"main": made})) == ()


def test_an_annotation_that_is_weaker_than_the_value_stays():
    func = function("a: R.Tensor(ndim=2) = R.exp(x)", "return a")
    made = Again().visit_expr(func)
    assert made.ret_struct_info is func.ret_struct_info
    assert bindings(made)[0].var is bindings(func)[0].var


def test_a_match_cast_stays_one():
    func = function("a = R.nn.relu(x)", "b = R.match_cast(a, R.Tensor((3, 4)))", "return b")
    last = bindings(Half().visit_expr(func))[-1]
    assert isinstance(last, MatchCast)
    assert last.value.name_hint == "a"
    assert last.var is bindings(func)[-1].var


def test_calls_of_functions_of_the_module_are_typed_by_the_module():
    mod = from_source(
        "@I.ir_module\nclass M:\n"
        "    @R.function\n    def g(x: R.Tensor(('n',), 'float32')):\n        return x\n"
        "    @R.function\n    def main(x: R.Tensor((4,), 'float32')):\n"
        "        a = M.g(x)\n        b = R.exp(a)\n        return b\n"
    )  # fmt: skip
    made = Again(mod).visit_expr(mod["main"])
    assert_structural_equal(made, mod["main"])


def test_an_expression_alone_is_rewritten_as_it_stands():
    x = Var("x", TensorStructInfo((3, 4), "float32"))
    made = Half().visit_expr(op.nn.relu(x))
    assert made.op.name == "relax.exp"
    assert made.args[0].op.name == "relax.astype"


# -- what hooks may do -----------------------------------------------------------------------------


def test_a_binding_is_dropped_by_a_hook_that_writes_nothing():
    class Drop(PyExprMutator):
        def visit_var_binding_(self, binding: VarBinding) -> None:
            if binding.var.name_hint != "dead":
                super().visit_var_binding_(binding)

    func = function("with R.dataflow():", "    dead = R.exp(x)", "    a = R.abs(x)",
                    "    R.output(a)", "return a")  # fmt: skip
    assert [b.var.name_hint for b in bindings(Drop().visit_expr(func))] == ["a"]


def test_blocks_that_become_empty_are_gone_and_their_neighbours_one():
    class Drop(PyExprMutator):
        def visit_dataflow_block_(self, block: DataflowBlock) -> BindingBlock:
            return (
                BindingBlock(())
                if len(block.bindings) == 1
                else super().visit_dataflow_block_(block)
            )

    lines = ("a = R.abs(x)", "with R.dataflow():", "    b = R.exp(x)", "    R.output(b)")
    func = function(*lines, "c = R.abs(a)", "return c")
    (block,) = Drop().visit_expr(func).body.blocks
    assert [b.var.name_hint for b in block.bindings] == ["a", "c"]


def test_a_hook_emits_bindings_by_the_builder_and_finds_what_is_bound():
    class Twice(PyExprMutator):
        def visit_call_(self, call: Call) -> Expr:
            call = super().visit_call_(call)
            inner = self.lookup_binding(call.args[0])
            if call.op == Op.get("relax.exp") and isinstance(inner, Call):
                once = self.builder_.emit(op.add(call.args[0], call.args[0]), "twice")
                return op.exp(once)
            return call

    func = function("with R.dataflow():", "    a = R.abs(x)", "    b = R.exp(a)", "    R.output(b)",
                    "return b")  # fmt: skip
    made = Twice().visit_expr(func)
    assert [b.var.name_hint for b in bindings(made)] == ["a", "twice", "b"]
    assert isinstance(bindings(made)[1].var, DataflowVar)
    assert Twice().lookup_binding(func.params[0]) is None


def test_a_hook_adds_functions_to_the_module_of_the_builder():
    helper = function("y = R.exp(x)", "return y").without_attr("global_symbol")
    mod = IRModule({"main": function("a = R.nn.relu(x)", "return a")})

    class Outline(PyExprMutator):
        def visit_call_(self, call: Call) -> Expr:
            if call.op != RELU:
                return call
            return Call(self.builder_.add_func(helper, "helper"), call.args)

    outline = Outline(mod)
    gvar = mod.get_global_var("main")
    outline.builder_.update_func(gvar, outline.visit_expr(mod["main"]))
    made = outline.builder_.get()
    assert ill_formed(made) == ()
    assert "helper" in made
    assert "helper" not in mod
    x = np.ones((3, 4), "float32")
    np.testing.assert_allclose(made.main(x), np.exp(x), rtol=1e-6)


def test_leaves_and_variables_are_replaced_where_they_are_used():
    class Leaves(PyExprMutator):
        def visit_constant_(self, op: Constant) -> Expr:
            return Constant(op.data + 1)

        def visit_var_(self, op: Var) -> Expr:
            return self.renamed if op.name_hint == "x" else op

    lines = ("a = R.add(x, R.const(1.0, 'float32'))", "b = R.add(a, y)", "return b")
    params = 'x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")'
    func = function(*lines, params=params)
    leaves = Leaves()
    leaves.renamed = func.params[1]
    first = bindings(leaves.visit_expr(func))[0]
    assert first.value.args[0] is func.params[1]
    assert first.value.args[1].data == 2


def test_an_operand_that_becomes_a_call_is_bound_before():
    class Sums(PyExprMutator):
        def visit_constant_(self, op_: Constant) -> Expr:
            return op.add(op_, op_)

    func = function('a = R.add(x, R.const(1.0, "float32"))', "return a")
    made = Sums().visit_expr(func)
    assert [b.value.op.name for b in bindings(made)] == ["relax.add", "relax.add"]
    assert bindings(made)[1].value.args[1] is bindings(made)[0].var


def test_variables_are_renamed_where_they_are_bound_and_in_all_that_follows():
    made = Renamed().visit_expr(PROGRAM)
    assert_structural_equal(made, PROGRAM)
    assert all(b.var.name_hint.startswith("new_") for b in bindings(made))
    assert made.params[0].name_hint == "new_x"
    assert ill_formed(IRModule({"main": made})) == ()


def test_a_variable_takes_the_place_of_another_from_where_that_is_said():
    class Swap(PyExprMutator):
        def visit_var_binding_(self, binding: VarBinding) -> None:
            super().visit_var_binding_(binding)
            if binding.var.name_hint == "a":
                self.set_var_remap(self.first, binding.var)
                assert self.get_var_remap(self.first) is binding.var
                assert self.get_var_remap(binding.var) is binding.var

    func = function("a = R.exp(x)", "b = R.add(x, x)", "return b")
    swap = Swap()
    swap.first = func.params[0]
    a, b = bindings(swap.visit_expr(func))
    assert a.value.args == (func.params[0],)
    assert b.value.args == (a.var, a.var)


def test_a_variable_has_what_is_said_of_it_and_is_itself_where_that_is_known():
    x = Var("x", TensorStructInfo((4,), "float32"))
    mine = PyExprMutator()
    assert mine.with_struct_info(x, TensorStructInfo((4,), "float32")) is x
    other = mine.with_struct_info(x, TensorStructInfo((5,), "float32"))
    assert (other.name_hint, repr(other.struct_info)) == ("x", 'R.Tensor((5,), "float32")')


def test_parts_are_visited_first_where_a_hook_asks_for_that():
    class Fold(PyExprMutator):
        def visit_call_(self, call: Call) -> Expr:
            call = self.visit_expr_post_order(call)
            return call.args[0] if call.op == RELU else call

    func = function("a = R.nn.relu(x)", "b = R.nn.relu(a)", "return b")
    assert [b.value.name_hint for b in bindings(Fold().visit_expr(func))] == ["x", "a"]


def test_a_scope_of_its_own_has_the_bindings_of_what_is_visited_in_it():
    class Scoped(PyExprMutator):
        def visit_if_(self, op_: If) -> Expr:
            yes = self.visit_with_new_scope(op.exp(op.nn.relu(self.x)))
            return op_.replace(true_branch=yes)

    func = function("if c:", "    r = R.abs(x)", "else:", "    r = R.exp(x)", "return r",
                    params='x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")')  # fmt: skip
    scoped = Scoped()
    scoped.x = func.params[0]
    (choice,) = bindings(scoped.visit_expr(func))
    branch = choice.value.true_branch
    assert isinstance(branch, SeqExpr)
    assert [b.value.op.name for b in branch.blocks[0].bindings] == ["relax.nn.relu", "relax.exp"]
    assert branch.body is branch.blocks[0].bindings[1].var


def test_a_block_can_be_rewritten_alone():
    func = function("with R.dataflow():", "    a = R.nn.relu(x)", "    R.output(a)", "return a")
    (block,) = func.body.blocks
    made = Half().visit_binding_block(block)
    assert isinstance(made, DataflowBlock)
    assert len(made.bindings) == 2
    assert PyExprMutator().visit_binding_block(block) is block


def test_a_subclass_need_not_call_the_constructor():
    class Careless(PyExprMutator):
        def __init__(self, names: list[str]) -> None:
            self.names = names

        def visit_op_(self, op: Op) -> Expr:
            self.names.append(op.name)
            return op

    names: list[str] = []
    Careless(names).visit_expr(function("a = R.exp(x)", "return a"))
    assert names == ["relax.exp"]


def test_places_of_what_is_written_anew_come_through_their_hook():
    class Nowhere(Half):
        def visit_span(self, span):
            return None

    func = function("a = R.nn.relu(x)", "return a")
    assert Nowhere().visit_expr(func).span is None


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hook", "gives", "message"),
    [
        ("visit_call_", None, "`Mine.visit_call_` gave NoneType (None) for `a`, "
                              "where an expression is needed"),
        ("visit_op_", 3, "`Mine.visit_op_` gave int (3) for `a`, where an expression is needed"),
        ("visit_expr", None, "`Mine.visit_expr` gave NoneType (None), "
                             "where an expression is needed"),
        ("visit_dataflow_block_", None, "`Mine.visit_dataflow_block_` gave NoneType (None), "
                                        "where a block of bindings is needed"),
        ("visit_dataflow_var_def_", None, "`Mine.visit_dataflow_var_def_` gave NoneType (None) "
                                          "for `a`, where a variable is needed"),
    ],
)  # fmt: skip
def test_a_hook_that_gives_nothing_of_use_is_refused(hook, gives, message):
    cls = type("Mine", (PyExprMutator,), {hook: lambda self, node: gives})
    func = function("with R.dataflow():", "    a = R.exp(x)", "    b = R.abs(a)", "    R.output(b)",
                    "return b")  # fmt: skip

    def run():
        made = cls().visit_expr(func)
        return made if made is not None else cls().visit_with_new_scope(func.body)

    code, found, help = refusal(run)
    assert (code, found) == ("RX0201", message)
    assert help is not None
    assert f"super().{hook}(" in help


def test_a_change_that_breaks_a_use_names_the_binding_the_hook_and_a_way_out():
    func = function("a = R.nn.relu(x)", "b = R.add(a, x)", "return b")
    with pytest.raises(DiagnosticError) as raised:
        Half().visit_expr(func)
    (mistake,) = raised.value.diagnostics
    assert mistake.code.startswith("RX02")
    assert mistake.span.text == "R.add(a, x)"
    assert (
        '`a` was `R.Tensor((3, 4), "float32")`; '
        '`Half.visit_call_` made it `R.Tensor((3, 4), "float16")`' in mistake.notes
    )
    assert "this is about the binding of `b`" in mistake.notes
    assert mistake.help == "give `a` what it was in `Half.visit_call_`, or rewrite its uses too"


def test_a_value_that_cannot_be_is_refused_where_the_hook_gives_it():
    class Wrong(PyExprMutator):
        def visit_call_(self, call: Call) -> Expr:
            return Call(op.matmul.op, (call.args[0], call.args[0]))

    func = function("a = R.exp(x)", "return a")
    with pytest.raises(DiagnosticError) as raised:
        Wrong().visit_expr(func)
    (mistake,) = raised.value.diagnostics
    assert mistake.code == "RX0203"
    assert mistake.span.text in ("R.exp(x)", "a")


def test_a_mutator_that_failed_can_be_used_again():
    broken = function("a = R.nn.relu(x)", "b = R.add(a, x)", "return b")
    half = Half()
    with pytest.raises(DiagnosticError, match=r"`Half\.visit_call_` cannot take these operands"):
        half.visit_expr(broken)
    assert not half.builder_.has_open_scope
    made = half.visit_expr(function("a = R.nn.relu(x)", "return a"))
    assert ill_formed(IRModule({"main": made})) == ()


def test_what_is_visited_by_nothing_is_refused():
    mine = Half()
    assert refusal(lambda: mine.visit_expr(3))[1] == "`Half.visit_expr` does not visit int (3)"
    assert refusal(lambda: mine.visit_binding(3))[1].startswith("`Half.visit_binding`")
    assert refusal(lambda: mine.visit_binding_block(3))[1].startswith("`Half.visit_binding_block`")
    found = refusal(lambda: mine.visit_expr_post_order(3))[1]
    assert found.startswith("`Half.visit_expr_post_order`")


def test_a_method_that_is_nearly_a_hook_is_refused_where_the_class_is_defined():
    def define():
        @mutator
        class Mine(PyExprMutator):
            def visit_cal_(self, call: Call) -> Expr:
                return call

    code, message, help = refusal(define)
    assert (code, help) == ("RX0101", "did you mean `visit_call_`?")
    assert message == "no mutator has a hook `visit_cal_`, so nothing calls `Mine.visit_cal_`"


def test_a_decorated_class_is_the_class_itself():
    assert mutator(Half) is Half


# -- depth and cost --------------------------------------------------------------------------------


@pytest.mark.slow
def test_operands_that_nest_too_deeply_are_bound_one_by_one():
    made = Again().visit_expr(nested_function(5_000, "call"))
    public = IRModule({"main": made.with_attr("global_symbol", "main")})
    assert ill_formed(public) == ()
    assert len(bindings(made)) == 5_000


@pytest.mark.parametrize("kind", ["if", "function"])
def test_branches_and_functions_may_nest_a_hundred_deep(kind):
    func = nested_function(90, kind)
    assert PyExprMutator().visit_expr(func) is func
    code, message, _ = refusal(lambda: PyExprMutator().visit_expr(nested_function(2_000, kind)))
    assert code == "RX0104"
    assert message == "the program is nested too deeply for the hooks of `PyExprMutator`"


@pytest.mark.parametrize("cls", [PyExprMutator, Again])
def test_a_mutator_costs_what_the_program_is_long(cls):
    def prepare(size):
        func = long_function(size)
        return lambda: cls().visit_expr(func)

    assert growth(prepare, 200) < 9


def test_a_call_of_a_function_that_is_not_known_is_told():
    class Other(PyExprMutator):
        def visit_call_(self, call: Call) -> Expr:
            return Call(GlobalVar("nowhere"), call.args)

    code, message, _ = refusal(lambda: Other().visit_expr(function("a = R.exp(x)", "return a")))
    assert (code, message) == ("RX0101", "the module has no function `nowhere`")
