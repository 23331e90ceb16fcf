"""Losses and dropout."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import obliged, ranked, refused, result, tensor

LOGS = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]))


def test_nothing_is_dropped_outside_of_training() -> None:
    data = np.arange(4.0)
    kept, mask = R.nn.dropout(data, 0.9)
    assert (kept.tolist(), mask.tolist()) == (data.tolist(), [1, 1, 1, 1])
    assert result(R.nn.dropout, tensor("n")) == "[(n,) float32; (n,) float32]"
    assert refused(R.nn.dropout, tensor(2), 1.0).fact == "is 1.0"
    assert refused(R.nn.dropout, tensor(2, dtype="bool")).code == "RX0202"


def test_cross_entropy_is_the_mean_over_rows() -> None:
    labels = np.array([[1.0, 0, 0], [0, 0, 1]])
    expected = -(np.log(0.5) + np.log(0.8)) / 2
    np.testing.assert_allclose(R.nn.cross_entropy_with_logits(LOGS, labels), expected)
    alone = R.nn.cross_entropy_with_logits(LOGS[0], labels[0])
    np.testing.assert_allclose(alone, -np.log(0.5))


def test_predictions_and_labels_have_one_shape() -> None:
    entropy = R.nn.cross_entropy_with_logits
    assert result(entropy, tensor("n", 3), ranked(2)) == "() float32"
    assert refused(entropy, tensor(2, 3), tensor(2, 4)).operand == "labels"
    assert refused(entropy, tensor(2, 3), tensor(3)).operand == "labels"
    assert refused(entropy, tensor(2, 3, 4), tensor(2, 3, 4)).fact == "has shape (2, 3, 4)"
    assert obliged(entropy, tensor("n", 3), tensor("m", 3)) == ["labels: n equal m"]


def test_the_loss_of_targets() -> None:
    targets = np.array([0, 2])
    losses = R.nn.nll_loss(LOGS, targets, reduction="none")
    np.testing.assert_allclose(losses, [-np.log(0.5), -np.log(0.8)])
    np.testing.assert_allclose(R.nn.nll_loss(LOGS, targets, reduction="sum"), losses.sum())
    weights = np.array([1.0, 5.0, 3.0])
    weighted = (losses[0] + 3 * losses[1]) / 4
    np.testing.assert_allclose(R.nn.nll_loss(LOGS, targets, weights), weighted)


def test_a_target_may_count_nothing_but_must_be_there() -> None:
    ignored = R.nn.nll_loss(LOGS, np.array([0, -100]), reduction="none")
    assert ignored[1] == 0
    np.testing.assert_allclose(R.nn.nll_loss(LOGS, np.array([0, 1]), ignore_index=1), -np.log(0.5))
    with pytest.raises(IndexError, match="a target is not among the 3 classes"):
        R.nn.nll_loss(LOGS, np.array([0, 3]))


def test_the_operands_of_the_loss() -> None:
    targets = tensor("n", "h", dtype="int64")
    predictions = tensor("n", 3, "h")
    assert result(R.nn.nll_loss, predictions, targets) == "() float32"
    assert result(R.nn.nll_loss, predictions, targets, reduction="none") == "(n, h) float32"
    assert result(R.nn.nll_loss, ranked(3), ranked(-1, "int8"), reduction="none") == (
        "rank 2 float32"
    )
    loss = R.nn.nll_loss
    assert refused(loss, predictions, tensor("n", dtype="int64")).operand == "targets"
    assert refused(loss, predictions, targets, tensor(4)).operand == "weights"
    assert refused(loss, predictions, targets, None, "max").fact == "is 'max'"
    assert refused(loss, tensor(), targets).fact == "has rank 0"
    assert refused(loss, predictions, tensor("n", "h")).code == "RX0202"


def test_losses_of_integers_are_rounded_toward_zero() -> None:
    x = np.array([[10, -3, 7], [-10, 5, 9]], "int8")
    y = np.array([[1, 2, -1], [1, 1, 2]], "int8")
    assert R.nn.cross_entropy_with_logits(x, y).tolist() == -5  # -(-3 + 13) / 2
    assert R.nn.cross_entropy_with_logits(x, y + np.int8(10)).tolist() == -95
    assert R.nn.nll_loss(x, np.array([0, 2])).tolist() == -9  # -(10 + 9) / 2
    assert R.nn.dropout(x)[0].tolist() == x.tolist()
