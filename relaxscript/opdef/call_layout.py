"""The layout of an operator's operands in `call.args`, for making calls and for reading them.

Operands are in the order of the parameters or as the operator says. An optional operand that is
left out is simply absent at the end; before one that is given it is `R.null_value()`, as the spec's
"Notable Operators" has it. A `rest` parameter takes all the arguments that are left.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from relaxscript.arguments import missing_arguments, too_many_arguments
from relaxscript.ir.relax import Call, Expr, Op, ShapeExpr, Tuple
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.runtime.values import prim_dtype, prim_value

from .distributed import DistributedOperand
from .operands import wrong_kind
from .parameters import Parameter

if TYPE_CHECKING:
    from .context import InferContext
    from .operator import Operator

__all__ = ["MANY", "CallLayout"]

MANY = ("rest", "spread")  # kinds of parameters that take all the arguments that are left

_NULL = Call.make(Op.make("relax.null_value"), ())


def _is_null(expr: Any) -> bool:
    return isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == _NULL.op.name  # type: ignore[attr-defined]


class CallLayout:
    """The operands of one operator in the order in which its calls keep them."""

    def __init__(self, parameters: Sequence[Parameter], order: tuple[str, ...]) -> None:
        operands = {p.name: p for p in parameters if p.is_operand}
        self.operands = [operands[name] for name in order or operands]
        self._positional = [self.operands.index(p) for p in _leading(parameters)]
        self._by_keyword = [
            index for index, p in enumerate(self.operands) if index not in self._positional
        ]
        many = [p for p in self.operands if p.kind in MANY]
        self._least = sum(p.is_required for p in self.operands)
        self._most = sys.maxsize if many else len(self.operands)
        named = [p for p in parameters if p.is_operand]
        self._in_signature = [(p, self.operands.index(p)) for p in named]
        simple = all(p.kind == "operand" and p.wants in ("tensor", "scalar") for p in self.operands)
        first = list(parameters)[: len(self.operands)] == self.operands
        self.fast_arity = len(self.operands) if simple and first and self.operands else -1

    # ------------------------------------------------------------ building

    def arrange(self, given: Mapping[str, Any]) -> tuple[Expr, ...]:
        """The arguments of the call from what each parameter was given."""
        args: list[Expr] = []
        for parameter in self.operands:
            value = given[parameter.name]
            if parameter.kind in MANY:
                args.extend(value)
            else:
                args.append(_NULL if value is None else value)
        while args and args[-1] is _NULL:
            args.pop()
        return tuple(args)

    # ------------------------------------------------------------ taking apart

    def spread(self, count: int) -> list[int | slice | None]:
        """The index of each operand among `count` arguments; None for one that is left out."""
        places: list[int | slice | None] = []
        for index, parameter in enumerate(self.operands):
            if parameter.kind in MANY:
                places.append(slice(index, count))
            else:
                places.append(index if index < count else None)
        return places

    def split(self, operator: Operator, call: Call) -> dict[str, Any]:
        """The operands of a call; raises `ArgumentError` for a wrong number of them."""
        self.check_count(operator, len(call.args))
        return {p.name: self._given(p, index, call) for index, p in enumerate(self.operands)}

    def check_count(self, operator: Operator, count: int) -> None:
        """Raise `ArgumentError` for a number of operands that no call has."""
        if self._least <= count <= self._most:
            return
        callee = f"R.{operator.script_name}"
        if count < self._least:
            missing = [p.name for p in self.operands if p.is_required][count:]
            raise missing_arguments(callee, missing)
        raise too_many_arguments(callee, self._most, count, noun="operand")

    def names(self, count: int) -> tuple[str, ...]:
        """The name of each of `count` arguments."""
        names: list[str] = []
        for parameter in self.operands:
            if parameter.kind in MANY:
                many = count - len(names)
                names.extend(f"{parameter.name}[{index}]" for index in range(many))
            elif len(names) < count:
                names.append(parameter.name)
        return tuple(names)

    # ------------------------------------------------------------ StructInfo of operands

    def tensors(self, infos: Sequence[StructInfo]) -> list[StructInfo]:
        """Operands that should be tensors: scalars count as rank 0 where a number may be.

        Raises `OperandError` (RX0201) for an operand of another kind.
        """
        checked = [_tensor(p.name, p.wants, info) for p, info in zip(self.operands, infos)]
        if all(isinstance(info, PrimStructInfo) for info in infos):
            raise wrong_kind(self.operands[0].name, infos[0], "tensor")
        return checked

    def infos(self, operator: Operator, call: Call, context: InferContext) -> list[Any]:
        """The arguments of a rule, one for each operand in the order of the parameters.

        A StructInfo of the wanted kind, None for an operand left out, a tuple for several, a callee
        itself.
        """
        self.check_count(operator, len(call.args))
        return [_info(p, self._given(p, index, call), context) for p, index in self._in_signature]

    def _given(self, parameter: Parameter, index: int, call: Call) -> Any:
        """The argument of a call for one operand; None for one that is left out."""
        args = call.args
        if parameter.kind in MANY:
            return args[index:]
        if index >= len(args):
            return None
        value = args[index]
        return None if parameter.default is None and _is_null(value) else value

    # ------------------------------------------------------------ values of operands

    def values(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of the meaning, by position and by keyword, from those of the call."""
        places = self.spread(len(values))
        found: list[Any] = []
        for parameter, place in zip(self.operands, places):
            value = None if place is None else values[place]
            scalar = parameter.wants == "scalar" and not isinstance(value, np.ndarray)
            found.append(_as_array(value) if scalar else value)
        positional: list[Any] = []
        for index in self._positional:
            if self.operands[index].kind == "rest":
                positional.extend(found[index])
            else:
                positional.append(found[index])
        return positional, {self.operands[i].name: found[i] for i in self._by_keyword}


def _leading(parameters: Sequence[Parameter]) -> list[Parameter]:
    """The operands that a meaning takes by position: those before any attribute, and `*rest`."""
    first = next((i for i, p in enumerate(parameters) if not p.is_operand), len(parameters))
    return [
        p
        for index, p in enumerate(parameters)
        if p.kind == "rest" or (index < first and not p.keyword_only)
    ]


def _as_array(value: Any) -> Any:
    dtype = prim_dtype(value)
    return np.asarray(value) if dtype is None else np.asarray(prim_value(value), dtype.numpy)


def _tensor(name: str, wants: str, info: StructInfo) -> StructInfo:
    if isinstance(info, TensorStructInfo):
        return info
    if isinstance(info, PrimStructInfo) and wants == "scalar":
        return TensorStructInfo.make(ShapeExpr.make(()), info.dtype, None, 0)
    if isinstance(info, DTensorStructInfo):
        raise DistributedOperand(name, "is a distributed tensor", wanted="a tensor", code="RX0201")
    raise wrong_kind(name, info, "tensor")


def _info(parameter: Parameter, value: Any, context: InferContext) -> Any:
    if value is None:
        return None
    name, wants = parameter.name, parameter.wants
    if parameter.kind == "callee":
        return value
    if parameter.kind == "tensors":
        return _infos_of_tuple(name, wants, value, context)
    if parameter.kind in MANY:
        return tuple(context.struct_info(item) for item in value)
    info = context.struct_info(value)
    if wants in ("tensor", "scalar"):
        return _tensor(name, wants, info)
    if wants == "shape" and not isinstance(info, ShapeStructInfo):
        raise wrong_kind(name, info, "shape")
    return info


def _infos_of_tuple(name: str, wants: str, value: Expr, context: InferContext) -> tuple[Any, ...]:
    if isinstance(value, Tuple):
        infos: tuple[StructInfo, ...] = tuple(context.struct_info(item) for item in value.fields)
    else:
        info = context.struct_info(value)
        if not isinstance(info, TupleStructInfo):
            raise wrong_kind(name, info, "tuple")
        infos = info.fields
    if wants != "tensor":
        return infos
    return tuple(_tensor(f"{name}[{i}]", wants, info) for i, info in enumerate(infos))
