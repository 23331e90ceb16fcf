"""Wrong arguments of functions and constructors of `nn`, told at the line that gives them.

    @tells_arguments("nn.op.exp")
    def exp(x: Tensor, name: str = "exp") -> Tensor: ...

    nn.op.exp(x, nmae="y")     # error[RX0103]: `nn.op.exp` has no parameter `nmae`

Arguments are compared with the signature when the call has failed: one that is right costs nothing.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from relaxscript.arguments import python_signature
from relaxscript.errors import Diagnostic, DiagnosticError, UnplacedError
from relaxscript.errors.user_frame import caller_span, innermost_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import PrimExpr

from .tensor import Object, Tensor
from .trace import at_users_line

__all__ = ["tell_constructors", "tell_methods", "tells_arguments"]

F = TypeVar("F", bound=Callable[..., Any])

# What says that a value is not of the kind that code of ours takes it for.
_OF_STRANGE_VALUES = (
    TypeError, ValueError, AttributeError, LookupError, ArithmeticError, AssertionError,
)  # fmt: skip


def tells_arguments(callee: str, *, skip: int = 0) -> Callable[[F], F]:
    """Report the arguments that a function does not take as those of `callee`.

    The first `skip` parameters are not shown: `self` of a constructor. Raises `DiagnosticError`:
    RX0103 for too many, missing and unknown ones, RX0201 for one of a wrong type.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def told(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except DiagnosticError as error:
                if error.diagnostics[0].span is not None:
                    raise
                raise DiagnosticError(at_users_line(error, callee)) from None
            except (UnplacedError, *_OF_STRANGE_VALUES) as error:
                found = _mistake(function, callee, error, args, kwargs, skip)
                if found is None:
                    raise
                raise found from None

        return told  # type: ignore[return-value]

    return decorate


def tell_constructors(classes: Iterable[type], room: str) -> None:
    """Have classes report wrong arguments; `room` is where users find them."""
    for cls in classes:
        own = vars(cls).get("__init__", _take_nothing)
        callee = f"{room}.{cls.__name__}"
        cls.__init__ = tells_arguments(callee, skip=1)(own)  # type: ignore[misc]


def tell_methods(cls: type, names: Iterable[str], shown: str) -> None:
    """Have methods of a class report wrong arguments; `shown` is how messages call an instance."""
    for name in names:
        setattr(cls, name, tells_arguments(f"{shown}.{name}", skip=1)(vars(cls)[name]))


def _take_nothing(self: Any) -> None:
    """Nothing to be made."""


def _mistake(
    function: Callable[..., Any], callee: str, error: Exception, args: Any, kwargs: Any, skip: int
) -> DiagnosticError | None:
    """The mistake in the arguments of a call that failed; None where it is not in them."""
    step = error.__traceback__
    if step is not None and step.tb_next is None:  # the function has not begun
        signature = inspect.signature(function)
        shown = list(signature.parameters.values())[skip:]
        wanted = python_signature(callee, signature.replace(parameters=shown))
        misfit = next(wanted.misfits(args[skip:], kwargs), None)
        return None if misfit is None else misfit.as_diagnostic_error(callee, caller_span())
    if isinstance(error, UnplacedError):
        return DiagnosticError(at_users_line(error, callee))
    if innermost_span(error) is not None:
        return None  # a function of the user's failed
    hints = get_type_hints(function)
    for name, value in inspect.signature(function).bind(*args, **kwargs).arguments.items():
        hint = hints.get(name, Any)
        if not _fits(value, hint):
            message = f"`{name}` of `{callee}` is {brief(value)}, not {_words(hint)}"
            return DiagnosticError(Diagnostic("RX0201", message, caller_span()))
    return None


def _fits(value: Any, hint: Any) -> bool:
    """True if a value is of the type that an annotation says."""
    if _is_union(hint):
        return any(_fits(value, part) for part in get_args(hint))
    kind = get_origin(hint) or hint
    if kind is Any:
        return True
    if kind is int:
        is_whole = isinstance(value, (int, np.integer, PrimExpr))
        return is_whole and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, (Real, np.number)) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if _is_row(hint):
        is_row = isinstance(value, Iterable) and not isinstance(value, (str, Tensor))
        return is_row and all(_fits(item, get_args(hint)[0]) for item in value)
    return isinstance(value, kind) if isinstance(kind, type) else True


def _words(hint: Any) -> str:
    """The type that an annotation asks for, in words."""
    if _is_union(hint):
        return " or ".join(_words(part) for part in get_args(hint))
    if _is_row(hint):
        return f"a row, each {_words(get_args(hint)[0])}"
    kind = get_origin(hint) or hint
    return _NOUNS.get(kind) or f"`{getattr(kind, '__name__', kind)}`"


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (types.UnionType, Union)


def _is_row(hint: Any) -> bool:
    kind = get_origin(hint)
    is_row = isinstance(kind, type) and issubclass(kind, Iterable)
    return is_row and not issubclass(kind, Mapping)


_NOUNS: Mapping[Any, str] = {
    int: "a whole number", float: "a number", bool: "True or False", str: "a string",
    Tensor: "a tensor", Object: "an `nn.Object`", Callable: "a function", Mapping: "a mapping",
    types.NoneType: "None",
}  # fmt: skip
