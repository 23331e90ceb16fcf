"""What functions of topi say of tensors and numbers that do not fit."""

from __future__ import annotations

import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda x: topi.broadcast_to(x, (3,)),
            "`topi.broadcast_to` gives a tensor at least as many axes as it has",
        ),
        (
            lambda x: topi.nn.prelu(x, te.placeholder((3,)), axis=2),
            "`topi.nn.prelu` has a slope for each place along an axis",
        ),
        (lambda x: topi.arange(0, 3, 0), "a step of 0 leads nowhere"),
        (lambda x: topi.arange(0.5), "the length of `topi.arange` follows from integers"),
        (lambda x: topi.trilu(te.placeholder((3,)), 0, True), "only matrices have triangles"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call, said):
    with pytest.raises(DiagnosticError, match=said):
        call(te.placeholder((2, 3), name="x"))
