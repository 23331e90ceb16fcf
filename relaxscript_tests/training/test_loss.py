"""Losses as functions: what they compute, and what they refuse."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.interpreter import Interpreter
from relaxscript.ir import IRModule
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.script import from_source
from relaxscript.training import (
    CategoricalCrossEntropyLoss,
    CrossEntropyLoss,
    L1Loss,
    Loss,
    MSELoss,
)

RANDOM = np.random.default_rng(19)


def tensor(*shape, dtype="float32"):
    return TensorStructInfo(shape, dtype)


def draw(*shape):
    return RANDOM.normal(size=shape).astype("float32")


def cost(loss, *arrays):
    """The loss of arrays, by a function that is made for what they are."""
    made = loss(*(tensor(*a.shape, dtype=str(a.dtype)) for a in arrays))
    mod = IRModule({loss.loss_name: made})
    assert from_source(mod.script(show_meta=True)).script() == mod.script()
    return Interpreter(mod)[loss.loss_name](*arrays)


def logarithms(scores, axis):
    shifted = scores - scores.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_an_l1_loss_is_the_absolute_difference(reduction):
    x, y = draw(3, 5), draw(3, 5)
    expected = REDUCTIONS[reduction](np.abs(x - y))
    np.testing.assert_allclose(cost(L1Loss(reduction), x, y), expected, rtol=1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_an_mse_loss_is_the_squared_difference(reduction):
    x, y = draw(3, 5), draw(3, 5)
    expected = REDUCTIONS[reduction]((x - y) ** 2)
    np.testing.assert_allclose(cost(MSELoss(reduction), x, y), expected, rtol=1e-6)


def test_targets_may_be_broadcast_to_the_predictions():
    x, y = draw(3, 5), draw(5)
    np.testing.assert_allclose(cost(MSELoss("none"), x, y), (x - y) ** 2, rtol=1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_cross_entropy_is_minus_the_logarithm_of_the_right_class(reduction):
    x, y = draw(4, 5), np.array([0, 4, 2, 2])
    expected = REDUCTIONS[reduction](-logarithms(x, 1)[np.arange(4), y])
    np.testing.assert_allclose(cost(CrossEntropyLoss(reduction), x, y), expected, rtol=1e-6)


def test_classes_are_the_second_axis_of_predictions_at_several_places():
    x, y = draw(2, 5, 3), np.array([[0, 4, 2], [1, 1, 3]])
    picked = np.take_along_axis(logarithms(x, 1), y[:, None], 1)
    np.testing.assert_allclose(cost(CrossEntropyLoss(), x, y), -picked.mean(), rtol=1e-6)


def test_the_classes_of_one_prediction_are_its_only_axis():
    x = draw(5)
    found = cost(CrossEntropyLoss(), x, np.array(3))
    np.testing.assert_allclose(found, -logarithms(x, 0)[3], rtol=1e-6)


def test_weights_weigh_classes_and_their_mean():
    x, y, w = draw(4, 5), np.array([0, 4, 2, 2]), np.abs(draw(5))
    each = -logarithms(x, 1)[np.arange(4), y] * w[y]
    found = cost(CrossEntropyLoss(), x, y, w)
    np.testing.assert_allclose(found, each.sum() / w[y].sum(), rtol=1e-6)


def test_an_ignored_class_counts_nothing():
    x, y = draw(4, 5), np.array([0, 4, 2, 2])
    each = -logarithms(x, 1)[np.arange(2), y[:2]]
    found = cost(CrossEntropyLoss(ignore_index=2), x, y)
    np.testing.assert_allclose(found, each.mean(), rtol=1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_a_categorical_cross_entropy_has_a_share_for_each_class(reduction, dtype):
    x, y = draw(4, 5), np.eye(5)[[0, 4, 2, 2]].astype(dtype)
    expected = REDUCTIONS[reduction](-logarithms(x, 1) * y)
    found = cost(CategoricalCrossEntropyLoss(reduction), x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shape", [(4, 5), (2, 5, 3)])
def test_weights_of_a_categorical_cross_entropy_are_those_of_classes(shape):
    x, y, w = draw(*shape), np.abs(draw(*shape)), draw(5)
    by_class = w.reshape(5, *[1] * (len(shape) - 2))
    expected = (-logarithms(x, 1) * y * by_class).mean()
    found = cost(CategoricalCrossEntropyLoss(), x, y, w)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_categorical_cross_entropy_that_ignores_a_class_asks_for_the_likeliest():
    x, y = draw(4, 5), np.eye(5)[[0, 4, 2, 2]].astype("int64")
    found = cost(CategoricalCrossEntropyLoss(ignore_index=2), x, y)
    np.testing.assert_allclose(found, cost(CrossEntropyLoss(ignore_index=2), x, y.argmax(1)))


def test_a_variable_is_the_parameter_itself():
    x, y = Var("scores", tensor(3, 5)), Var("classes", tensor(3, dtype="int64"))
    assert CrossEntropyLoss()(x, y).params == (x, y)


def test_the_function_is_called_as_the_loss():
    loss = MSELoss("sum")
    function = loss(tensor(3, 5), tensor(3, 5))
    assert function.attrs["global_symbol"] == loss.loss_name == "mse_loss"
    assert (loss.num_backbone_outputs, loss.reduction) == (1, "sum")


def test_a_loss_of_ones_own_says_what_it_computes_and_is_reduced():
    class Offset(Loss):
        def __call__(self, predictions, targets):
            return self._function(
                {"predictions": predictions, "targets": targets},
                lambda builder, params: self._with_reduction(builder.bind(params[0] - params[1])),
            )

    x, y = draw(3, 5), draw(3, 5)
    np.testing.assert_allclose(cost(Offset("offset", 1, "sum"), x, y), (x - y).sum(), rtol=1e-5)


INTS = tensor(3, dtype="int64")


@pytest.mark.parametrize(
    ("loss", "operands", "code", "said"),
    [
        (MSELoss(), (tensor(3, 5), tensor(4, 5)), "RX0203", "`targets` has shape (4, 5)"),
        (L1Loss(), (tensor(3, 1), tensor(3)), "RX0203", "`targets` has shape (3,)"),
        (MSELoss(), (tensor(3), tensor(2, 3)), "RX0203", "`targets` has shape (2, 3)"),
        (MSELoss(), (tensor(3, 5), tensor(3, 5, dtype="int64")), "RX0202", "`targets` has dtype"),
        (MSELoss(), (tensor(3), ShapeStructInfo((3,))), "RX0201", "`targets` is a shape"),
        (MSELoss(), (tensor(3), (3,)), "RX0201", "`targets` is tuple ((3,))"),
        (CrossEntropyLoss(), (tensor(3, 5), tensor(3)), "RX0202", "`targets` has dtype float32"),
        (CrossEntropyLoss(), (tensor(4, 5), INTS), "RX0203", "`targets` has shape (3)"),
        (CrossEntropyLoss(), (tensor(3, 5), INTS, tensor(6)), "RX0203", "`weights` has shape (6)"),
        (CrossEntropyLoss(), (tensor(), INTS), "RX0203", "`predictions` is a scalar"),
        (CrossEntropyLoss(), (TensorStructInfo(dtype="float32"), INTS), "RX0203",
         "`predictions` has an unknown number of dimensions"),
        (CategoricalCrossEntropyLoss(), (tensor(3, 5), INTS), "RX0203", "`targets` has shape (3,)"),
        (CategoricalCrossEntropyLoss(), (tensor(3, 5), tensor(3, 5), tensor(3)), "RX0203",
         "`weights` has shape (3,)"),
    ],
)  # fmt: skip
def test_an_operand_that_does_not_fit_is_named(loss, operands, code, said):
    with pytest.raises(DiagnosticError, match=re.escape(said)) as raised:
        loss(*operands)
    [found] = raised.value.diagnostics
    assert (found.code, found.span.text) == (code, "loss(*operands)")


def test_another_reduction_is_refused():
    with pytest.raises(DiagnosticError, match="a loss has no reduction 'max'") as raised:
        MSELoss("max")
    assert raised.value.diagnostics[0].help == 'there are "mean", "sum" and "none"'


def test_a_loss_that_says_nothing_is_refused():
    with pytest.raises(DiagnosticError, match="the loss `Loss` defines no `__call__`"):
        Loss("own", 1)(tensor(3), tensor(3))


def test_a_loss_is_shown_by_its_reduction():
    assert repr(MSELoss("sum")) == "<MSELoss of reduction 'sum'>"
