"""SetupTrainer: the module that it makes, and the modules that it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter import Interpreter
from relaxscript.script import from_source
from relaxscript.training import SGD, Adam, L1Loss, Loss, MSELoss, SetupTrainer
from relaxscript_tests.training.models import DENSE, NORMALIZED, dense, tensor

OPERANDS = [tensor(5, 4), tensor(5, 4)]
LAYER = [tensor(5, 3), tensor(5, 3)]


def test_the_module_has_loss_gradients_and_optimizer():
    mod = dense()
    text = mod.script(show_meta=True)
    made = SetupTrainer(MSELoss(), Adam(0.1), OPERANDS, legalize=False)(mod)
    assert mod.script(show_meta=True) == text
    assert not ill_formed(made)
    assert [var.name_hint for var in made.functions] == [
        "backbone", "backbone_loss", "backbone_loss_adjoint", "optimizer",
    ]  # fmt: skip
    assert {key: made.attrs[key] for key in ("input_num", "param_num", "state_num")} == {
        "input_num": 1, "param_num": 2, "state_num": 0,
    }  # fmt: skip
    shapes = [state.data.shape for state in made.attrs["optim_state"]]
    assert shapes == [(), (), (), (3, 4), (4,), (3, 4), (4,)]
    assert from_source(made.script(show_meta=True)).script() == made.script()
    assert made["backbone"] is mod["backbone"]


def test_operators_are_calls_of_prim_funcs_unless_that_is_not_wanted():
    made, kept = (
        SetupTrainer(MSELoss(), SGD(0.1), OPERANDS, legalize)(dense()) for legalize in (True, False)
    )
    assert "R.matmul(" in kept["backbone_loss_adjoint"].script()
    for name in ("backbone", "backbone_loss", "backbone_loss_adjoint", "optimizer"):
        assert "R.call_tir(" in made[name].script()
        assert "R.matmul(" not in made[name].script()


def test_normalizations_are_those_of_inference_and_of_training():
    made = SetupTrainer(MSELoss(), SGD(0.1), LAYER, legalize=False)(from_source(NORMALIZED))
    assert "R.mean(" not in made["backbone"].script()
    assert "R.variance(" in made["backbone_loss"].script()
    assert "R.nn.batch_norm(" not in made.script()
    x, gamma, beta, mean, var, y = (
        np.random.default_rng(3).uniform(1, 2, size).astype("float32")
        for size in ((5, 3), 3, 3, 3, 3, (5, 3))
    )
    args = (x, gamma, beta, mean, var, y)
    (loss, new_mean, _), gradients = Interpreter(made)["backbone_loss_adjoint"](*args)
    normal = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)
    apart = normal * gamma + beta - y
    np.testing.assert_allclose(loss, (apart**2).mean(), rtol=1e-4)
    np.testing.assert_allclose(new_mean, 0.75 * mean + 0.25 * x.mean(0), rtol=1e-5)
    np.testing.assert_allclose(gradients[0], (2 / 15 * apart * normal).sum(0), rtol=1e-3)
    np.testing.assert_allclose(gradients[1], (2 / 15 * apart).sum(0), rtol=1e-3)


class TwoResults(Loss):
    """A loss of two results of a model, and of no target."""

    def __call__(self, first, second):
        return L1Loss(self.reduction)(first, second)


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("def backbone", "def main", "RX0703", "the module has no Relax function of that name"),
        ('"param_num": 2, ', "", "RX0714", "it has no attribute `param_num`"),
        (', "state_num": 0', "", "RX0714", "it has no attribute `state_num`"),
        ('"param_num": 2', '"param_num": -2', "RX0714", "it says `param_num` is int"),
        ('"param_num": 2', '"param_num": "two"', "RX0714", "it says `param_num` is str"),
        ('"param_num": 2', '"param_num": 4', "RX0714",
         "has 3 parameters, and 4 to be trained with 0 states"),
        ('"state_num": 0', '"state_num": 1', "RX0714", "has 1 states, and does not return them"),
        ('b: R.Tensor((4,), "float32")', 'b: R.Tensor((4,), "float32"), i: R.Tensor((4,), "int32")',
         "RX0713", "there is no gradient by `i`"),
    ],
)  # fmt: skip
def test_a_module_that_lacks_something_is_refused(old, new, code, said):
    with pytest.raises(DiagnosticError, match=said) as raised:
        SetupTrainer(MSELoss(), SGD(0.1), OPERANDS)(dense(old, new))
    assert raised.value.diagnostics[0].code == code


def test_a_name_that_is_taken_is_refused():
    mod = dense()
    mod["optimizer"] = mod["backbone"].with_attr("global_symbol", "optimizer")
    with pytest.raises(DiagnosticError, match="a function of the module is called `optimizer`"):
        SetupTrainer(MSELoss(), SGD(0.1), OPERANDS)(mod)


def test_a_loss_that_takes_states_is_refused():
    step = SetupTrainer(TwoResults("two", 2), SGD(0.1), [tensor(5, 3), tensor(3)])
    with pytest.raises(DiagnosticError, match="the loss takes 2 results of `backbone`, and states"):
        step(from_source(NORMALIZED))


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_of_operands_is_refused(count):
    with pytest.raises(DiagnosticError, match=f"`loss_args` has {count} StructInfos") as raised:
        SetupTrainer(MSELoss(), SGD(0.1), [tensor(5, 4)] * count)(dense())
    assert raised.value.diagnostics[0].help == "`MSELoss` takes predictions, targets"


def test_a_loss_for_other_results_is_refused():
    step = SetupTrainer(MSELoss(), SGD(0.1), [tensor(5, 7), tensor(5, 7)])
    with pytest.raises(DiagnosticError, match="the result of the function does not fit") as raised:
        step(from_source(DENSE))
    assert raised.value.diagnostics[0].code == "RX0206"


def test_a_loss_that_is_no_scalar_is_refused():
    with pytest.raises(DiagnosticError, match="the target of a gradient is a scalar"):
        SetupTrainer(MSELoss("none"), SGD(0.1), OPERANDS)(dense())
