"""Operators that fail when the program runs call their operands as the program does."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.script import ir as I, relax as R
from relaxscript_tests.end_to_end.executors import every_executor, failure

pytestmark = pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
Q, W = np.ones((2, 3), "float32"), np.ones((4, 5), "float32")


@I.ir_module
class Model:
    @R.function
    def product(q: R.Tensor, w: R.Tensor):
        y = R.exp(q) @ w
        return y

    @R.function
    def joined(q: R.Tensor, w: R.Tensor):
        return R.concat((q, R.exp(w)), axis=0)

    @R.function
    def method(q: R.Tensor, w: R.Tensor):
        return q.matmul(w)

    @R.function
    def changed(q: R.Tensor, w: R.Tensor):
        q += w
        return q


SAID = {
    "product": ("`w` has 4 rows; `R.exp(q)` has 3 columns", "R.exp(q) @ w"),
    "joined": (
        "`R.exp(w)` has shape (4, 5); `q` has shape (2, 3)",
        "R.concat((q, R.exp(w)), axis=0)",
    ),
    "method": ("`w` has 4 rows; `q` has 3 columns", "q.matmul(w)"),
    "changed": ("`w` has shape (4, 5); `q` has shape (2, 3)", "q += w"),
}


@every_executor
@pytest.mark.parametrize("name", SAID)
def test_a_failure_has_the_names_of_the_source_and_its_place(load, name):
    facts, text = SAID[name]
    error = failure(lambda: getattr(load(Model), name)(Q, W))
    assert error.code == "RX0606"
    assert error.diagnostic.message.endswith(facts)
    assert str(error.args[0]).endswith(facts)
    assert error.span.text == text
    assert not any("x1" in note or "tensors" in note for note in error.diagnostic.notes)


@every_executor
def test_a_failure_without_source_has_the_names_of_variables(load):
    info = rx.TensorStructInfo(ndim=2, dtype="float32")
    alpha, beta = rx.Var("alpha", info), rx.Var("beta", info)
    bb = rx.BlockBuilder()
    with bb.function("main", [alpha, beta]):
        bb.emit_func_output(bb.emit(rx.op.matmul(alpha, beta)))
    error = failure(lambda: load(bb.get()).main(Q, W))
    assert error.diagnostic.message.endswith("`beta` has 4 rows; `alpha` has 3 columns")
