"""Relax functions as values of the interpreter, and what a call of one asks of its evaluator."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from relaxscript.errors import Span
from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.runtime import Closure, Shape
from relaxscript.runtime.builtins import BUILTINS
from relaxscript.runtime.values import prim_dtype, prim_value, tensor_dtype
from relaxscript.sinfo import partially_applied

if TYPE_CHECKING:
    from .frame import Frame
    from .relax import Interpreter

__all__ = ["RelaxClosure", "Request", "Steps", "declared", "make_closure"]

_OBJECT = ObjectStructInfo()


class Request(NamedTuple):
    """A call of a closure that the interpreter is asked to make."""

    closure: RelaxClosure
    args: Sequence[Any]
    span: Span | None


# An evaluation: yields calls of Relax functions, is sent their results, returns its own.
Steps = Generator[Request, Any, Any]


class RelaxClosure(Closure):
    """A Relax function with the variables it captures (9); `bound_args` are its last arguments.

    `itself` is the variable that it is bound to, inside of it.
    """

    __slots__ = ("bound_args", "function", "interpreter", "itself", "outer")

    def __init__(
        self,
        interpreter: Interpreter,
        name: str,
        function: relax.Function,
        outer: Frame | None = None,
        bound_args: tuple[Any, ...] = (),
        info: object = None,
        itself: relax.Var | None = None,
    ) -> None:
        self.name = name
        self.info = info
        self.itself = itself
        self.interpreter = interpreter
        self.function = function
        self.outer = outer
        self.bound_args = bound_args

    @property
    def call(self) -> Callable[..., Any]:  # type: ignore[override]
        """Kept nowhere: a closure that holds itself would hold its tensors as well."""
        return self.__call__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.interpreter.call_from_outside(self, args, kwargs)

    def bind(self, captured: tuple[Any, ...], info: object = None) -> Closure:
        args = (*captured, *self.bound_args)
        return self._with(args, self.info if info is None else info)

    def unbound(self) -> RelaxClosure:
        """The closure without bound arguments: what it is to itself."""
        return self._with((), declared(self.function)) if self.bound_args else self

    def _with(self, args: tuple[Any, ...], info: object) -> RelaxClosure:
        interpreter, name, function = self.interpreter, self.name, self.function
        return RelaxClosure(interpreter, name, function, self.outer, args, info, self.itself)

    @property
    def param_names(self) -> list[str]:
        return [param.name_hint for param in self.function.params]


def declared(function: relax.Function) -> FuncStructInfo:
    """The type of a function as it declares it."""
    params = tuple(_OBJECT if p.struct_info is None else p.struct_info for p in function.params)
    return FuncStructInfo.make(params, function.ret_struct_info or _OBJECT, function.is_pure)


def make_closure(function: Any, *captured: Any) -> Closure:
    """`R.make_closure`: `function` with its last arguments given, and the type that it has then.

    Raises `VMError` for what is no closure.
    """
    closure: Closure = BUILTINS["vm.builtin.make_closure"](function, *captured)
    info = closure.info
    if not isinstance(info, FuncStructInfo) or len(info.params or ()) < len(captured):
        return closure
    return closure.bind((), partially_applied(info, [_info_of(value) for value in captured]))


def _info_of(value: Any) -> StructInfo:
    """What a value says of shape variables: its dimensions, its number, those of its fields."""
    match value:
        case Shape():
            return ShapeStructInfo.make(_dims(value), len(value))
        case tuple():
            return TupleStructInfo.make(tuple(map(_info_of, value)))
    if (dtype := tensor_dtype(value)) is not None:
        dims = relax.ShapeExpr.make(_dims(value.shape))
        return TensorStructInfo.make(dims, dtype, None, len(dims))
    if (scalar := prim_dtype(value)) is not None:
        literal = prim.FloatImm if scalar.is_float else prim.IntImm
        return PrimStructInfo.make(scalar, literal.make(scalar, prim_value(value)))
    return _OBJECT


def _dims(shape: Sequence[int]) -> tuple[prim.PrimExpr, ...]:
    return tuple(prim.IntImm.make(prim.INT64, int(dim)) for dim in shape)
