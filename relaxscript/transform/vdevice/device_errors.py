"""Diagnostics about the devices of a program, at its source or in its printed script."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from relaxscript.errors import Diagnostic, DiagnosticError, Label, Span
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir import hooks
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Constant, Expr, GlobalVar, If, Op, Tuple, Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op import lookup

from .device_calls import listed_devices, wanted_device
from .device_flow import DeviceFlow
from .graph import DeviceConflict, Use

__all__ = ["refuse"]

__tracebackhide__ = is_user_error


class _Mistake(NamedTuple):
    """A diagnostic whose places are not known yet; the first of `facts` is about the culprit."""

    code: str
    message: str
    facts: tuple[tuple[Use, str], ...]
    help: str


def refuse(flow: DeviceFlow) -> None:
    """Raise `DiagnosticError` where a flow found mistakes."""
    found = [_conflict(conflict) for conflict in flow.conflicts]
    found += [_undecided_mistake(call, flow.module) for call in flow.undecided]
    found += [_unlisted_mistake(hint, flow.module) for hint in flow.unlisted]
    if found:
        raise DiagnosticError(list(_place_mistakes(found, flow.module)))


def _conflict(conflict: DeviceConflict) -> _Mistake:
    one, other = (device.short for device in conflict.devices)
    use = conflict.at
    match use.within if isinstance(use.node, StructInfo) else use.node:
        case Call() as call:
            message = f"{_callee(call)} cannot take tensors on {one} and on {other}"
        case If():
            message = f"the value of this `if` cannot be on {one} and on {other}"
        case Var(name_hint=name):
            message = f"`{name}` cannot be on {one} and on {other}"
        case _:
            message = f"this cannot be on {one} and on {other}"
    facts = [(use, f"cannot be on {one} and on {other}")]
    facts += [(origin, f"is on {where}") for origin, where in zip(conflict.origins, (one, other))]
    help = f'copy one of them to the other device: `R.to_vdevice(x, "{other}")`'
    return _Mistake("RX0210", message, tuple(facts), help)


def _undecided_mistake(call: Call, module: IRModule) -> _Mistake:
    operand, span = _operand(call)
    name = f"`{operand.name_hint}`" if isinstance(operand, Var) else "this"
    device = listed_devices(module)[0]
    return _Mistake(
        "RX0211",
        f"it is not known on which virtual device {_callee(call)} runs",
        ((Use(operand, call, span or call.span), f"nothing says where {name} is"),),
        f'say it where the tensor comes from: `R.Tensor(..., vdevice="{device.short}")`',
    )


def _operand(call: Call) -> tuple[Expr, Span | None]:
    """The first operand that may have a tensor, and its place."""
    stack = _with_spans(call.args, call.arg_spans)
    while stack:
        operand, span = stack.pop()
        match operand:
            case Tuple(fields, field_spans=spans):
                stack += _with_spans(fields, spans)
            case Var() | Constant():
                return operand, span
    return call, call.span


def _with_spans(
    exprs: tuple[Expr, ...], spans: tuple[Span | None, ...]
) -> list[tuple[Expr, Span | None]]:
    """Expressions and their places, the first one last."""
    return list(zip_longest(exprs, spans[: len(exprs)]))[::-1]


def _unlisted_mistake(hint: Call, module: IRModule) -> _Mistake:
    return _Mistake(
        "RX0324",
        f"the module has no virtual device `{wanted_device(hint).short}`",
        ((Use(hint, None, hint.span), "is a hint at it"),),
        f"the module has {', '.join(f'`{d.short}`' for d in listed_devices(module))}",
    )


def _callee(call: Call) -> str:
    match call.op:
        case Op() as op:
            return f"`R.{lookup(op).script_name}`"
        case GlobalVar(name) | Var(name_hint=name):
            return f"`{name}`"
    return "this call"


def _place_mistakes(found: list[_Mistake], module: IRModule) -> Iterator[Diagnostic]:
    """The diagnostics; in the printed script where some place has no source."""
    uses = [use for mistake in found for use, _ in mistake.facts]
    spans = [use.span for use in uses]
    if any(span is None for span in spans):
        spans = hooks.places(module, [(use.node, use.within) for use in uses])
    places = iter(spans)
    for mistake in found:
        labels: dict[Span, str] = {}
        for (_, text), span in zip(mistake.facts, places):
            if span is not None:
                labels[span] = text
        at = next(iter(labels), None)
        said = tuple(Label(span, text) for span, text in labels.items())
        yield Diagnostic(mistake.code, mistake.message, at, said, (), mistake.help)
