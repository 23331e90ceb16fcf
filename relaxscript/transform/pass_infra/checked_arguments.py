"""Arguments from users, checked by the annotations of the parameters that take them.

    @checks_arguments()
    def step(name: str, level: int = 0): ...

    step(3)                # RX0103: `name` of `step` is a string, not int (3)
    step("a", levle=3)     # RX0103: `step` has no parameter `levle`; did you mean `level`?

The constructors of our passes are checked so without a word (`Pass.__init_subclass__`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from relaxscript.arguments import ArgumentError, Signature, python_signature
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.article import article
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import BaseFunc

__all__ = ["checks_arguments"]

__tracebackhide__ = is_user_error

F = TypeVar("F", bound=Callable[..., Any])

# One of a kind, and several of it.
_NOUNS: dict[object, tuple[str, str]] = {
    NoneType: ("None", "None"), bool: ("True or False", "booleans"),
    int: ("an integer", "integers"), float: ("a number", "numbers"),
    str: ("a string", "strings"), Any: ("anything", "values"),
    Callable: ("a function", "functions"),
}  # fmt: skip


def checks_arguments(*own: str) -> Callable[[F], F]:
    """Decorator: arguments that do not fit the annotations of a function are refused (RX0103).

    The error is a `TypeError` too. It names the function, the parameter, what it takes and what it
    got. Of the parameters `own` the function looks at callables and at what lists hold itself.
    """

    def decorate(function: F) -> F:
        is_constructor = function.__name__ == "__init__"
        given_always = int(is_constructor)
        needs_none = _needs(function) <= given_always

        @functools.cache
        def annotations() -> Mapping[str, Any]:
            return get_type_hints(function)

        @functools.cache
        def signature(callee: str) -> Signature:
            found = inspect.signature(function)
            taken = list(found.parameters.values())[is_constructor:]
            return python_signature(callee, found.replace(parameters=taken))

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if needs_none and not kwargs and len(args) == given_always:
                return function(*args)  # Most passes of a pipeline: no annotation need be read.
            callee = type(args[0]).__name__ if is_constructor else function.__name__
            takes, given = signature(callee), args[is_constructor:]
            misfit = _misfit(takes, given, kwargs, annotations(), own)
            if misfit is not None:
                message, help = misfit
                if is_constructor and any(map(_is_function, (*given, *kwargs.values()))):
                    help = _called_too_early(takes, given)
                raise DiagnosticError(Diagnostic("RX0103", message, caller_span(), help=help))
            return function(*args, **kwargs)

        return checked  # type: ignore[return-value]

    return decorate


def _needs(function: Callable[..., Any]) -> int:
    """The number of parameters without a default."""
    code, defaults = function.__code__, function.__defaults__ or ()
    by_name = code.co_kwonlyargcount - len(function.__kwdefaults__ or {})
    return code.co_argcount - len(defaults) + by_name


def _misfit(
    signature: Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    annotations: Mapping[str, Any],
    own: Collection[str],
) -> tuple[str, str | None] | None:
    """The first argument that does not fit its parameter, in words, and what helps."""
    try:
        bound = signature.bind(args, kwargs)
    except ArgumentError as error:
        return error.message, error.help
    for formal in signature.formals:
        name, wanted = formal.name, annotations.get(formal.name, Any)
        if formal.rest:
            # The annotation is that of each of them.
            wanted = Sequence[wanted] if formal.rest == "*" else Mapping[str, wanted]  # type: ignore[valid-type]
        value = bound[name]
        if value is not formal.default and not _fits(value, wanted, name not in own):
            message = f"`{name}` of `{signature.callee}` is {_noun(wanted)}, not {_shown(value)}"
            return message, f"write `{value.__name__}()`" if _is_class_of(value, wanted) else None
    return None


# ---------------------------------------------------------------- values


def _fits(value: Any, wanted: Any, deep: bool) -> bool:
    """True if an annotation admits a value; unless `deep`, whatever functions and lists hold."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return any(_fits(value, part, deep) for part in parts)
    if origin is Callable:
        return not deep or (callable(value) and not _is_program(value))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and (not deep or _holds(value, *parts))
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _is_listed(value) and (not deep or _all_fit(value, parts[0]))
    if wanted is bool:
        return isinstance(value, (bool, np.bool_))
    if wanted in (int, float):
        is_number = isinstance(value, (int, np.integer) if wanted is int else (int, float))
        return is_number and not isinstance(value, bool)
    return wanted is Any or not _is_class(wanted) or isinstance(value, wanted)


def _is_class(value: Any) -> bool:
    """True for a class; `list[int]` is said to be one by Python 3.10."""
    return isinstance(value, type) and get_origin(value) is None


def _is_listed(value: Any) -> bool:
    """True for what is several values: a text, a mapping and a program are one."""
    is_one = isinstance(value, (str, bytes, Mapping, np.ndarray)) or _is_program(value)
    return isinstance(value, Iterable) and not is_one


def _all_fit(values: Iterable[Any], wanted: Any) -> bool:
    """True if all elements fit; what can be gone through once only is left for its reader."""
    return not isinstance(values, Collection) or all(_fits(v, wanted, True) for v in values)


def _holds(mapping: Mapping[Any, Any], key: Any, value: Any) -> bool:
    return all(_fits(k, key, True) and _fits(v, value, True) for k, v in mapping.items())


# ---------------------------------------------------------------- words


def _noun(wanted: Any, many: bool = False) -> str:
    """The values that an annotation admits, in words."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if wanted in _NOUNS or origin is Callable:
        return _NOUNS[origin or wanted][many]
    if origin in (Union, UnionType):
        given = [_noun(part, many) for part in parts if part is not NoneType]
        return " or ".join(given)  # None stands for what is not given
    if isinstance(origin, type) and issubclass(origin, Mapping):
        named = [_noun(part, True) for part in parts if part is not Any]
        pairs = f" from {' to '.join(named)}" if named else ""
        return f"mappings{pairs}" if many else f"a mapping{pairs}"
    if isinstance(origin, type) and issubclass(origin, Iterable):
        noun = "tuple" if origin is tuple else "list"
        items = "" if origin is tuple else f" of {_noun(parts[0], True)}"
        return f"{noun}s{items}" if many else f"a {noun}{items}"
    name = getattr(wanted, "__name__", str(wanted))
    return f"{name}{'es' if name.endswith('s') else 's'}" if many else f"{article(name)} {name}"


def _shown(value: Any) -> str:
    """A value in a message; a program by its kind only, since its script is long."""
    if isinstance(value, type):
        return f"the class `{value.__name__}`"
    if not _is_program(value):
        return brief(value)
    kind = type(value).__name__
    return f"{article(kind)} {kind}"


def _is_program(value: Any) -> bool:
    return isinstance(value, (IRModule, Node))


def _is_function(value: Any) -> bool:
    """True for what passes are called with, and for a function alone."""
    return isinstance(value, (IRModule, BaseFunc))


def _is_class_of(value: Any, wanted: Any) -> bool:
    """True for a class in the place of an instance of it."""
    return _is_class(value) and _is_class(wanted) and issubclass(value, wanted)


def _called_too_early(signature: Signature, args: Sequence[Any]) -> str:
    """The help for who gives a program to the constructor of a pass."""
    names = [arg.__name__ for arg in args if isinstance(arg, IRModule)]
    name = names[0] if names and names[0] != IRModule().__name__ else "mod"
    needed = ", ".join(formal.name for formal in signature.formals if formal.is_required)
    return f"make the pass, then call it with the module: `{signature.callee}({needed})({name})`"
