"""Rewriters that a module describes: `pattern` is what is matched, `replacement` what it becomes.

    @R.rewriter
    class Twice:
        @R.function
        def pattern(x: R.Tensor(("n",), "float32")):
            return R.add(x, x)

        @R.function
        def replacement(x: R.Tensor(("n",), "float32")):
            return R.multiply(x, R.const(2, "float32"))

    mod = Twice(mod)

Source: TVM `PatternMatchingRewriter.from_module`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.analysis import get_var2val
from relaxscript.arith import NO, YES, prove_equal
from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    Label,
    Span,
    did_you_mean,
    nearest,
    quantity,
)
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import (
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    SeqExpr,
    ShapeExpr,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import compounds, post_order, substitute, variables
from relaxscript.sinfo import (
    check_compatibility,
    definable_shape_vars,
    is_subtype,
    shape_var_mapping,
    substitute_shape_vars,
)

from .graph import operands_of
from .of_expression import pattern_of
from .pattern import AttrPattern, CallPattern, DFPattern, TuplePattern, WildcardPattern
from .rewriter import ExprPatternRewriter, PatternMatchingRewriter, TupleRewriter

__all__ = ["rewriter_of"]

_NAMES = ("pattern", "replacement")


def rewriter_of(mod: IRModule) -> PatternMatchingRewriter:
    """The rewriter that a module describes; raises `DiagnosticError` where it describes none."""
    if not isinstance(mod, IRModule):
        raise _mistake(f"a rewriter is made of a module, not of a {type(mod).__name__}")
    pattern, replacement = _function(mod, "pattern"), _function(mod, "replacement")
    _check_alike(pattern, replacement)
    rule = _Rule(pattern, replacement)
    made = rule.pattern
    results = made.fields if isinstance(made, TuplePattern) else [made]
    for result in results:
        if not isinstance(result, (CallPattern, AttrPattern)):
            raise _mistake(
                "`pattern` of a rewriter returns something else than results of calls",
                pattern.ret_span or pattern.span, "return what is to be replaced",
            )  # fmt: skip
    if isinstance(made, TuplePattern):
        return TupleRewriter(results, rule, mod)
    return ExprPatternRewriter(made, rule, mod)


def _mistake(
    message: str, span: Span | None = None, help: str | None = None, labels: Sequence[Label] = ()
) -> DiagnosticError:
    where = span or caller_span()
    return DiagnosticError(Diagnostic("RX0709", message, where, tuple(labels), help=help))


def _function(mod: IRModule, name: str) -> Function:
    found = mod.functions.get(mod.get_global_var(name)) if name in mod else None
    if not isinstance(found, Function):
        others = [v.name_hint for v in mod.relax_functions() if v.name_hint not in _NAMES]
        near = nearest(name, others)
        raise _mistake(
            f"a module that describes a rewriter has a Relax function `{name}`",
            None if near is None else mod[near].span,
            did_you_mean(
                None if near is None else name,
                "write `pattern` and `replacement`, with the same parameters",
            ),
        )
    for node in compounds(found):
        if isinstance(node, (MatchCast, If)) or (isinstance(node, Function) and node is not found):
            what = {MatchCast: "a match_cast", If: "an `if`"}.get(type(node), "a function")
            raise _mistake(
                f"`{name}` of a rewriter has {what}, and only calls and tuples are matched",
                node.span, "write it as calls of operators, or use `rewrite_call`",
            )  # fmt: skip
    for global_var in (node for node in post_order(found) if isinstance(node, GlobalVar)):
        if name == "replacement":
            raise _mistake(
                f"`replacement` calls `{global_var.name_hint}` of its own module, which the "
                "rewritten module does not have",
                global_var.span, "call operators and packed functions",
            )  # fmt: skip
    return found


def _check_alike(pattern: Function, replacement: Function) -> None:
    mine, theirs = pattern.params, replacement.params
    if len(mine) != len(theirs):
        raise _mistake(
            f"`pattern` has {quantity(len(mine), 'parameter')}, and `replacement` {len(theirs)}",
            replacement.span, "give both the same parameters",
        )  # fmt: skip
    infos = [tuple(p.struct_info for p in params) for params in (mine, theirs)]
    names = shape_var_mapping(infos[1], infos[0])
    for a, b in zip(mine, theirs):
        if not structural_equal(substitute_shape_vars(b.struct_info, names), a.struct_info):
            raise _mistake(
                f"the parameter `{a.name_hint}` of `pattern` is `{a.struct_info!r}`, and in "
                f"`replacement` `{b.struct_info!r}`",
                b.span or replacement.span, "give both functions the same parameters",
            )  # fmt: skip
    given, known = replacement.ret_struct_info, pattern.ret_struct_info
    if given is None or known is None:
        return
    given = substitute_shape_vars(given, names)
    scope = {v for info in infos[0] for v in definable_shape_vars(info)}
    if check_compatibility(given, known, in_scope=scope) is NO:
        raise _mistake(
            f"`pattern` returns `{known!r}`, and `replacement` `{given!r}`",
            replacement.ret_span or replacement.span, "return a value of the same StructInfo",
        )  # fmt: skip


def _result(func: Function) -> Expr:
    """The expression that a function returns, over its parameters: values stand for variables."""
    made: dict[Any, Expr] = {}
    for var, value in get_var2val(func).items():  # what a value uses comes before it
        made[var] = _in_place(value, made)
    return _in_place(_body(func), made)


def _body(func: Function) -> Expr:
    return func.body.body if isinstance(func.body, SeqExpr) else func.body


def _in_place(expr: Expr, made: dict[Any, Expr]) -> Expr:
    used = {var: made[var] for var in variables(expr) if var in made}
    return made[expr] if expr in made else substitute(expr, used) if used else expr


class _Rule:
    """The rewriter of what `pattern` returns: what `replacement` returns, of the same operands."""

    def __init__(self, pattern: Function, replacement: Function) -> None:
        self.params = pattern.params
        self.infos = tuple(param.struct_info for param in pattern.params)
        self.operands: dict[Expr, DFPattern] = {p: WildcardPattern() for p in pattern.params}
        own = {v for info in self.infos for v in definable_shape_vars(info)}
        # Shapes that mention variables of the pattern are compared when these are known.
        self.shapes: dict[Expr, DFPattern] = {
            node: WildcardPattern()
            for value in get_var2val(pattern).values()
            for node in operands_of(value)
            if isinstance(node, ShapeExpr) and not own.isdisjoint(variables(node))
        }
        known: dict[Expr, DFPattern] = {**self.operands, **self.shapes}
        self.pattern = pattern_of(_body(pattern), get_var2val(pattern), known)
        self.template = _result(replacement)
        self.their_params = replacement.params
        self.their_infos = tuple(param.struct_info for param in replacement.params)

    def __call__(self, matched: Expr, matchings: dict[DFPattern, Expr]) -> Expr:
        """The replacement of what was matched; what was matched where it does not fit."""
        args = [matchings[self.operands[param]] for param in self.params]
        given = tuple(arg.struct_info for arg in args)
        dims = shape_var_mapping(self.infos, given)
        for info, actual in zip(self.infos, given):
            if is_subtype(actual, substitute_shape_vars(info, dims)) is not YES:
                return matched
        for shape, part in self.shapes.items():
            if not _same_dims(substitute(shape, dims), matchings[part]):
                return matched
        mapping: dict[Any, Node] = dict(zip(self.their_params, args))
        mapping |= shape_var_mapping(self.their_infos, given)
        return substitute(self.template, mapping)


def _same_dims(wanted: Expr, found: Expr) -> bool:
    if not isinstance(wanted, ShapeExpr) or not isinstance(found, ShapeExpr):
        return False
    if len(wanted.values) != len(found.values):
        return False
    pairs: zip[tuple[PrimExpr, PrimExpr]] = zip(wanted.values, found.values)
    return all(prove_equal(a, b) is YES for a, b in pairs)
