"""Signatures as a reader wants them: names of types without the modules they are in."""

from __future__ import annotations

import inspect
import re
from typing import Any

__all__ = ["signature_of"]

_MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
_MOST = 70


def signature_of(value: Any, *, bound: bool = False) -> str:
    """The signature as text: `(mod: IRModule) -> Executable`, or `(...)` if Python cannot say."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(found.parameters.values())[1 if bound else 0 :]
    shown = [_parameter(parameter) for parameter in parameters]
    marked = inspect.Signature(shown, return_annotation=inspect.Signature.empty)
    text = _plain(str(marked))
    if found.return_annotation is not inspect.Signature.empty and not isinstance(value, type):
        text += f" -> {_plain(_written(found.return_annotation))}"
    return text


def _parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    annotation = parameter.annotation
    if annotation is not inspect.Parameter.empty:
        annotation = _Written(_written(annotation))
    default = parameter.default
    if default is not inspect.Parameter.empty:
        text = getattr(default, "__qualname__", repr(default))
        default = _Written(text if len(text) <= _MOST and "<" not in text else "...")
    return parameter.replace(annotation=annotation, default=default)


def _written(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _plain(text: str) -> str:
    return _MODULES.sub("", text)


class _Written:
    """What prints as the text it is made of."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text
