"""Patterns of expressions and dataflow graphs, and rewriting by them, by TVM's names.

    add = is_op("relax.add")(wildcard(), is_const())
    add.match(call)

`pattern.py` has the patterns, `constructors.py` the words that make them, `matcher.py` decides.

Source: TVM `relax.dpl`.
"""

from __future__ import annotations

from .constructors import (
    has_attr,
    has_dtype,
    is_call_dps_packed,
    is_call_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_expr,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    make_fused_bias_activation_pattern,
    reject,
    wildcard,
)
from .context import PatternContext
from .explain import explain_match
from .pattern import (
    AndPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataflowVarPattern,
    DataTypePattern,
    DFPattern,
    ExprPattern,
    ExternFuncPattern,
    FunctionPattern,
    GlobalVarPattern,
    NotPattern,
    OrPattern,
    PrimArrPattern,
    ShapePattern,
    StructInfoPattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    UnorderedTuplePattern,
    VarPattern,
    WildcardPattern,
)
from .rewriter import (
    ExprPatternRewriter,
    OrRewriter,
    PatternMatchingRewriter,
    TupleRewriter,
    rewrite_bindings,
    rewrite_call,
)
from .sequence import DFConstraint, PatternSeq, SameShapeConstraint

__all__ = [
    "AndPattern", "AttrPattern", "CallPattern", "ConstantPattern", "DFConstraint", "DFPattern",
    "DataTypePattern", "DataflowVarPattern", "ExprPattern", "ExprPatternRewriter",
    "ExternFuncPattern", "FunctionPattern", "GlobalVarPattern", "NotPattern", "OrPattern",
    "OrRewriter", "PatternContext", "PatternMatchingRewriter", "PatternSeq", "PrimArrPattern",
    "SameShapeConstraint", "ShapePattern", "StructInfoPattern", "TupleGetItemPattern",
    "TuplePattern", "TupleRewriter", "TypePattern", "UnorderedTuplePattern", "VarPattern",
    "WildcardPattern", "explain_match", "has_attr", "has_dtype", "is_call_dps_packed",
    "is_call_packed", "is_call_tir", "is_const", "is_dfv", "is_expr", "is_gv", "is_op", "is_shape",
    "is_tuple", "is_tuple_get_item", "is_var", "make_fused_bias_activation_pattern", "reject",
    "rewrite_bindings", "rewrite_call", "wildcard",
]  # fmt: skip
