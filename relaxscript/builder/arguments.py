"""Arguments of Python functions as expressions: `convert_to_expr`, `args_converter`.

    @args_converter.to_expr("x")
    def double(x):
        return relax.op.add(x, x)

Source: TVM `relax.utils` for names and what each converts.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.relax import Expr, ShapeExpr, as_expr

__all__ = ["args_converter", "convert_to_expr", "make_shape"]

F = TypeVar("F", bound=Callable[..., Any])
_EXPR = ("Expr",)
_EXPRS = ("List[Expr]", "list[Expr]", "Sequence[Expr]", "tuple[Expr, ...]")


def convert_to_expr(value: Any) -> Expr:
    """The expression that a Python value means.

    Expressions are themselves, scalars become PrimValues, texts StringImms, tuples and lists Tuples
    of what their fields mean, arrays Constants. Raises `TypeError` for anything else.
    """
    return as_expr(value)


def make_shape(shape: Sequence[Any]) -> ShapeExpr:
    """The shape of a list or tuple of dimensions.

    Raises `TypeError` for anything else. Source: TVM `relax.expr.make_shape`.
    """
    if not isinstance(shape, (list, tuple)):
        raise TypeError(f"`shape` is a list or tuple of dimensions, not {shape!r}")
    return ShapeExpr(tuple(shape))


class ArgsConverter:
    """Decorators of functions whose arguments are converted by `convert_to_expr`."""

    @staticmethod
    def convert(args_to_expr: Iterable[str], args_to_list_expr: Iterable[str]) -> Callable[[F], F]:
        """Convert the parameters of the first names, and each element of those of the second.

        None stays None. Raises `DiagnosticError` (RX0103) for a name that is no parameter, and for
        one that is in both.
        """
        one, many = tuple(args_to_expr), tuple(args_to_list_expr)

        def decorate(function: F) -> F:
            signature = inspect.signature(function)
            _require_parameters(one, many, signature)

            @functools.wraps(function)
            def converted(*args: Any, **kwargs: Any) -> Any:
                bound = signature.bind(*args, **kwargs)
                for name, value in bound.arguments.items():
                    if name in one or name in many:
                        kind = signature.parameters[name].kind
                        bound.arguments[name] = _convert(value, name in many, kind)
                return function(*bound.args, **bound.kwargs)

            return cast(F, converted)

        return decorate

    @staticmethod
    def to_expr(*arg_names: str) -> Callable[[F], F]:
        """Convert the parameters of these names."""
        return ArgsConverter.convert(arg_names, ())

    @staticmethod
    def to_list_expr(*arg_names: str) -> Callable[[F], F]:
        """Convert each element of the parameters of these names."""
        return ArgsConverter.convert((), arg_names)

    @staticmethod
    def auto(function: F) -> F:
        """Convert what is annotated: `Expr` and `Optional[Expr]`, or a list of expressions."""
        one, many = [], []
        for name, parameter in inspect.signature(function).parameters.items():
            written = _annotation_text(parameter.annotation)
            if written in _EXPR:
                one.append(name)
            elif written in _EXPRS:
                many.append(name)
        return ArgsConverter.convert(one, many)(function)


args_converter = ArgsConverter()


def _require_parameters(
    one: tuple[str, ...], many: tuple[str, ...], signature: inspect.Signature
) -> None:
    known = list(signature.parameters)
    for name in (*one, *many):
        if name not in known:
            near = nearest(name, known)
            help = did_you_mean(near, f"there are {', '.join(known)}")
            message = f"the function has no parameter `{name}`"
            raise DiagnosticError(Diagnostic("RX0103", message, caller_span(), help=help))
        if name in one and name in many:
            message = f"`{name}` cannot be both an expression and a list of expressions"
            raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))


def _convert(value: Any, many: bool, kind: Any) -> Any:
    """An argument converted; those of `*args` and `**kwargs` one by one."""
    if kind is inspect.Parameter.VAR_POSITIONAL:
        return tuple(_convert(each, many, None) for each in value)
    if kind is inspect.Parameter.VAR_KEYWORD:
        return {key: _convert(each, many, None) for key, each in value.items()}
    if value is None:
        return None
    return [convert_to_expr(each) for each in value] if many else convert_to_expr(value)


# Where `Expr` is written with the names of modules before it.
_QUALIFIED = re.compile(r"\b(?:\w+\.)+(?=\w)")


def _annotation_text(annotation: Any) -> str:
    """An annotation as it is written, without names of modules and what allows None."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = _QUALIFIED.sub("", text).replace(" | None", "").replace("None | ", "")
    if text.startswith("Optional[") and text.endswith("]"):
        text = text[len("Optional[") : -1]
    return text.strip()
