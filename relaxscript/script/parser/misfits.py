"""Arguments that do not fit the parameters of a function of Python: which, in the user's words."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.errors import Diagnostic, Edit, Label, Span, did_you_mean
from relaxscript.op.spellings import meant_keyword

from .blame import Failed
from .script_context import ScriptContext

__all__ = ["misfit_of", "unknown_keyword"]


def misfit_of(
    cx: ScriptContext, signature: inspect.Signature, node: ast.Call, count: int,
    kwargs: Mapping[str, Any], defined: Span | None = None,
) -> Failed:  # fmt: skip
    """Record why `count` arguments by position and those by name do not fit.

    `defined` is where the function stands, if that is in the user's text.
    """
    taken = list(signature.parameters.values())
    plain = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    written = cx.written(node.func)
    help = f"it is called as `{written}({_listed(signature)})`"
    labels = [(defined, "defined here")]
    at: ast.AST = node
    named = [p.name for p in taken if p.kind in _BY_NAME]
    anything = any(p.kind is p.VAR_KEYWORD for p in taken)
    unknown = [name for name in kwargs if name not in named]
    if unknown and not anything:
        return unknown_keyword(cx, node, unknown[0], named, help, defined)
    twice = [p.name for p in plain[:count] if p.name in kwargs]
    if twice:
        at = next((k for k in node.keywords if k.arg == twice[0]), at)
        message = f"`{written}` is given `{twice[0]}` twice"
        return cx.error(at, "RX0103", message, help=help, labels=labels)
    if count > len(plain) and not any(p.kind is p.VAR_POSITIONAL for p in taken):
        takes = f"{len(plain)} argument{'s' if len(plain) != 1 else ''} by position"
        at = node.args[len(plain)] if len(node.args) == count else at
        message = f"`{written}` takes {takes}, {count} are given"
        return cx.error(at, "RX0103", message, help=help, labels=labels)
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    missing = [
        f"`{p.name}`" for p in taken
        if p.default is p.empty and p.kind not in variable
        and p.name not in kwargs and p not in plain[:count]
    ]  # fmt: skip
    message = f"`{written}` needs {' and '.join(missing)}"
    return cx.error(node, "RX0103", message, help=help, labels=labels)


def unknown_keyword(
    cx: ScriptContext, node: ast.Call, name: str, named: Sequence[str], help: str | None,
    defined: Span | None = None, code: str = "RX0103",
) -> Failed:  # fmt: skip
    """Record an argument by a name that no parameter has."""
    keyword = next((k for k in node.keywords if k.arg == name), None)
    span = cx.span(node) if keyword is None else cx.source.name_span(keyword)
    near = meant_keyword(name, named)
    edits = (Edit(span, near),) if near and keyword is not None and span is not None else ()
    labels = () if defined is None else (Label(defined, "defined here"),)
    message = f"`{cx.written(node.func)}` has no parameter `{name}`"
    offer = did_you_mean(near, help)
    return cx.report(Diagnostic(code, message, span, labels, (), offer, edits))


_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _listed(signature: inspect.Signature) -> str:
    """The parameters of a macro without annotations."""
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(plain)).strip("()")
