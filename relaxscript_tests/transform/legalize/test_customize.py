"""Legalisations of the user's own."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import relax
from relaxscript.errors import DiagnosticError
from relaxscript.script import ir as I, relax as R
from relaxscript.transform import LegalizeOps


@I.ir_module
class Exp:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return y


X = np.ones((2, 4), "float32")


def test_it_takes_the_place_of_ours():
    def twice(builder, call):
        return builder.call_te(
            lambda x: rx.te.compute(x.shape, lambda i, j: x[i, j] * 2.0), *call.args
        )

    made = LegalizeOps({"relax.exp": twice})(Exp)
    np.testing.assert_array_equal(rx.jit(made).main(X), X * 2)


def test_operators_that_it_gives_or_emits_are_legalised():
    def composed(builder, call):
        doubled = builder.emit(relax.op.add(call.args[0], call.args[0]))
        return relax.op.negative(relax.op.sqrt(doubled))

    made = LegalizeOps({"relax.exp": composed})(Exp)
    names = {gv.name_hint for gv in made.functions}
    assert names == {"main", "add", "sqrt", "negative"}
    np.testing.assert_allclose(rx.jit(made).main(X), -np.sqrt(X * 2), rtol=1e-6)


def test_a_call_that_it_gives_back_stays():
    assert LegalizeOps({"relax.exp": lambda builder, call: call})(Exp) is Exp


@pytest.mark.parametrize(
    ("legalize", "message"),
    [
        (lambda builder, call: 3, "gives a Python int, not an expression"),
        (
            lambda builder, call: relax.op.sum(call.args[0]),
            r'gives R.Tensor\(\(\), "float32"\), where the operator gives R.Tensor',
        ),
        (
            lambda builder, call: relax.op.astype(call.args[0], "float16"),
            r'gives R.Tensor\(\(n, 4\), "float16"\), where the operator gives R.Tensor',
        ),
    ],
)
def test_what_does_not_fit_is_refused(legalize, message):
    with pytest.raises(DiagnosticError, match=message) as caught:
        LegalizeOps({"relax.exp": legalize})(Exp)
    (found,) = caught.value.diagnostics
    assert found.code == "RX0703"
    assert (found.span.filename, found.span.line) == (__file__, 20)


def test_a_name_of_no_operator_is_refused():
    with pytest.raises(DiagnosticError, match=r"there is no operator `relax.ex`") as caught:
        LegalizeOps({"relax.ex": lambda builder, call: call})
    assert "relax.exp" in str(caught.value)


def test_a_name_that_is_no_string_is_refused():
    with pytest.raises(DiagnosticError, match=r'named by a string such as "relax.add", not 3'):
        LegalizeOps({3: lambda builder, call: call})


def test_what_cannot_be_called_is_refused():
    with pytest.raises(DiagnosticError, match=r"the legalisation of `relax.exp` is a Python str"):
        LegalizeOps({"relax.exp": "twice"})
