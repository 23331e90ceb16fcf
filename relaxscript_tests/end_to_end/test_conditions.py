"""The condition of an `if` is known in its branches, to whoever types, checks or compiles them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from relaxscript.analysis import well_formed
from relaxscript.compiler import build
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir import prim, relax
from relaxscript.script import from_source
from relaxscript.script.ir_builder import IRBuilder, relax as R
from relaxscript.vm import VirtualMachine
from relaxscript_tests.end_to_end.executors import every_executor, failure

ROW = "R.zeros((4,), 'float32')"

# Conditions, what is read where they hold, and what is read where they do not.
PROVED = {
    "compared": ("t < steps", "xs[t]", ROW),
    "negated": ("not t < steps", ROW, "xs[t]"),
    "the other way round": ("t >= steps", ROW, "xs[t]"),
    "and": ("t > 1 and t + 1 < steps", "xs[t + 1]", ROW),
    "neither": ("t >= steps or t > 3", ROW, "xs[t]"),
    "equal": ("t + 1 == steps", "xs[t]", ROW),
    "in a variable": ("c", "xs[t]", ROW),
}
# The row that is read of `n` rows.
ROWS: dict[str, Callable[[int, int], int | None]] = {
    "compared": lambda t, n: t if t < n else None,
    "negated": lambda t, n: t if t < n else None,
    "the other way round": lambda t, n: t if t < n else None,
    "and": lambda t, n: t + 1 if 1 < t < n - 1 else None,
    "neither": lambda t, n: t if t < n and t <= 3 else None,
    "equal": lambda t, n: t if t + 1 == n else None,
    "in a variable": lambda t, n: t if t < n else None,
}
OPEN = {
    "too weak": ("t <= steps", "xs[t]", ROW),
    "about something else": ("t < steps", "xs[t + 1]", ROW),
    "one of two": ("t < steps or t < 3", "xs[t]", ROW),
    "one of two does not hold": ("t >= steps and t >= 3", ROW, "xs[t]"),
    "a tensor": ("flag", "xs[t]", ROW),
    "computed by a tensor": ("R.logical_and(flag, flag)", "xs[t]", ROW),
}


def source(condition: str, yes: str, no: str, then: str = "y") -> str:
    return f"""@I.ir_module
class M:
    @R.function
    def main(
        xs: R.Tensor(("steps", 4), "float32"), at: R.Prim(value="t"), flag: R.Tensor((), "bool")
    ) -> R.Tensor((4,), "float32"):
        steps, t = T.int64(), T.int64()
        c = R.prim_value(t < steps)
        if {condition}:
            y = {yes}
        else:
            y = {no}
        return {then}
"""


def quiet(text: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        return from_source(text)


def built(mod, pipeline: str) -> VirtualMachine:
    return VirtualMachine(build(mod, relax_pipeline=pipeline))


def squeezes(mod, pipeline: str) -> list[bool]:
    """Of each squeeze in the bytecode, whether it looks at its operands before it runs."""
    listed = build(mod, "llvm -opt-level=0", relax_pipeline=pipeline).as_text().splitlines()
    return ["checks operands" in line for line in listed if "relax.squeeze" in line]


@pytest.mark.parametrize("parts", PROVED.values(), ids=PROVED)
@pytest.mark.parametrize("pipeline", ["default", "default_build"])
def test_what_a_condition_proves_is_neither_warned_of_nor_checked(parts, pipeline):
    mod = from_source(source(*parts))
    assert well_formed(mod)
    assert squeezes(mod, pipeline) == [False]


@pytest.mark.parametrize("parts", OPEN.values(), ids=OPEN)
@pytest.mark.parametrize("pipeline", ["default", "default_build"])
def test_what_a_condition_does_not_prove_is_warned_of_and_checked(parts, pipeline):
    with pytest.warns(RelaxWarning, match="not 1; it is checked when the program runs"):
        mod = from_source(source(*parts))
    assert squeezes(mod, pipeline) == [True]


@pytest.mark.parametrize("name", PROVED)
@every_executor
def test_branches_give_the_same_everywhere(load, name):
    mod = from_source(source(*PROVED[name]))
    xs = np.arange(1, 21, dtype="float32").reshape(5, 4)
    for model in (load(mod), built(mod, "default"), built(mod, "default_build")):
        for t in range(7):
            row = ROWS[name](t, 5)
            expected = np.zeros(4) if row is None else xs[row]
            assert np.array_equal(model.main(xs, t, np.array(True)), expected)


@every_executor
def test_what_no_condition_proves_fails_when_it_runs(load):
    model = load(quiet(source("flag", "xs[t]", ROW)))
    xs = np.ones((2, 4), "float32")
    assert np.array_equal(model.main(xs, 2, np.array(False)), np.zeros(4))
    failure(lambda: model.main(xs, 2, np.array(True)))


def test_what_never_fits_under_a_condition_is_refused():
    with pytest.raises(DiagnosticError, match="only an axis of one element can be removed"):
        from_source(source("t < steps", ROW, "xs[t]"))


def test_a_condition_is_forgotten_behind_its_branches():
    with pytest.warns(RelaxWarning, match="not 1") as caught:
        mod = from_source(source("t < steps", "xs[t]", ROW, "xs[t]"))
    assert len(caught) == 1
    assert sorted(squeezes(mod, "default")) == [False, True]


def test_conditions_around_each_other_are_known_together():
    text = source("t < steps", "INNER", ROW).replace(
        "            y = INNER\n",
        "            if t > 0:\n"
        "                y = R.add(xs[t], xs[t - 1])\n"
        "            else:\n"
        "                y = xs[t]\n",
    )
    assert squeezes(from_source(text), "default_build") == [False] * 3


def test_equal_sizes_are_as_good_as_one_size():
    mod = from_source("""@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, "n"), "float32"), w: R.Tensor(("m", 3), "float32")):
        n, m = T.int64(), T.int64()
        if n == m:
            y: R.Tensor((2, 3), "float32") = R.matmul(x, w)
        else:
            y: R.Tensor((2, 3), "float32") = R.zeros((2, 3), "float32")
        return y
""")
    for pipeline in ("default", "default_build"):
        model = built(mod, pipeline)
        x = np.ones((2, 5), "float32")
        assert model.main(x, np.ones((5, 3), "float32")).sum() == 30
        assert model.main(x, np.ones((6, 3), "float32")).sum() == 0


def test_an_annotation_that_a_condition_proves_is_not_checked():
    mod = from_source("""@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        if n == 4:
            y: R.Tensor((4,), "float32") = x
        else:
            y: R.Tensor((4,), "float32") = R.zeros((4,), "float32")
        return y
""")
    for pipeline in ("default", "default_build"):
        model = built(mod, pipeline)
        assert model.main(np.ones(4, "float32")).sum() == 4
        assert model.main(np.ones(3, "float32")).sum() == 0
    listed = build(mod, relax_pipeline="default").as_text()
    assert "match" not in listed.replace("checks", "")


def test_a_function_that_is_written_in_a_branch_is_checked_by_itself():
    text = source("t < steps", "INNER", ROW).replace(
        "            y = INNER\n",
        "            @R.function\n"
        "            def local(a: R.Tensor((4,), 'float32')) -> R.Tensor((4,), 'float32'):\n"
        "                return R.add(a, xs[t])\n"
        "            y = local(xs[t])\n",
    )
    with pytest.warns(RelaxWarning, match="not 1") as caught:
        mod = from_source(text)
    assert len(caught) == 1
    assert sorted(squeezes(mod, "default")) == [False, True]


def test_the_frames_of_a_builder_know_their_condition():
    n, t = prim.Var("n", "int64"), prim.Var("t", "int64")
    with IRBuilder() as builder, R.function():
        R.func_name("main")
        x = R.arg("x", R.Tensor((n,), "float32"))
        R.arg("t", R.Prim(value=t))
        with R.If(relax.PrimValue(t < n)) as choice:
            with R.Then():
                R.emit(R.squeeze(R.strided_slice(x, [0], [t], [t + 1]), axis=[0]))
            with R.Else():
                R.emit(R.zeros((), "float32"))
        R.func_ret_value(choice.var)
    assert isinstance(builder.get(), relax.Function)


@pytest.mark.parametrize("pipeline", ["default", "default_build"])
@pytest.mark.parametrize("code", ["RX0601", "RX0605"])
def test_a_variable_whose_value_is_a_scalar_is_never_negative(pipeline, code):
    mod = from_source("""@I.ir_module
class M:
    @R.function
    def main(at: R.Prim(value="t")) -> R.Prim("int64"):
        t, j = T.int64(), T.int64()
        less = R.prim_value(t - 2)
        same = R.match_cast(less, R.Prim(value=j))
        return same
""")
    model = built(mod, pipeline)
    assert model.main(2) == 0
    error = failure(lambda: model.main(1 if code == "RX0605" else -1))
    assert error.code == code
    assert "must be at least 0 to be the value of" in str(error)
