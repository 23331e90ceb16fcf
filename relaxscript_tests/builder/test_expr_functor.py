"""Functors and visitors by hooks: what is visited in which order, and what is refused."""

from __future__ import annotations

import pytest

from relaxscript import op
from relaxscript.analysis import post_order_visit
from relaxscript.builder.expr_functor import HOOKS, ExprFunctor, PyExprVisitor, visitor
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    GlobalVar,
    MatchCast,
    Tuple,
    Var,
    VarBinding,
)
from relaxscript.ir.walk import compounds
from relaxscript.script import from_source
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples
from relaxscript_tests.growth import growth
from relaxscript_tests.test_visitor import long_function, nested_function

PROGRAM = from_source("""
@R.function(pure=False)
def main(x: R.Tensor((3, 4), "float32"), c: R.Tensor((), "bool")):
    with R.dataflow():
        h = R.add(x, R.const(1.0, "float32"))
        o = R.exp(h)
        R.output(o)
    m = R.match_cast(x, R.Tensor((3, 4), "float32"))
    t = (m, R.shape([3, 4]), R.prim_value(3), R.str("a"), R.dtype("float32"))
    u = t[0]

    @R.function
    def g(y: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        return y

    if c:
        r = g(u)
    else:
        r = R.call_packed("foo", u, sinfo_args=R.Tensor((3, 4), "float32"))
    return r
""")
EVERY = [name for name in HOOKS if name.endswith("_")]


def label(node) -> str:
    if isinstance(node, Binding):
        node = node.var
    return getattr(node, "name_hint", None) or getattr(node, "name", "")


def recorder(*hooks: str, base: type = PyExprVisitor) -> tuple[type, list[tuple[str, str]]]:
    """A visitor that notes the hooks that are called, and goes on inside by `super()`."""
    log: list[tuple[str, str]] = []

    def method(name):
        def hook(self, node):
            log.append((name, label(node)))
            return getattr(super(Recorder, self), name)(node)

        return hook

    Recorder = type("Recorder", (base,), {name: method(name) for name in hooks})
    return Recorder, log


def visited(*hooks: str, program=PROGRAM) -> list[tuple[str, str]]:
    cls, log = recorder(*hooks)
    cls().visit_expr(program)
    return log


# -- order -----------------------------------------------------------------------------------------


def test_every_hook_is_called_for_what_it_is_named_after():
    called = {name for name, _ in visited(*EVERY)}
    assert called == {*EVERY} - {"visit_global_var_"}
    called = visited("visit_global_var_", program=Call(GlobalVar("g"), ()))
    assert called == [("visit_global_var_", "g")]


def test_the_value_of_a_binding_comes_before_its_variable_and_the_callee_before_arguments():
    found = visited("visit_var_", "visit_op_", "visit_var_binding_", "visit_var_def_",
                    "visit_dataflow_var_", "visit_constant_")  # fmt: skip
    assert found[:9] == [
        ("visit_var_def_", "x"), ("visit_var_def_", "c"),
        ("visit_var_binding_", "h"), ("visit_op_", "relax.add"), ("visit_var_", "x"),
        ("visit_constant_", ""), ("visit_var_def_", "h"),
        ("visit_var_binding_", "o"), ("visit_op_", "relax.exp"),
    ]  # fmt: skip
    assert found[9:11] == [("visit_dataflow_var_", "h"), ("visit_var_def_", "o")]


def test_branches_come_behind_the_condition_and_a_body_behind_its_parameters():
    found = visited("visit_var_", "visit_var_def_", "visit_if_", "visit_function_")
    assert found[12:24] == [
        ("visit_function_", ""), ("visit_var_def_", "y"), ("visit_var_", "y"),
        ("visit_var_def_", "g"),
        ("visit_if_", ""), ("visit_var_", "c"),
        ("visit_var_", "g"), ("visit_var_", "u"), ("visit_var_def_", "r"), ("visit_var_", "r"),
        ("visit_var_", "u"), ("visit_var_def_", "r"),
    ]  # fmt: skip


def test_a_variable_of_a_dataflow_block_is_defined_by_the_hook_of_others_unless_it_has_its_own():
    assert ("visit_var_def_", "h") in visited("visit_var_def_")
    both = visited("visit_var_def_", "visit_dataflow_var_def_")
    assert both.count(("visit_dataflow_var_def_", "h")) == 1
    assert ("visit_var_def_", "h") in both  # by `super()`


def test_a_hook_that_does_not_go_on_hides_what_is_inside():
    class Shallow(PyExprVisitor):
        calls = 0

        def visit_call_(self, call: Call) -> None:
            self.calls += 1

        def visit_dataflow_block_(self, block: DataflowBlock) -> None:
            pass

    shallow = Shallow()
    shallow.visit_expr(PROGRAM)
    assert shallow.calls == 2


def test_what_comes_for_all_of_a_sort_is_called_before_the_hook_of_the_kind():
    class General(PyExprVisitor):
        def __init__(self) -> None:
            self.log: list[str] = []

        def visit_expr(self, expr: Expr) -> None:
            self.log.append(type(expr).__name__)
            super().visit_expr(expr)

        def visit_call_(self, call: Call) -> None:
            self.log.append("hook")
            super().visit_call_(call)

        def visit_binding(self, binding: Binding) -> None:
            self.log.append(f"binding {binding.var.name_hint}")
            super().visit_binding(binding)

        def visit_binding_block(self, block: BindingBlock) -> None:
            self.log.append("block")
            super().visit_binding_block(block)

        def visit_var_def(self, var: Var) -> None:
            self.log.append(f"def {var.name_hint}")
            super().visit_var_def(var)

    general = General()
    general.visit_expr(PROGRAM)
    assert general.log[:11] == [
        "Function", "def x", "def c", "SeqExpr", "block", "binding h", "Call", "hook", "Op", "Var",
        "Constant",
    ]  # fmt: skip
    assert general.log.count("block") == 4


def test_bindings_blocks_and_variables_can_be_visited_alone():
    cls, log = recorder("visit_match_cast_", "visit_op_", "visit_var_def_")
    block, ordinary = PROGRAM.body.blocks
    cls().visit_binding_block(block)
    assert [name for name, _ in log].count("visit_op_") == 2
    log.clear()
    cls().visit_binding(ordinary.bindings[0])
    assert log == [("visit_match_cast_", "m"), ("visit_var_def_", "m")]
    log.clear()
    cls().visit_var_def(block.bindings[0].var)
    assert log == [("visit_var_def_", "h")]


def test_places_are_visited_where_the_class_asks_for_them():
    spans = []

    class Places(PyExprVisitor):
        def visit_span(self, span) -> None:
            spans.append(span.text)

    Places().visit_expr(PROGRAM)
    assert "R.exp(h)" in spans
    assert "h" in spans


@pytest.mark.slow
def test_a_visitor_sees_each_binding_and_call_of_a_random_program_once():
    class Count(PyExprVisitor):
        def __init__(self) -> None:
            self.seen: list[object] = []

        def visit_var_binding_(self, binding: VarBinding) -> None:
            self.seen.append(binding)
            super().visit_var_binding_(binding)

        def visit_match_cast_(self, binding: MatchCast) -> None:
            self.seen.append(binding)
            super().visit_match_cast_(binding)

        def visit_call_(self, call: Call) -> None:
            self.seen.append(call)
            super().visit_call_(call)

    for seed in range(examples(300)):
        for func in random_module(seed).relax_functions().values():
            count = Count()
            count.visit_expr(func)
            expected = [n for n in compounds(func) if isinstance(n, (Binding, Call))]
            assert len(count.seen) == len(expected)
            assert {id(node) for node in count.seen} == {id(node) for node in expected}


def test_a_visitor_agrees_with_the_traversal_in_post_order():
    expected: list[str] = []
    post_order_visit(PROGRAM, lambda e: expected.append("call") if isinstance(e, Call) else None)
    assert len(visited("visit_call_")) == len(expected)


# -- functors --------------------------------------------------------------------------------------


def test_a_functor_gives_what_its_hooks_give():
    class Size(ExprFunctor):
        def visit_call_(self, call: Call) -> int:
            return 1 + sum(map(self.visit_expr, call.args))

        def visit_var_(self, var: Var) -> int:
            return 1

    x = PROGRAM.params[0]
    assert Size().visit_expr(op.add(op.exp(x), x)) == 4


@pytest.mark.parametrize("hook", EVERY)
def test_a_functor_without_the_hook_says_which(hook):
    class Nothing(ExprFunctor):
        pass

    with pytest.raises(NotImplementedError, match=f"^`Nothing` has no `{hook}`$"):
        getattr(Nothing(), hook)(None)


def test_a_functor_finds_the_hook_of_a_binding_block_or_variable():
    class Names(ExprFunctor):
        def visit_var_binding_(self, binding: VarBinding) -> str:
            return "binding"

        def visit_match_cast_(self, binding: MatchCast) -> str:
            return "cast"

        def visit_dataflow_block_(self, block: DataflowBlock) -> str:
            return "dataflow"

        def visit_dataflow_var_def_(self, var: DataflowVar) -> str:
            return var.name_hint

    block, ordinary = PROGRAM.body.blocks
    names = Names()
    assert names.visit_binding_block(block) == "dataflow"
    assert [names.visit_binding(b) for b in (block.bindings[0], ordinary.bindings[0])] == [
        "binding", "cast",
    ]  # fmt: skip
    assert names.visit_var_def(block.bindings[0].var) == "h"


# -- mistakes --------------------------------------------------------------------------------------


def refusal(action) -> tuple[str, str, str | None]:
    with pytest.raises(DiagnosticError) as raised:
        action()
    (mistake,) = raised.value.diagnostics
    return mistake.code, mistake.message, mistake.help


def test_what_is_visited_by_nothing_is_refused():
    class Mine(PyExprVisitor):
        pass

    assert refusal(lambda: Mine().visit_expr(3))[:2] == (
        "RX0201", "`Mine.visit_expr` does not visit int (3)"
    )  # fmt: skip
    code, message, help = refusal(lambda: Mine().visit_expr(IRModule({"main": PROGRAM})))
    assert message == "`Mine.visit_expr` does not visit IRModule (@I.ir_module...)"
    assert help == "visit its functions: `for function in mod.relax_functions().values(): ...`"
    assert refusal(lambda: Mine().visit_binding(PROGRAM))[1].startswith("`Mine.visit_binding`")
    assert refusal(lambda: Mine().visit_var_def(3))[1].startswith("`Mine.visit_var_def`")
    inner = Tuple.make((prim.IntImm(prim.INT64, 3),))
    assert "does not visit IntImm" in refusal(lambda: Mine().visit_expr(inner))[1]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("visit_cal_", "visit_call_"), ("visit_call", "visit_call_"), ("visit_iff_", "visit_if_"),
     ("visit_var_bindng_", "visit_var_binding_"), ("visit_tuple_get_item_", "visit_tuple_getitem_"),
     ("visit_functions_", "visit_function_")],
)  # fmt: skip
def test_a_method_that_is_nearly_a_hook_is_refused_where_the_class_is_defined(name, meant):
    def define():
        visitor(type("Mine", (PyExprVisitor,), {name: lambda self, op: None}))

    message = f"no visitor has a hook `{name}`, so nothing calls `Mine.{name}`"
    assert refusal(define) == ("RX0101", message, f"did you mean `{meant}`?")


def test_methods_of_other_names_are_nobodys_business():
    @visitor
    class Mine(PyExprVisitor):
        def visit_weights(self) -> None: ...

        def visit_calls(self) -> None: ...

        def _visit_cal_(self) -> None: ...

    assert Mine.visit_weights


def test_nested_hooks_that_use_up_the_stack_are_told():
    class Calls(PyExprVisitor):
        def visit_call_(self, call: Call) -> None:
            super().visit_call_(call)

    code, message, help = refusal(lambda: Calls().visit_expr(nested_function(20_000, "call")))
    assert (code, message) == (
        "RX0104", "the program is nested too deeply for the hooks of `Calls`"
    )  # fmt: skip
    assert help is not None
    assert "Normalize" in help


# -- cost ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["call", "if", "function"])
def test_what_has_no_hook_of_its_own_is_passed_however_deep_it_is(kind):
    class Names(PyExprVisitor):
        def __init__(self) -> None:
            self.count = 0

        def visit_var_(self, var: Var) -> None:
            self.count += 1

    names = Names()
    names.visit_expr(nested_function(5_000, kind))
    assert names.count > 0


def test_a_visitor_costs_what_the_program_is_long():
    class Calls(PyExprVisitor):
        def visit_call_(self, call: Call) -> None:
            super().visit_call_(call)

    def prepare(size):
        func = long_function(size)
        return lambda: Calls().visit_expr(func)

    assert growth(prepare, 200) < 9
