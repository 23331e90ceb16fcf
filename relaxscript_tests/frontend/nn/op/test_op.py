"""Each function of `nn.op` computes what numpy does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import op
from relaxscript_tests.frontend.nn.computing import Computing, assert_near, computed, refused

RNG = np.random.default_rng(5)
X = RNG.standard_normal((2, 3, 4)).astype("float32")
Y = np.abs(RNG.standard_normal((3, 4))).astype("float32") + 1
M = X > 0
E = np.array([[1, 0], [2, 2]], "int64")
ERF = np.vectorize(math.erf)


def cumulated(x: np.ndarray, axis: int) -> np.ndarray:
    return np.concatenate([np.zeros_like(x[:, :1]), np.cumsum(x, axis)[:, :-1]], axis)


def gelu(x: np.ndarray) -> np.ndarray:
    return (x * 0.5 * (1 + ERF(x / math.sqrt(2)))).astype("float32")


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return (x * 0.5 * (1 + np.tanh(inner))).astype("float32")


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    shares = np.exp(x - x.max(axis, keepdims=True))
    return shares / shares.sum(axis, keepdims=True)


CASES: list[tuple[str, Callable[..., Any], Any]] = [
    ("unsqueeze", lambda x, y: op.unsqueeze(x, 1), X[:, None]),
    ("concat", lambda x, y: op.concat([x, x], 2), np.concatenate([X, X], 2)),
    ("add", lambda x, y: op.add(x, y), X + Y),
    ("subtract", lambda x, y: op.subtract(x, y), X - Y),
    ("multiply", lambda x, y: op.multiply(x, 2.0), X * 2),
    ("divide", lambda x, y: op.divide(1.0, y), 1 / Y),
    ("chunk", lambda x, y: op.chunk(x, 2, 2), tuple(np.split(X, 2, 2))),
    ("sum", lambda x, y: op.sum(x, [0, 2], True), X.sum((0, 2), keepdims=True)),
    ("max", lambda x, y: op.max(x, 1), X.max(1)),
    ("min", lambda x, y: op.min(x), X.min()),
    ("matmul", lambda x, y: op.matmul(x, op.permute_dims(y)), X @ Y.T),
    ("maximum", lambda x, y: op.maximum(x, 0.5), np.maximum(X, np.float32(0.5))),
    ("minimum", lambda x, y: op.minimum(x, y), np.minimum(X, Y)),
    ("broadcast_to", lambda x, y: op.broadcast_to(y, (2, 3, 4)), np.broadcast_to(Y, (2, 3, 4))),
    ("permute_dims", lambda x, y: op.permute_dims(x), X.transpose()),
    ("permute", lambda x, y: op.permute(x, [1, 0, 2]), X.transpose(1, 0, 2)),
    ("reshape", lambda x, y: op.reshape(x, (4, -1)), X.reshape(4, -1)),
    ("repeat", lambda x, y: op.repeat(y, 2, 0), Y.repeat(2, 0)),
    ("squeeze", lambda x, y: op.squeeze(op.unsqueeze(x, -1)), X),
    ("astype", lambda x, y: op.astype(x, "int32"), X.astype("int32")),
    ("relu", lambda x, y: op.relu(x), np.maximum(X, 0)),
    ("silu", lambda x, y: op.silu(x), X / (1 + np.exp(-X))),
    ("gelu", lambda x, y: op.gelu(x), gelu(X)),
    ("gelu tanh", lambda x, y: op.gelu(x, "tanh"), gelu_tanh(X)),
    ("sigmoid", lambda x, y: op.sigmoid(x), 1 / (1 + np.exp(-X))),
    ("softmax", lambda x, y: op.softmax(x, 1), softmax(X, 1)),
    ("softplus", lambda x, y: op.softplus(x, 2.0), np.log1p(np.exp(2 * X)) / 2),
    ("tanh", lambda x, y: op.tanh(x), np.tanh(X)),
    ("exp", lambda x, y: op.exp(x), np.exp(X)),
    ("log", lambda x, y: op.log(y), np.log(Y)),
    ("floor", lambda x, y: op.floor(x), np.floor(X)),
    ("relu6", lambda x, y: op.relu6(x * 9.0), np.clip(X * 9, 0, 6)),
    ("prelu", lambda x, y: op.prelu(x, op.full((3,), 0.5)), np.where(M, X, X / 2)),
    ("arange", lambda x, y: op.arange(1, 7, 2), np.arange(1, 7, 2, "float32")),
    ("arange to", lambda x, y: op.arange(3, dtype="int32"), np.arange(3, dtype="int32")),
    ("negative", lambda x, y: op.negative(x), -X),
    ("square", lambda x, y: op.square(x), X * X),
    ("sqrt", lambda x, y: op.sqrt(y), np.sqrt(Y)),
    ("triu", lambda x, y: op.triu(y, 1), np.triu(Y, 1)),
    ("full", lambda x, y: op.full((2, 3), 2.5), np.full((2, 3), 2.5, "float32")),
    ("full of", lambda x, y: op.full((2,), op.max(x)), np.full(2, X.max())),
    ("zeros", lambda x, y: op.zeros((2, 3), "int8"), np.zeros((2, 3), "int8")),
    ("ones", lambda x, y: op.ones((3,)), np.ones(3, "float32")),
    ("empty", lambda x, y: op.multiply(op.astype(op.empty((2, 3), "bool"), "int32"), 0),
     np.zeros((2, 3), "int32")),
    ("split", lambda x, y: op.split(x, [1, 3], 2), tuple(np.split(X, [1, 3], 2))),
    ("pad", lambda x, y: op.pad(y, [1, 0, 0, 2], value=3.0),
     np.pad(Y, [(1, 0), (0, 2)], constant_values=3)),
    ("pad edges", lambda x, y: op.pad(y, [0, 0, 2, 1], "reflect"),
     np.pad(Y, [(0, 0), (2, 1)], "reflect")),
    ("less", lambda x, y: op.less(x, y), X < Y),
    ("less_equal", lambda x, y: op.less_equal(x, 0.5), X <= 0.5),
    ("greater", lambda x, y: op.greater(x, y), X > Y),
    ("greater_equal", lambda x, y: op.greater_equal(x, y), X >= Y),
    ("equal", lambda x, y: op.equal(op.relu(x), 0.0), X <= 0),
    ("not_equal", lambda x, y: op.not_equal(op.relu(x), 0.0), X > 0),
    ("where", lambda x, y: op.where(op.relu(x), x, y), np.where(M, X, Y)),
    ("where a number", lambda x, y: op.where(x > 0.0, x, 7.0), np.where(M, X, np.float32(7))),
    ("cumsum", lambda x, y: op.cumsum(x, 1), np.cumsum(X, 1)),
    ("cumsum exclusive", lambda x, y: op.cumsum(x, 1, exclusive=True), cumulated(X, 1)),
    ("cumsum of all", lambda x, y: op.cumsum(y, dtype="float64"), np.cumsum(Y, dtype="float64")),
    ("sort", lambda x, y: op.sort(x, 1, True), -np.sort(-X, 1)),
    ("argsort", lambda x, y: op.argsort(x), np.argsort(X, -1).astype("int32")),
    ("topk", lambda x, y: op.topk(x, 2),
     (-np.sort(-X, -1)[..., :2], np.argsort(-X, -1)[..., :2].astype("int32"))),
    ("topk values", lambda x, y: op.topk(x, 1, 1, "values", False), X.min(1, keepdims=True)),
    ("ccl_allreduce", lambda x, y: op.ccl_allreduce(x, "max"), X),
    ("ccl_allgather", lambda x, y: op.ccl_allgather(x, 1), X),
    ("ccl_broadcast", lambda x, y: op.ccl_broadcast_from_worker0(x), X),
]  # fmt: skip


@pytest.mark.parametrize(("function", "wanted"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_it_computes_what_numpy_does(function: Callable[..., Any], wanted: Any):
    assert_near(computed(function, X, Y), wanted)


def test_elements_are_taken_at_indices():
    table = Y[:, 0]
    assert_near(computed(op.take, table, E), table[E])
    assert_near(computed(lambda x, i: op.take(x, i, 0), Y, E), Y[E])


def test_a_variable_is_called_as_the_function_says():
    def named(x: nn.Tensor) -> Any:
        return op.exp(op.exp(op.permute_dims(x, name="turned")), "grown")

    mod = Computing(named).export_tvm(
        {"forward": {"operands": [nn.spec.Tensor((2, 3), "float32")]}}
    )
    names = [binding.var.name_hint for binding in mod[0]["forward"].body.blocks[0].bindings]
    assert names[1:] == ["turned", "exp", "grown"]


# ---------------------------------------------------------------- mistakes


def test_operands_that_do_not_fit_are_refused_as_the_operators_refuse_them():
    found = refused(lambda x, y: op.add(x, op.reshape(y, (2, 6))), X, Y)
    assert found.code == "RX0203"
    found = refused(lambda x, y: op.relu("x"), X, Y)  # type: ignore[arg-type]
    assert (found.code, found.labels[0].text) == ("RX0201", "is a Python `str`, not a tensor")
    found = refused(lambda x, y: op.concat([x, "y"], 0), X, Y)  # type: ignore[list-item]
    assert found.code == "RX0201"
    found = refused(lambda x, y: op.softmax(x, 3), X, Y)
    assert found.code == "RX0204"


@pytest.mark.parametrize(
    ("function", "code", "message"),
    [
        (lambda x: op.layer_norm(3, 4), "RX0201", "the operand of `layer_norm` is int"),
        (lambda x: op.layer_norm(x, None), "RX0711", "the shape of `layer_norm` is None"),
        (lambda x: op.group_norm(3, 1, x, x), "RX0201", "the operand of `group_norm` is int"),
        (lambda x: op.scaled_dot_product_attention(3, x, x), "RX0201", "`query` of `scaled_dot_p"),
        (lambda x: op.scaled_dot_product_attention(x, x, x, "m"), "RX0201", "`R.nn.attention` ca"),
        (lambda x: op.get_timestep_embedding(3, 4), "RX0201", "the operand of `get_timestep_emb"),
        (lambda x: op.concat(x, 0), "RX0201", "`R.concat` cannot take these operands"),
        (lambda x: op.concat(None, 0), "RX0201", "`R.concat` cannot take these operands"),
        (lambda x: op.tensor_expr_op(3, "f", [x]), "RX0711", "`f` is called as a function of te"),
        (lambda x: op.interpolate(x[0], scale_factor=2), "RX0711", "`interpolate` takes images wi"),
    ],
)
def test_what_is_no_operand_is_refused(function: Callable[..., Any], code: str, message: str):
    found = refused(function, RNG.standard_normal((1, 2, 3, 4)).astype("float32"))
    assert found.code == code
    assert found.message.startswith(message)


def test_a_mistake_is_at_the_innermost_line_of_the_user():
    def inner(x: nn.Tensor) -> Any:
        return op.matmul(x, x)

    found = refused(lambda x: inner(x), X)
    assert found.span is not None
    assert found.span.line == inner.__code__.co_firstlineno + 1


def test_an_approximation_that_there_is_not_is_refused():
    found = refused(lambda x: op.gelu(x, "tan"), X)
    assert found.message == "`gelu` has no approximation 'tan'"
    assert found.help == "did you mean `tanh`?"


def test_a_comparison_by_python_is_no_condition():
    class Choosing(nn.Module):
        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return nn.op.where(x == 1, x, -x)

    spec = {"forward": {"x": nn.spec.Tensor((2,), "float32")}}
    said = r"(?s)the condition of `where` is a tensor, not False.*`nn\.op\.equal\(a, b\)`"
    with pytest.raises(DiagnosticError, match=said):
        Choosing().export_tvm(spec)
