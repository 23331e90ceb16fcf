"""Tensors of modules have the operators of Python, and tell their shape and dtype."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import relax
from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript.script import relax as R
from relaxscript_tests import examples

X = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], "float32")
Y = np.array([[2.0, 2.0, 2.0], [4.0, -1.0, 8.0]], "float32")


def computed(function: Callable[..., Any]) -> Any:
    """What a function of two tensors computes for `X` and `Y`."""

    class Model(nn.Module):
        def forward(self, x: nn.Tensor, y: nn.Tensor) -> Any:
            return function(x, y)

    shape = nn.spec.Tensor(("n", 3), "float32")
    return Model().jit({"forward": {"x": shape, "y": shape}}).forward(X, Y)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x, y: x + y, X + Y),
        (lambda x, y: 2 + x, 2 + X),
        (lambda x, y: x - y, X - Y),
        (lambda x, y: 2.0 - x, 2 - X),
        (lambda x, y: x * y, X * Y),
        (lambda x, y: 3 * x, 3 * X),
        (lambda x, y: x / y, X / Y),
        (lambda x, y: 6 / y, 6 / Y),
        (lambda x, y: -x, -X),
        (lambda x, y: x @ y.permute_dims(), X @ Y.T),
        (lambda x, y: x < y, X < Y),
        (lambda x, y: x <= 3.0, X <= 3),
        (lambda x, y: x > y, X > Y),
        (lambda x, y: x >= y, X >= Y),
        (lambda x, y: x.astype("int32"), X.astype("int32")),
        (lambda x, y: x.maximum(y), np.maximum(X, Y)),
        (lambda x, y: x.minimum(0.0), np.minimum(X, 0)),
        (lambda x, y: x.reshape(3, -1), X.reshape(3, -1)),
        (lambda x, y: x.reshape((-1,)), X.reshape(-1)),
        (lambda x, y: x.permute_dims(1, 0), X.T),
        (lambda x, y: x.permute_dims([1, 0]), X.T),
        (lambda x, y: x.repeat(2, 1), X.repeat(2, 1)),
        (lambda x, y: nn.op.multiply(nn.op.add(x, y), y), (X + Y) * Y),
        (lambda x, y: nn.op.relu(nn.op.reshape(x, (-1,))), np.maximum(X, 0).reshape(-1)),
        (lambda x, y: nn.op.matmul(x, nn.op.permute_dims(y)), X @ Y.T),
        (lambda x, y: nn.op.astype(x, "float16"), X.astype("float16")),
        (lambda x, y: x**2, X**2),
        (lambda x, y: 2.0**x, np.float32(2) ** X),
        (lambda x, y: x // y, X // Y),
        (lambda x, y: x % y, X % Y),
        (lambda x, y: 7.0 // y, 7 // Y),
        (lambda x, y: Y.T @ x, Y.T @ X),
        (lambda x, y: abs(+x), abs(X)),
        (lambda x, y: ~(x > y), ~(X > Y)),
        (lambda x, y: (x > y) & (x > 0.0), (X > Y) & (X > 0)),
        (lambda x, y: (x > y) | (x > 0.0), (X > Y) | (X > 0)),
        (lambda x, y: (x > y) ^ (x > 0.0), (X > Y) ^ (X > 0)),
        (lambda x, y: x.astype("int32") << 2, X.astype("int32") << 2),
        (lambda x, y: x.astype("int32") >> 1, X.astype("int32") >> 1),
        (lambda x, y: 1 << abs(x.astype("int32")), 1 << abs(X.astype("int32"))),
        (lambda x, y: np.square(x), X * X),
        (lambda x, y: np.maximum(0.0, x), np.maximum(X, 0)),
        (lambda x, y: np.power(Y, x), Y**X),
        (lambda x, y: np.absolute(np.negative(x)), abs(X)),
        (lambda x, y: Y < x, Y < X),
    ],
)
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_operators_are_those_of_arrays(function: Callable[..., Any], wanted: np.ndarray):
    got = computed(function)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


PARTS: list[Any] = [
    0, -1, slice(1, 3), (slice(None), 2), (0, 1), (..., -1), (None, 1), (slice(None, None, -1), 0),
    [1, 0, 1], (slice(None), np.array([2, 0])), slice(-2, None), (1, ..., None), (),
]  # fmt: skip


@pytest.mark.parametrize("index", PARTS, ids=repr)
def test_indices_are_those_of_arrays(index: Any):
    class Model(nn.Module):
        def forward(self, x: nn.Tensor, y: nn.Tensor) -> Any:
            return x[index]

    shape = nn.spec.Tensor((2, 3), "float32")
    mod, _ = Model().export_tvm({"forward": {"x": shape, "y": shape}})
    assert rx.analysis.well_formed(mod)
    np.testing.assert_array_equal(rx.jit(mod).forward(X, Y), X[index])


def test_random_indices_are_those_of_arrays(rng: np.random.Generator):
    def item(size: int) -> Any:
        low, high = sorted(rng.integers(-size, size, 2).tolist())
        return (low, slice(low, high + size), slice(high, None, -1), slice(None))[rng.integers(4)]

    for _ in range(examples(10)):
        index = tuple([item(size) for size in X.shape[: rng.integers(3)]])
        for place in range(rng.integers(3)):
            index = (*index[:place], None, *index[place:])
        got = computed(lambda x, y, at=index: (x[at] * 1.0, y)[0])
        np.testing.assert_array_equal(got, X[index])


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_tensor_of_numbers_is_an_index():
    def picked(x: nn.Tensor, y: nn.Tensor) -> Any:
        order = nn.op.argsort(x, axis=-1)
        return y.permute_dims()[order[0]]

    np.testing.assert_array_equal(computed(picked), Y.T[np.argsort(X, -1)[0]])


def test_a_tensor_is_walked_along_its_first_axis():
    def rows(x: nn.Tensor, y: nn.Tensor) -> Any:
        square = x @ y.permute_dims()
        assert len(x.permute_dims()) == 3
        first, *others = x.permute_dims()
        return first, *others, square

    *columns, _ = computed(rows)
    np.testing.assert_array_equal(columns, X.T)


def test_a_tensor_of_this_dtype_is_itself():
    x = nn.Tensor.placeholder((2, "n"), "float32")
    assert x.astype("float32") is x


def test_a_tensor_tells_its_shape_and_dtype():
    x = nn.Tensor.placeholder((2, "n"), "float16", "x")
    rows, columns = x.shape
    assert rows == 2
    assert columns.name == "n"
    assert x.ndim == 2
    assert x.dtype == "float16"
    assert repr(x) == "Tensor((2, n), 'float16')"
    assert repr(nn.Tensor.from_struct_info(R.Tensor("int8"))) == (
        "Tensor(of unknown shape, 'int8')"
    )


def test_constants_are_tensors():
    assert nn.Tensor.from_const(X).shape == [2, 3]
    assert nn.Tensor.from_scalar(2, "int64").dtype == "int64"


def test_parameters_without_a_dtype_have_the_default_one():
    assert nn.get_default_dtype() == "float32"
    nn.set_default_dtype("float16")
    try:
        assert nn.Parameter((2,)).dtype == "float16"
    finally:
        nn.set_default_dtype("float32")


def test_tuples_of_the_program_are_tuples_of_tensors():
    def halves(x: nn.Tensor, y: nn.Tensor) -> Any:
        first, second = nn.wrap_nested(R.split(x._expr, [1], axis=1), "split")
        return second, first

    second, first = computed(halves)
    assert first.tolist() == X[:, :1].tolist()
    assert second.tolist() == X[:, 1:].tolist()


def test_functions_of_tensors_write_into_the_builder_that_is_current():
    builder = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((2,), "float32"))
    with builder.function("main", [x]):
        y = nn.op.relu(nn.Tensor(_expr=x), name="y")
        builder.emit_func_output(y._expr)
    (binding,) = builder.finalize()["main"].body.blocks[0].bindings
    assert binding.var.name_hint == "y"


def test_what_is_no_tensor_is_an_object():
    builder = relax.BlockBuilder()
    with builder.function("main", []):
        made = nn.wrap_nested(R.null_value(), "nothing")
        builder.emit_func_output(made._expr)
    assert isinstance(made, nn.Object)


# ---------------------------------------------------------------- mistakes


def test_a_tensor_is_made_of_an_expression_that_is_one():
    with pytest.raises(
        DiagnosticError, match="made of an expression that is a tensor, not a shape"
    ):
        nn.Tensor(_expr=relax.ShapeExpr([2]))


def test_a_shape_that_is_not_known_is_refused():
    with pytest.raises(DiagnosticError, match="known only when the program runs"):
        nn.Tensor.from_struct_info(R.Tensor("int8")).shape


def test_a_tensor_has_no_truth_value():
    with pytest.raises(DiagnosticError, match="a tensor has no truth value"):
        computed(lambda x, y: x if x > y else y)


@pytest.mark.parametrize(
    ("function", "code", "message", "help"),
    [
        (lambda x: len(x), "RX0711", "the length of the tensor is `n`", r"`x\.shape\[0\]`"),
        (lambda x: list(x), "RX0711", "the length of the tensor is `n`", None),
        (lambda x: len(nn.op.sum(x)), "RX0711", "a tensor of rank 0 has no length", None),
        (lambda x: x[5:, 4], "RX0208", "the index 4 is outside, there are 3 elements here", None),
        (lambda x: x[0, 0, 0], "RX0208", "there are 3 indices", None),
        (lambda x: x[x > 0.0], "RX0208", "a mask is no index", r"`nn\.op\.where\(mask, x, 0\)`"),
        (lambda x: x["a"], "RX0208", r"str \('a'\) is no index", "an index is a whole number"),
        (lambda x: x[0.5], "RX0208", r"float \(0\.5\) is no index", None),
        (lambda x: x[::0], "RX0208", "a slice cannot go in steps of 0", None),
        (
            lambda x: x.__setitem__(0, 1.0),
            "RX0711",
            "the elements of a tensor are not set",
            "where",
        ),
        (lambda x: 1.0 in x, "RX0711", "what is in a tensor is known only when", "nn.op.equal"),
        (lambda x: float(x), "RX0711", "a tensor is no number", "leave it one"),
        (lambda x: round(x), "RX0711", "a tensor is no number", None),
        (lambda x: np.sin(x), "RX0711", "`np.sin` is asked for a tensor of", r"R\.sin\(x\._expr\)"),
        (lambda x: np.add.reduce(x), "RX0711", "`np.add.reduce` is asked for", "those of `nn.op`"),
        (lambda x: np.mean(x), "RX0711", "in an export a tensor has no elements", "nn.op"),
        (lambda x: np.add(x, 1, out=Y), "RX0711", "`np.add` is asked for", "nn.op.add"),
        (lambda x: x**None, "RX0201", "R.power", None),
    ],
)
def test_what_a_tensor_cannot_do_is_told_with_what_to_write(
    function: Callable[[Any], Any], code: str, message: str, help: str | None
):
    class Model(nn.Module):
        def forward(self, x: nn.Tensor) -> Any:
            return function(x)

    with pytest.raises(DiagnosticError) as refused:
        Model().export_tvm({"forward": {"x": nn.spec.Tensor(("n", 3), "float32")}})
    found = refused.value.diagnostics[0]
    assert found.code == code
    assert re.search(message, found.message)
    assert found.span is not None
    assert found.span.filename == __file__
    assert help is None or re.search(help, found.help or "")


def test_a_tensor_of_unknown_rank_has_no_indices():
    with pytest.raises(DiagnosticError, match="a tensor of unknown rank cannot be indexed"):
        nn.Tensor.from_struct_info(R.Tensor("int8"))[0]


def test_what_a_tensor_of_the_program_is_loaded_as_is_said_in_one_sentence():
    with pytest.raises(DiagnosticError) as refused:
        nn.Parameter((2,)).data = nn.Tensor.placeholder((2,), "float32")
    assert refused.value.diagnostics[0].message == (
        "the parameter takes a tensor: cannot take an object of class Tensor as a tensor: "
        "in an export a tensor has no elements, and numpy asks for them"
    )


def test_a_function_of_tensors_outside_of_an_export_is_refused():
    with pytest.raises(DiagnosticError, match="`relu` is called outside of an export"):
        nn.op.relu(nn.Tensor.placeholder((2,), "float32"))


def test_a_dtype_that_there_is_not_is_refused():
    with pytest.raises(DiagnosticError, match="flaot32"):
        nn.Parameter((2,), "flaot32")
    with pytest.raises(DiagnosticError, match="no tensor of Relax has the dtype void"):
        nn.set_default_dtype("void")


@pytest.mark.parametrize("shape", [5, "ab", (1.5,), (-1,), (True,), ("a b",), ("for",)])
def test_what_is_no_shape_is_refused(shape: Any):
    with pytest.raises(
        DiagnosticError, match=r"not a row of dimensions|is no dimension of a param"
    ):
        nn.Parameter(shape)


def test_numbers_of_numpy_are_dimensions():
    assert nn.Parameter(np.array([2, 3])).shape == [2, 3]


@pytest.mark.parametrize(
    ("name", "instead"),
    [("view", "reshape"), ("softmaxes", "no `softmaxes`$"), ("sum", r"`nn.op.sum\(x\)`")],
)
def test_a_method_of_other_libraries_is_named_with_what_there_is(name: str, instead: str):
    x = nn.Tensor.placeholder((2,), "float32")
    assert not hasattr(x, name)
    with pytest.raises(AttributeError, match=f"a tensor has no `{name}`.*{instead}|{instead}"):
        getattr(x, name)


def test_what_is_no_constant_is_refused():
    with pytest.raises(DiagnosticError, match="a constant is made of numbers"):
        nn.Tensor.from_const("text")
    with pytest.raises(DiagnosticError, match="made of an expression that is a tensor, not int"):
        nn.Tensor(_expr=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["softmax", "relu", "sigmoid", "mean", "abs", "sum"])
def test_what_is_written_instead_of_a_method_can_be_typed(name: str):
    class Asking(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            with pytest.raises(AttributeError) as refused:
                getattr(x, name)
            instead = str(refused.value).partition("; write `")[2].removesuffix("`")
            made: nn.Tensor = eval(instead, {"nn": nn, "R": R, "x": x})
            return made

    mod, _ = Asking().export_tvm({"forward": {"x": nn.spec.Tensor((2, 3), "float32")}})
    assert rx.analysis.well_formed(mod)
