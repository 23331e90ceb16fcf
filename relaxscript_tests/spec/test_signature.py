"""The start and the end of a function, on every executor.

Spec "Checking Structural Information at the Start and End of a Function": variables in binding
positions take their values first, then everything else is compared, then the result.
"""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.runtime import Shape
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.spec.rules import accepts, rejects, symbolic

MODEL = from_source("""
@I.ir_module
class Model:
    @R.function
    def constant(x: R.Tensor((2, 3), "float32"), s: R.Shape([4])) -> R.Tensor((2, 3), "float32"):
        return x

    @R.function
    def product(
        x: R.Tensor(("M * N",), "float32"), y: R.Tensor(("M", "N"), "float32")
    ) -> R.Shape(["N * N", "M * M"]):
        M, N = T.int64(), T.int64()
        return R.shape([N * N, M * M])

    @R.function
    def nested(
        a: R.Tensor(("n + m + k",), "float32"),
        t: R.Tuple(R.Tensor(("n",), "int8"), R.Tuple(R.Shape(["m"]), R.Prim(value="k"))),
    ) -> R.Shape(["n", "m", "k"]):
        n, m, k = T.int64(), T.int64(), T.int64()
        return R.shape([n, m, k])

    @R.function
    def closure(
        a: R.Tensor(("m * 2",), "float32"),
        f: R.Callable((R.Tensor((3,), "float32"),), R.Tensor(("m",), "float32")),
    ) -> R.Shape(["m"]):
        m = T.int64()
        return R.shape([m])

    @R.function
    def both(
        f: R.Callable((R.Tensor((3,), "float32"),), R.Tensor(("m",), "float32")),
        a: R.Tensor(("m",), "float32"),
    ) -> R.Tensor(("m",), "float32"):
        return a

    @R.function
    def doubled(x: R.Tensor((3,), "float32")) -> R.Tensor((6,), "float32"):
        return R.concat([x, x])

    @R.function
    def vague(x: R.Tensor((3,), "float32")) -> R.Tensor("float32", ndim=1):
        return x

    @R.function
    def twice(x: R.Tensor(("n", "n"), "float32")):
        return x
""")

RESULTS = """
@I.ir_module
class Results:
    @R.function
    def three(x: R.Tensor("float32", ndim=1)) -> R.Tensor((3,), "float32"):
        return x

    @R.function
    def more(x: R.Tensor(("n",), "float32"), y: R.Tensor("float32", ndim=1)) -> R.Tensor(
        ("n + 1",), "float32"
    ):
        return y

    @R.function
    def typed(x: R.Tensor((3,))) -> R.Tensor((3,), "int8"):
        return x

    @R.function
    def fields(x: R.Tensor("float32", ndim=1), s: R.Shape(["n"])) -> R.Tuple(
        R.Shape(["n"]), R.Tensor(("n",), "float32")
    ):
        return (s, x)
"""


@pytest.fixture(scope="module", name="results")
def _results():
    with pytest.warns(Warning, match="checked when the program runs"):
        return from_source(RESULTS)


def zeros(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


def refused(load, name, *args):
    error = failure(lambda: load(MODEL)[name](*args))
    assert error.code == "RX0601"
    return error.diagnostic.message


@accepts("signature parameters")
@rejects("signature parameters")
@every_executor
def test_arguments_are_what_the_parameters_say(load):
    x = zeros(2, 3)
    assert load(MODEL).constant(x, (4,)) is x
    assert refused(load, "constant", zeros(2, 4), (4,)) == "`x.shape[1]` is 4; must be 3"
    assert refused(load, "constant", x, (5,)) == "`s[0]` is 5; must be 4"


@symbolic("signature parameters")
@every_executor
def test_variables_take_their_values_before_anything_is_compared(load):
    assert load(MODEL).product(zeros(6), zeros(2, 3)) == Shape([9, 4])
    assert refused(load, "product", zeros(5), zeros(2, 3)) == (
        "`x.shape[0]` is 5; must be `M * N` with `M = 2` from `y.shape[0]` and `N = 3` from "
        "`y.shape[1]`, that is 6"
    )


@symbolic("signature parameters")
@every_executor
def test_variables_take_their_values_from_tuples_shapes_and_prim_values(load):
    fields = zeros(2, dtype="int8"), (Shape([3]), 4)
    assert load(MODEL).nested(zeros(9), fields) == Shape([2, 3, 4])
    assert refused(load, "nested", zeros(8), fields) == (
        "`a.shape[0]` is 8; must be `n + m + k` with `n = 2` from `t[0].shape[0]` and `m = 3` from "
        "`t[1][0][0]` and `k = 4` from `t[1][1]`, that is 9"
    )


@symbolic("signature parameters")
@every_executor
def test_variables_take_their_values_from_the_type_of_a_closure(load):
    model = load(MODEL)
    assert model.closure(zeros(12), model.doubled) == Shape([6])
    error = failure(lambda: model.closure(zeros(3), model.doubled))
    assert error.diagnostic.message == (
        "`a.shape[0]` is 3; must be `m * 2` with `m = 6` from the type of `f`, that is 12"
    )
    error = failure(lambda: model.closure(zeros(3), model.vague))
    assert error.diagnostic.message == (
        "`f` is a closure (`vague`), whose type does not say what `m` is"
    )


@symbolic("signature parameters")
@every_executor
def test_a_variable_has_one_value_wherever_it_stands(load):
    model = load(MODEL)
    assert model.both(model.doubled, zeros(6)).shape == (6,)
    error = failure(lambda: model.both(model.doubled, zeros(5)))
    assert error.diagnostic.message == "`a.shape[0]` is 5; must be `m = 6` from the type of `f`"
    said = refused(load, "twice", zeros(2, 3))
    assert said == "`x.shape[1]` is 3; must be `n = 2` from `x.shape[0]`"


@rejects("signature parameters")
@every_executor
def test_arguments_are_compared_from_left_to_right(load):
    assert refused(load, "constant", zeros(2, 4), (5,)).startswith("`x.shape[1]`")
    assert refused(load, "constant", zeros(2, 4), zeros(1)).startswith("`x.shape[1]`")


@accepts("signature result")
@rejects("signature result")
@every_executor
def test_the_result_is_what_is_declared(load, results):
    model = load(results)
    assert model.three(x := zeros(3)) is x
    error = failure(lambda: model.three(zeros(2)))
    assert (error.code, error.span.text) == ("RX0605", "x")
    assert error.diagnostic.message == "`shape[0]` of the result of `three` is 2; must be 3"
    error = failure(lambda: model.typed(zeros(3)))
    assert error.diagnostic.message == "`dtype` of the result of `typed` is float32; must be int8"


@symbolic("signature result")
@every_executor
def test_variables_of_the_result_have_the_values_of_the_arguments(load, results):
    model = load(results)
    assert model.more(zeros(2), zeros(3)).shape == (3,)
    error = failure(lambda: model.more(zeros(2), zeros(2)))
    assert error.diagnostic.message == (
        "`shape[0]` of the result of `more` is 2; must be `n + 1` with `n = 2` from `x.shape[0]`, "
        "that is 3"
    )
    assert model.fields(zeros(2), (2,))[0] == Shape([2])
    error = failure(lambda: model.fields(zeros(2), (3,)))
    assert error.diagnostic.message == (
        "`[1].shape[0]` of the result of `fields` is 2; must be `n = 3` from `s[0]`"
    )
