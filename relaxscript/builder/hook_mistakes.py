"""Mistakes of mutators: what a hook gave, and what no longer fits where it is used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, Label, UnplacedError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Binding, BindingBlock, Expr, Var

__all__ = ["broken_use", "useless_result"]

_WANTED: dict[type[Node], tuple[str, str]] = {
    Expr: ("an expression", "op"),
    BindingBlock: ("a block of bindings", "block"),
    Var: ("a variable", "var"),
}


def useless_result(
    cls: type, hook: str, made: Any, kind: type[Node], node: Node, binding: Binding | None
) -> DiagnosticError:
    """The error where a hook gave for `node`, a part of `binding`, what is of another kind."""
    wanted, argument = _WANTED[kind]
    place = "" if binding is None else f" for `{binding.var.name_hint}`"
    message = f"`{cls.__name__}.{hook}` gave {brief(made)}{place}, where {wanted} is needed"
    help = f"end it with `return super().{hook}({argument})` to leave what it is given"
    span = node.span or (binding.span if binding else None) or caller_span()
    return DiagnosticError(Diagnostic("RX0201", message, span, help=help))


def broken_use(
    error: UnplacedError,
    cls: type,
    hook: str,
    node: Node,
    binding: Binding | None,
    changes: Iterable[tuple[Var, Var, str]],
) -> DiagnosticError:
    """The error where something in `binding` does not fit.

    `hook` was the last to change anything. `changes` are variables that the binding uses and of
    which something else is known now: the variable, what takes its place, and by which hook.
    """
    place = node.value if isinstance(node, Binding) else node
    span = place.span or (binding.span if binding else None) or caller_span()
    found = error.diagnostic(f"{cls.__name__}.{hook}", span, {})
    notes, labels, help = list(found.notes), list(found.labels), found.help
    for var, new, changer in changes:
        name = f"{cls.__name__}.{changer}"
        change = f"`{var.name_hint}` was `{var.struct_info!r}`"
        notes.append(f"{change}; `{name}` made it `{new.struct_info!r}`")
        help = f"give `{var.name_hint}` what it was in `{name}`, or rewrite its uses too"
        if var.span is not None and var.span != span:
            labels.append(Label(var.span, "something else is known of it now"))
    if binding is not None:
        notes.append(f"this is about the binding of `{binding.var.name_hint}`")
    made = replace(found, notes=tuple(notes), labels=tuple(labels), help=help)
    return DiagnosticError(made)
