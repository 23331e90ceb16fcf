"""What normalizations, the softmax, losses and reductions say of what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

X = te.placeholder((2, 3), name="x")
WHOLE = te.placeholder((2, 3), "int32", name="whole")
TARGETS = te.placeholder((2,), "int64", name="targets")
FOUR = te.placeholder((4,), name="four")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: topi.nn.layer_norm(X, FOUR, None, -1),
            "`topi.nn.layer_norm` takes 3 elements along axis 0 of `gamma`, not 4",
        ),
        (
            lambda: topi.nn.layer_norm(X, None, X, -1),
            "`topi.nn.layer_norm` takes a `beta` of 1 axis here, not of 2",
        ),
        (
            lambda: topi.nn.rms_norm(WHOLE, FOUR, -1),
            "`topi.nn.rms_norm` takes floats as `data`, not int32",
        ),
        (
            lambda: topi.nn.batch_norm(X, *[FOUR] * 4),
            "`topi.nn.batch_norm` takes 3 elements along axis 0 of `gamma`, not 4",
        ),
        (
            lambda: topi.nn.instance_norm(X, FOUR, None, 1, [0]),
            "`topi.nn.instance_norm` takes 3 elements",
        ),
        (lambda: topi.nn.group_norm(X, None, None, 2, 1, []), "groups of as many channels each"),
        (lambda: topi.nn.group_norm(X, None, None, 0, 1, []), "groups of as many channels each"),
        (lambda: topi.nn.softmax(WHOLE), "`topi.nn.softmax` takes floats as `x`, not int32"),
        (
            lambda: topi.nn.cross_entropy_with_logits(X, FOUR),
            "takes a `labels` of 2 axes here, not of 1",
        ),
        (
            lambda: topi.nn.nll_loss(X, FOUR, None, "sum", 0),
            "`topi.nn.nll_loss` takes integers as `targets`, not float32",
        ),
        (
            lambda: topi.nn.nll_loss(X, TARGETS, FOUR, "sum", 0),
            "takes 3 elements along axis 0 of `weights`, not 4",
        ),
        (
            lambda: topi.nn.nll_loss(X, TARGETS, None, "median", 0),
            'the reduction of `topi.nn.nll_loss` is "none", "mean" or "sum"',
        ),
        (
            lambda: topi.nn.nll_loss(te.placeholder(()), TARGETS, None, "sum", 0),
            "takes predictions along an axis of classes",
        ),
        (
            lambda: topi.cumsum(te.placeholder((3,), "bool")),
            "`topi.cumsum` takes numbers as `data`, not bool",
        ),
        (lambda: topi.sum(3.0), "`topi.sum` takes a tensor as `data`, not a Python float"),
        (lambda: topi.sum(X, 0.5), "an axis is a whole number, this is"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        call()
    (found,) = caught.value.diagnostics
    assert said in found.message
    assert found.span is not None
    assert found.span.filename == __file__
