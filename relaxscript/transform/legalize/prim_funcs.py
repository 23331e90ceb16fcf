"""The PrimFuncs that operators become: one for all calls that differ in names of dimensions only.

What decides about a PrimFunc is the operator, its attributes, and what is known of operands and
result. Of most calls that is looked up, so it is kept short: `_Keys` has each StructInfo once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

from relaxscript.arith import NO, format_expr, prove_equal
from relaxscript.builder import BlockBuilder
from relaxscript.builder.te_calls import TEArguments, TEFunction, make_te_function
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.node import traversal_of
from relaxscript.ir.prim import (
    INT64,
    LE,
    FloatImm,
    IntImm,
    PrimExpr,
    Var as PrimVar,
    alike,
    const,
)
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    GlobalVar,
    PrimValue,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    remember_struct_info,
)
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import substitute
from relaxscript.op.base import null_value
from relaxscript.op.calls import call_tir
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext, PlainContext
from relaxscript.opdef.operator import Operator
from relaxscript.opdef.parameters import Parameter

__all__ = ["OperatorFunctions", "Stays"]


class Stays(str, Enum):
    """The reason why a call of an operator becomes no call of a PrimFunc."""

    NO_COMPUTE = "it has no compute"
    UNKNOWN = "the shape or dtype of a tensor, or the value of a scalar, is not known"
    UNDECIDED = "only the run shows whether its operands go together"
    SLOWER = "its meaning in numpy is faster than its loops"
    MAY_FAIL = "it may fail, and the run that shows it cannot be repeated"


class OperatorFunctions:
    """The PrimFuncs of operators; `builder` adds each to its module."""

    def __init__(self, builder: BlockBuilder) -> None:
        self.builder = builder
        self._keys = _Keys()
        self._made: dict[Hashable, _Made | Stays] = {}

    def legalize(self, operator: Operator, call: Call) -> Call | Stays:
        """The call of a PrimFunc in the place of a call of an operator; raises `OperandError`."""
        if "compute" not in operator.rules:
            return Stays.NO_COMPUTE
        struct_info = self.builder.struct_info
        out = struct_info(call)
        parts = [self._keys.of_operand(arg, struct_info) for arg in call.args]
        decides, variables = _joined([*parts, self._keys.of(out)])
        if decides is None:
            return Stays.UNKNOWN
        # Facts decide, too: in a branch more operands may be known to go together.
        key = (call.op, _exact(call.attrs), self.builder.context.facts, decides)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(operator, call, out, variables)
        if isinstance(made, Stays):
            return made
        operands: tuple[Expr, ...] = made.gvar, Tuple.make(made.tensors(call.args))
        if made.scalars:
            sizes = tuple([variables[number] for number in made.scalars])
            operands = (*operands, ShapeExpr.make(sizes))
        legal = Call.make(call_tir.op, operands, None, (out,), span=call.span)
        remember_struct_info(legal, out)
        return legal

    def _make(
        self, operator: Operator, call: Call, out: StructInfo, variables: Sequence[PrimVar]
    ) -> _Made | Stays:
        context = _Deferring(self.builder.context)
        operator.infer(call, context)
        arguments = TEArguments(self.builder.struct_info)
        checks: list[tuple[PrimExpr, str]] = []
        for check in context.deferred_checks:
            low, high = check.a, check.b
            if check.relation != "inside" or not isinstance(low, PrimExpr):
                return Stays.UNDECIDED
            assert isinstance(high, PrimExpr), "a dimension is inside of another"
            # Loops are the same for all that fits, so they need no more than to see that it does.
            found = alike(arguments.scalar(low), arguments.scalar(high))
            checks.append((LE.make(*found), check.text))
        given: list[Any] = []
        paths: list[tuple[int, ...]] = []
        places = dict(operator.operand_places(len(call.args)))
        for parameter in (p for p in operator.parameters if p.is_operand):
            operand, own = self._operand(parameter, places.get(parameter.name), call.args)
            given.append(None if operand is None else arguments.convert(operand))
            paths += own
        for info in _flat(out):
            for dim in info.dims or ():
                arguments.scalar(dim)
        inner = ComputeContext(substitute(out, arguments.variables))
        made = operator.rules["compute"](inner, *given, **operator.attributes(call))
        if made is None:
            return Stays.UNKNOWN
        name = operator.__name__
        function = make_te_function(arguments, made, name, checks=checks)
        _check_results(operator, function, out)
        numbers = tuple(variables.index(var) for var in function.scalars)
        return _Made(self.builder.add_func(function.function, name), tuple(paths), numbers)

    def _operand(
        self, parameter: Parameter, place: int | slice | None, args: Sequence[Expr]
    ) -> tuple[Any, list[tuple[int, ...]]]:
        """An operand, and where the tensors in it are among the arguments of the call."""
        if place is None:
            return None, []
        if isinstance(place, slice):
            places = range(*place.indices(len(args)))
            infos = [(k, self.builder.struct_info(args[k])) for k in places]
            return args[place], [path for k, info in infos for path in _paths(info, (k,))]
        operand = args[place]
        if _is_null(operand) and parameter.default is None:
            return None, []
        if parameter.wants == "scalar" and isinstance(operand, Constant) and not operand.data.ndim:
            # A scalar is written into the loops, where one may be.
            dtype = DataType(operand.data.dtype)
            return PrimValue.make(const(operand.data.item(), dtype)), []
        return operand, list(_paths(self.builder.struct_info(operand), (place,)))


class _Made(NamedTuple):
    """A PrimFunc, the operands that it takes, and the variables that it takes as scalars.

    Each path leads from an argument of the operator into the tuple that it is. Variables are
    counted in the order in which the operands and the result mention them.
    """

    gvar: GlobalVar
    paths: tuple[tuple[int, ...], ...]
    scalars: tuple[int, ...]

    def tensors(self, args: Sequence[Expr]) -> tuple[Expr, ...]:
        """The operands of a call, from the arguments of the operator."""
        found = []
        for first, *rest in self.paths:
            expr = args[first]
            for index in rest:
                inside = expr.fields if isinstance(expr, Tuple) else None
                expr = inside[index] if inside else TupleGetItem.make(expr, index)
            found.append(expr)
        return tuple(found)


class _Deferring(PlainContext):
    """A context as another one, which collects what could not be decided."""

    def __init__(self, context: InferContext) -> None:
        super().__init__(context.module, context.facts)
        self._context = context

    def struct_info(self, expr: Expr) -> StructInfo:
        return self._context.struct_info(expr)


def _is_null(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.op is null_value.op


def _paths(info: StructInfo, outer: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The places of tensors in an operand."""
    match info:
        case TensorStructInfo():
            yield outer
        case TupleStructInfo(fields):
            for number, inner in enumerate(fields):
                yield from _paths(inner, (*outer, number))


def _flat(info: StructInfo) -> tuple[TensorStructInfo, ...]:
    """The tensors of a result."""
    fields = info.fields if isinstance(info, TupleStructInfo) else (info,)
    return tuple(field for field in fields if isinstance(field, TensorStructInfo))


def _check_results(operator: Operator, made: TEFunction, out: StructInfo) -> None:
    """Refuse a compute whose tensors are not what inference says of the result."""
    expected = _flat(out)
    callee = f"the compute of `R.{operator.script_name}`"
    if len(made.results) != len(expected) or made.is_tuple != isinstance(out, TupleStructInfo):
        count = f"{len(made.results)} tensors" if made.is_tuple else "one tensor"
        raise OperandError(
            "compute", f"gives {count}", code="RX0703",
            message=f"{callee} gives {count}, where the operator gives `{out!r}`",
        )  # fmt: skip
    for number, (found, wanted) in enumerate(zip(made.results, expected)):
        which = f"tensor {number} of its result" if made.is_tuple else "its result"
        if found.dtype is not wanted.dtype or found.ndim != wanted.ndim:
            raise OperandError(
                "compute", f"gives {found!r}", code="RX0703",
                message=f"{callee} gives `{found!r}` as {which}, where the operator gives "
                f"`{wanted!r}`",
            )  # fmt: skip
        for axis, (a, b) in enumerate(zip(found.dims or (), wanted.dims or ())):
            if prove_equal(a, b) is NO:
                raise OperandError(
                    "compute", f"has {format_expr(a)}", code="RX0703",
                    message=f"{callee} gives axis {axis} of {which} {format_expr(a)} elements, "
                    f"where the operator gives it {format_expr(b)}",
                )  # fmt: skip


# ---------------------------------------------------------------- keys

# What decides about loops in a StructInfo, whose variables are numbered in the order of the second.
_Part = tuple[Hashable, tuple[PrimVar, ...]]
_UNKNOWN: _Part = (None, ())


class _Keys:
    """The parts of keys, of which each StructInfo has one; None for loops that cannot be made."""

    def __init__(self) -> None:
        # By identity, with the StructInfo, so that no other gets its place in memory.
        self._parts: dict[int, tuple[_Part, StructInfo]] = {}

    def of_operand(self, expr: Expr, struct_info: Any) -> _Part:
        """The part of a key that an operand is."""
        match expr:
            case Var():
                return self.of(struct_info(expr))
            case Constant(data) if not data.ndim:
                return (data.dtype, data.tobytes()), ()
            case StringImm(text) | DataTypeImm(text):
                return (type(expr), text), ()
            case Call() if _is_null(expr):
                return "null", ()
        return self.of(struct_info(expr))

    def of(self, info: StructInfo) -> _Part:
        """The part of a key that the StructInfo of an operand or of the result is."""
        known = self._parts.get(id(info))
        if known is not None:
            return known[0]
        numbers: dict[PrimVar, int] = {}
        token = _token(info, numbers)
        found = _UNKNOWN if token is None else (token, tuple(numbers))
        self._parts[id(info)] = found, info
        return found


def _joined(parts: Sequence[_Part]) -> tuple[Hashable, Sequence[PrimVar]]:
    """One key of several parts, and the variables in the order of their numbers."""
    numbers: dict[PrimVar, int] = {}
    joined: list[Hashable] = []
    for token, variables in parts:
        if token is None:
            return None, ()
        joined.append(token)
        joined += [numbers.setdefault(var, len(numbers)) for var in variables]
    return tuple(joined), tuple(numbers)


def _token(info: Any, numbers: dict[PrimVar, int]) -> Hashable:
    """The part of a StructInfo that decides about loops; None where it says too little."""
    match info:
        case TensorStructInfo(dims=dims) if dims is not None and not info.dtype.is_void:
            return (info.dtype, *[_scalar(dim, numbers) for dim in dims])
        case PrimStructInfo(value=value) if value is not None:
            return PrimStructInfo, info.dtype, _scalar(value, numbers)
        case ShapeStructInfo(values=values) if values is not None:
            return ShapeStructInfo, *[_scalar(value, numbers) for value in values]
        case TupleStructInfo(fields):
            inner = [_token(field, numbers) for field in fields]
            return None if None in inner else (TupleStructInfo, *inner)
    return None


def _scalar(e: Any, numbers: dict[PrimVar, int]) -> Hashable:
    match e:
        case IntImm() if e.dtype is INT64:
            return e.value
        case IntImm() | FloatImm():
            return e.dtype, _exact(e.value)
        case PrimVar():
            return type(e), e.dtype, numbers.setdefault(e, len(numbers))
        case PrimExpr():
            parts = [getattr(e, field.name) for field in traversal_of(type(e))]
            return type(e).__name__, e.dtype, *[_scalar(part, numbers) for part in parts]
        case tuple():
            return tuple([_scalar(part, numbers) for part in e])
    hashable: Hashable = e
    return hashable


def _exact(value: Any) -> Hashable:
    """An attribute as a key: 1, 1.0 and True are three, and so are 0.0 and -0.0."""
    match value:
        case None:
            return None
        case Attrs():
            return tuple([(name, _exact(item)) for name, item in value.items()])
        case float():
            return value.hex()
        case tuple():
            return tuple([_exact(item) for item in value])
    return type(value), value
