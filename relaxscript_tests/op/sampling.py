"""Well-typed example calls of every operator: `samples(operator)`.

A sample is a call whose tensor operands are variables, with a value for each of them. Shapes are
never square, and include rank 0, dimensions of 1 and of 0; the dtypes are those that the
operator's own rule accepts. The laws of `test_laws.py` run on them, and so may everything else that
should hold for any call (printing and parsing, the executors).
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim, relax
from relaxscript.ir.relax import Call, Expr
from relaxscript.ir.struct_info import (
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import Operator, PlainContext
from relaxscript.runtime.values import Shape, make_prim

from .cases import ALONG_AXES, BINARY, CALLEES, CASES, UNARY
from .operands import S, T, Value

DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int64", "uint8", "bool")
# The others that arrays can hold.
FURTHER_DTYPES = (
    "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e4m3fnuz", "float8_e5m2fnuz",
    "float8_e4m3b11fnuz", "float8_e3m4", "float8_e8m0fnu", "int16", "int32", "uint16", "uint32",
    "uint64",
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A call, the variables in it and what they hold; `callees` are the functions that it calls."""

    operator: Operator
    call: Call
    values: Mapping[relax.Var, Any]
    callees: Mapping[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> tuple[relax.Var, ...]:
        """The variables, as parameters of a function that evaluates the call."""
        return tuple(self.values)

    def infer(self, call: Call | None = None) -> StructInfo:
        """The StructInfo of the call (or of a variation of it)."""
        return self.operator.infer(self.call if call is None else call, PlainContext())

    def evaluate(self, function: Any = None) -> Any:
        """The value of the call by the operator's meaning, or by another function like it."""
        values = [self._value(arg) for arg in self.call.args]
        infos = self.call.sinfo_args
        sinfo = infos[0] if len(infos) == 1 else infos
        return self.operator.evaluate(self.call, values, sinfo, function)

    def _value(self, expr: Expr) -> Any:
        match expr:
            case relax.Var():
                return self.values[expr]
            case relax.Constant(data):
                return data
            case relax.Tuple(fields):
                return tuple(self._value(item) for item in fields)
            case relax.ShapeExpr(dims):
                return Shape(int(dim) for dim in dims)
            case relax.PrimValue(prim.IntImm() | prim.FloatImm() as number):
                return make_prim(number.value, number.dtype)
            case relax.StringImm(text) | relax.DataTypeImm(text):
                return text
            case relax.ExternFunc(name) | relax.GlobalVar(name):
                return self.callees[name]
        raise TypeError(f"no value for {type(expr).__name__}")

    def __str__(self) -> str:
        infos = [getattr(v, "shape", v) for v in self.values.values()]
        dtypes = [str(getattr(v, "dtype", "")) for v in self.values.values()]
        return f"{self.operator!r} {infos} {dtypes} {dict(self.call.attrs or {})}"


def cases_of(operator: Operator) -> list[Any]:
    """The templates of arguments for an operator; those of a family for all that have no own."""
    own = CASES.get(operator.script_name)
    if own is not None:
        return own
    match [(p.kind, p.name) for p in operator.parameters]:
        case [("operand", _)]:
            return UNARY
        case [("operand", _), ("operand", _)]:
            return BINARY
        case [("operand", _), ("attribute", "axis"), ("attribute", "keepdims")]:
            return ALONG_AXES
    raise LookupError(f"{operator!r} has no samples: add them to CASES")


def samples(operator: Operator, dtypes: Sequence[str] = DTYPES) -> Iterator[Sample]:
    """Calls of an operator that its rule accepts, in every one of `dtypes` that it accepts."""
    for index, case in enumerate(cases_of(operator)):
        for dtype in dtypes if _has_free_dtype(case) else ("float32",):
            try:
                found = _sample(operator, index, dtype)
            except _RefusedError:
                continue
            # Some operators write into their operands.
            yield replace(found, values={v: _copy(x) for v, x in found.values.items()})


class _RefusedError(Exception):
    """The rule refuses the data type; not kept, so that each test sees the rule refuse it."""


# The laws of an operator are asked one after the other, all on the same calls.
@functools.lru_cache(maxsize=512)
def _sample(operator: Operator, case: int, dtype: str) -> Sample:
    found = sample(operator, cases_of(operator)[case], dtype)
    if found is None:
        raise _RefusedError
    return found


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _has_free_dtype(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_free_dtype(item) for item in value)
    return isinstance(value, T) and value.dtype is None


def sample(operator: Operator, case: tuple[Any, ...], dtype: str) -> Sample | None:
    """The call that a template stands for, or None where the rule refuses the data type."""
    rng = np.random.default_rng(zlib.crc32(repr((operator.name, case, dtype)).encode()))
    values: dict[relax.Var, Any] = {}
    positional = [_operand(item, dtype, rng, values) for item in case if not _is_keyword(item)]
    keywords = {item[0]: item[1] for item in case if _is_keyword(item)}
    call = operator.build(positional, keywords)
    found = Sample(operator, call, values, CALLEES)
    try:
        found.infer()
    except OperandError as error:
        if error.code != "RX0202":
            raise
        return None
    return found


def _is_keyword(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)


def _operand(item: Any, dtype: str, rng: np.random.Generator, values: dict[Any, Any]) -> Any:
    match item:
        case T():
            own = DataType(item.dtype or dtype)
            dims = TensorStructInfo(item.shape, own)
            return _variable(values, _array(item, own, rng), dims)
        case S(dims):
            return _variable(values, Shape(dims), ShapeStructInfo(None, len(dims)))
        case Value(value, info):
            return _variable(values, value, info)
        case list() | tuple():
            return type(item)(_operand(inner, dtype, rng, values) for inner in item)
    return item


def _variable(values: dict[Any, Any], value: Any, info: StructInfo) -> relax.Var:
    var = relax.Var(f"x{len(values)}", info)
    values[var] = value
    return var


def _array(item: T, dtype: DataType, rng: np.random.Generator) -> Any:
    if dtype.is_bool:
        drawn = rng.integers(0, 2, item.shape)
    elif item.values and dtype.is_float:
        drawn = rng.choice(item.values, item.shape)
    else:
        low = -item.below if dtype.kind != "uint" and item.dtype is None else 0
        drawn = rng.integers(low, item.below, item.shape)
    if item.ordered:
        drawn = np.sort(drawn)
    return np.asarray(drawn).astype(dtype.numpy)


def fields_of_result(info: StructInfo) -> tuple[StructInfo, ...]:
    """The StructInfos of a result that is a tuple, or the one of any other."""
    return info.fields if isinstance(info, TupleStructInfo) else (info,)
