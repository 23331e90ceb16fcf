"""AppendLoss: before and after, what it computes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter import Interpreter
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.script import from_source
from relaxscript.training import AppendLoss, MSELoss

MODEL = """
@R.function
def main(
    x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 4), "float32"), b: R.Tensor((4,), "float32")
):
"""
DENSE = (
    MODEL
    + """
    with R.dataflow():
        a = R.matmul(x, w)
        o = R.add(a, b)
        R.output(a, o)
    return (o, a, x)
"""
)
ONE = DENSE.replace("(o, a, x)", "o")


def module(text):
    return from_source("@I.ir_module\nclass Module:\n" + text.replace("\n", "\n    "))


def mse(*shape):
    """The loss of predictions and targets of a shape, in which one variable is one size."""
    named = {d: PrimVar(d, "int64") for d in shape if isinstance(d, str)}
    info = TensorStructInfo([named.get(d, d) for d in shape], "float32")
    return MSELoss()(info, info)


def appended(mod, loss, *options):
    """The module with the loss, after the laws of all passes are held against it."""
    text = mod.script(show_meta=True)
    made = AppendLoss("main", loss, *options)(mod)
    assert mod.script(show_meta=True) == text
    assert not ill_formed(made)
    assert from_source(made.script(show_meta=True)).script() == made.script()
    assert all(made[var] is mod[var] for var in mod.functions)
    return made


def test_the_loss_is_behind_the_model_in_one_block():
    made = appended(module(ONE), mse("m", 4))
    expected = from_source("""
@R.function
def main_loss(
    x: R.Tensor(("n", 3), "float32"),
    w: R.Tensor((3, 4), "float32"),
    b: R.Tensor((4,), "float32"),
    targets: R.Tensor(("n", 4), "float32"),
) -> R.Tensor((), "float32"):
    n = T.int64()
    with R.dataflow():
        a: R.Tensor((n, 4), "float32") = R.matmul(x, w)
        o: R.Tensor((n, 4), "float32") = R.add(a, b)
        lv: R.Tensor((n, 4), "float32") = R.subtract(o, targets)
        lv1: R.Tensor((n, 4), "float32") = R.multiply(lv, lv)
        gv: R.Tensor((), "float32") = R.mean(lv1)
        R.output(gv)
    return gv
""")
    assert made["main_loss"].script() == expected.script()


def test_results_that_the_loss_does_not_take_follow_it():
    made = appended(module(DENSE), mse("m", 4), 1, "costs")
    assert "R.output(a, gv)\n    return (gv, a, x)" in made["costs"].script()
    assert made["costs"].attrs["global_symbol"] == "costs"


def test_a_loss_may_take_several_results():
    made = appended(module(DENSE), mse("m", 4), 2)
    assert "R.subtract(o, a)" in made["main_loss"].script()
    assert [param.name_hint for param in made["main_loss"].params] == ["x", "w", "b"]


BODIES = {
    "one block": ONE.partition("):\n")[2],
    "a tuple that has a name": """
    with R.dataflow():
        a = R.matmul(x, w)
        o = (R.add(a, b), x)
        R.output(o)
    return o
""",
    "no block": """
    o = R.add(R.matmul(x, w), b)
    return o
""",
    "two blocks": """
    with R.dataflow():
        a = R.matmul(x, w)
        R.output(a)
    with R.dataflow():
        o = R.add(a, b)
        R.output(o)
    return o
""",
    "results of unknown size": """
    with R.dataflow():
        a: R.Tensor(dtype="float32", ndim=2) = R.matmul(x, w)
        o = R.add(a, b)
        R.output(o)
    return o
""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_it_computes_what_the_results_cost(body, rng):
    made = appended(module(MODEL + body), mse("m", 4))
    x, w, b, targets = (
        rng.normal(size=size).astype("float32") for size in ((5, 3), (3, 4), 4, (5, 4))
    )
    found = Interpreter(made)["main_loss"](x, w, b, targets)
    found = found[0] if isinstance(found, tuple) else found
    np.testing.assert_allclose(found, ((x @ w + b - targets) ** 2).mean(), rtol=1e-5)


def test_a_size_that_is_not_known_to_be_that_of_the_loss_is_checked():
    made = appended(module(ONE), mse(5, 4))
    assert 'R.match_cast(o, R.Tensor((5, 4), "float32"))' in made["main_loss"].script()


@pytest.mark.parametrize(
    ("loss", "options", "code", "said"),
    [
        (mse("m", 7), (), "RX0206", "result 0 of the function does not fit `predictions`"),
        (mse("m", 4), (4,), "RX0203", "the loss of `main_loss` takes 4 results of the function"),
        (mse("m", 4), (0,), "RX0203", "the loss of `main_loss` takes 0 results of the function"),
        (mse("m", 4), (3,), "RX0203", "there are 2 parameters of the loss"),
        (mse("m", 4), (1, "main"), "RX0103", "would be called `main`, which is there already"),
        (MSELoss(), (), "RX0103", "`loss_function` of `AppendLoss` is a Function, not MSELoss"),
    ],
)
def test_a_loss_that_does_not_fit_is_refused(loss, options, code, said):
    with pytest.raises(DiagnosticError, match=said) as raised:
        AppendLoss("main", loss, *options)(module(DENSE))
    assert raised.value.diagnostics[0].code == code


def test_a_loss_whose_dimensions_nothing_binds_is_refused():
    n = PrimVar("n", "int64")
    info = TensorStructInfo((n * n, 4), "float32")
    with pytest.raises(DiagnosticError, match="says what its dimension `n` is") as raised:
        AppendLoss("main", MSELoss()(info, info))(module(ONE))
    assert raised.value.diagnostics[0].code == "RX0305"


def test_results_that_do_not_fit_are_shown_where_they_are():
    with pytest.raises(DiagnosticError, match="the result of the function") as raised:
        AppendLoss("main", mse("m", 7))(module(ONE))
    [found] = raised.value.diagnostics
    assert found.span.text == "o"
    assert found.notes[0] == 'the result is `R.Tensor((n, 4), "float32")`'


def test_a_function_that_is_not_there_is_refused():
    with pytest.raises(DiagnosticError, match="no Relax function of that name") as raised:
        AppendLoss("mian", mse("m", 4))(module(ONE))
    assert raised.value.diagnostics[0].help == "did you mean `main`?"
