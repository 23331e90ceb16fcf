"""Names, parameters and defaults of `relax.dpl` beside those of TVM 0.20, and what differs."""

from __future__ import annotations

import inspect

import pytest

from relaxscript import dpl, relax

# What TVM has, as `def` would say it.
CONSTRUCTORS = """
is_var(name=''), is_gv(name=''), is_dfv(name=''), is_const(), is_expr(expr), is_op(op_name),
is_tuple(fields, unordered=False), is_tuple_get_item(tuple_value, index=None), wildcard(),
has_dtype(dtype, pattern=None), is_shape(shape), is_call_tir(func_name, args=None, tir_vars=None),
is_call_dps_packed(func_name, args=None), is_call_packed(func_name, args=None), reject(pattern),
has_attr(attrs, pattern=None),
make_fused_bias_activation_pattern(op_name, with_bias=False, activation=None),
rewrite_call(pattern, rewriter, func), rewrite_bindings(ctx, rewriter, func)
"""
CLASSES = """
ExprPattern(expr), VarPattern(name_hint=''), DataflowVarPattern(name_hint=''),
GlobalVarPattern(name_hint=''), ExternFuncPattern(global_symbol=''), ConstantPattern(),
CallPattern(op, args, varg_default_wildcard=False, add_constraint=True),
FunctionPattern(params, body), TuplePattern(fields), UnorderedTuplePattern(fields),
TupleGetItemPattern(tuple_value, index=None), OrPattern(left, right), AndPattern(left, right),
NotPattern(to_reject), WildcardPattern(), StructInfoPattern(pattern, struct_info),
TypePattern(pattern, ttype), DataTypePattern(pattern, dtype), ShapePattern(pattern, shape),
PrimArrPattern(shape), AttrPattern(pattern, attrs), SameShapeConstraint(*args),
PatternSeq(patterns, only_use=False), PatternContext(incremental=False),
ExprPatternRewriter(pattern, func), OrRewriter(lhs, rhs), TupleRewriter(patterns, func)
"""
METHODS = {
    "DFPattern": """
__call__(*args, varg_default_wildcard=False, add_constraint=True), has_attr(attrs),
has_struct_info(struct_info), has_type(ttype), has_dtype(dtype), has_shape(shape),
match(expr, var2val=None), extract_matched_expr(expr, var2val=None), used_by(other, index=-1),
only_used_by(other, index=-1), dup(), fork_to(*args), same_shape_as(*args), __or__(other),
__and__(other), __invert__(), __xor__(other), __rshift__(other)
""",
    "PatternSeq": """
used_by(other, index=-1), only_used_by(other, index=-1), __getitem__(index), dup(),
__xor__(other), __rshift__(other)
""",
    "PatternContext": "current(), match_dfb(dfb)",
    "PatternMatchingRewriter": """
from_pattern(pattern, func), from_module(mod), __call__(obj), __or__(other)
""",
    "DataflowBlockRewrite": """
replace_all_uses(old_var, new_var), add_binding(binding), add(expr, name=None, is_dfvar=False),
remove_unused(var, allow_undef=False), remove_all_unused(), mutated_dfb(), mutated_root_fn(),
mutate_irmodule(irmodule)
""",
}
# Ours take one thing more: a bias that is reshaped, as later versions of TVM have it, and the
# module that describes a rewriter.
MORE = {
    "make_fused_bias_activation_pattern": ", *, allow_reshape=False",
    "ExprPatternRewriter": ", described=None",
    "TupleRewriter": ", described=None",
}


def entries(text: str) -> dict[str, str]:
    """The signatures of a list by their names."""
    flat = " ".join(text.split())
    found = (part.rstrip("),").partition("(") for part in flat.split("), "))
    return {name: params for name, _, params in found}


def plain(function: object) -> str:
    """A signature without types and `self`, with the quotes of the list."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    parts = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    own = [p for p in parts if p.name != "self"]
    made = signature.replace(parameters=own, return_annotation=inspect.Signature.empty)
    return str(made)[1:-1]


@pytest.mark.parametrize(
    ("name", "params"), [*entries(CONSTRUCTORS).items(), *entries(CLASSES).items()]
)
def test_constructors_and_classes_take_what_those_of_tvm_take(name: str, params: str):
    assert plain(getattr(dpl, name)) == params + MORE.get(name, "")
    assert getattr(relax.dpl, name) is getattr(dpl, name)


@pytest.mark.parametrize("cls", METHODS)
def test_methods_take_what_those_of_tvm_take(cls: str):
    owner = getattr(dpl, cls, None) or getattr(relax, cls)
    expected = entries(METHODS[cls])
    assert {name: plain(getattr(owner, name)) for name in expected} == expected


def test_what_is_there_beside_the_names_of_tvm():
    known = {*entries(CONSTRUCTORS), *entries(CLASSES), *METHODS, "DFConstraint"}
    # Explanations have no counterpart in TVM.
    assert set(dpl.__all__) - known == {"explain_match"}
    assert known - set(dpl.__all__) == {"DataflowBlockRewrite"}  # that is in `binding_rewrite`
