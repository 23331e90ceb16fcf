"""Branches in branches: passes go through them at any depth, others say where it is too deep."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import transform
from relaxscript.analysis import well_formed
from relaxscript.compiler import build
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.interpreter.relax import Interpreter
from relaxscript.relax.expr_functor import PyExprMutator, PyExprVisitor, mutator, visitor
from relaxscript.script import from_source
from relaxscript.transform import function_pass
from relaxscript.transform.memory.kill_after_last_use import KillAfterLastUse
from relaxscript_tests.nested_branches import nested_branches

DEEP = 1_000
PASSES = (
    "CanonicalizeBindings", "ConvertToDataflow", "DeadCodeElimination", "EliminateCommonSubexpr",
    "FoldConstant", "FuseOps", "InlinePrivateFunctions", "LambdaLift", "LegalizeOps", "Normalize",
    "ToNonDataflow", "TopologicalSort",
)  # fmt: skip


def refusal(action):
    with pytest.raises(DiagnosticError) as raised:
        action()
    found = raised.value.diagnostics[0]
    return found.code, found.message, found.help


@pytest.mark.parametrize("name", PASSES)
def test_passes_go_through_branches_at_any_depth(name):
    assert well_formed(getattr(transform, name)()(nested_branches(DEEP)))


def test_what_a_script_can_say_can_be_run():
    mod = nested_branches(90)
    args = np.array(False), np.ones(2, "float32")
    read = from_source(mod.script())
    expected = Interpreter(mod).call("main", args)
    np.testing.assert_allclose(read["main"](*args), expected, rtol=1e-6)


def test_a_function_that_is_nested_too_deeply_to_be_printed_is_named():
    help = "split it into functions"
    expected = "RX0104", "`main` is nested too deeply to be printed", help
    assert refusal(nested_branches(DEEP).script) == expected
    # The text is deeper by some levels than what it is made of.
    expected = "RX0104", "the program is nested too deeply to be printed", help
    assert refusal(nested_branches(200).script) == expected


def test_a_function_that_is_nested_too_deeply_to_be_compiled_is_named():
    expected = "RX0104", "`main` is nested too deeply to be compiled", "split it into functions"
    assert refusal(lambda: build(nested_branches(300))) == expected


def test_a_function_that_is_nested_too_deeply_for_the_interpreter_is_named():
    args = np.array(True), np.ones(2, "float32")
    with pytest.raises(VMError, match="`main` is nested too deeply for the interpreter") as raised:
        Interpreter(nested_branches(DEEP)).call("main", args)
    assert raised.value.code == "RX0609"
    assert "split it into functions" in str(raised.value)


def test_hooks_that_call_each_other_say_that_it_is_too_deep_for_them():
    @visitor
    class Choices(PyExprVisitor):
        def visit_if_(self, op):
            super().visit_if_(op)

    @mutator
    class Same(PyExprMutator):
        pass

    main = nested_branches(DEEP)["main"]
    for functor in (Choices(), Same()):
        code, message, help = refusal(lambda functor=functor: functor.visit_expr(main))
        name = type(functor).__name__
        said = f"the program is nested too deeply for the hooks of `{name}`"
        assert (code, message) == ("RX0104", said)
        assert "split it into functions" in help


def test_a_pass_for_which_a_function_is_nested_too_deeply_names_it():
    message = "`main` is nested too deeply for the pass `KillAfterLastUse`"
    action = lambda: KillAfterLastUse()(nested_branches(DEEP))  # noqa: E731
    assert refusal(action) == ("RX0104", message, "split it into functions")


def test_a_pass_of_a_user_that_never_ends_is_not_explained_by_the_program():
    @function_pass(opt_level=0)
    def endless(func, mod, ctx):
        return endless.transform_function(func, mod, ctx)

    with pytest.raises(RecursionError) as raised:
        endless(nested_branches(1))
    assert raised.value.__notes__ == ["the pass `endless` failed on the function `main`"]
