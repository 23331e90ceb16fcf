"""Relax functions as values of the interpreter, and what a call of one asks of its evaluator."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from relaxscript.errors import Span
from relaxscript.ir import relax
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
)
from relaxscript.runtime import Closure

if TYPE_CHECKING:
    from .environment import RunEnvironment
    from .relax import Interpreter

__all__ = ["CallRequest", "Evaluation", "RelaxClosure", "declared_type"]

_OBJECT = ObjectStructInfo()


class CallRequest(NamedTuple):
    """A call of a closure that the interpreter is asked to make."""

    closure: RelaxClosure
    args: Sequence[Any]
    span: Span | None


# An evaluation: yields calls of Relax functions, is sent their results, returns its own.
Evaluation = Generator[CallRequest, Any, Any]


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
        outer: RunEnvironment | None = None,
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
        return self._with_args(args, self.info if info is None else info)

    def without_bound_args(self) -> RelaxClosure:
        """The closure without bound arguments: what it is to itself."""
        return self._with_args((), declared_type(self.function)) if self.bound_args else self

    def _with_args(self, args: tuple[Any, ...], info: object) -> RelaxClosure:
        interpreter, name, function = self.interpreter, self.name, self.function
        return RelaxClosure(interpreter, name, function, self.outer, args, info, self.itself)

    @property
    def param_names(self) -> list[str]:
        return [param.name_hint for param in self.function.params]


def declared_type(function: relax.Function) -> FuncStructInfo:
    """The type of a function as it declares it."""
    params = tuple(_OBJECT if p.struct_info is None else p.struct_info for p in function.params)
    return FuncStructInfo.make(params, function.ret_struct_info or _OBJECT, function.is_pure)
