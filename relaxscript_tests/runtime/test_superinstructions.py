"""Rows of operators run as one function, and one by one where something is not as expected."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import jit
from relaxscript.runtime.decode import BLOCK
from relaxscript.runtime.superinstructions import _WARM, LONGEST
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import failure

RUNS = _WARM + 2


def loaded(mod):
    """The operators one by one, which optimised code does not have."""
    return jit(mod, "llvm -opt-level=0")


def module(body: str, params: str = 'x: R.Tensor(("n",), "float32")', pure: str = ""):
    lines = "\n".join(f"        {line}" for line in body.strip().split("\n"))
    return from_source(f"""
@I.ir_module
class M:
    @R.function{pure}
    def main({params}):
        n = T.int64()
{lines}
""")


def blocks(machine, name="main"):
    """How many operators each row of a function has."""
    (code,) = [c for c in machine._dispatcher._codes if c is not None and c.function.name == name]
    return [len(step[2][0].__self__.row) for step in code.fused if step[0] == BLOCK]


def warm(machine, *args):
    for _ in range(RUNS):
        result = machine.main(*args)
    return result


X = np.array([1.0, -4.0, 9.0], "float32")


def test_a_row_gives_what_its_operators_give():
    machine = loaded(module("y = R.exp(x)\nz = R.add(y, x)\nw = R.nn.relu(z)\nreturn (y, w)"))
    first = machine.main(X)
    assert blocks(machine) == [3]
    for _ in range(RUNS):
        np.testing.assert_array_equal(machine.main(X), first)
    assert first[0].flags.owndata


def test_branches_end_rows_and_jumps_lead_behind_them():
    body = """
y = R.exp(x)
z = R.add(y, y)
if c:
    a = R.log(z)
    b = R.add(a, x)
else:
    b = R.multiply(z, z)
w = R.subtract(b, x)
return w
"""
    machine = loaded(module(body, 'x: R.Tensor(("n",), "float32"), c: R.Prim("bool")'))
    expected = {c: machine.main(X, c) for c in (True, False)}
    assert blocks(machine) == [2, 2, 1, 1]
    for _ in range(RUNS):
        for c, value in expected.items():
            np.testing.assert_array_equal(machine.main(X, c), value)


def test_long_rows_are_several():
    lines = "\n".join(f"x{i + 1} = R.add(x{i}, x)" for i in range(LONGEST + 5))
    machine = loaded(module(f"x0 = R.add(x, x)\n{lines}\nreturn x{LONGEST + 5}"))
    machine.main(np.ones(2, "float32"))
    assert blocks(machine) == [LONGEST, 6]
    value = warm(machine, np.ones(2, "float32"))
    np.testing.assert_array_equal(value, np.full(2, LONGEST + 7, "float32"))


@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
def test_an_operator_that_fails_is_named_after_those_before_it_have_run():
    params = 'x: R.Tensor(("n",), "float32"), i: R.Tensor(("m",), "int64")'
    machine = loaded(module("y = R.add(x, x)\nz = R.take(y, i)\nreturn R.exp(z)", params))
    right, wrong = np.array([2, 0]), np.array([7])
    expected = failure(lambda: machine.main(X, wrong))
    value = warm(machine, X, right)
    np.testing.assert_array_equal(value, np.exp(np.array([18.0, 2.0], "float32")))
    again = failure(lambda: machine.main(X, wrong))
    assert str(again) == str(expected)
    assert again.span.line == 8
    np.testing.assert_array_equal(machine.main(X, right), value)


def test_operands_of_another_layout_run_one_by_one():
    machine = loaded(module("y = R.add(x, x)\nreturn R.exp(y)", 'x: R.Tensor((2, 3), "float32")'))
    x = np.arange(6, dtype="float32").reshape(3, 2).T
    warm(machine, np.ascontiguousarray(x))
    result = machine.main(x)
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, np.exp(x + x))


def test_tensors_of_rank_0_stay_tensors():
    machine = loaded(module("y = R.add(x, x)\nreturn y", 'x: R.Tensor((), "float32")'))
    result = warm(machine, np.float32(3))
    assert type(result) is np.ndarray
    assert (result.shape, result.item()) == ((), 6)


def test_numpy_reports_nothing_inside_a_row():
    machine = loaded(module("y = R.multiply(x, x)\nreturn R.log(y)"))
    with np.errstate(all="raise"):
        result = warm(machine, np.array([1e30, 0.0], "float32"))
    np.testing.assert_array_equal(result, [np.inf, -np.inf])


def test_a_result_that_is_kept_is_never_written_again():
    machine = loaded(module("y = R.add(x, x)\nreturn R.add(y, x)"))
    kept = warm(machine, X)
    copy = kept.copy()
    machine.main(X * 2)
    np.testing.assert_array_equal(kept, copy)


def test_an_instrument_sees_every_operator():
    machine = loaded(module("y = R.exp(x)\nreturn R.add(y, x)"))
    warm(machine, X)
    seen = []
    machine.set_instrument(lambda func, name, before, value, *args: seen.append((name, before)))
    machine.main(X)
    assert [name for name, before in seen if before] == ["relax.exp", "relax.add"]
