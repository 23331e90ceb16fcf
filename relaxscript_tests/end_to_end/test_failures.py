"""What fails when a program runs: one code on every executor, its line named, nothing broken."""

from __future__ import annotations

import traceback
import warnings

import numpy as np
import pytest

from relaxscript import relax
from relaxscript.errors import RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.runtime import Shape, register_func, remove_global_func
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript_tests.end_to_end.executors import EXECUTORS, every_executor, failure


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), w: R.Tensor(("n",), "float32")):
        y = R.add(x, x)
        return y

    @R.function(private=True)
    def hidden(x: R.Tensor((2,), "float32")):
        return x

    @R.function(pure=False)
    def calls(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = R.call_packed("test.helper", x, sinfo_args=R.Tensor((2,), "float32"))
        return y

    @R.function(pure=False)
    def outer(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Model
        y = cls.calls(x)
        return y

    @R.function(pure=False)
    def chosen(x: R.Tensor((2,), "float32"), f: R.Tensor((), "bool")) -> R.Tensor((2,), "float32"):
        if f:
            y = R.call_packed("test.missing", x, sinfo_args=R.Tensor((2,), "float32"))
        else:
            y = x
        return y

    @R.function
    def sums(x: R.Tensor("float32", ndim=1), y: R.Tensor("float32", ndim=1)):
        z = R.add(x, y)
        return z

    @R.function
    def unknown(x: R.Tensor, y: R.Tensor):
        z = R.matmul(x, y)
        return z


AT_X = 'x: R.Tensor(("n", 2), "float32")'
AT_W = 'w: R.Tensor(("n",), "float32")'
X = np.ones((3, 2), "float32")
W = np.ones(3, "float32")


@every_executor
@pytest.mark.parametrize(
    ("args", "place", "words"),
    [
        ((X, np.ones(4, "float32")), AT_W, ".shape[0]` is 4; must be `n = 3`"),
        ((np.ones((3, 3), "float32"), W), AT_X, ".shape[1]` is 3; must be 2"),
        ((X.astype("float64"), W), AT_X, ".dtype` is float64; must be float32"),
        ((np.ones(3, "float32"), W), AT_X, ".ndim` is 1; must be 2"),
        (([[1.0, 2.0]], W), AT_X, "`x` is a list of 1"),
        ((X, {"rows": W}), AT_W, "`w` is an object of class dict"),
    ],
)
def test_an_argument_that_does_not_fit_is_named_at_its_parameter(load, args, place, words):
    model = load(Model)
    error = failure(lambda: model.main(*args))
    assert (error.code, error.span.text) == ("RX0601", place)
    assert words in str(error)
    np.testing.assert_array_equal(model.main(X, W), X + X)


@every_executor
@pytest.mark.parametrize("args", [(X,), (X, W, W)])
def test_a_wrong_number_of_arguments_is_named_at_all_parameters(load, args):
    model = load(Model)
    error = failure(lambda: model.main(*args))
    assert (error.code, error.span.text) == ("RX0602", f"{AT_X}, {AT_W}")
    assert f"`main` takes 2 arguments (x, w), got {len(args)}" in str(error)
    np.testing.assert_array_equal(model.main(X, W), X + X)


@every_executor
def test_keywords_that_do_not_fit_are_named(load):
    error = failure(lambda: load(Model).main(X, v=W))
    assert error.code == "RX0602"
    assert "has no parameter `v`" in str(error)


@every_executor
def test_only_public_functions_are_found(load):
    model = load(Model)
    assert "did you mean `main`?" in str(failure(lambda: model["mian"]))
    assert "`hidden` is private" in str(failure(lambda: model["hidden"]))
    with pytest.raises(AttributeError, match="there is no function `nothing`") as info:
        _ = model.nothing
    shown = "\n".join(info.value._render_traceback_())
    assert "\nAttributeError: there is no function `nothing`; public functions: main" in shown
    assert "machine.py" not in shown


@every_executor
def test_a_missing_packed_function_is_named_at_its_line_when_it_is_called(load):
    model = load(Model)
    x = np.ones(2, "float32")
    assert model.chosen(x, np.array(False)) is x
    register_func("test.mising", lambda x: x)
    error = failure(lambda: model.chosen(x, np.array(True)))
    assert error.code == "RX0603"
    assert "there is no packed function `test.missing`" in str(error)
    assert "did you mean `test.mising`?" in str(error)
    assert error.span.text.startswith('R.call_packed("test.missing"')
    register_func("test.missing", lambda x: x)
    assert model.chosen(x, np.array(True)) is x


def broken(x):
    return x[10]


@every_executor
def test_a_packed_function_that_raises_keeps_its_traceback(load):
    register_func("test.helper", broken)
    model = load(Model)
    x = np.ones(2, "float32")
    error = failure(lambda: model.outer(x))
    assert error.code == "RX0604"
    assert "`test.helper` raised IndexError" in str(error)
    assert error.span.text.startswith('R.call_packed("test.helper"')
    assert "called from `outer`" in str(error)
    frames = traceback.extract_tb(error.__cause__.__traceback__)
    assert frames[-1].name == "broken"
    remove_global_func("test.helper")
    register_func("test.helper", lambda x: x + 1)
    np.testing.assert_array_equal(model.outer(x), x + 1)


@I.ir_module
class Passed:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), f: R.Callable) -> R.Object:
        r = f(x)
        return r

    @R.function(pure=False)
    def local(x: R.Tensor((2,), "float32")) -> R.Object:
        @R.function
        def g(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return y

        r = R.call_packed("test.apply", g, x, sinfo_args=R.Object)
        return r


@every_executor
def test_a_packed_function_that_is_passed_is_named_when_it_raises(load):
    error = failure(lambda: load(Passed).main(np.ones(2, "float32"), broken))
    assert error.code == "RX0604"
    assert "`broken` raised IndexError" in str(error)
    assert error.span.text == "f(x)"


@every_executor
def test_a_failure_inside_a_closure_that_a_packed_function_calls_keeps_its_place(load):
    register_func("test.apply", lambda g, x: g(np.ones(3, "float32")))
    error = failure(lambda: load(Passed).local(np.ones(2, "float32")))
    assert error.code == "RX0601"
    assert ".shape[0]` is 3; must be 2" in str(error)
    assert error.span.text.startswith("y: R.Tensor((2,)")


@every_executor
@pytest.mark.parametrize(
    "result", [np.ones(3, "float32"), np.ones(2, "int8"), 5, None, (), Shape([2])]
)
def test_what_a_packed_function_returns_is_checked(load, result):
    register_func("test.helper", lambda x: result)
    error = failure(lambda: load(Model).calls(np.ones(2, "float32")))
    assert error.code == "RX0605"
    assert "the result of `test.helper`" in str(error)


@every_executor
def test_operands_that_do_not_fit_are_named_with_their_shapes(load):
    model = load(Model)
    a, b = np.ones(2, "float32"), np.ones(3, "float32")
    error = failure(lambda: model.sums(a, b))
    assert error.code == "RX0606"
    assert "`R.add`" in str(error)
    assert "a tensor of shape (3,) and dtype float32" in str(error)
    assert error.span.text == "R.add(x, y)"
    np.testing.assert_array_equal(model.sums(a, a), a + a)


@every_executor
def test_operands_of_unknown_rank_and_dtype_are_checked_when_they_are_known(load):
    model = load(Model)
    assert model.unknown(np.ones((2, 3)), np.ones((3, 4))).shape == (2, 4)
    assert model.unknown(np.ones(3), np.ones(3)).shape == ()
    for x, y in (
        (np.ones((2, 3)), np.ones((2, 3))),
        (np.ones((2, 3)), np.ones((3, 4), "float32")),
    ):
        error = failure(lambda x=x, y=y: model.unknown(x, y))
        assert error.code == "RX0606"
        assert error.span.text == "R.matmul(x, y)"


UNDECIDED = """
@I.ir_module
class Undecided:
    @R.function
    def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("j", 2), "float32")):
        y = R.matmul(x, w)
        return y

    @R.function
    def annotated(x: R.Tensor("float32", ndim=1)):
        y: R.Tensor((5,), "float32") = x
        return y

    @R.function
    def result(x: R.Tensor("float32", ndim=1)) -> R.Tensor((5,), "float32"):
        y = R.add(x, x)
        return y

    @R.function
    def passes(x: R.Tensor("float32", ndim=1)) -> R.Object:
        cls = Undecided
        y = cls.result(x)
        return y
"""


@pytest.fixture(scope="module", name="undecided")
def _undecided():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        return from_source(UNDECIDED)


@every_executor
@pytest.mark.parametrize(
    ("name", "good", "bad", "code"),
    [
        ("main", ((2, 3), (3, 2)), ((2, 3), (1, 2)), "RX0606"),
        ("annotated", ((5,),), ((4,),), "RX0605"),
        ("result", ((5,),), ((4,),), "RX0605"),
        ("passes", ((5,),), ((4,),), "RX0605"),
    ],
)
def test_what_could_not_be_decided_is_checked_in_the_run(load, undecided, name, good, bad, code):
    model = load(undecided)
    model[name](*(np.ones(shape, "float32") for shape in good))
    error = failure(lambda: model[name](*(np.ones(shape, "float32") for shape in bad)))
    assert error.code == code
    assert error.span is not None


def test_all_executors_say_the_same():
    told = set()
    for load in EXECUTORS.values():
        model = load(Model)
        told.add(
            (
                str(failure(lambda m=model: m.main(X, np.ones(4, "float32")))),
                str(failure(lambda m=model: m.sums(np.ones(2, "float32"), W))).split("\n")[0],
                str(failure(lambda m=model: m["mian"])),
            )
        )
    assert len(told) == 1


@I.ir_module
class Sizes:
    @R.function
    def scattered(
        x: R.Tensor((3, 4), "float32"), i: R.Tensor((1, "n"), "int64"), u: R.Tensor((4,), "float32")
    ):
        y = R.scatter_nd(x, i, u)
        return y

    @R.function
    def sliced(x: R.Tensor(("n",), "float32"), i: R.Prim("int64")):
        y = R.strided_slice(x, [0], [0], [i], assume_inbound=True)
        return y

    @R.function
    def counted(i: R.Prim("int64")):
        y = R.arange(i, 4, i)
        return y

    @R.function
    def pooled(x: R.Tensor((1, 1, "n", 4), "float32")):
        y = R.nn.max_pool2d(x, 3)
        return y


@every_executor
@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        (
            "scattered",
            (np.zeros((3, 4), "float32"), np.zeros((1, 2), "int64"), np.ones(4, "float32")),
            "`u` has 4 elements along axis 0; `x` has 1 elements there",
        ),
        ("sliced", (W, 5), "`end` has the bound 5; `x` has 3 elements along axis 0"),
        ("counted", (0,), "a step of 0 leads nowhere: `i` is 0"),
        ("pooled", (np.ones((1, 1, 2, 4), "float32"),), "`x` has 2 elements along H"),
    ],
)
def test_sizes_that_only_the_run_shows_are_refused_in_the_words_of_the_rule(
    load, name, args, words
):
    error = failure(lambda: load(Sizes)[name](*args))
    assert error.code == "RX0606"
    assert words in str(error)


@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
def test_a_size_that_is_computed_is_checked_by_all_executors_alike():
    mod = from_source("""
@R.function
def main(n: R.Prim("int64")):
    y = R.eye(n)
    return y
""")
    mod = IRModule.from_expr(mod.with_attr("global_symbol", "main"))
    errors = [failure(lambda load=load: load(mod).main(-2)) for load in EXECUTORS.values()]
    assert len({error.diagnostic.message for error in errors}) == 1
    assert "a tensor has no dimension below 0: `n` is -2" in str(errors[0])


@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
def test_operands_without_a_place_are_named_by_the_variables_that_the_call_uses():
    builder = relax.BlockBuilder()
    x = relax.Var("x", R.Object())
    with builder.function("main", [x]):
        builder.match_cast(x, R.Tensor(ndim=1))
        used = builder.match_cast(x, R.Tensor(ndim=1))
        builder.match_cast(x, R.Tensor(ndim=1))
        builder.emit_func_output(builder.emit(relax.op.asinh(used)))
    flags = np.zeros(2, "bool")
    errors = [
        failure(lambda load=load: load(builder.get()).main(flags)) for load in EXECUTORS.values()
    ]
    (message,) = {error.diagnostic.message for error in errors}
    assert f"`{used.name_hint}`" in message
