"""What every function of topi says of arguments that are not what it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

# A value for each annotation that says what a parameter takes, and values that none of them takes.
FITTING: dict[str, Any] = {
    "Tensor": te.placeholder((2, 3), name="x"),
    "IndexTensor": te.placeholder((2, 3), "int64", name="x"),
    "Sequence[IndexTensor]": [te.placeholder((2, 3), "int64", name="x")],
    "PrimExpr": te.var("n"),
    "Sequence[Tensor]": [te.placeholder((2, 3), name="x")],
    "str": "x",
    "int": 1,
    "bool": True,
    "float": 1.0,
    "Sequence[int]": [0, 1],
    "Sequence[Any]": [0, 1],
    "Mapping[str, Any]": {},
    "None": None,
}
STRANGE = (object(), {1, 2}, 1j)


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for namespace, module in (("topi", topi), ("topi.nn", topi.nn), ("topi.image", topi.image)):
        for name in dir(module):
            function = getattr(module, name)
            if inspect.isfunction(function) and not name.startswith("_"):
                yield f"{namespace}.{name}", function


FUNCTIONS = dict(functions())


def arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """An argument for each parameter without a default, of the kind that it declares."""
    return {
        p.name: FITTING.get(p.annotation.split(" | ")[0], FITTING["Tensor"])
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    }


def is_checked(annotation: str) -> bool:
    return all(part in FITTING for part in annotation.split(" | "))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_of_another_kind_is_refused_by_the_name_of_its_parameter(name: str) -> None:
    function = FUNCTIONS[name]
    for p in inspect.signature(function).parameters.values():
        if p.kind is not p.POSITIONAL_OR_KEYWORD or not is_checked(p.annotation):
            continue
        for strange in STRANGE:
            with pytest.raises(DiagnosticError, match=f"as `{p.name}`, not ") as caught:
                function(**{**arguments(function), p.name: strange})
            (found,) = caught.value.diagnostics
            assert found.span is not None
            assert found.span.filename == __file__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_attribute_that_is_none_is_a_mistake_with_a_place_and_not_an_accident(name: str) -> None:
    function = FUNCTIONS[name]
    for p in inspect.signature(function).parameters.values():
        if p.kind is not p.POSITIONAL_OR_KEYWORD or is_checked(p.annotation):
            continue
        for strange in STRANGE:
            try:
                function(**{**arguments(function), p.name: strange})
            except DiagnosticError:
                pass
            else:
                pytest.fail(f"`{name}` takes {strange!r} as `{p.name}`")


def test_one_tensor_where_several_are_joined_is_refused_with_what_to_write() -> None:
    with pytest.raises(DiagnosticError) as caught:
        topi.concatenate(FITTING["Tensor"])
    (found,) = caught.value.diagnostics
    assert found.message == (
        "`topi.concatenate` takes a list of tensors as `a_tuple`, not the tensor `x` of float32"
    )
    assert found.help == "write `[x]`"


def test_indices_that_are_no_integers_are_refused_by_their_dtype() -> None:
    x = FITTING["Tensor"]
    with pytest.raises(DiagnosticError, match="a tensor of integers or a scalar or an integer as"):
        topi.take(x, x)
    with pytest.raises(DiagnosticError) as caught:
        topi.index_tensor(x, [FITTING["IndexTensor"], x])
    (found,) = caught.value.diagnostics
    assert found.message == (
        "`topi.index_tensor` takes a tensor of integers as `indices[1]`, "
        "not the tensor `x` of float32"
    )
