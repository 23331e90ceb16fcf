"""Functions of scalars tell who calls them from Python by diagnostics, and by nothing bare."""

from __future__ import annotations

from typing import Any

import pytest

import relaxscript as rx
from relaxscript import tir
from relaxscript.errors import DiagnosticError, InternalError, UnplacedError
from relaxscript.script import tir as T

X = tir.Var("x", "float32")
ODD: list[Any] = [
    None, "odd", -1, 1.5, 10**30, tir.Var("i", "int32"), tir.Var("h", "handle"), object(), [1], (),
    {}, True, float("nan"), b"x", int,
]  # fmt: skip


def is_error(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)


FUNCTIONS = {
    f"{spoken}.{name}": getattr(space, name)
    for spoken, space in (("tir", tir), ("T", T))
    for name in space.__all__
    if callable(getattr(space, name)) and not is_error(getattr(space, name))
}


def refusal(function: Any, args: list[Any]) -> BaseException | None:
    try:
        function(*args)
    except Exception as error:
        return error
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_bare_gets_out_of_a_function_of_scalars(name: str) -> None:
    for count in range(4):
        for odd in ODD:
            for place in range(max(count, 1)):
                args = [X] * count
                args[place : place + 1] = [odd] if count else []
                error = refusal(FUNCTIONS[name], args)
                assert not isinstance(error, (UnplacedError, InternalError)), args


def test_who_calls_is_blamed() -> None:
    with pytest.raises(DiagnosticError, match=r"each operand of `T\.exp` is a float") as e:
        tir.exp(tir.Var("i", "int32"))
    assert e.value.diagnostics[0].span.filename == __file__
    with pytest.raises(DiagnosticError, match=r"`tir.all` joins one condition or more"):
        tir.all()


def test_a_script_still_blames_the_operand() -> None:
    with pytest.raises(DiagnosticError) as caught:
        rx.from_source("@T.prim_func\ndef f(A: T.Buffer((4,), 'int32')):\n    A[0] = T.exp(A[1])\n")
    assert caught.value.diagnostics[0].span.text == "A[1]"
