"""Modules as private functions: each use is a call, and equal uses share one function.

    class Block(nn.Module):
        define_subroutine = True

Source: TVM `relax.frontend.nn.SubroutineMixin`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from relaxscript.ir.prim import PrimExpr, Var as ShapeVar
from relaxscript.ir.relax import Call, Expr, ShapeExpr, Tuple as TupleExpr, TupleGetItem, Var
from relaxscript.ir.struct_info import ShapeStructInfo, StructInfo
from relaxscript.ir.walk import substitute, variables
from relaxscript.sinfo import definable_shape_vars, free_shape_vars, substitute_shape_vars

from .effect import Effect
from .function_values import leave_block, returned
from .parameter import Parameter
from .tensor import Object, Tensor
from .trace import Trace, bind_value, run_module

__all__ = ["SubroutineMixin"]


class SubroutineMixin:
    """A module whose class sets `define_subroutine` is a private function, which its uses call."""

    define_subroutine: bool = False

    def call_subroutine(
        self, trace: Trace, members: Iterable[tuple[str, Any]], args: Any, kwargs: Any
    ) -> Any:
        """The result of a call of the private function that `forward` describes.

        It takes the tensors among the arguments and the parameters among the members of the module.
        States of effects go in and come out. What else is among the arguments is part of it.
        """
        parameters: dict[Parameter, str] = {}
        effects = list(trace.shared_effects)
        for name, member in members:
            if isinstance(member, Parameter):
                if member in trace.values:
                    parameters.setdefault(member, name)
            elif member in trace.effects and member not in effects:
                effects.append(member)
        function = _Subroutine(trace, effects)
        args, kwargs = function.take((args, kwargs), "x")
        for parameter, name in parameters.items():
            function.trace.values[parameter] = function.pass_in(name, trace.values[parameter])
        result, call = function.write(self, args, kwargs)
        return function.take_out(result, bind_value(call, function.name))


class _Subroutine:
    """A private function while it is written: its parameters, and what a call gives them."""

    def __init__(self, outer: Trace, effects: list[Effect]) -> None:
        self.trace = outer.inner(effects)
        self.name = ""
        self._params: list[Var] = []
        self._given: list[Expr] = []
        self._counts: list[int] = []  # of the states of each effect
        # The function has shape variables of its own.
        self._shape_vars: dict[ShapeVar, ShapeVar] = {}
        self._used: dict[ShapeVar, None] = {}

    def take(self, value: Any, name: str) -> Any:
        """An argument as the function has it: tensors and objects are parameters."""
        match value:
            case Tensor():
                return Tensor(_expr=self.pass_in(_hint(value, name), value._expr))
            case Object():
                return type(value)(_expr=self.pass_in(_hint(value, name), value._expr), _name=name)
            case PrimExpr():
                used = [v for v in variables(value) if isinstance(v, ShapeVar)]
                self._used.update(dict.fromkeys(used))
                return substitute(value, {v: self._own(v) for v in used})
            case tuple() | list():
                items = [self.take(item, f"{name}{k}") for k, item in enumerate(value)]
                return items if isinstance(value, list) else tuple(items)
            case dict():
                return {key: self.take(item, str(key)) for key, item in value.items()}
        return value

    def pass_in(self, name: str, given: Expr) -> Var:
        """A parameter of the function, to which a call gives this."""
        var = Var(name, self._info(given.struct_info))
        self.trace.unique_name(name)
        self._params.append(var)
        self._given.append(given)
        return var

    def _own(self, var: Any) -> ShapeVar:
        return self._shape_vars.setdefault(var, ShapeVar.make(var.name, var.dtype))

    def _info(self, info: StructInfo) -> StructInfo:
        used = free_shape_vars(info)
        self._used.update(dict.fromkeys(used))
        return substitute_shape_vars(info, {v: self._own(v) for v in used})

    def _sizes(self) -> None:
        """A parameter for sizes that no other tells."""
        told = {v for var in self._params for v in definable_shape_vars(var.struct_info)}
        untold = [v for v in self._used if self._own(v) not in told]
        if untold:
            own = ShapeStructInfo(tuple([self._own(v) for v in untold]))
            self._params.append(Var("sizes", own))
            self._given.append(ShapeExpr(tuple(untold)))

    def write(self, module: Any, args: Any, kwargs: Any) -> tuple[Any, Call]:
        """The result of `forward` inside of the function, and the call of the function."""
        effects, builder = self.trace.effects, self.trace.builder
        for effect in effects:
            effect.set_state([self.pass_in(var.name_hint, var) for var in effect.finalize()])
        self._sizes()
        self.name = _snake_case(type(module).__name__)
        builder.begin_function(self.name, self._params)
        try:
            with self.trace.running(), builder.dataflow():
                result = run_module(module, module.forward, args, kwargs)
                value = returned(result, module.forward)
                if effects:
                    ends = TupleExpr(tuple([v for e in effects for v in self._end(e)]))
                    value = TupleExpr((value, ends))
                value = leave_block(builder, value)
            builder.set_result(value)
            function = builder.end_function()
        except BaseException:
            builder.abandon_function()
            raise
        return result, Call(builder.add_func(function, self.name), tuple(self._given))

    def _end(self, effect: Effect) -> list[Var]:
        """The state of an effect at the end of the function."""
        states = effect.finalize()
        self._counts.append(len(states))
        return states

    def take_out(self, result: Any, value: Var) -> Any:
        """The value of a call in the form of what the function returned; states are set."""
        if not self.trace.effects:
            return _as_before(result, value, self.name)
        ends = bind_value(TupleGetItem.make(value, 1), f"{self.name}_states")
        items = (TupleGetItem.make(ends, k) for k in range(sum(self._counts)))
        for effect, count in zip(self.trace.effects, self._counts):
            effect.set_state([bind_value(next(items), f"{self.name}_state") for _ in range(count)])
        own = bind_value(TupleGetItem.make(value, 0), f"{self.name}_result")
        return _as_before(result, own, self.name)


def _as_before(result: Any, value: Expr, name: str) -> Any:
    """The value of a call in the form of what the function returned."""
    match result:
        case Tensor():
            return Tensor(_expr=value)
        case Object():
            return type(result)(_expr=value, _name=name)
    parts = []
    for k, item in enumerate(result):
        part = f"{name}_{k}"
        parts.append(_as_before(item, bind_value(TupleGetItem.make(value, k), part), part))
    return parts if isinstance(result, list) else tuple(parts)


def _hint(value: Any, name: str) -> str:
    found = value._expr
    return found.name_hint if isinstance(found, Var) else name


def _snake_case(name: str) -> str:
    """`MultiHeadAttention` as `multi_head_attention`, `MLP` as `mlp`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
