"""Requirements of functions of tensors on what they are given."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias, TypeVar

from relaxscript.arith import NO, format_expr, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.errors.user_frame import report_as
from relaxscript.ir.prim import PrimExpr
from relaxscript.te.tensor import Tensor
from relaxscript.tir_builder import describe

__all__ = ["IndexTensor", "require_dims", "require_dtype", "topi_function"]

F = TypeVar("F", bound=Callable[..., Any])
# A tensor whose elements are integers; as an annotation it is checked when the function is called.
IndexTensor: TypeAlias = Tensor


def require_dims(
    callee: str, name: str, tensor: Tensor, wanted: Sequence[PrimExpr], of: str
) -> None:
    """Refuse a tensor that has other dimensions than those that belong to the operand `of`."""
    if tensor.ndim != len(wanted):
        raise OperandError(
            name, f"has {quantity(tensor.ndim, 'axis')}", code="RX0203",
            message=f"`{callee}` takes a `{name}` of {quantity(len(wanted), 'axis')} here, "
            f"not of {tensor.ndim}",
        )  # fmt: skip
    for axis, (own, size) in enumerate(zip(tensor.shape, wanted)):
        if prove_equal(own, size) is NO:
            raise OperandError(
                name, f"has {format_expr(own)} elements along axis {axis}",
                also={of: f"has {format_expr(size)} there"}, code="RX0203",
                message=f"`{callee}` takes {format_expr(size)} elements along axis {axis} "
                f"of `{name}`, not {format_expr(own)}",
            )  # fmt: skip


def require_dtype(callee: str, name: str, dtype: DataType, accepts: str) -> None:
    """Refuse a dtype that is not of a kind: "float", "integer" or "number"."""
    is_number = not dtype.is_bool
    is_accepted = {
        "float": dtype.is_float, "integer": is_number and not dtype.is_float, "number": is_number,
    }  # fmt: skip
    if not is_accepted[accepts]:
        kind = {"float": "floats", "integer": "integers", "number": "numbers"}[accepts]
        raise OperandError(
            name, f"is {dtype}", code="RX0502",
            message=f"`{callee}` takes {kind} as `{name}`, not {dtype}",
        )  # fmt: skip


class ArgumentKind(NamedTuple):
    """The values that an annotation of a parameter admits: the words for them, and the test.

    `element` is the kind of the elements of a list.
    """

    words: str
    admits: Callable[[Any], bool]
    element: Any = None


def _of(*classes: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, classes)


def _list_of(words: str, element: ArgumentKind) -> ArgumentKind:
    def admits(value: Any) -> bool:
        return isinstance(value, (list, tuple)) and all(map(element.admits, value))

    return ArgumentKind(f"a list of {words}", admits, element)


TENSOR = ArgumentKind("a tensor", _of(Tensor))
INDICES = ArgumentKind(
    "a tensor of integers", lambda e: isinstance(e, Tensor) and e.dtype.is_integer
)
INTEGER = ArgumentKind("an integer", _of(Integral))
KINDS: Mapping[str, ArgumentKind] = {
    "Tensor": TENSOR,
    "IndexTensor": INDICES,
    "Sequence[Tensor]": _list_of("tensors", TENSOR),
    "Sequence[IndexTensor]": _list_of("tensors of integers", INDICES),
    "Sequence[int]": _list_of("integers", INTEGER),
    "Sequence[Any]": ArgumentKind("a list", _of(list, tuple)),
    "PrimExpr": ArgumentKind("a scalar", _of(PrimExpr)),
    "str": ArgumentKind("a string", _of(str)),
    "int": INTEGER,
    "bool": ArgumentKind("True or False", _of(Integral)),
    "float": ArgumentKind("a number", _of(Real)),
    "Mapping[str, Any]": ArgumentKind("a dictionary", _of(Mapping)),
    "None": ArgumentKind("None", _of(type(None))),
}


def topi_function(function: F) -> F:
    """Call a function `topi.f` in messages, and refuse arguments that are not what it declares.

    A parameter that is declared as `Any` takes what the function itself makes of it.
    """
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    inside = function.__module__.split(".")[3:-1]
    namespace = ".".join(["topi", *inside])
    checked: dict[str, tuple[ArgumentKind, ...]] = {}
    for name, annotation in function.__annotations__.items():
        parts = annotation.split(" | ")
        if name != "return" and all(part in KINDS for part in parts):
            checked[name] = tuple(KINDS[part] for part in parts)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for name, value in _given(names, args, kwargs):
            kinds = checked.get(name)
            if kinds is not None and not any(kind.admits(value) for kind in kinds):
                # A function of a table gets its name after it is decorated.
                raise _another_kind(f"{namespace}.{public.__name__}", name, value, kinds)
        return function(*args, **kwargs)

    public = report_as(namespace)(called)
    return public  # type: ignore[return-value]


def _given(
    names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The arguments with the names of their parameters; too many are for the call to refuse."""
    yield from zip(names, args)
    yield from kwargs.items()


def _another_kind(
    callee: str, name: str, value: Any, kinds: Sequence[ArgumentKind]
) -> OperandError:
    for element in (kind.element for kind in kinds if kind.element is not None):
        if isinstance(value, (list, tuple)):
            place = next(k for k, part in enumerate(value) if not element.admits(part))
            return _another_kind(callee, f"{name}[{place}]", value[place], [element])
    wanted = " or ".join(kind.words for kind in kinds)
    given, help = describe(value), None
    if isinstance(value, Tensor):
        given = f"the tensor `{value.name}` of {value.dtype}"
        help = f"write `[{value.name}]`" if any(kind.admits([value]) for kind in kinds) else None
    return OperandError(
        name, f"is {given}", code="RX0103", nature="type", help=help,
        message=f"`{callee}` takes {wanted} as `{name}`, not {given}",
    )  # fmt: skip
