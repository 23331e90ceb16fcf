"""Patterns of what is fused: a pattern of expressions, its name, and its conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relaxscript.dpl.constraints import pattern_error
from relaxscript.dpl.pattern import DFPattern, require_pattern
from relaxscript.errors import Diagnostic, DiagnosticError, Span
from relaxscript.ir.relax import DataflowVar, Expr, Var

__all__ = [
    "FusionPattern", "PatternCheckContext", "as_fusion_pattern", "codegen_of",
    "has_leaking_intermediate_variables",
]  # fmt: skip


@dataclass(frozen=True)
class PatternCheckContext:
    """The match of a pattern, for the `check` of a `FusionPattern`.

    `matched_expr` is the value that the whole pattern matched. `annotated_expr` has what the parts
    matched by the names of the annotations: the value of a call, and an operand itself.
    `matched_bindings` has the variables of the match with their values. The others are about the
    whole function. `var_usages` has the variables whose values use each variable, and
    `value_to_bound_var` the variable that each value is bound to.
    """

    matched_expr: Expr
    annotated_expr: Mapping[str, Expr]
    matched_bindings: Mapping[Var, Expr]
    var_usages: Mapping[Var, Sequence[Var]]
    value_to_bound_var: Mapping[Expr, Var]


def has_leaking_intermediate_variables(context: PatternCheckContext) -> bool:
    """True if a value inside of a match is used outside of it, or may be.

    A variable that leaves its dataflow block may be. The value of the whole match does not count.
    `FuseOpsByPattern` leaves such matches alone in any case; a `check` that asks says so first.

    Source: TVM `relax.backend.utils.has_leaking_intermediate_variables`.
    """
    inside = context.matched_bindings
    result = context.value_to_bound_var[context.matched_expr]
    return any(
        not isinstance(var, DataflowVar)
        or any(user not in inside for user in context.var_usages.get(var, ()))
        for var in inside
        if var is not result
    )


class FusionPattern:
    """A pattern of values to be fused, under the name that the function gets.

    The name is `codegen.what`, as in "cublas.matmul". `annotation_patterns` gives names to parts of
    the pattern. `check(context)` says whether a match is taken; `attrs_getter(annotated_expr)`
    gives attributes for its function. Raises `DiagnosticError` (RX0709) for what is no name, no
    pattern or no function.

    Source: TVM `relax.transform.FusionPattern`.
    """

    def __init__(
        self,
        name: str,
        pattern: DFPattern,
        annotation_patterns: Mapping[str, DFPattern] | None = None,
        check: Callable[[PatternCheckContext], bool] | None = None,
        attrs_getter: Callable[[dict[str, Expr]], Mapping[str, Any]] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            help = 'name the code generator and what it computes, as in "mine.matmul_relu"'
            raise pattern_error(f"a fusion pattern has a name, not `{name!r}`", help)
        self.name = name
        self.pattern = require_pattern(pattern, f'the fusion pattern "{name}"')
        self.annotation_patterns = {
            key: require_pattern(part, f"the annotation `{key}`")
            for key, part in dict(annotation_patterns or {}).items()
        }
        for word, function in (("check", check), ("attrs_getter", attrs_getter)):
            if function is not None and not callable(function):
                message = f'`{word}` of the fusion pattern "{name}" is no function: `{function!r}`'
                raise pattern_error(message, f"leave it out, or write `{word}=lambda found: ...`")
        self.check = check
        self.attrs_getter = attrs_getter

    def __repr__(self) -> str:
        return f"FusionPattern({self.name!r}, {self.pattern!r})"


def as_fusion_pattern(given: Any) -> FusionPattern:
    """The fusion pattern, or the one whose first arguments a tuple has."""
    if isinstance(given, FusionPattern):
        return given
    if isinstance(given, (tuple, list)) and 2 <= len(given) <= 5:
        return FusionPattern(*given)
    message = f"`{given!r}` is neither a `FusionPattern` nor a tuple of a name and a pattern"
    raise pattern_error(message, 'write `("mine.relu", is_op("relax.nn.relu")(wildcard()))`')


def codegen_of(name: str, span: Span | None = None) -> str:
    """The code generator that a name begins with: "cublas" of "cublas.matmul"."""
    codegen, dot, _ = name.partition(".")
    if codegen and dot:
        return codegen
    message = f'"{name}" names no code generator: that is what is before a dot'
    help = f'name the pattern "mine.{name.strip(".")}" for the code generator "mine"'
    raise DiagnosticError(Diagnostic("RX0709", message, span, help=help))
