"""Explanations of why a pattern does not match: which part of it stopped where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relaxscript.arith import format_expr
from relaxscript.errors import Diagnostic, did_you_mean, nearest, quantity, render
from relaxscript.ir.relax import (
    Call,
    DataflowBlock,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    Op,
    Tuple,
    TupleGetItem,
    Var,
)

from .context import PatternContext
from .format import format_with_places, inner_patterns
from .graph import Candidates, Different, LinkStep, SameShapes
from .matcher import Failure, Matcher, attributes_of, require_expression, same_attribute
from .pattern import (
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
    PrimArrPattern,
    ShapePattern,
    StructInfoPattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    UnorderedTuplePattern,
    VarPattern,
    require_pattern,
)
from .possible import noun_of

__all__ = ["explain_match"]

# How much of a long pattern is shown on each side of the part that stopped.
_AROUND = 60


def explain_match(
    pattern: DFPattern | PatternContext,
    expr: Expr | DataflowBlock,
    var2val: Mapping[Var, Expr] | None = None,
) -> str:
    """The reason why an expression does not match: the place in the source, and in the pattern.

    Where it is tried in several ways, the one that came farthest is told. A `PatternContext` is
    explained with a dataflow block. Cost: that of matching.
    """
    if isinstance(pattern, PatternContext):
        return _explain_context(pattern, expr)
    require_pattern(pattern, "what is explained")
    matcher = Matcher(var2val)
    matcher.explain_without(_rejected(pattern))
    if matcher.match(pattern, require_expression(expr)) is not None:
        return "the pattern matches"
    return _told([pattern], matcher)


def _explain_context(context: PatternContext, block: Any) -> str:
    search = context.search(block)
    rejected = [_rejected(part) for part in context.constraints.parts]
    search.matcher.explain_without(frozenset[DFPattern]().union(*rejected))
    if search.first() is not None:
        return "the patterns of the context match"
    if search.matcher.failure is None:
        return f"no binding of the block can be `{search.first_part!r}`"
    return _told([search.first_part, *context.constraints.parts], search.matcher)


def _rejected(root: DFPattern) -> frozenset[DFPattern]:
    """The patterns inside of those that are rejected: that they do not match is as it should be."""
    seen: set[tuple[DFPattern, bool]] = set()
    todo = [(root, False)]
    while todo:
        part, inside = todo.pop()
        if (part, inside) not in seen:
            seen.add((part, inside))
            inner = inside or isinstance(part, NotPattern)
            todo += [(p, inner) for p in inner_patterns(part)]
    return frozenset(part for part, inside in seen if inside)


def _told(roots: Sequence[DFPattern], matcher: Matcher) -> str:
    failure = matcher.failure
    assert failure is not None
    goal = failure.goal
    if isinstance(goal, DFPattern):
        assert failure.expr is not None
        reason = _reason(matcher, goal, failure)
        return _picture(roots, goal, failure.expr, reason, matcher)
    part, reason = _of_step(goal, failure)
    met = failure.memo.get(part)
    if met is None:
        return reason
    return _picture([part], part, met, reason, matcher)


def _picture(
    roots: Sequence[DFPattern], part: DFPattern, expr: Expr, reason: str, matcher: Matcher
) -> str:
    """The reason, the source line of the expression, and the pattern with the part marked."""
    name = f"`{expr.name_hint}` " if isinstance(expr, Var) else f"`{_brief(expr)}` "
    value = matcher.resolve(expr)
    span = value.span or expr.span
    drawn = render(Diagnostic("RX0709", name + reason, span)).split("\n")
    texts = map(format_with_places, roots)
    text, places = next(shown for shown in texts if part in shown[1])
    start, end = places[part]
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    shown = ("..." if first else "") + text[first:last] + ("..." if last < len(text) else "")
    offset = start - first + (3 if first else 0)
    marks = " " * offset + "^" * max(1, end - start)
    lines = [
        f"no match: {name}{reason}",
        *drawn[1:],
        "in the pattern",
        f"    {shown}",
        f"    {marks}",
    ]
    return "\n".join(lines)


def _brief(expr: Expr) -> str:
    text = repr(expr)
    return text if "\n" not in text and len(text) <= 80 else noun_of(expr)


def _of_step(goal: Any, failure: Failure) -> tuple[DFPattern, str]:
    """The part that a constraint stopped at, and why."""
    memo = failure.memo
    if isinstance(goal, LinkStep):
        link = goal.link
        sign = ">>" if link.only else "^"
        part = link.producer if link.producer in memo else link.consumer
        place = "" if link.index < 0 else f" as argument {link.index}"
        if link.producer in memo and link.consumer in memo:
            user = f"`{_name(memo[link.consumer])}`"
            only = ", and by nothing else" if link.only else ""
            return part, f"is not used by {user}{place}{only} (`{sign}`)"
        return part, f"has no such use{place} (`{sign}`)"
    if isinstance(goal, Candidates):
        return goal.part, f"nothing that could be `{goal.part!r}` is left in the block"
    if isinstance(goal, SameShapes):
        names = ", ".join(f"`{_name(memo[part])}`" for part in goal.parts if part in memo)
        return goal.parts[0], f"is not known to be of one shape with the others: {names}"
    assert isinstance(goal, Different)
    return goal.parts[0], "is matched by two patterns, which stand for different bindings"


def _name(expr: Expr) -> str:
    return expr.name_hint if isinstance(expr, Var) else _brief(expr)


def _reason(matcher: Matcher, part: DFPattern, failure: Failure) -> str:
    expr = failure.expr
    assert expr is not None
    known = failure.memo.get(part)
    if known is not None and known is not expr:
        return f"is another value than `{_name(known)}`, which this part matched before"
    found = matcher.resolve(expr)
    for cls in type(part).__mro__:
        said = _REASONS.get(cls)
        if said is not None:
            return said(part, expr, found)
    return "does not match"


def _callee(op: Expr) -> str:
    match op:
        case Op(name=name):
            return f"the operator `{name}`"
        case GlobalVar(name_hint=name):
            return f"the function `{name}`"
        case ExternFunc(global_symbol=name):
            return f"the packed function `{name}`"
    return noun_of(op)


def _call(part: CallPattern, expr: Expr, found: Expr) -> str:
    if not isinstance(found, Call):
        unknown = ", whose value is not known here" if isinstance(found, Var) else ""
        return f"is {noun_of(found)}{unknown}, not a call"
    if part.operator is not None and not (
        isinstance(found.op, Op) and found.op.name == part.operator
    ):
        return f"is a call of {_callee(found.op)}, not of `{part.operator}`"
    return f"has {quantity(len(found.args), 'argument')}, not {len(part.args)}"


def _expression(part: ExprPattern, expr: Expr, found: Expr) -> str:
    return f"is not `{_brief(part.expr)}`"


def _variable(part: VarPattern, expr: Expr, found: Expr) -> str:
    if not isinstance(found, Var):
        known = "bound to " if isinstance(expr, Var) else ""
        return f"is {known}{noun_of(found)}, not a variable that stands for itself"
    if part.name_hint not in ("", found.name_hint):
        return f"is called `{found.name_hint}`, not `{part.name_hint}`"
    return "is not a variable of a dataflow block"


def _named(noun: str, wanted: str, expr: Expr, found: Expr) -> str:
    name = getattr(found, "name_hint", None) or getattr(found, "global_symbol", None)
    if name is None or isinstance(found, Var):
        return f"is {noun_of(found)}, not {noun}"
    return f"is `{name}`, not `{wanted}`" if wanted else f"is {noun_of(found)}, not {noun}"


def _tuple(part: TuplePattern | UnorderedTuplePattern, expr: Expr, found: Expr) -> str:
    if isinstance(found, Tuple):
        return f"has {quantity(len(found.fields), 'field')}, not {len(part.fields)}"
    return f"is {noun_of(found)}, not a tuple"


def _function(part: FunctionPattern, expr: Expr, found: Expr) -> str:
    if isinstance(found, Function):
        count = 0 if part.params is None else len(part.params)
        return f"has {quantity(len(found.params), 'parameter')}, not {count}"
    return f"is {noun_of(found)}, not a function"


def _item(part: TupleGetItemPattern, expr: Expr, found: Expr) -> str:
    if isinstance(found, TupleGetItem):
        return f"is field {found.index}, not {part.index}"
    return f"is {noun_of(found)}, not a field of a tuple"


def _info(part: StructInfoPattern, expr: Expr, found: Expr) -> str:
    return f"is `{expr.struct_info!r}`, which is not sure to be `{part.struct_info!r}`"


def _dtype(part: DataTypePattern, expr: Expr, found: Expr) -> str:
    dtype = getattr(expr.struct_info, "dtype", None)
    return f"has no dtype, not {part.dtype}" if dtype is None else f"is {dtype}, not {part.dtype}"


def _shape(part: ShapePattern, expr: Expr, found: Expr) -> str:
    return f"is `{expr.struct_info!r}`, whose shape is not known to be `{_dims(part.shape)}`"


def _dims(shape: Any) -> str:
    return f"({', '.join(map(format_expr, shape))})"


def _attrs(part: AttrPattern, expr: Expr, found: Expr) -> str:
    attributes = attributes_of(found)
    if attributes is None:
        return f"is {noun_of(found)}, which has no attributes"
    for name, value in part.attrs.items():
        if name not in attributes:
            meant = did_you_mean(nearest(name, attributes), "")
            return f"has no attribute `{name}`" + (f"; {meant}" if meant else "")
        if not same_attribute(value, attributes[name]):
            return f"has the attribute `{name}={attributes[name]!r}`, not {value!r}"
    return "has other attributes"


_REASONS: dict[type, Callable[[Any, Expr, Expr], str]] = {
    CallPattern: _call,
    ExprPattern: _expression,
    DataflowVarPattern: _variable,
    VarPattern: _variable,
    ConstantPattern: lambda p, expr, found: f"is {noun_of(found)}, not a constant",
    GlobalVarPattern: lambda p, e, f: _named("a function of the module", p.name_hint, e, f),
    ExternFuncPattern: lambda p, e, f: _named("a packed function", p.global_symbol, e, f),
    FunctionPattern: _function,
    TuplePattern: _tuple,
    UnorderedTuplePattern: _tuple,
    TupleGetItemPattern: _item,
    NotPattern: lambda p, expr, found: f"matches `{p.to_reject!r}`, which is rejected",
    StructInfoPattern: _info,
    TypePattern: lambda p, expr, found: f"is a `{expr.checked_type!r}`, not a `{p.ttype!r}`",
    DataTypePattern: _dtype,
    ShapePattern: _shape,
    PrimArrPattern: lambda p, expr, found: f"is `{_brief(found)}`, not `{_dims(p.shape)}`",
    AttrPattern: _attrs,
}
