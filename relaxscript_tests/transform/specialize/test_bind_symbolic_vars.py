"""Shape variables of one function, or of all, become sizes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from relaxscript.analysis import ill_formed
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import BindSymbolicVars
from relaxscript_tests.transform.before_after import check

BEFORE = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        y = R.flatten(x)
        return y

    @R.function
    def other(x: R.Tensor(("n",), "float32")):
        y = R.exp(x)
        return y
"""


def mistake(step, text=BEFORE):
    with pytest.raises(DiagnosticError) as raised:
        step(from_source(text))
    return raised.value.diagnostics[0]


def test_sizes_of_all_functions_become_numbers():
    check(
        BindSymbolicVars({"n": 3}),
        BEFORE,
        BEFORE.replace('("n", "m")', '(3, "m")').replace('("n",)', "(3,)"),
    )


def test_sizes_of_one_function_become_numbers():
    check(BindSymbolicVars({"n": 3}, "main"), BEFORE, BEFORE.replace('("n", "m")', '(3, "m")'))


def test_a_size_may_become_an_expression_of_others():
    mod = from_source(BEFORE)
    n, m = mod["main"].params[0].struct_info.shape.values
    made = BindSymbolicVars({n: m * 2})(mod)
    assert made["other"] is mod["other"]
    assert repr(made["main"].params[0].struct_info) == 'R.Tensor((m * 2, m), "float32")'


def test_nothing_to_bind_changes_nothing():
    check(BindSymbolicVars({}), BEFORE)


def test_an_unknown_function_or_size_is_offered_the_nearest():
    found = mistake(BindSymbolicVars({"n": 3}, "mian"))
    assert (found.code, found.help) == ("RX0703", "did you mean `main`?")
    found = mistake(BindSymbolicVars({"batch": 3}))
    assert found.code == "RX0101"
    assert found.message == "no function of the module has the shape variable `batch`"
    assert found.help == "there are n, m"
    assert mistake(BindSymbolicVars({"m": 3}, "other")).code == "RX0101"
    static = BEFORE.replace('("n", "m")', "(2, 3)").replace('("n",)', "(2,)")
    assert mistake(BindSymbolicVars({"n": 3}), static).help == "there are none"


def test_what_is_no_size_is_refused():
    assert mistake(BindSymbolicVars({"n": -1})).code == "RX0203"
    assert mistake(BindSymbolicVars({"n": 2.5}, "main")).code == "RX0201"


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_call_that_cannot_take_such_sizes_fails_where_it_is_reached_only():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def three(x: R.Tensor((3, "m"), "float32")) -> R.Tensor((3, "m"), "float32"):
        m = T.int64()
        y = R.exp(x)
        return y

    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), c: R.Tensor((), "bool")) -> R.Object:
        n = T.int64()
        cls = M
        if c:
            y = cls.three(x)
        else:
            y = x
        return y
""")
    made = BindSymbolicVars({"n": 4}, "main")(mod)
    assert ill_formed(made) == ()
    assert_structural_equal(from_source(made.script()), made)
    x = np.ones((4, 2), "float32")
    for load in EXECUTORS.values():
        main = partial(load(made), "main", x)
        np.testing.assert_array_equal(main(np.array(False)), x)
        with pytest.raises(VMError, match="is 4; must be 3") as raised:
            main(np.array(True))
        assert raised.value.code == "RX0605"
