"""Places and names in errors of a run, the same for the interpreter and for bytecode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from relaxscript.errors import Span, VMError
from relaxscript.ir import relax
from relaxscript.op import Trait, traits_of
from relaxscript.op.calls import call_builtin_with_ctx
from relaxscript.runtime.builtins import MATCH_CAST

from .check_calls import check_of

__all__ = [
    "WRITES_INTO_ARGS",
    "is_from_inside",
    "locate_errors",
    "locate_errors_in_signature",
    "name_of_call",
    "name_of_matched",
    "name_of_result",
    "name_operands",
    "span_of_binding",
    "span_of_body",
    "span_of_parameter",
    "span_of_result",
    "span_of_signature",
]

# Traits of operators whose callee gives its results in its arguments.
WRITES_INTO_ARGS = {Trait.DESTINATION_PASSING, Trait.WRITES_ARGS}


@contextmanager
def locate_errors(*spans: Span | None) -> Iterator[None]:
    """Failures inside blame the first of `spans` that is known, unless they name a place."""
    try:
        yield
    except VMError as error:
        error.locate(next((span for span in spans if span is not None), None))
        raise


@contextmanager
def name_operands(call: relax.Call) -> Iterator[None]:
    """Failures of an operator call its operands as the program does, where no text does."""
    try:
        yield
    except VMError as error:
        if call.span is None:
            names = zip(error.operands, call.args)
            error.call_operands({n: a.name_hint for n, a in names if isinstance(a, relax.Var)})
        raise


def span_of_binding(binding: relax.Binding) -> Span | None:
    """The place of what a binding computes: the value, or the whole of a match_cast."""
    if isinstance(binding, relax.MatchCast):
        return binding.span or binding.value.span
    value = binding.value
    if isinstance(value, relax.Var):  # which is elsewhere: where it was bound
        return binding.span or value.span
    return value.span or binding.span


def span_of_parameter(param: relax.Var) -> Span | None:
    """A parameter with its annotation: to blame for an argument that does not fit."""
    nodes = (param, param.struct_info)
    spans = [node.span for node in nodes if node is not None and node.span is not None]
    return Span.cover(*spans) if spans else None


def span_of_signature(function: relax.Function) -> Span | None:
    """The parameters of a function: to blame for a wrong number of arguments."""
    spans = [span for p in function.params if (span := span_of_parameter(p)) is not None]
    return Span.cover(*spans) if spans else function.span


@contextmanager
def locate_errors_in_signature(function: relax.Function) -> Iterator[None]:
    """Failures inside blame the parameter for an argument, or all parameters."""
    try:
        yield
    except VMError as error:
        params = function.params
        culprit = params[error.argument : error.argument + 1] if error.argument is not None else ()
        place = span_of_parameter(culprit[0]) if culprit else None
        error.locate(place or span_of_signature(function))
        raise


def span_of_body(seq: relax.SeqExpr) -> Span | None:
    """The value of a SeqExpr, where it is written."""
    return seq.body_span or seq.body.span


def span_of_result(function: relax.Function) -> Span | None:
    """The place of what a function returns: to blame when it does not fit the return annotation."""
    body = function.body
    return getattr(body, "body_span", None) or body.span or function.span


def is_from_inside(error: VMError, place: Span | None) -> bool:
    """True if a failure comes from something called at `place`, not from `place` itself.

    That is a PrimFunc with places of its own, or a run inside a packed function.
    """
    outside = place is not None and error.span is not None and not place.contains(error.span)
    return outside or any(note.startswith("in `") for note in error.diagnostic.notes)


def name_of_matched(binding: relax.MatchCast) -> str:
    """The name of what a match_cast looks at."""
    name = getattr(binding.value, "name_hint", None)
    return f"`{name}`" if name else "the value matched"


def name_of_result(binding: relax.Binding, held: Callable[[relax.Var], Any]) -> str:
    """The name of what gave a variable its value: a function that was called, else the variable.

    `held` gives the value of a variable: a function that is a value is called what it calls itself.
    """
    check = check_of(binding.value)
    if check is not None and check[0] == MATCH_CAST:
        words = check[1][1]
        assert isinstance(words, relax.StringImm)
        return words.value
    match binding.value:
        case relax.Call(op=call_builtin_with_ctx.op):
            return f"`{binding.var.name_hint}`"
        case relax.Call(op=op, args=(callee, *_)) if Trait.CALLS_OUT in traits_of(op):
            if traits_of(op) & WRITES_INTO_ARGS:
                return name_of_call(callee) or f"`{binding.var.name_hint}`"
        case relax.Call(op=callee):
            pass
        case _:
            return f"`{binding.var.name_hint}`"
    own = getattr(held(callee), "name", None) if isinstance(callee, relax.Var) else None
    if isinstance(own, str):
        return f"the result of `{own}`"
    return name_of_call(callee) or f"`{binding.var.name_hint}`"


def name_of_call(callee: relax.Expr) -> str | None:
    """The result of a function that is called, None where the callee has no name."""
    match callee:
        case relax.GlobalVar(name) | relax.Var(name) | relax.ExternFunc(name):
            return f"the result of `{name}`"
    return None
