"""Constructors of patterns, by TVM's names.

conv = is_op("relax.nn.conv2d")(wildcard(), is_const())
pattern = is_op("relax.nn.relu")(conv.has_dtype("float32"))
pattern.match(call)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import did_you_mean, nearest
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, Op
from relaxscript.op import REGISTRY
from relaxscript.op.binary import add
from relaxscript.op.calls import call_dps_packed, call_tir
from relaxscript.op.manipulate.shapes import reshape

from .constraints import pattern_error
from .pattern import (
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataflowVarPattern,
    DataTypePattern,
    DFPattern,
    ExprPattern,
    ExternFuncPattern,
    GlobalVarPattern,
    NotPattern,
    PrimArrPattern,
    TupleGetItemPattern,
    TuplePattern,
    UnorderedTuplePattern,
    VarPattern,
    WildcardPattern,
)

__all__ = [
    "has_attr", "has_dtype", "is_call_dps_packed", "is_call_packed", "is_call_tir", "is_const",
    "is_dfv", "is_expr", "is_gv", "is_op", "is_shape", "is_tuple", "is_tuple_get_item", "is_var",
    "make_fused_bias_activation_pattern", "reject", "wildcard",
]  # fmt: skip


def is_var(name: str = "") -> VarPattern:
    """A variable that stands for itself, such as a parameter; any, or the one of a name."""
    return VarPattern(name)


def is_gv(name: str = "") -> GlobalVarPattern:
    """A function of the module; any, or the one of a name."""
    return GlobalVarPattern(name)


def is_dfv(name: str = "") -> DataflowVarPattern:
    """A variable of a dataflow block; any, or the one of a name."""
    return DataflowVarPattern(name)


def is_const() -> ConstantPattern:
    """Any constant tensor."""
    return ConstantPattern()


def is_expr(expr: Expr) -> ExprPattern:
    """One expression: a variable itself, anything else by structure."""
    return ExprPattern(expr)


def is_op(op_name: str) -> ExprPattern:
    """An operator by its full name, `is_op("relax.add")`; call it to have its calls.

    Raises `DiagnosticError` for a name that no operator has.
    """
    if not isinstance(op_name, str) or (op_name not in REGISTRY and op_name not in INTRINSICS):
        name = op_name if isinstance(op_name, str) else type(op_name).__name__
        meant = f"relax.{name}" if f"relax.{name}" in REGISTRY else nearest(name, REGISTRY)
        help = did_you_mean(meant, 'operators have full names, `is_op("relax.add")`')
        raise pattern_error(f"there is no operator `{name}`", help, code="RX0101")
    return ExprPattern(Op.get(op_name))


def is_tuple(
    fields: Sequence[DFPattern], unordered: bool = False
) -> TuplePattern | UnorderedTuplePattern:
    """A tuple, field by field; `unordered` in any order."""
    made = tuple(fields) if isinstance(fields, (list, tuple)) else fields
    return UnorderedTuplePattern(made) if unordered else TuplePattern(made)


def is_tuple_get_item(tuple_value: DFPattern, index: int | None = None) -> TupleGetItemPattern:
    """The field of a tuple at an index; None is any."""
    return TupleGetItemPattern(tuple_value, index)


def wildcard() -> WildcardPattern:
    """Anything; one wildcard at several places is the same value there."""
    return WildcardPattern()


def has_dtype(dtype: str | DataType, pattern: DFPattern | None = None) -> DataTypePattern:
    """A tensor or scalar of a dtype, which a pattern matches."""
    return DataTypePattern(wildcard() if pattern is None else pattern, dtype)  # type: ignore[arg-type]


def is_shape(shape: Sequence[PrimExpr | int]) -> PrimArrPattern:
    """A shape as a value: `is_shape([2, 3])` matches `R.shape([2, 3])`."""
    return PrimArrPattern(shape)  # type: ignore[arg-type]


def _arguments(args: Sequence[DFPattern] | TuplePattern | None) -> DFPattern:
    if args is None:
        return wildcard()
    return args if isinstance(args, DFPattern) else TuplePattern(args)


def is_call_tir(
    func_name: str,
    args: Sequence[DFPattern] | TuplePattern | None = None,
    tir_vars: DFPattern | None = None,
) -> CallPattern:
    """A call of a PrimFunc of the module, `R.call_tir(func_name, args, ...)`; None is any."""
    operands = [GlobalVarPattern(func_name), _arguments(args)]
    if tir_vars is not None:
        operands.append(tir_vars)
    return ExprPattern(call_tir.op)(*operands, add_constraint=False)


def is_call_dps_packed(
    func_name: str, args: Sequence[DFPattern] | TuplePattern | None = None
) -> CallPattern:
    """A call of a packed function that writes its result, `R.call_dps_packed(func_name, args)`."""
    operands = (ExternFuncPattern(func_name), _arguments(args))
    return ExprPattern(call_dps_packed.op)(*operands, add_constraint=False)


def is_call_packed(func_name: str, args: Sequence[DFPattern] | None = None) -> CallPattern:
    """A call of a packed function, `R.call_packed(func_name, *args)`; None is any arguments."""
    if args is None:
        return ExternFuncPattern(func_name)(varg_default_wildcard=True, add_constraint=False)
    return ExternFuncPattern(func_name)(*args)


def reject(pattern: DFPattern) -> NotPattern:
    """Everything that a pattern does not match, `~pattern`."""
    return NotPattern(pattern)


def has_attr(attrs: Mapping[str, Any], pattern: DFPattern | None = None) -> AttrPattern:
    """A call or function with these attributes, and maybe more, which a pattern matches."""
    return (wildcard() if pattern is None else pattern).has_attr(attrs)


def make_fused_bias_activation_pattern(
    op_name: str,
    with_bias: bool = False,
    activation: str | None = None,
    *,
    allow_reshape: bool = False,
) -> CallPattern:
    """A call of an operator of two operands, then a bias, then an activation.

    `allow_reshape` takes the bias through `R.reshape`.
    """
    out = is_op(op_name)(wildcard(), wildcard())
    if with_bias:
        bias: DFPattern = wildcard()
        if allow_reshape:
            bias = ExprPattern(reshape.op)(bias, wildcard())
        out = ExprPattern(add.op)(out, bias)
    return out if activation is None else is_op(activation)(out)
