"""Parameters of one function become constants."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript.transform import BindParams
from relaxscript_tests.transform.before_after import check

BEFORE = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), weight: R.Tensor(("n",), "float32")):
        y = R.multiply(x, weight)
        return y

    @R.function
    def other(x: R.Tensor(("n",), "float32"), weight: R.Tensor(("n",), "float32")):
        return x
"""
W = np.float32([1, 2])


def mistake(step, text=BEFORE):
    with pytest.raises(DiagnosticError) as raised:
        step(from_source(text))
    return raised.value.diagnostics[0]


def test_parameters_become_constants_and_sizes_what_the_arrays_say():
    after = BEFORE.replace(
        """main(x: R.Tensor(("n",), "float32"), weight: R.Tensor(("n",), "float32")):
        y = R.multiply(x, weight)""",
        """main(x: R.Tensor((2,), "float32")):
        y = R.multiply(x, R.const([1.0, 2.0], "float32"))""",
    )
    check(BindParams("main", {"weight": W}), BEFORE, after)


def test_parameters_are_named_by_their_variables_too():
    mod = from_source(BEFORE)
    made = BindParams("main", {mod["main"].params[1]: W})(mod)
    assert [param.name_hint for param in made["main"].params] == ["x"]
    assert made["other"] is mod["other"]


def test_nothing_to_bind_changes_nothing():
    check(BindParams("main", {}), BEFORE)


def test_an_unknown_function_or_parameter_is_offered_the_nearest():
    found = mistake(BindParams("mian", {"weight": W}))
    assert found.code == "RX0703"
    assert found.message == (
        "`BindParams` is given `mian`, but the module has no Relax function of that name"
    )
    assert found.help == "did you mean `main`?"
    found = mistake(BindParams("main", {"wieght": W}))
    assert (found.code, found.help) == ("RX0101", "did you mean `weight`?")
    assert mistake(BindParams("elsewhere", {})).help == "there are main, other"


def test_an_array_of_another_dtype_or_rank_is_refused():
    for array in (np.int32([1, 2]), np.float32([[1, 2]])):
        assert mistake(BindParams("main", {"weight": array})).code == "RX0206"


def test_calls_that_fit_no_more_are_refused():
    text = BEFORE.replace("return x\n", "z = M.main(x, weight)\n        return z\n").replace(
        "def main(", "def main(", 1
    )
    text = text.replace("y = R.multiply(x, weight)\n        return y", "return x")
    assert mistake(BindParams("main", {"weight": W}), text).code == "RX0206"
