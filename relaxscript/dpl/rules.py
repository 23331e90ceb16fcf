"""Rules: a pattern, and a function that says what takes the place of what it matches.

What a user's function gives is checked here, with the pattern and the binding by name: it is an
expression, of a StructInfo that fits wherever the old one did, and no side effect is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from relaxscript.analysis.call_graph import is_pure
from relaxscript.analysis.derive import Context
from relaxscript.arith import YES
from relaxscript.errors import Diagnostic, DiagnosticError, Label, quantity
from relaxscript.errors.exceptions import add_note
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Expr, Tuple, Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.sinfo import explain_mismatch, is_subtype

from .constraints import Constraints
from .pattern import DFPattern

__all__ = [
    "MOST_ROUNDS", "MOST_STEPS", "ContextRule", "ExprRewriter", "ExprRule", "check_fits",
    "check_keeps_effects", "endless", "fields_made", "naming_rewriter", "require_expr",
    "rewrite_error",
]  # fmt: skip

# How often what one binding became is rewritten again, and how often a whole function.
MOST_STEPS = 1000
MOST_ROUNDS = 100

ExprRewriter = Callable[[Expr, dict[DFPattern, Expr]], Expr]


class ExprRule(NamedTuple):
    """Replaces the value of a binding: what `rewriter` makes of it and of what was matched."""

    pattern: DFPattern
    rewriter: ExprRewriter


class ContextRule(NamedTuple):
    """Replaces the values of several bindings of a dataflow block.

    `rewriter` gives them by their variables, from what was matched and all values of the block.
    `may_skip` says that a match is left alone where the new values would depend on themselves.
    """

    name: str
    constraints: Constraints
    rewriter: Callable[[dict[DFPattern, Expr], Mapping[Var, Expr]], Mapping[Var, Expr]]
    may_skip: bool = False


def rewrite_error(
    message: str, binding: Binding | None = None, help: str | None = None, notes: Iterable[str] = ()
) -> DiagnosticError:
    """The error for a rewrite that cannot be made: at the user's call, with the binding's place."""
    span = caller_span()
    at = None if binding is None else binding.span
    labels = (
        [] if at is None or binding is None else [Label(at, f"`{binding.var.name_hint}` is here")]
    )
    return DiagnosticError(
        Diagnostic("RX0710", message, span, tuple(labels), notes=tuple(notes), help=help)
    )


@contextmanager
def naming_rewriter(rule: DFPattern | str, binding: Binding | None = None) -> Iterator[None]:
    """Have what a user's rewriter raises say whose rewriter it is, and of what."""
    try:
        yield
    except Exception as error:
        where = "" if binding is None else f" on `{binding.var.name_hint}`"
        add_note(error, f"the rewriter of `{rule!s}` failed{where}")
        raise


def require_expr(made: Any, rule: DFPattern | str, binding: Binding | None) -> Expr:
    """The expression that a rewriter gave; anything else is refused."""
    if isinstance(made, Expr):
        return made
    name = "" if binding is None else f" for `{binding.var.name_hint}`"
    raise rewrite_error(
        f"the rewriter of `{rule!s}` gives `{made!r}`{name}, which is no expression",
        binding, "return an expression, or the matched one to leave it as it is",
    )  # fmt: skip


def check_fits(
    made: StructInfo,
    known: StructInfo,
    rule: DFPattern | str,
    binding: Binding,
    context: Context,
) -> None:
    """Refuse a value that is not sure to fit wherever the old one did."""
    scope = context.shape_scope or ()
    if is_subtype(made, known, context.facts, in_scope=scope) is YES:
        return
    reason = explain_mismatch(made, known, context.facts, in_scope=scope)
    raise rewrite_error(
        f"the rewriter of `{rule!s}` changes what is known of `{binding.var.name_hint}`",
        binding,
        "give a value of the same StructInfo, or match less: `.has_dtype(...)`, `.has_shape(...)`",
        [f"it is `{known!r}`", f"the replacement is `{made!r}`", *([reason] if reason else [])],
    )


def check_keeps_effects(
    made: Expr, binding: Binding, rule: DFPattern | str, module: IRModule | None
) -> None:
    """Refuse to put a pure value into the place of a call with side effects."""
    context = Context(module)
    if is_pure(binding.value, context, otherwise=True) or not is_pure(made, context):
        return
    raise rewrite_error(
        f"the rewriter of `{rule!s}` drops the side effects of `{binding.var.name_hint}`",
        binding,
        "keep the call in what is returned, or match pure calls only",
    )


def endless(rule: str, name: str, count: str) -> DiagnosticError:
    """The error for rules that always match what they made themselves."""
    return rewrite_error(
        f"rewriting `{name}` by `{rule}` does not come to an end: after {count} it still matches",
        help="match what the rewriter does not make itself, or return the matched expression",
    )


def fields_made(made: Any, count: int, rule: str) -> tuple[Expr, ...]:
    """The values of several outputs, which a rewriter gave as a tuple."""
    fields = made.fields if isinstance(made, Tuple) else made
    if not isinstance(fields, (tuple, list)) or len(fields) != count:
        raise rewrite_error(
            f"the rewriter of `{rule}` gives `{made!r}`, and one value for each of "
            f"{quantity(count, 'pattern')} is wanted",
            help="return a tuple with a value for each pattern",
        )
    return tuple(require_expr(field, rule, None) for field in fields)
