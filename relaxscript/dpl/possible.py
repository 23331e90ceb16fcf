"""Sorts of expressions that a pattern can match at all: none is a mistake, said where it is made.

`Possible` sums up a pattern when it is made. So each constraint is held against all that came
before it, at a constant cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from relaxscript.arith import NO
from relaxscript.dtypes import DataType
from relaxscript.errors import did_you_mean, nearest, quantity
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.opdef.call_layout import MANY
from relaxscript.opdef.operator import REGISTRY
from relaxscript.sinfo import check_compatibility

from .constraints import Link, pattern_error

if TYPE_CHECKING:
    from .pattern import (
        AndPattern,
        CallPattern,
        DFPattern,
        NotPattern,
        OrPattern,
        TupleGetItemPattern,
    )

__all__ = [
    "ANYTHING", "CONSTANT", "EXTERN_FUNC", "GLOBAL_VAR", "SHAPE", "VARIABLE", "Possible",
    "check_use", "noun_of", "of_both", "of_call", "of_either", "of_expr", "of_item", "of_kind",
    "of_rejection", "of_tuple", "with_attrs", "with_dtype", "with_info", "with_shape",
]  # fmt: skip

_Kinds = frozenset[type[Expr]]


class Possible(NamedTuple):
    """The classes of expressions, None for any, and what is known of their values.

    `fields` is how many a tuple has.
    """

    kinds: _Kinds | None = None
    infos: tuple[StructInfo, ...] = ()
    dtype: DataType | None = None
    fields: int | None = None


def _kinds(*classes: type[Expr]) -> _Kinds:
    return frozenset(classes)


ANYTHING = Possible()
VARIABLE = Possible(_kinds(Var))
GLOBAL_VAR = Possible(_kinds(GlobalVar))
EXTERN_FUNC = Possible(_kinds(ExternFunc))
CONSTANT = Possible(_kinds(Constant), (TensorStructInfo(dtype=DataType("void")),))
SHAPE = Possible(_kinds(ShapeExpr), (ShapeStructInfo(),))

_NOUNS: dict[type[Expr], str] = {
    Call: "a call", Constant: "a constant", DataTypeImm: "a dtype", ExternFunc: "a packed function",
    Function: "a function", GlobalVar: "a function of the module", If: "an `if`",
    Op: "an operator", PrimValue: "a scalar", SeqExpr: "a sequence of bindings",
    ShapeExpr: "a shape", StringImm: "a string", Tuple: "a tuple",
    TupleGetItem: "a field of a tuple", Var: "a variable",
}  # fmt: skip

_CALLABLE = _kinds(Op, GlobalVar, ExternFunc, Var, Function, Call, TupleGetItem, If, SeqExpr)
_WITH_ATTRS = _kinds(Call, Function)
_TUPLES = _kinds(Tuple, Var, Call, TupleGetItem, If, SeqExpr)
_USERS = _kinds(Call, Tuple, TupleGetItem, Function, If, SeqExpr)
_TENSORS = _kinds(Constant, Var, Call, TupleGetItem, If, SeqExpr)
_TYPED = _TENSORS | {PrimValue}
_OF_INFO: dict[type[StructInfo], _Kinds] = {
    TensorStructInfo: _TENSORS,
    PrimStructInfo: _TYPED - {Constant},
    ShapeStructInfo: _TENSORS - {Constant} | {ShapeExpr},
    TupleStructInfo: _TENSORS - {Constant} | {Tuple},
    FuncStructInfo: _TENSORS - {Constant} | {Function, GlobalVar, ExternFunc},
}


def noun_of(expr: Expr) -> str:
    """The sort of an expression in a message: "a call"."""
    kind = Var if isinstance(expr, Var) else type(expr)
    return _NOUNS.get(kind, kind.__name__)


def _noun(kinds: _Kinds) -> str:
    return " or ".join(sorted(_NOUNS.get(kind, kind.__name__) for kind in kinds))


def _impossible(reason: str, help: str | None = None) -> Exception:
    return pattern_error(f"nothing can match this pattern: {reason}", help)


def _narrow(pattern: DFPattern, kinds: _Kinds, needed: str) -> _Kinds:
    """The classes that are left of those of a pattern."""
    own = pattern.possible.kinds
    left = kinds if own is None else own & kinds
    if not left and own is not None:
        raise _impossible(f"`{pattern!r}` is {_noun(own)}, and {needed}")
    return left


def of_kind(kind: type[Expr]) -> Possible:
    """Expressions of one class."""
    return Possible(_kinds(kind))


def of_tuple(count: int) -> Possible:
    """Tuples of so many fields."""
    return Possible(_kinds(Tuple), fields=count)


def of_expr(expr: Expr) -> Possible:
    """The expression itself."""
    kind = Var if isinstance(expr, Var) else type(expr)
    if isinstance(expr, (Constant, PrimValue, ShapeExpr)):
        return Possible(_kinds(kind), (expr.struct_info,))
    return Possible(_kinds(kind))


def of_call(pattern: CallPattern) -> Possible:
    """Calls; raises where nothing can be called so, or the operator not with these arguments."""
    _narrow(pattern.op, _CALLABLE, "only a function can be called")
    operator = REGISTRY.get(pattern.operator or "")
    count = len(pattern.args)
    if operator is not None and (pattern.operator or "") not in INTRINSICS:
        operands = [p for p in operator.parameters if p.is_operand]
        names = ", ".join(p.name for p in operands) or "none"
        least = sum(p.is_required for p in operands)
        most = None if any(p.kind in MANY for p in operands) else len(operands)
        has = f"`{operator.name}` has {quantity(len(operands), 'operand')} ({names})"
        if most is not None and count > most:
            attributes = [p.name for p in operator.parameters if not p.is_operand]
            said = f"`.has_attr({{...}})` is for {', '.join(f'`{a}`' for a in attributes)}"
            raise pattern_error(
                f"{has}, and the pattern of its call {count}", said if attributes else None
            )
        if count < least and not pattern.varg_default_wildcard:
            raise pattern_error(
                f"{has}, and the pattern of its call {count}",
                "write `wildcard()` for each other, or `varg_default_wildcard=True`",
            )
    return Possible(_kinds(Call))


def of_item(pattern: TupleGetItemPattern) -> Possible:
    """Fields of tuples; raises where the pattern is of no tuple, or the tuple has no such field."""
    _narrow(pattern.tuple_value, _TUPLES, "only a tuple has fields")
    count, index = pattern.tuple_value.possible.fields, pattern.index
    if index is not None and (index < 0 or (count is not None and index >= count)):
        has = (
            "fields count from 0" if index < 0 else f"the tuple has {quantity(count or 0, 'field')}"
        )
        raise pattern_error(f"no field of a tuple is at index {index}: {has}")
    return Possible(_kinds(TupleGetItem))


def of_either(pattern: OrPattern) -> Possible:
    """Expressions of one of two patterns."""
    left, right = pattern.left.possible, pattern.right.possible
    if left.kinds is None or right.kinds is None:
        return ANYTHING
    fields = left.fields if left.fields == right.fields else None
    return Possible(left.kinds | right.kinds, fields=fields)


def of_both(pattern: AndPattern) -> Possible:
    """Expressions of both of two patterns; raises where there are none."""
    left, right = pattern.left.possible, pattern.right.possible
    if right.kinds is not None:
        needed = f"`{pattern.right!r}` is {_noun(right.kinds)}"
        found: _Kinds | None = _narrow(pattern.left, right.kinds, needed)
    else:
        found = left.kinds
    made = left._replace(kinds=found)
    if left.fields is not None and right.fields is not None and left.fields != right.fields:
        raise _impossible(f"no tuple has both {left.fields} and {right.fields} fields")
    for info in right.infos:
        made = _with_info(pattern.left, made, info)
    if right.dtype is not None:
        made = _with_dtype(pattern.left, made, right.dtype)
    return made._replace(fields=left.fields if left.fields is not None else right.fields)


def of_rejection(pattern: NotPattern) -> Possible:
    """Whatever is rejected not; raises where that is nothing."""
    from .pattern import WildcardPattern

    if isinstance(pattern.to_reject, WildcardPattern):
        raise pattern_error(
            "nothing can match `~wildcard()`: a wildcard matches everything", "reject less"
        )
    return ANYTHING


def with_attrs(pattern: DFPattern, attrs: Mapping[str, Any]) -> Possible:
    """The expressions of a pattern that may have these attributes."""
    kinds = pattern.possible.kinds
    if kinds is not None and not kinds & _WITH_ATTRS:
        help = "put it behind the call: `is_op(...)(...).has_attr(...)`" if Op in kinds else None
        reason = f"`{pattern!r}` is {_noun(kinds)}, and only calls and functions have attributes"
        raise _impossible(reason, help)
    name = getattr(pattern, "operator", None) or ""
    operator = REGISTRY.get(name)
    if operator is not None and name not in INTRINSICS:
        known = [p.name for p in operator.parameters if not p.is_operand]
        for attr in attrs:
            if attr not in known:
                there = (
                    f"there are {', '.join(f'`{k}`' for k in known)}" if known else "it has none"
                )
                help = did_you_mean(nearest(attr, known), there)
                raise _impossible(f"`{name}` has no attribute `{attr}`", help)
    return pattern.possible


def with_dtype(pattern: DFPattern, dtype: DataType) -> Possible:
    """The expressions of a pattern whose values may have a dtype."""
    kinds = _narrow(pattern, _TYPED, "only tensors and scalars have a dtype")
    return _with_dtype(pattern, pattern.possible._replace(kinds=kinds), dtype)


def _with_dtype(pattern: DFPattern, known: Possible, dtype: DataType) -> Possible:
    if known.dtype is not None and known.dtype != dtype:
        raise _impossible(f"`{pattern!r}` has the dtype {known.dtype}, not {dtype}")
    for info in known.infos:
        found = getattr(info, "dtype", None)
        if found is None and type(info) is not ObjectStructInfo:
            raise _impossible(f"`{pattern!r}` is {info.noun}, which has no dtype")
        if found not in (None, "void", dtype):
            raise _impossible(f"`{pattern!r}` has the dtype {found}, not {dtype}")
    return known._replace(dtype=dtype)


def with_shape(pattern: DFPattern, shape: tuple[PrimExpr, ...]) -> Possible:
    """The expressions of a pattern that may be tensors of a shape."""
    kinds = _narrow(pattern, _TENSORS, "only tensors have a shape")
    known = pattern.possible._replace(kinds=kinds)
    return _with_info(pattern, known, TensorStructInfo(ShapeExpr(shape), DataType("void")))


def with_info(pattern: DFPattern, info: StructInfo) -> Possible:
    """The expressions of a pattern that a StructInfo may describe."""
    wanted = _OF_INFO.get(type(info))
    known = pattern.possible
    if wanted is not None:
        needed = f"`{info!r}` describes {info.noun}"
        known = known._replace(kinds=_narrow(pattern, wanted, needed))
    return _with_info(pattern, known, info)


def _with_info(pattern: DFPattern, known: Possible, info: StructInfo) -> Possible:
    for other in known.infos:
        if check_compatibility(other, info) is NO and check_compatibility(info, other) is NO:
            raise _impossible(f"`{pattern!r}` is `{other!r}`, which no `{info!r}` is")
    made = known._replace(infos=(*known.infos, info))
    return made if made.dtype is None else _with_dtype(pattern, made, made.dtype)


def check_use(link: Link, word: str) -> None:
    """Refuse a use that no consumer can have: of what has no operands, or too few."""
    from .pattern import CallPattern

    consumer = link.consumer
    kinds = consumer.possible.kinds
    if kinds is not None and not kinds & _USERS:
        raise pattern_error(
            f"`{consumer!r}` uses nothing: it is {_noun(kinds)}",
            f"`a.{word}(b)` has the producer first, the consumer second",
        )
    if link.index < -1:
        raise pattern_error(f"an argument at index {link.index} is none; -1 means any of them")
    if isinstance(consumer, CallPattern) and not consumer.varg_default_wildcard:
        count = len(consumer.args)
        if link.index >= count:
            raise pattern_error(
                f"`{consumer!r}` has {quantity(count, 'argument')}, so nothing is used as its "
                f"argument {link.index}",
                "arguments count from 0; -1 means any of them",
            )
