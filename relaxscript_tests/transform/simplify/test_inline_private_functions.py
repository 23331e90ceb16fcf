"""The bodies of private functions take the place of their calls."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import InlinePrivateFunctions, Normalize
from relaxscript_tests.transform.before_after import check

HEAD = """
@I.ir_module
class M:
    @R.function{private}
    def twice(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        y = R.add(x, x)
        return y

    @R.function(private=True)
    def four_times(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        y = M.twice(x)
        z = M.twice(y)
        return z

    @R.function
    def main(x: R.Tensor((4,), "float32")):
"""
ALONE = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
"""


def test_calls_are_replaced_by_bodies_and_the_functions_go():
    check(
        InlinePrivateFunctions(),
        HEAD.format(private="(private=True)") + "        a = M.four_times(x)\n        return a\n",
        ALONE + "        a = R.add(x, x)\n        b = a\n        c = R.add(b, b)\n        d = c\n"
        "        e = d\n        return e\n",
    )


def test_public_functions_stay_and_are_called():
    check(
        InlinePrivateFunctions(),
        HEAD.format(private="") + "        a = M.twice(x)\n        return a\n",
        HEAD.format(private="")[: HEAD.format(private="").index("    @R.function(private")]
        + '    @R.function\n    def main(x: R.Tensor((4,), "float32")):\n'
        "        a = M.twice(x)\n        return a\n",
    )


def test_recursive_functions_stay_and_are_called():
    check(
        InlinePrivateFunctions(),
        """
@I.ir_module
class M:
    @R.function(private=True)
    def loop(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = M.loop(x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = M.loop(x)
        return y
""",
    )


def test_a_function_that_is_used_as_a_value_stays():
    text = HEAD.format(private="(private=True)")
    body = "        f = M.twice\n        a = M.twice(x)\n        return (f, a)\n"
    start, end = (
        text.index("    @R.function(private=True)\n    def four"),
        text.index("    @R.function\n    def main"),
    )
    after = text[:start] + text[end:]
    check(
        InlinePrivateFunctions(),
        text + body,
        after + body.replace("a = M.twice(x)", "y = R.add(x, x)\n        a = y"),
    )


@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
def test_a_check_of_an_argument_stays_one():
    check(
        InlinePrivateFunctions(),
        """
@I.ir_module
class M:
    @R.function(private=True)
    def first(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        y = M.first(x)
        return y
""",
        """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        z = R.match_cast(x, R.Tensor((4,), "float32"))
        y = z
        return y
""",
    )


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_an_argument_that_does_not_fit_fails_by_a_match_cast():
    mod = from_source("""
@I.ir_module
class M:
    @R.function(private=True)
    def first(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        y = M.first(x)
        return y
""")
    for step, code in ((Normalize(), "RX0601"), (InlinePrivateFunctions(), "RX0605")):
        for load in EXECUTORS.values():
            with pytest.raises(VMError) as raised:
                load(step(mod))("main", np.ones(3, "float32"))
            assert raised.value.code == code
    assert InlinePrivateFunctions.fails_as == (("RX0601", "RX0605"),)


def test_a_signature_stays_where_more_is_known_of_the_result():
    text = """
@I.ir_module
class M:
    @R.function(private=True)
    def same(x: R.Tensor) -> R.Tensor:
        return x

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor:
        y = M.same(x)
        return y
"""
    after = ALONE.replace("):\n", ") -> R.Tensor:\n") + "        y = x\n        return y\n"
    check(InlinePrivateFunctions(), text, after)
