"""Members of the namespaces `R`, `T` and `I`, and suggestions for misspelt ones.

Python evaluates `R.Tensr` in the annotations of a decorated function before any decorator runs.
Its own AttributeError would hide what the parser is about to report with its place. Likewise for a
misspelt decorator, after which nothing of ours would run at all.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from types import FrameType, ModuleType
from typing import Any, TypeGuard

from relaxscript.errors import Diagnostic, DiagnosticError, Edit, did_you_mean, meant_hint, nearest
from relaxscript.errors.user_frame import caller_frame, caller_span

from .annotations import Object, in_annotation

__all__ = ["absent_member", "is_namespace", "nearest_member", "public_names"]


def is_namespace(value: Any) -> TypeGuard[ModuleType]:
    """True if a value is a namespace of ours: `R`, `R.nn`, `T`."""
    return isinstance(value, ModuleType) and value.__name__.startswith("relaxscript.")


def public_names(namespace: ModuleType) -> Sequence[str]:
    """The names that a namespace offers."""
    return getattr(namespace, "__all__", None) or dir(namespace)


def nearest_member(namespace: ModuleType, name: str) -> str | None:
    """The member that a name may have meant, also one of a namespace inside: `nn.softmax`."""
    members = {member: member for member in public_names(namespace)}
    for part in list(members):
        inner = vars(namespace).get(part)
        if isinstance(inner, ModuleType):
            for member in getattr(inner, "__all__", ()):
                members.setdefault(member, f"{part}.{member}")
    near = name if name in members else nearest(name, members)
    return None if near is None else members[near]


def absent_member(namespace: ModuleType, letter: str, name: str) -> Any:
    """`__getattr__` of a namespace: `letter` is its usual name, as in `R.Tensr`.

    In an annotation it gives what stands for the unknown; the parser reports it. In the place of a
    decorator it raises `DiagnosticError` (RX0102), and anywhere else `AttributeError`.
    """
    near = None if name.startswith("_") else nearest_member(namespace, name)
    frame = None if name.startswith("_") else caller_frame()
    if in_annotation(frame):
        return Object
    message = f"`{letter}` has no `{name}`"
    if frame is not None and _in_decorator(frame):
        span = caller_span()
        help = did_you_mean(near and f"{letter}.{near}")
        written = span is not None and span.text == f"{letter}.{name}"
        fix = (Edit(span, f"{letter}.{near}"),) if near and span is not None and written else ()
        error = DiagnosticError(Diagnostic("RX0102", message, span, help=help, fix=fix))
        raise error.with_traceback(None) from None
    hint = meant_hint(near and f"{letter}.{near}")
    raise AttributeError(message + hint, name=name, obj=namespace)


def _in_decorator(frame: FrameType) -> bool:
    """True if a frame is evaluating a decorator just now."""
    text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    try:
        tree = ast.parse(text)
    except (SyntaxError, RecursionError):
        return False
    return any(
        decorator.lineno <= frame.f_lineno <= (decorator.end_lineno or decorator.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))
        for decorator in node.decorator_list
    )
