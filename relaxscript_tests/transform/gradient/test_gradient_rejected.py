"""What `Gradient` refuses, and where."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script import from_source
from relaxscript.transform import Gradient

from .test_gradient import X34, module

SUM = "gv = R.sum(x)\nR.output(gv)"


def refused(text: str, *args: Any, func: str = "main", **options: Any) -> Diagnostic:
    with pytest.raises(DiagnosticError) as raised:
        Gradient(func, *args, **options)(from_source(text))
    (found,) = raised.value.diagnostics
    return found


def said(found: Diagnostic) -> tuple[Any, ...]:
    """Code, message, place and help."""
    return found.code, found.message, found.span and found.span.text, found.help


def test_a_function_that_is_not_there_is_refused_with_the_nearest():
    found = refused(module(X34, SUM), func="mian")
    assert (found.code, found.help) == ("RX0703", "did you mean `main`?")
    assert found.message == (
        "`Gradient` is given `mian`, but the module has no Relax function of that name"
    )


def test_a_prim_func_is_refused():
    text = (
        module(X34, SUM)
        + """
    @T.prim_func
    def loops(a: T.Buffer((3,), "float32")):
        for i in range(3):
            a[i] = T.float32(0)
"""
    )
    assert refused(text, func="loops").message == (
        "`Gradient` is given `loops`, but the module has no Relax function of that name"
    )


def test_bindings_outside_of_a_dataflow_block_are_refused():
    text = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            a = R.exp(x)
            R.output(a)
        b = R.sin(a)
        with R.dataflow():
            gv = R.sum(b)
            R.output(gv)
        return gv
"""
    assert said(refused(text)) == (
        "RX0713", "`main` cannot be differentiated: `b` is bound outside of a dataflow block",
        "R.sin(a)",
        "make it one block: `ConvertToDataflow()`, or `with R.dataflow():` around all of it",
    )  # fmt: skip


def test_effects_and_branches_are_named_before_what_is_outside_only():
    text = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((), "float32"), c: R.Tensor((), "bool")):
        a = R.exp(x)
        {}
        return x
"""
    assert said(refused(text.format("b = R.print(a)"))) == (
        "RX0713", "`main` cannot be differentiated: the call that gives `b` has side effects",
        "R.print(a)", "take it out of the function",
    )  # fmt: skip
    packed = text.format('b = R.call_packed("f", a, sinfo_args=R.Tensor)')
    assert "the call that gives `b` has side effects" in refused(packed).message
    recursive = text.replace('"bool")):', '"bool")) -> R.Tensor((), "float32"):')
    recursive = refused(recursive.format("b = M.main(a, c)"))
    assert "the call that gives `b` has side effects" in recursive.message
    branches = "if c:\n            b = x\n        else:\n            b = a"
    found = refused(text.format(branches).replace("(pure=False)", ""))
    assert found.message == "`main` cannot be differentiated: `b` is the value of an `if`"
    assert found.help == "choose element by element: `R.where(c, a, b)`"


# ---------------------------------------------------------------- operators


def test_an_operator_without_a_gradient_is_named_with_its_reason_and_its_binding():
    text = module(
        X34,
        """
        lv = R.exp(x)
        lv1 = R.call_pure_packed("f", lv, sinfo_args=R.Tensor((3, 4), "float32"))
        gv = R.sum(lv1)
        R.output(gv)
        """,
    )
    found = refused(text)
    assert said(found) == (
        "RX0713",
        "`R.call_pure_packed` has no gradient: nothing is known of what a packed function computes",
        'R.call_pure_packed("f", lv, sinfo_args=R.Tensor((3, 4), "float32"))',
        "stop before it: `R.grad.no_grad(x)`",
    )
    assert found.notes == ("the gradient flows through `lv1`",)


@pytest.mark.parametrize(
    "stopped", ['R.call_pure_packed("f", R.grad.no_grad(x), sinfo_args={0})',
                "R.astype(R.argmax(x, axis=1), 'float32')"],
)  # fmt: skip
def test_an_operator_without_a_gradient_may_be_where_none_flows(stopped):
    info = 'R.Tensor((3, 4), "float32")'
    text = module(
        X34,
        f"""
        unused = R.call_pure_packed("f", x, sinfo_args={info})
        lv = {stopped.format(info)}
        lv1 = R.sum(x)
        gv = R.add(lv1, R.sum(lv))
        R.output(gv)
        """,
    )
    assert "main_adjoint" in Gradient("main")(from_source(text))


def test_a_value_that_only_a_packed_function_knows_is_refused():
    text = module(
        X34,
        """
        lv = R.call_pure_packed("f", x, sinfo_args=R.Object)
        lv1 = R.match_cast(lv, R.Tensor((3, 4), "float32"))
        gv = R.sum(lv1)
        R.output(gv)
        """,
    )
    assert refused(text).message.startswith("`R.call_pure_packed` has no gradient")


def test_calls_of_functions_are_refused():
    text = module(X34, "lv = cls.inner(x)\ngv = R.sum(lv)\nR.output(gv)")
    text = text.replace("        with R.dataflow", "        cls = M\n        with R.dataflow", 1)
    text += """
    @R.function(private=True)
    def inner(x: R.Tensor((3, 4), "float32")):
        return x
"""
    assert said(refused(text)) == (
        "RX0713", "the call of `inner` has no gradient: only operators have one",
        "cls.inner(x)", "inline it: `InlinePrivateFunctions()` does that with a private function",
    )  # fmt: skip
    local = module(
        X34,
        """
        @R.function
        def double(y: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
            return R.add(y, y)
        lv = double(x)
        gv = R.sum(lv)
        R.output(gv)
        """.replace("            return", "    return"),
    )
    local = local.replace("            return R.add", "                return R.add")
    assert refused(local).message == "the call of `double` has no gradient: only operators have one"


def test_a_rule_that_needs_to_know_more_says_so_at_the_binding():
    text = module(
        'x: R.Tensor("float32", ndim=2)',
        """
        lv = R.repeat(x, 2, axis=0)
        gv = R.sum(lv)
        R.output(gv)
        """,
    )
    found = refused(text)
    assert found.message == "a gradient is written for operands of known shape"
    assert (found.code, found.span.text) == ("RX0203", "R.repeat(x, 2, axis=0)")
    assert found.notes == ("the gradient flows through `lv`",)
    assert [text for _, text in found.labels] == ["has a shape that is not known"]


# ---------------------------------------------------------------- parameters


def test_what_is_no_parameter_is_refused_with_the_nearest():
    text = module(f'{X34}, weight: R.Tensor((3, 4), "float32")', SUM)
    found = refused(text, ["x", "wieght"])
    assert said(found)[:2] == ("RX0101", "`main` has no parameter `wieght`")
    assert found.help == "did you mean `weight`?"
    assert refused(text, Var("q7", TensorStructInfo((), "float32"))).help == "there are x, weight"
    other = refused(text, Var("x", TensorStructInfo((3, 4), "float32")))
    assert other.code == "RX0101"
    assert other.message == "the variable `x` is no parameter of `main`, which has another one"
    assert other.help == 'give its name, "x", or `mod["main"].params[0]`'


def test_a_parameter_that_is_given_twice_is_refused():
    found = refused(module(X34, SUM), ["x", "x"])
    assert said(found)[:2] == ("RX0103", "`require_grads` has `x` twice")
    assert found.span.text.startswith("x")


def test_parameters_that_hold_something_else_than_floats_are_refused():
    text = module(
        f'{X34}, i: R.Tensor((2,), "int64"), t: R.Tuple(R.Tensor((2,), "float32"), R.Shape([2]))',
        SUM,
    )
    found = refused(text, "i")
    assert said(found)[:2] == (
        "RX0713", 'there is no gradient by `i`, which is `R.Tensor((2,), "int64")`',
    )  # fmt: skip
    assert found.help == "gradients are by tensors of floats, and by tuples of them"
    assert refused(text, "t").message.startswith("there is no gradient by `t`, which is")


def test_arguments_of_another_kind_are_refused():
    with pytest.raises(DiagnosticError, match="`func_name` of `Gradient` is a string, not int"):
        Gradient(3)  # type: ignore[arg-type]
    with pytest.raises(DiagnosticError, match="`require_grads` of `Gradient` is"):
        Gradient("main", 3)  # type: ignore[arg-type]


# ---------------------------------------------------------------- target


def test_a_target_that_is_not_there_is_refused():
    found = refused(module(X34, SUM), target_index=1)
    assert said(found)[:2] == ("RX0103", "`target_index` is 1, but `main` gives 1 value")
    two = module(X34, SUM, "(gv, x)")
    assert refused(two, target_index=-1).help == "give a number from 0 to 1"
    assert refused(two, target_index=2).message == "`target_index` is 2, but `main` gives 2 values"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("x", '`x` is `R.Tensor((3, 4), "float32")`'),
        ("n", '`n` is `R.Tensor((), "int64")`'),
        ("(gv, x)", 'it is `R.Tuple(R.Tensor((), "float32"), R.Tensor((3, 4), "float32"))`'),
    ],
)
def test_a_target_that_is_no_scalar_of_floats_is_refused(result, said):
    text = module(f'{X34}, n: R.Tensor((), "int64")', SUM, f"(gv, {result})")
    found = refused(text, target_index=1)
    assert found.code == "RX0713"
    assert found.message == (
        f"the target of a gradient is a scalar, a float tensor of rank 0: {said}"
    )
    assert found.help == "end the function with a loss: `R.sum(...)`, `R.mean(...)`"


# ---------------------------------------------------------------- checkpoints


def test_a_checkpoint_that_is_not_closed_is_refused():
    text = module(
        X34,
        """
        a = R.grad.start_checkpoint(x)
        b = R.exp(a)
        gv = R.sum(b)
        R.output(gv)
        """,
    )
    assert said(refused(text)) == (
        "RX0713", "the checkpoint that begins with `a` is not closed",
        "R.grad.start_checkpoint(x)",
        "mark the last value that is computed anew: `R.grad.end_checkpoint(y)`",
    )  # fmt: skip
