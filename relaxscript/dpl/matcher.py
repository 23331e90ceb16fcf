"""The matcher of one expression: a list of goals, and choices to come back to.

A goal is a pattern and the expression that it has to match. Patterns with several ways, `|`,
swapped operands and unordered tuples, leave a choice: what is to be done instead where a later goal
fails. Neither deep patterns nor long chains of bindings take any recursion.

A variable with a known value is looked at as that value; a wildcard takes it as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from relaxscript.analysis import get_var2val
from relaxscript.arith import YES, all_of, prove_equal
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.relax import (
    Call,
    Constant,
    DataflowVar,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    LeafExpr,
    Op,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.op import REGISTRY
from relaxscript.op.binary import add, multiply
from relaxscript.sinfo import is_subtype, prove_same_shape

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

__all__ = [
    "COMMUTATIVE", "FAIL", "Failure", "Goals", "KnownValues", "Match", "Matcher", "Step",
    "attributes_of", "match_expr", "require_expression", "same_attribute", "same_attributes",
    "same_shape",
]  # fmt: skip

# The operators whose operands a pattern takes in either order.
COMMUTATIVE = frozenset({add.name, multiply.name})

# Goals still to be met: the first one's pattern and expression, and the others.
Goals = Any  # tuple[DFPattern | Step, Expr, Goals] | None
FAIL: Any = object()


class KnownValues(Protocol):
    """The values of variables, as far as they are known."""

    def get(self, var: Any, /) -> Expr | None:
        """The value of a variable, or None."""


class Failure(NamedTuple):
    """A goal that was not met, and all that matched by then."""

    goal: DFPattern | Step
    expr: Expr | None
    memo: dict[DFPattern, Expr]


class Match:
    """The expressions that each part of a pattern matched."""

    def __init__(self, memo: dict[DFPattern, Expr], resolve: Callable[[Expr], Expr]) -> None:
        self.memo = memo
        self.resolve = resolve

    def values(self) -> dict[DFPattern, Expr]:
        """The expression of each part: of a variable whose value is known that value."""
        return {pattern: self.resolve(expr) for pattern, expr in self.memo.items()}

    def as_met(self) -> dict[DFPattern, Expr]:
        """As `values`, but what wildcards match is the operand itself."""
        return {
            pattern: expr if isinstance(pattern, WildcardPattern) else self.resolve(expr)
            for pattern, expr in self.memo.items()
        }


class Step(ABC):
    """A goal of the matcher's own: `take` gives the goals that are left, or `FAIL`."""

    __slots__ = ()

    @abstractmethod
    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Meet the goal, and give those that follow."""


class Matcher:
    """One search; `memo` is what the parts of the pattern match so far."""

    def __init__(self, values: KnownValues | None = None) -> None:
        self.known: KnownValues = {} if values is None else values
        # The values in functions that a pattern looks into.
        self.inner: dict[Var, Expr] = {}
        self.memo: dict[DFPattern, Expr] = {}
        self.choices: list[tuple[Goals, int]] = []
        # The failure before which most matched, where somebody wants to know.
        self.explains = False
        self.failure: Failure | None = None
        self._expected: frozenset[DFPattern] = frozenset()

    def value_of(self, var: Expr) -> Expr | None:
        """The value of a variable, or None where it has none that is known."""
        found = self.known.get(var)
        return self.inner.get(var) if found is None and self.inner else found  # type: ignore[call-overload]

    def resolve(self, expr: Expr) -> Expr:
        """The value behind a variable, as far as it is known."""
        while isinstance(expr, Var):
            value = self.value_of(expr)
            if value is None:
                return expr
            expr = value
        return expr

    def origin(self, expr: Expr) -> Expr:
        """The variable behind others that were only given its value."""
        while isinstance(expr, Var):
            value = self.value_of(expr)
            if not isinstance(value, Var):
                return expr
            expr = value
        return expr

    def is_same(self, a: Expr, b: Expr) -> bool:
        """True if two expressions are one value: one variable, one node, or equal constants."""
        if a is b:
            return True
        a, b = self.origin(a), self.origin(b)
        if a is b:
            return True
        if isinstance(a, Var) and isinstance(b, Var):
            return False
        a, b = self.resolve(a), self.resolve(b)
        if isinstance(a, Var) or isinstance(b, Var):
            return False
        return a is b or (
            isinstance(a, LeafExpr) and isinstance(b, LeafExpr) and structural_equal(a, b)
        )

    def match(self, pattern: DFPattern, expr: Expr) -> Match | None:
        """The match of an expression, or None."""
        if (
            pattern.__class__ is CallPattern
            and expr.__class__ is Call
            and pattern.operator is not None
            and (expr.op.__class__ is not Op or expr.op.name != pattern.operator)
            and not self.explains
        ):
            return None  # which most calls of a program are
        return self.match_all((pattern, expr, None))

    def match_all(self, goals: Goals) -> Match | None:
        """The match that meets all goals, or None."""
        self.memo = {}
        self.choices.clear()
        return Match(self.memo, self.resolve) if self._search(goals) else None

    def _search(self, goals: Goals) -> bool:
        memo, choices = self.memo, self.choices
        while goals is not None:
            pattern, expr, rest = goals
            step = _STEPS.get(pattern.__class__)
            if step is None:
                goals = pattern.take(self, rest)
            else:
                known = memo.get(pattern)
                if known is None:
                    memo[pattern] = expr
                    goals = step(self, pattern, expr, rest)
                else:
                    goals = rest if known is expr or self.is_same(known, expr) else FAIL
            if goals is FAIL:
                if self.explains:
                    self.note(pattern, expr)
                if not choices:
                    return False
                goals, length = choices.pop()
                while len(memo) > length:
                    memo.popitem()
        return True

    def explain_without(self, expected: frozenset[DFPattern]) -> None:
        """Keep the failure before which most matched; of these patterns none is worth a word."""
        self.explains, self._expected = True, expected

    def note(self, goal: DFPattern | Step, expr: Expr | None) -> None:
        """Keep a failure, where no other came as far."""
        if goal not in self._expected and (
            self.failure is None or len(self.memo) > len(self.failure.memo)
        ):
            self.failure = Failure(goal, expr, dict(self.memo))

    def choose(self, goals: Goals) -> None:
        """Have these goals tried where those that are tried now fail."""
        self.choices.append((goals, len(self.memo)))


def require_expression(expr: Any) -> Expr:
    """The expression that is to be matched; anything else is refused."""
    if isinstance(expr, Expr):
        return expr
    message = f"patterns match expressions, not a {type(expr).__name__}"
    help = "functions, blocks and modules have expressions inside: match these"
    raise DiagnosticError(Diagnostic("RX0201", message, caller_span(), help=help))


def match_expr(
    pattern: DFPattern, expr: Expr, var2val: Mapping[Var, Expr] | None = None
) -> Match | None:
    """The match of an expression, or None; raises `DiagnosticError` for what is none."""
    return Matcher(var2val).match(pattern, require_expression(expr))


# -- steps: the goals that are left when an expression matches as far as this, or FAIL -------------


def _anything(m: Matcher, p: WildcardPattern, expr: Expr, rest: Goals) -> Goals:
    return rest


def _expression(m: Matcher, p: ExprPattern, expr: Expr, rest: Goals) -> Goals:
    wanted = p.expr
    if isinstance(wanted, Var):
        return rest if m.origin(wanted) is m.origin(expr) else FAIL
    found = m.resolve(expr)
    if isinstance(wanted, Op):
        return rest if isinstance(found, Op) and found.name == wanted.name else FAIL
    return rest if structural_equal(wanted, found) else FAIL


def _variable(m: Matcher, p: VarPattern, expr: Expr, rest: Goals) -> Goals:
    found = m.resolve(expr)
    wanted = DataflowVar if isinstance(p, DataflowVarPattern) else Var
    if isinstance(found, wanted) and p.name_hint in ("", found.name_hint):
        return rest
    return FAIL


def _constant(m: Matcher, p: ConstantPattern, expr: Expr, rest: Goals) -> Goals:
    return rest if isinstance(m.resolve(expr), Constant) else FAIL


def _global_var(m: Matcher, p: GlobalVarPattern, expr: Expr, rest: Goals) -> Goals:
    found = m.resolve(expr)
    if isinstance(found, GlobalVar) and p.name_hint in ("", found.name_hint):
        return rest
    return FAIL


def _extern_func(m: Matcher, p: ExternFuncPattern, expr: Expr, rest: Goals) -> Goals:
    found = m.resolve(expr)
    if isinstance(found, ExternFunc) and p.global_symbol in ("", found.global_symbol):
        return rest
    return FAIL


def _goals(m: Matcher, patterns: Sequence[DFPattern], exprs: Sequence[Expr], rest: Goals) -> Goals:
    """Goals of some operands in their order, then the rest; wildcards are met at once."""
    memo = m.memo
    left: list[tuple[DFPattern, Expr]] = []
    for pattern, expr in zip(patterns, exprs):
        if pattern.__class__ is WildcardPattern and pattern not in memo:
            memo[pattern] = expr
        else:
            left.append((pattern, expr))
    while left:
        rest = (*left.pop(), rest)
    return rest


def _call(m: Matcher, p: CallPattern, expr: Expr, rest: Goals) -> Goals:
    found = expr if expr.__class__ is Call else m.resolve(expr)
    if found.__class__ is not Call:
        return FAIL
    op, args, patterns = found.op, found.args, p.args
    name = p.operator
    if name is not None and (op.__class__ is not Op or op.name != name):
        return FAIL
    if len(args) != len(patterns) and (len(args) < len(patterns) or not p.varg_default_wildcard):
        return FAIL
    if name is None:
        return (p.op, op, _goals(m, patterns, args, rest))
    m.memo[p.op] = op
    if name in COMMUTATIVE and len(patterns) == 2 == len(args) and args[0] is not args[1]:
        m.choose((patterns[0], args[1], (patterns[1], args[0], rest)))
    return _goals(m, patterns, args, rest)


def _function(m: Matcher, p: FunctionPattern, expr: Expr, rest: Goals) -> Goals:
    found = m.resolve(expr)
    if not isinstance(found, Function):
        return FAIL
    m.inner.update(get_var2val(found))
    body = found.body.body if isinstance(found.body, SeqExpr) else found.body
    rest = (p.body, body, rest)
    if p.params is None:
        return rest
    return _goals(m, p.params, found.params, rest) if len(p.params) == len(found.params) else FAIL


def _tuple(m: Matcher, p: TuplePattern, expr: Expr, rest: Goals) -> Goals:
    found = m.resolve(expr)
    if isinstance(found, Tuple) and len(found.fields) == len(p.fields):
        return _goals(m, p.fields, found.fields, rest)
    return FAIL


def _unordered(m: Matcher, p: UnorderedTuplePattern, expr: Expr, rest: Goals) -> Goals:
    found = m.resolve(expr)
    if isinstance(found, Tuple) and len(found.fields) == len(p.fields):
        return _Fields(p.fields, found.fields).take(m, rest)
    return FAIL


class _Fields(Step):
    """Patterns of which each is to match another one of some expressions."""

    __slots__ = ("exprs", "patterns")

    def __init__(self, patterns: Sequence[DFPattern], exprs: tuple[Expr, ...]) -> None:
        self.patterns = patterns
        self.exprs = exprs

    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Try the first pattern on each expression that is left, the first one first."""
        if not self.patterns:
            return goals
        ways = []
        for i, expr in enumerate(self.exprs):
            others = _Fields(self.patterns[1:], (*self.exprs[:i], *self.exprs[i + 1 :]))
            ways.append((self.patterns[0], expr, (others, None, goals)))
        for way in reversed(ways[1:]):
            matcher.choose(way)
        return ways[0]


def _item(m: Matcher, p: TupleGetItemPattern, expr: Expr, rest: Goals) -> Goals:
    found = m.resolve(expr)
    if isinstance(found, TupleGetItem) and p.index in (None, found.index):
        return (p.tuple_value, found.tuple_value, rest)
    return FAIL


def _either(m: Matcher, p: OrPattern, expr: Expr, rest: Goals) -> Goals:
    m.choose((p.right, expr, rest))
    return (p.left, expr, rest)


def _both(m: Matcher, p: AndPattern, expr: Expr, rest: Goals) -> Goals:
    return (p.left, expr, (p.right, expr, rest))


def _rejection(m: Matcher, p: NotPattern, expr: Expr, rest: Goals) -> Goals:
    # Where what is rejected fails, the choice made here goes on with the rest.
    height = len(m.choices)
    m.choose(rest if rest is not None else (_DONE, None, None))
    return (p.to_reject, expr, (_Refuse(height, p, expr), None, None))


class _Refuse(Step):
    """Reached where what is to be rejected matches: the choice that goes on is withdrawn."""

    __slots__ = ("expr", "height", "part")

    def __init__(self, height: int, part: NotPattern, expr: Expr) -> None:
        self.height = height
        self.part = part
        self.expr = expr

    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Forget the choices made since, and fail."""
        del matcher.choices[self.height :]
        if matcher.explains:
            matcher.note(self.part, self.expr)
        return FAIL


class _Done(Step):
    """Nothing that is left to do."""

    __slots__ = ()

    def take(self, matcher: Matcher, goals: Goals) -> Goals:
        """Go on."""
        return goals


_DONE = _Done()


def _info_of(expr: Expr) -> StructInfo | None:
    return expr.struct_info


def _struct_info(m: Matcher, p: StructInfoPattern, expr: Expr, rest: Goals) -> Goals:
    info = _info_of(expr)
    if info is None or is_subtype(info, p.struct_info) is not YES:
        return FAIL
    return (p.pattern, expr, rest)


def _type(m: Matcher, p: TypePattern, expr: Expr, rest: Goals) -> Goals:
    if _info_of(expr) is None or not structural_equal(expr.checked_type, p.ttype):
        return FAIL
    return (p.pattern, expr, rest)


def _dtype(m: Matcher, p: DataTypePattern, expr: Expr, rest: Goals) -> Goals:
    found = getattr(_info_of(expr), "dtype", None)
    return (p.pattern, expr, rest) if found == p.dtype else FAIL


def _shape(m: Matcher, p: ShapePattern, expr: Expr, rest: Goals) -> Goals:
    found = getattr(_info_of(expr), "dims", None)
    if found is None or not _same_dims(p.shape, found):
        return FAIL
    return (p.pattern, expr, rest)


def _same_dims(wanted: Sequence[Any], found: Sequence[Any]) -> bool:
    if len(wanted) != len(found):
        return False
    return all_of(prove_equal(a, b) for a, b in zip(wanted, found)) is YES


def _shape_value(m: Matcher, p: PrimArrPattern, expr: Expr, rest: Goals) -> Goals:
    found = m.resolve(expr)
    return rest if isinstance(found, ShapeExpr) and _same_dims(p.shape, found.values) else FAIL


def attributes_of(expr: Expr) -> Mapping[str, Any] | None:
    """The attributes of a call or function, with those that a call leaves to its operator."""
    if isinstance(expr, Function):
        return expr.attrs or {}
    if not isinstance(expr, Call):
        return None
    operator = REGISTRY.get(expr.op.name) if isinstance(expr.op, Op) else None
    given: Mapping[str, Any] = expr.attrs or {}
    return given if operator is None else {**operator.attributes(expr), **given}


def _attrs(m: Matcher, p: AttrPattern, expr: Expr, rest: Goals) -> Goals:
    found = attributes_of(m.resolve(expr))
    if found is None or not same_attributes(p.attrs, found):
        return FAIL
    return (p.pattern, expr, rest)


def same_attributes(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """True if the attributes that are wanted are among those found, with the same values."""
    for name, value in wanted.items():
        if name not in found or not same_attribute(value, found[name]):
            return False
    return True


def same_attribute(wanted: Any, found: Any) -> bool:
    """True if two values of an attribute are equal, as `structural_equal` has it."""
    if isinstance(wanted, (tuple, list)) and isinstance(found, (tuple, list)):
        return len(wanted) == len(found) and all(map(same_attribute, wanted, found))
    if isinstance(wanted, bool) or isinstance(found, bool):
        return wanted is found
    if isinstance(wanted, (int, float, str)) and isinstance(found, (int, float, str)):
        return type(wanted) is type(found) and wanted == found
    return bool(wanted == found) if isinstance(wanted, str) else structural_equal(wanted, found)


_STEPS: dict[type, Callable[[Matcher, Any, Expr, Goals], Goals]] = {
    WildcardPattern: _anything,
    ExprPattern: _expression,
    VarPattern: _variable,
    DataflowVarPattern: _variable,
    ConstantPattern: _constant,
    GlobalVarPattern: _global_var,
    ExternFuncPattern: _extern_func,
    CallPattern: _call,
    FunctionPattern: _function,
    TuplePattern: _tuple,
    UnorderedTuplePattern: _unordered,
    TupleGetItemPattern: _item,
    OrPattern: _either,
    AndPattern: _both,
    NotPattern: _rejection,
    StructInfoPattern: _struct_info,
    TypePattern: _type,
    DataTypePattern: _dtype,
    ShapePattern: _shape,
    PrimArrPattern: _shape_value,
    AttrPattern: _attrs,
}


def same_shape(exprs: Sequence[Expr]) -> bool:
    """True if tensors are sure to be of one shape."""
    shapes = [getattr(_info_of(expr), "shape", None) for expr in exprs]
    first = shapes[0]
    return all(
        a is not None and first is not None and prove_same_shape(a, first) is YES for a in shapes
    )
