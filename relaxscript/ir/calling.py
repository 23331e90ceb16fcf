"""Functions that are called: with arrays they run at once, with expressions they make a `Call`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import hooks
from .node import fields_of

if TYPE_CHECKING:
    from .module import IRModule
    from .relax import BaseFunc

__all__ = ["call", "home_of", "member", "set_home"]


def call(self: BaseFunc, *args: Any, attrs: Mapping[str, Any] | None = None, **named: Any) -> Any:
    """With numpy arrays what the function computes of them, with expressions a `Call`.

    A function that uses others of its module runs as an attribute of it: `Model.main(x)`.
    """
    from .relax import Call, as_attrs

    if attrs is None:
        given = (*args, *named.values())
        # Nobody means an expression by lists of numbers: they are told that they are no arrays.
        listed = any(isinstance(value, list) for value in given) and all(map(_is_plain, given))
        if listed or hooks.is_eager(given):
            return hooks.run_function(self, args, named)
    if named:
        raise TypeError("arguments of a call of an expression are not given by name")
    return Call(self, args, as_attrs(attrs))


def _is_plain(value: Any) -> bool:
    """True for numbers of Python, and lists of such."""
    return (
        all(map(_is_plain, value)) if isinstance(value, list) else isinstance(value, (int, float))
    )


def member(function: BaseFunc, module: IRModule, name: str) -> BaseFunc:
    """The function as a member of a module, in which it runs when it is called."""
    values = {field.name: getattr(function, field.name) for field in fields_of(type(function))}
    made = type(function).make(**values, span=function.span)
    set_home(made, module, name)
    return made


def set_home(function: BaseFunc, module: IRModule, name: str) -> None:
    """Say in which module a function runs."""
    object.__setattr__(function, "home", (module, name))


def home_of(function: BaseFunc) -> tuple[IRModule, str] | None:
    """The module of which a function was taken as an attribute, and its name there."""
    found: tuple[IRModule, str] | None = function.home  # type: ignore[attr-defined]
    return found
