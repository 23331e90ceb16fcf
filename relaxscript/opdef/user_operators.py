"""Operators that users define beside ours: `R.my.swish` is the operator "my.swish".

    from relaxscript.opdef import Tensor, op

    @op("my.swish")
    def swish(x: Tensor, beta: float = 1.0) -> Tensor:
        '''x times the sigmoid of beta times x.'''
        return x / (1 + np.exp(-beta * x))

    @swish.infer_rule
    def _(context, x, beta):
        return x

Such an operator is like ours in every way: scripts call it and are printed with it, passes legalise
and differentiate it by its rules. Its name has a dot, so that none of Relax can ever mean another.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from relaxscript.arguments import ArgumentError
from relaxscript.errors import Diagnostic, DiagnosticError, OperandError, did_you_mean, nearest
from relaxscript.errors.user_frame import caller_span

from .documentation import MEANINGS
from .operator import REGISTRY, Operator
from .parameters import Parameter

__all__ = ["is_user_operator", "offer", "op", "remove_op"]

# The first names of the operators of users, and the namespaces that have them: `R` and its like.
_SPACES: dict[str, ModuleType] = {}
_OFFERING: list[ModuleType] = []
_USERS: dict[str, Operator] = {}


def op(
    name: str,
    *,
    traits: Iterable[str] = (),
    order: tuple[str, ...] = (),
    alike: tuple[str, ...] | None = None,
    example: str | None = None,
) -> Callable[[Callable[..., Any]], Operator]:
    """Define an operator of your own by its meaning, a function of numpy arrays.

    Scripts call it as `R.` and its name, which has a dot: "my.swish". The annotations of the
    parameters say what they take; see `relaxscript.opdef`. Who defines a name again, as a notebook
    does, replaces its operator. `traits`, `order` and `alike` are as for ours: what passes ask for,
    the order of operands in the call, and the operands that share a dtype. `example` is for the
    page of the operator: operands with their dimensions, then a call, "x: n 4; R.my.swish(x)".

    Raises `DiagnosticError` (RX0708) for a name, an annotation or a trait that cannot be.
    """
    _check_name(name)

    def define(meaning: Callable[..., Any]) -> Operator:
        try:
            operator = Operator(name, meaning, traits=traits, order=order, alike=alike)
        except (ArgumentError, OperandError) as error:
            raise _refusal(name, error.message or "", error.help) from None
        operator.example = example
        for parameter in operator.parameters:
            _check_annotation(name, parameter)
        REGISTRY[operator.name] = _USERS[operator.name] = operator
        _place(operator)
        return operator

    return define


def remove_op(name: str) -> None:
    """Forget the operator of a user, by the name with which it was defined.

    Raises `DiagnosticError` (RX0708) where no user has defined it.
    """
    if _USERS.pop(f"relax.{name}", None) is None:
        near = nearest(name, [full.removeprefix("relax.") for full in _USERS])
        message = f"no operator `{name}` was defined here"
        raise DiagnosticError(Diagnostic("RX0708", message, caller_span(), help=did_you_mean(near)))
    del REGISTRY[f"relax.{name}"]
    first, *inner = name.split(".")
    path = [_SPACES[first]]
    for part in inner[:-1]:
        path.append(getattr(path[-1], part))
    for space, part in zip(reversed(path), reversed(inner)):
        if part == inner[-1] or not _names(getattr(space, part)):
            delattr(space, part)
            _names(space).remove(part)
    if not _names(_SPACES[first]):
        del _SPACES[first]
        for module in _OFFERING:
            delattr(module, first)
            _names(module).remove(first)


def is_user_operator(name: str) -> bool:
    """True if a user has defined the operator of a full name such as "relax.my.swish"."""
    return name in _USERS


def offer(module: ModuleType) -> None:
    """Let a namespace have the operators of users, those of today and those to come."""
    _OFFERING.append(module)
    for first, space in _SPACES.items():
        setattr(module, first, space)
        _names(module).append(first)


def _place(operator: Operator) -> None:
    """Put an operator where its name says, below `R` and its like."""
    first, *inner, last = operator.script_name.split(".")
    if first not in _SPACES:
        space = _SPACES[first] = _namespace(first)
        for module in _OFFERING:
            setattr(module, first, space)
            _names(module).append(first)
    space = _SPACES[first]
    for part in inner:
        if part not in _names(space):
            setattr(space, part, _namespace(f"{space.__name__}.{part}"))
            _names(space).append(part)
        space = getattr(space, part)
    if last not in _names(space):
        _names(space).append(last)
    setattr(space, last, operator)


def _namespace(name: str) -> ModuleType:
    # The parser takes for a namespace what has the name of a module of ours.
    made = ModuleType(f"relaxscript.op.{name.removeprefix('relaxscript.op.')}")
    made.__doc__ = "Operators that were defined by `relaxscript.opdef.op`."
    made.__all__ = []  # type: ignore[attr-defined]
    return made


def _names(module: ModuleType) -> list[str]:
    names: list[str] = module.__all__
    return names


# ---------------------------------------------------------------- refusals


def _check_name(name: str) -> None:
    parts = name.split(".") if isinstance(name, str) else []
    if len(parts) < 2 or not all(p.isidentifier() and not keyword.iskeyword(p) for p in parts):
        help = f'give it a namespace of your own: "my.{parts[-1]}"' if len(parts) == 1 else None
        raise _refusal(name, "its name is two or more names with dots between them", help)
    taken = any(parts[0] in _names(module) for module in _OFFERING) and parts[0] not in _SPACES
    if taken:
        help = f'give it a namespace of your own: "my.{parts[-1]}"'
        raise _refusal(name, f"`R.{parts[0]}` is a name of Relax", help)
    for length in range(2, len(parts)):
        if f"relax.{'.'.join(parts[:length])}" in _USERS:
            raise _refusal(name, f"`R.{'.'.join(parts[:length])}` is an operator, no namespace")
    space = _SPACES.get(parts[0])
    for part in parts[1:]:
        space = getattr(space, part, None)
    if isinstance(space, ModuleType):
        raise _refusal(name, f"`R.{name}` is a namespace, which has operators")


def _check_annotation(name: str, parameter: Parameter) -> None:
    if parameter.kind == "rest":
        return
    for word in parameter.annotation.split(" | "):
        if word not in MEANINGS:
            near = nearest(word, MEANINGS)
            message = f"`{word}` is no annotation of a parameter, as `{parameter.name}` has it"
            help = did_you_mean(near, "write `Tensor` for a tensor, `int` or so for an attribute")
            raise _refusal(name, message, help)


def _refusal(name: object, why: str, help: str | None = None) -> DiagnosticError:
    message = f"the operator `{name}` cannot be defined: {why}"
    return DiagnosticError(Diagnostic("RX0708", message, caller_span(), help=help))
