"""Rewriters: rules that are applied to functions and modules until none matches.

    x = wildcard()
    twice = PatternMatchingRewriter.from_pattern(
        is_op("relax.add")(x, x), lambda _, found: op.multiply(found[x], const(2.0))
    )
    mod = twice(mod)

Source: TVM `relax.dpl` for names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from relaxscript.analysis import remove_all_unused
from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError, quantity
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import hooks
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Expr, Function, Tuple, Var

from .constraints import Constraints
from .context import PatternContext
from .pattern import DFPattern, require_pattern, require_patterns
from .rewrite_blocks import BlockRewriter
from .rewrite_calls import CallRewriter
from .rules import MOST_ROUNDS, ContextRule, ExprRewriter, ExprRule, endless, fields_made

__all__ = [
    "ExprPatternRewriter", "OrRewriter", "PatternMatchingRewriter", "TupleRewriter",
    "rewrite_bindings", "rewrite_call",
]  # fmt: skip

Rewritable = TypeVar("Rewritable", Function, IRModule)
Bindings = Callable[[dict[DFPattern, Expr], Mapping[Var, Expr]], Mapping[Var, Expr]]


def rewrite_call(pattern: DFPattern, rewriter: ExprRewriter, func: Function) -> Function:
    """The function in which each value that a pattern matches is what a rewriter makes of it.

    `rewriter(matched, matchings)` gives the new value, or the matched one to leave it. `matchings`
    has the expression of each part of the pattern, of a wildcard the operand itself. This
    goes on until nothing changes. A new value is typed again, and fits wherever the old one did.
    In dataflow blocks, what nothing needs any more goes. Elsewhere calls stay, since they may fail.
    Raises `DiagnosticError` for what is no expression, for another StructInfo, and for side effects
    that would be lost. It does so, too, where the rewriting does not come to an end.
    """
    return ExprPatternRewriter(pattern, rewriter)(func)


def rewrite_bindings(ctx: PatternContext, rewriter: Bindings, func: Function) -> Function:
    """The function in which the bindings that a context matches are what a rewriter makes of them.

    `rewriter(matchings, bindings)` gives new values by the variables whose values they replace, or
    none. `matchings` is what `ctx.match_dfb` gives, `bindings` has the values of the block.
    Only dataflow blocks are rewritten. Other rules are those of `rewrite_call`.
    """
    if not isinstance(ctx, PatternContext):
        raise _no_context(ctx)
    _require_function(func)
    rule = ContextRule("the context", ctx.constraints, rewriter)
    return _apply([], [rule], func, None)


def _no_context(ctx: Any) -> DiagnosticError:
    message = f"`rewrite_bindings` takes a PatternContext, not `{ctx!r}`"
    help = "`rewrite_call` takes a pattern"
    return DiagnosticError(Diagnostic("RX0709", message, caller_span(), help=help))


def _require_function(func: Any) -> None:
    if not isinstance(func, Function):
        message = f"a Relax function or module is rewritten, not a {type(func).__name__}"
        help = 'take a function of a module by its name: `mod["main"]`'
        raise DiagnosticError(Diagnostic("RX0201", message, caller_span(), help=help))


class PatternMatchingRewriter:
    """Rules that a call applies to a function, or to all Relax functions of a module.

    What comes in stays as it is; where nothing changes it is what comes out. `a | b` applies both.
    """

    # The rules for values and for blocks.
    expr_rules: Sequence[ExprRule] = ()
    context_rules: Sequence[ContextRule] = ()
    # The module that describes them, where one does.
    described: IRModule | None = None

    @staticmethod
    def from_pattern(pattern: DFPattern, func: ExprRewriter) -> PatternMatchingRewriter:
        """The rewriter of what a pattern matches, as `rewrite_call` has it."""
        return ExprPatternRewriter(pattern, func)

    @staticmethod
    def from_module(mod: IRModule) -> PatternMatchingRewriter:
        """The rewriter that a module describes by its functions `pattern` and `replacement`.

        Both have the same parameters, which are what is matched. Shape variables of `pattern` stand
        for any dimension. Where it returns a tuple, several bindings of a dataflow block are
        replaced together. `R.rewriter` makes one of a class.
        """
        from .rewriter_module import rewriter_of

        return rewriter_of(mod)

    def __call__(self, obj: Rewritable) -> Rewritable:
        if isinstance(obj, IRModule):
            return self._module(obj)
        _require_function(obj)
        return _apply(self.expr_rules, self.context_rules, obj, None)

    def _module(self, mod: IRModule) -> IRModule:
        changed = {}
        for var, function in mod.relax_functions().items():
            made = _apply(self.expr_rules, self.context_rules, function, mod)
            if made is not function:
                changed[var] = made
        if not changed:
            return mod
        builder = BlockBuilder(mod)
        for var, function in changed.items():
            builder.update_func(var, function)
        return builder.get()

    def __or__(self, other: PatternMatchingRewriter) -> OrRewriter:
        return OrRewriter(self, other)

    def script(self, **options: Any) -> str:
        """The script of a rewriter that a module describes, with the options of `mod.script`.

        Raises `DiagnosticError` for others: what they do is a Python function.
        """
        if self.described is None:
            message = f"`{self!r}` has no script: what it does is a Python function"
            help = "write it as a class under `@R.rewriter`"
            raise DiagnosticError(Diagnostic("RX0709", message, caller_span(), help=help))
        text: str = hooks.script_of(self, declares=True, **options)
        return text


class ExprPatternRewriter(PatternMatchingRewriter):
    """The rewriter of what a pattern matches: `func(matched, matchings)` gives the new value."""

    def __init__(
        self, pattern: DFPattern, func: ExprRewriter, described: IRModule | None = None
    ) -> None:
        self.pattern = require_pattern(pattern, "what is rewritten")
        self.func = func
        self.described = described
        self.expr_rules = (ExprRule(self.pattern, func),)

    def __repr__(self) -> str:
        return f"ExprPatternRewriter({self.pattern!r}, ...)"


class OrRewriter(PatternMatchingRewriter):
    """The rules of two rewriters; those of the left one are tried first."""

    def __init__(self, lhs: PatternMatchingRewriter, rhs: PatternMatchingRewriter) -> None:
        for side in (lhs, rhs):
            if not isinstance(side, PatternMatchingRewriter):
                message = f"`|` joins rewriters, and `{side!r}` is none"
                help = "make one: `PatternMatchingRewriter.from_pattern(pattern, func)`"
                raise DiagnosticError(Diagnostic("RX0709", message, caller_span(), help=help))
        self.lhs, self.rhs = lhs, rhs
        self.expr_rules = (*lhs.expr_rules, *rhs.expr_rules)
        self.context_rules = (*lhs.context_rules, *rhs.context_rules)

    def __repr__(self) -> str:
        return f"{self.lhs!r} | {self.rhs!r}"


class TupleRewriter(PatternMatchingRewriter):
    """The rewriter of several bindings of a dataflow block, one for each pattern.

    `func(matched, matchings)` takes the tuple of their variables and gives that of the new values.
    A match is left alone where the new values would depend on themselves.
    """

    def __init__(
        self,
        patterns: Sequence[DFPattern],
        func: ExprRewriter,
        described: IRModule | None = None,
    ) -> None:
        self.patterns = require_patterns(patterns, "pattern")
        self.func = func
        self.described = described
        constraints = Constraints()
        for pattern in self.patterns:
            constraints.add_part(pattern)
        name = ", ".join(map(repr, self.patterns))

        def rewritten(
            found: dict[DFPattern, Expr], bindings: Mapping[Var, Expr]
        ) -> Mapping[Var, Expr]:
            outputs = [found[pattern] for pattern in self.patterns]
            matched = Tuple(tuple(outputs))
            made = func(matched, found)
            if made is matched:
                return {}
            values = fields_made(made, len(outputs), name)
            return {
                var: value
                for var, value in zip(outputs, values)
                if isinstance(var, Var) and var in bindings
            }

        self.context_rules = (ContextRule(name, constraints, rewritten, may_skip=True),)

    def __repr__(self) -> str:
        return f"TupleRewriter([{', '.join(map(repr, self.patterns))}], ...)"


def _apply(
    expr_rules: Sequence[ExprRule],
    context_rules: Sequence[ContextRule],
    func: Function,
    mod: IRModule | None,
) -> Function:
    """The function when no rule changes it any more."""
    current = func
    for _ in range(MOST_ROUNDS):
        before, settled = current, True
        if expr_rules:
            calls = CallRewriter(expr_rules, mod)
            current = calls.function(current)
            settled = calls.is_settled
        if context_rules:
            made = BlockRewriter(context_rules, mod).function(current)
            settled = settled and (made is current or not expr_rules)
            current = made
        if current is before:
            return current
        current = remove_all_unused(current, module=mod)
        if settled and not context_rules:
            return current
    rule = repr(expr_rules[0].pattern) if expr_rules else context_rules[0].name
    raise endless(rule, "the function", quantity(MOST_ROUNDS, "round"))
