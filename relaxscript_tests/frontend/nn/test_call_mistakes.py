"""Wrong arguments of functions and constructors are told at the line that gives them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import op
from relaxscript_tests.frontend.nn.computing import Computing, tensor_spec

X = np.ones((2, 3, 4), "float32")
STRANGE: list[Any] = [
    None, "text", -1, 3.5, True, b"", object(), [], [None], {}, (1, "a"), range(2), np.int8, X, len,
]  # fmt: skip
MADE = [
    *(getattr(nn, name) for name in nn.modules.__all__),
    nn.ModuleDict, nn.ModuleList, nn.ObjectModule, nn.Parameter, nn.SourceModule,
    nn.spec.Int, nn.spec.Object, nn.spec.Tensor, nn.spec.Tuple,
]  # fmt: skip


def in_an_export(check: Callable[[Any], Any]) -> None:
    """Call a function with a tensor while a model is exported."""

    def forward(x: nn.Tensor) -> nn.Tensor:
        check(x)
        return x

    Computing(forward).export_tvm({"forward": {"operands": [tensor_spec(X)]}})


def refusal(call: Callable[..., Any], *args: Any, **kwargs: Any) -> DiagnosticError:
    """The mistake in the arguments of a call, which is at the line of this file that makes it."""
    with pytest.raises(DiagnosticError) as raised:
        call(*args, **kwargs)
    span = raised.value.diagnostics[0].span
    assert span is not None
    assert span.filename == __file__
    return raised.value


def strange_calls(
    call: Callable[..., Any], good: Any
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Calls with strange values: for all that is required at once, and for each alone."""
    parameters = inspect.signature(call).parameters.values()
    required = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    for value in STRANGE:
        yield [value] * len(required), {}
        for parameter in parameters:
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                yield [], dict.fromkeys(required, good) | {parameter.name: value}


def taken_or_told(call: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> None:
    """A call gives something, or it says what is wrong at a line of this file."""
    try:
        call(*args, **kwargs)
    except DiagnosticError as error:
        span = error.diagnostics[0].span
        assert span is not None
        assert span.filename == __file__


@pytest.mark.parametrize("name", op.__all__)
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_function_takes_strange_values_or_says_what_is_wrong(name: str):
    function = getattr(op, name)

    def check(x: nn.Tensor) -> None:
        for args, kwargs in strange_calls(function, x):
            taken_or_told(function, args, kwargs)

    in_an_export(check)


@pytest.mark.parametrize("cls", MADE, ids=lambda cls: cls.__qualname__)
def test_a_constructor_takes_strange_values_or_says_what_is_wrong(cls: Any):
    for args, kwargs in strange_calls(cls, 4):
        taken_or_told(cls, args, kwargs)


@pytest.mark.parametrize("name", op.__all__)
def test_a_call_that_does_not_fit_a_function_is_told(name: str):
    function = getattr(op, name)
    parameters = inspect.signature(function).parameters
    required = [
        p for p in parameters.values() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL
    ]
    found = refusal(function, *[None] * len(required), wrnog=1)
    assert found.diagnostics[0].code == "RX0103"
    assert found.diagnostics[0].message == f"`nn.op.{name}` has no parameter `wrnog`"
    if required:
        message = refusal(function).diagnostics[0].message
        assert message.startswith(f"`nn.op.{name}` needs `{required[0].name}`")
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        message = refusal(function, *[None] * 20).diagnostics[0].message
        assert message.startswith(f"`nn.op.{name}` takes ")


@pytest.mark.parametrize("cls", MADE, ids=lambda cls: cls.__qualname__)
def test_a_call_that_does_not_fit_a_constructor_is_told(cls: Any):
    room = "nn.spec" if cls.__module__.endswith(".spec") else "nn"
    found = refusal(cls, wrnog=1).diagnostics[0]
    assert (found.code, found.message) == (
        "RX0103", f"`{room}.{cls.__name__}` has no parameter `wrnog`"
    )  # fmt: skip
    message = refusal(cls, *[None] * 20).diagnostics[0].message
    assert message.startswith(f"`{room}.{cls.__name__}` takes ")


@pytest.mark.parametrize(
    "name", ["astype", "maximum", "minimum", "permute_dims", "repeat", "reshape"]
)
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_a_method_of_a_tensor_says_what_is_wrong_with_its_arguments(name: str):
    def check(x: nn.Tensor) -> None:
        method = getattr(x, name)
        for args, kwargs in strange_calls(method, 1):
            taken_or_told(method, args, kwargs)
        found = refusal(method, 1, wrnog=1).diagnostics[0]
        assert found.message == f"`nn.Tensor.{name}` has no parameter `wrnog`"

    in_an_export(check)


@pytest.mark.parametrize("name", ["export_tvm", "jit", "load_state_dict", "state_dict", "to"])
def test_a_method_of_a_model_says_what_is_wrong_with_its_arguments(name: str):
    method = getattr(nn.Linear(2, 3) if name != "to" else nn.ReLU(), name)
    found = refusal(method, wrnog=1).diagnostics[0]
    assert found.message == f"`model.{name}` has no parameter `wrnog`"
    for args, kwargs in strange_calls(method, {}):
        taken_or_told(method, args, kwargs)


@pytest.mark.parametrize("name", [n for n in nn.init.__all__ if n.islower()])
def test_a_function_of_initial_values_says_what_is_wrong_with_its_arguments(name: str):
    function = getattr(nn.init, name)
    found = refusal(function, wrnog=1).diagnostics[0]
    assert found.message == f"`nn.init.{name}` has no parameter `wrnog`"
    for args, kwargs in strange_calls(function, {}):
        taken_or_told(function, args, kwargs)


def test_the_nearest_keyword_is_offered():
    assert refusal(nn.Linear, 3, 4, bais=False).diagnostics[0].help == "did you mean `bias`?"

    def check(x: nn.Tensor) -> None:
        found = refusal(op.sum, x, axes=1)
        assert found.diagnostics[0].help == "did you mean `axis`?"

    in_an_export(check)


def test_an_argument_of_a_wrong_type_is_named_with_what_is_asked_for():
    found = refusal(nn.Conv2D, 3, "a", 3).diagnostics[0]
    assert found.code == "RX0201"
    assert found.message == "`out_channels` of `nn.Conv2D` is str ('a'), not a whole number"
    found = refusal(nn.Conv2D, 3, 4, 2.5).diagnostics[0]
    assert found.message.startswith("`kernel_size` of `nn.Conv2D` is float (2.5), not a whole nu")
    assert found.message.endswith("whole number or a row, each a whole number")


def test_what_a_function_of_the_user_raises_is_not_about_arguments():
    def broken(*tensors: Any) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$"):
        in_an_export(lambda x: op.tensor_expr_op(broken, "f", [x]))
