"""Small networks for tests: modules that write into the function that a builder has open.

    bb = BlockBuilder()
    with bb.function("main"):
        model = Sequential(Linear(8, 4), ReLU())
        data = Placeholder((2, 8), name="data")
        bb.emit_func_output(model(data), [data, *model.parameters()])

Models of one's own are better written with `relax.frontend.nn`. Source: TVM `relax.testing.nn`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Call, Expr, Var
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op.grad import end_checkpoint, start_checkpoint
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.runtime.arrays import array

__all__ = [
    "Linear", "LogSoftmax", "Module", "Parameter", "Placeholder", "ReLU", "Sequential",
    "checkpoint", "emit", "emit_checkpoint", "emit_checkpoint_sequential", "emit_te", "init_params",
]  # fmt: skip

Function = Callable[..., Any]
_CAPITAL = re.compile("(?<=[a-z0-9])(?=[A-Z])")


def emit(expr: Any, name_hint: str = "") -> Var:
    """Bind an expression in the function that is open; raises `DiagnosticError` without one."""
    return _current().emit(expr, name_hint)


def emit_te(func: Function, *args: Any, **kwargs: Any) -> Var:
    """Bind the call of a PrimFunc that tensor expressions describe, as `BlockBuilder.emit_te`."""
    return _current().emit_te(func, *args, **kwargs)


def _current() -> BlockBuilder:
    builder = BlockBuilder.current()
    if builder is None:
        message = "no function is open that takes a binding"
        help = 'write it inside of `with bb.function("main"):`'
        raise DiagnosticError(Diagnostic("RX0105", message, caller_span(), help=help))
    return builder


# ---------------------------------------------------------------- checkpoints


def checkpoint(func: Function, *args: Any, **kwargs: Any) -> Any:
    """Have what `func` computes computed anew where a gradient needs it; nothing is bound.

    Arguments and results are kept. `func` gives an expression, or a list or tuple of such: then a
    list comes back. Source: TVM `relax.testing.nn.checkpoint`.
    """
    return _checkpoint(func, args, kwargs, start_checkpoint, end_checkpoint)


def emit_checkpoint(func: Function, *args: Any, **kwargs: Any) -> Any:
    """The same as `checkpoint`, with arguments and results bound to variables of their own.

    They are called as what they mark, with `_scp` and `_ecp` behind.
    """

    def start(value: Expr) -> Expr:
        return emit(start_checkpoint(value), f"{_name(value)}_scp")

    def end(value: Expr) -> Expr:
        return emit(end_checkpoint(value), f"{_name(value)}_ecp")

    return _checkpoint(func, args, kwargs, start, end)


def _checkpoint(
    func: Function, args: Sequence[Any], kwargs: Mapping[str, Any], start: Function, end: Function
) -> Any:
    given = [start(arg) if isinstance(arg, Expr) else arg for arg in args]
    named = {k: start(arg) if isinstance(arg, Expr) else arg for k, arg in kwargs.items()}
    made = func(*given, **named)
    if isinstance(made, (list, tuple)):
        return [end(value) if isinstance(value, Expr) else value for value in made]
    if not isinstance(made, Expr):
        message = f"what is computed anew is an expression, or several, not {brief(made)}"
        raise DiagnosticError(Diagnostic("RX0201", message, caller_span()))
    return end(made)


def _name(value: Expr) -> str:
    return value.name_hint if isinstance(value, Var) else "lv"


def emit_checkpoint_sequential(
    functions: Sequence[Function], segments: int | Sequence[int], input: Var,
    checkpoint_last: bool = False,
) -> Any:  # fmt: skip
    """The result of functions after each other, in segments that are computed anew.

    `segments` is their number, or the places at which they begin. Only what is between segments is
    kept. The last one is kept too, unless `checkpoint_last`. Raises `DiagnosticError` (RX0204) for
    segments that are none. Source: TVM `relax.testing.nn.emit_checkpoint_sequential`.
    """
    count = len(functions)
    bounds: list[int] = []
    if not isinstance(segments, int):
        bounds = list(segments)
    elif 0 < segments <= count:
        bounds = list(range(0, count, count // segments))
    if bounds and bounds[-1] != count:
        bounds.append(count)
    pairs = list(pairwise(bounds))
    if not pairs or not all(0 <= start < end <= count for start, end in pairs):
        message = f"{count} functions cannot be parted into the segments {segments}"
        help = "give their number, or the places where they begin, in order"
        raise DiagnosticError(Diagnostic("RX0204", message, caller_span(), help=help))
    value: Any = input
    for start, end in pairs:
        row = _Row(functions[start:end])
        is_kept = end == count and not checkpoint_last
        value = row(value) if is_kept else emit_checkpoint(row, value)
    return value


class _Row:
    """Functions as one, each of which takes what the one before gives."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self.functions = functions

    def __call__(self, value: Any) -> Any:
        for function in self.functions:
            value = function(value)
        return value


# ---------------------------------------------------------------- modules


def Placeholder(shape: Sequence[Any], dtype: str = "float32", name: str = "data") -> Var:
    """A variable for an input of the function; its name is made unique in the open module."""
    builder = BlockBuilder.current()
    unique = name if builder is None else builder.get_unique_name(name)
    return Var(unique, TensorStructInfo(tuple(shape), dtype))  # type: ignore[arg-type]


def Parameter(shape: Sequence[Any], dtype: str = "float32", name: str = "param") -> Var:
    """A variable for a weight: an attribute of a module, or in a list or dictionary of it."""
    return Placeholder(shape, dtype, name)


class Module:
    """A part of a network: `forward` writes what it computes, and a call of it calls `forward`.

    Variables, modules, lists and dictionaries among the attributes hold its parameters. A class
    that sets `define_subroutine` is a private function of its own, which its uses call; equal uses
    share it. It takes the expressions among the arguments, then the parameters.
    """

    define_subroutine: ClassVar[bool] = False

    def parameters(self) -> list[Var]:
        """The parameters of the module and of those in it, each once, in order of attributes."""
        return list(dict.fromkeys(_variables(self)))

    def forward(self, input: Expr) -> Any:
        """The computation of the module; each class says that itself."""
        message = f"the module `{type(self).__name__}` defines no `forward`"
        raise DiagnosticError(Diagnostic("RX0105", message, caller_span()))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.define_subroutine:
            return self.forward(*args, **kwargs)
        return _call_subroutine(self, args, kwargs)


def _call_subroutine(module: Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Var:
    """Bind a call of the private function that a module describes."""
    builder = _current()
    given: dict[Var, Expr] = {}

    def inside(arg: Any) -> Any:
        if not isinstance(arg, Expr):
            return arg
        var = Var(arg.name_hint if isinstance(arg, Var) else "input", builder.struct_info(arg))
        given[var] = arg
        return var

    own_args = [inside(arg) for arg in args]
    own_kwargs = {name: inside(arg) for name, arg in kwargs.items()}
    given.update({var: var for var in module.parameters()})
    name = _CAPITAL.sub("_", type(module).__name__).lower()
    builder.begin_function(name, list(given))
    try:
        with builder.dataflow():
            made = builder.emit_output(module.forward(*own_args, **own_kwargs))
        builder.set_result(made)
        function = builder.end_function()
    except BaseException:
        builder.abandon_function()
        raise
    # The parameters of the module are those of the function around it, too.
    called = builder.add_func(copy_with_new_vars(function), name)
    return builder.emit(Call(called, tuple(given.values())))


def _variables(value: object) -> Iterator[Var]:
    match value:
        case Var():
            yield value
        case Module():
            yield from _variables(list(value.__dict__.values()))
        case dict():
            yield from _variables(list(value.values()))
        case list() | tuple():
            for item in value:
                yield from _variables(item)


class Sequential(Module):
    """Modules after each other."""

    def __init__(self, *modules: Module) -> None:
        self.modules = modules

    def forward(self, input: Expr) -> Any:
        return _Row(self.modules)(input)


class ReLU(Module):
    """`max(input, 0)`, as a PrimFunc."""

    def forward(self, input: Expr) -> Var:
        return emit_te(topi.nn.relu, input)


class LogSoftmax(Module):
    """The logarithm of the softmax along the last axis, as a PrimFunc."""

    def forward(self, input: Expr) -> Var:
        return emit_te(topi.nn.log_softmax, input)


class Linear(Module):
    """`input @ weight + bias`, as PrimFuncs; `weight` has shape (in_features, out_features)."""

    def __init__(self, in_features: Any, out_features: Any, bias: bool = True) -> None:
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter((in_features, out_features), name="linear_weight")
        self.bias = Parameter((out_features,), name="linear_bias") if bias else None

    def forward(self, input: Expr) -> Var:
        product = emit_te(topi.matmul, input, self.weight)
        return product if self.bias is None else emit_te(topi.add, product, self.bias)


def init_params(mod: IRModule) -> list[Any]:
    """Zeros for each parameter of `main` of which the name does not begin with "data".

    Those of unknown size are left out. Source: TVM `relax.testing.nn.init_params`.
    """
    made = []
    for param in mod["main"].params:
        info = param.struct_info
        if param.name_hint.startswith("data") or not isinstance(info, TensorStructInfo):
            continue
        sizes = [dim.value for dim in info.dims or () if isinstance(dim, IntImm)]
        if info.dims is not None and len(sizes) == len(info.dims):
            made.append(array(np.zeros(sizes, info.dtype.numpy)))
    return made
