"""The functions that code generation links into a program, described as data.

A description makes its function, of the kernels of the program where it needs one. So what is
linked can be written down, and made again of what was written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relaxscript.ir.relax import Call
from relaxscript.ir.struct_info import FuncStructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.op.results import returned_in_place
from relaxscript.runtime import Closure, get_global_func
from relaxscript.runtime.coercion import call_packed
from relaxscript.semantics.make_closure import closure_maker, make_closure
from relaxscript.semantics.operators import operator_function
from relaxscript.semantics.prim_funcs import call_tir_adapter, kernel_argument, prim_func_closure

__all__ = [
    "ArrangedKernel", "CalledKernel", "ClosureMaker", "EntryKernel", "External", "FindPackedFunc",
    "Function", "InPlaceResult", "LateFunction", "LocalClosureMaker", "OperatorMeaning",
    "PackedKernel", "PrimFuncValue",
]  # fmt: skip

Function = Callable[..., Any]


class External(ABC):
    """A description of a function that a program calls."""

    @abstractmethod
    def make(self, kernels: Mapping[str, Function]) -> Function:
        """The function; `kernels` are those of the PrimFuncs by their names."""


@dataclass(frozen=True)
class OperatorMeaning(External):
    """A call of an operator by its meaning; with `checked` its operands are looked at."""

    call: Call
    checked: bool

    def make(self, kernels: Mapping[str, Function]) -> Function:
        return operator_function(self.call, checked=self.checked)


@dataclass(frozen=True)
class CalledKernel(External):
    """The kernel of a PrimFunc itself."""

    name: str

    def make(self, kernels: Mapping[str, Function]) -> Function:
        return kernels[self.name]


@dataclass(frozen=True)
class ArrangedKernel(External):
    """A kernel for calls that give integers."""

    name: str
    function: PrimFunc

    def make(self, kernels: Mapping[str, Function]) -> Function:
        return call_tir_adapter(self.function, kernels[self.name])


@dataclass(frozen=True)
class PrimFuncValue(External):
    """A PrimFunc as a value, and as what a direct call of it calls."""

    name: str
    function: PrimFunc

    def make(self, kernels: Mapping[str, Function]) -> Function:
        return prim_func_closure(self.name, self.function, kernels[self.name])


@dataclass(frozen=True)
class EntryKernel(External):
    """A PrimFunc as users call it, where it is a function of the program by itself."""

    name: str
    function: PrimFunc

    def make(self, kernels: Mapping[str, Function]) -> Function:
        direct = prim_func_closure(self.name, self.function, kernels[self.name])
        if self.function.returned_dtype is not None:
            return direct

        def call(*args: Any) -> None:
            direct(*args)

        return Closure(self.name, call, direct.info)


@dataclass(frozen=True)
class PackedKernel(External):
    """A kernel as packed functions are called: with values of any kind."""

    name: str

    def make(self, kernels: Mapping[str, Function]) -> Function:
        kernel = kernels[self.name]

        def call(*args: Any) -> Any:
            return kernel(*map(kernel_argument, args))

        return call


@dataclass(frozen=True)
class LateFunction(External):
    """A registered packed function, looked up each time it is called."""

    name: str

    def make(self, kernels: Mapping[str, Function]) -> Function:
        def call(*args: Any) -> Any:
            return call_packed(self.name, get_global_func(self.name).function, args)

        return call


@dataclass(frozen=True)
class FindPackedFunc(External):
    """The function that looks a packed function up."""

    def make(self, kernels: Mapping[str, Function]) -> Function:
        return get_global_func


@dataclass(frozen=True)
class InPlaceResult(External):
    """The value of an in-place call, from what the function returned."""

    def make(self, kernels: Mapping[str, Function]) -> Function:
        return _in_place


@dataclass(frozen=True)
class ClosureMaker(External):
    """The function that gives another its last arguments, and the type that it has then."""

    def make(self, kernels: Mapping[str, Function]) -> Function:
        return make_closure


@dataclass(frozen=True)
class LocalClosureMaker(External):
    """The same where what is known of the type of each local function is told by its name.

    `types` has the type of each, and the number of arguments that it captures.
    """

    types: dict[str, tuple[FuncStructInfo, int]] = field(default_factory=dict)

    def make(self, kernels: Mapping[str, Function]) -> Function:
        makers: dict[str, Callable[..., Closure]] = {}

        def call(function: Closure, *captured: Any) -> Closure:
            maker = makers.get(function.name)
            if maker is None:
                maker = makers[function.name] = closure_maker(*self.types[function.name])
            return maker(function, *captured)

        return call


def _in_place(returned: Any, indices: Sequence[int], *args: Any) -> Any:
    return returned_in_place(returned, args, indices)
