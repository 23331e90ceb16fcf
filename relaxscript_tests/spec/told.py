"""What a user is told of a program: its diagnostics in short, for tests that compare them."""

from __future__ import annotations

import textwrap
from typing import Any

from relaxscript.errors import Diagnostic
from relaxscript.script import from_source
from relaxscript.testing import diagnostics_of

__all__ = ["accepted", "complete", "in_short", "told", "warned"]

IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T\n"


def complete(text: str) -> str:
    """A program that a test writes out, with the imports that all of them share."""
    return IMPORTS + textwrap.dedent(text)


def told(text: str, **options: Any) -> list[str]:
    """What the parser says: "error RX0308 loop" is an error under the word `loop`."""
    program = complete(text)
    return [in_short(d) for d in diagnostics_of(lambda: from_source(program, **options))]


def in_short(diagnostic: Diagnostic) -> str:
    """Severity, code, and the text that is blamed, in one line."""
    at = diagnostic.span
    where = "" if at is None else " ".join(at.text.split())
    return f"{diagnostic.severity} {diagnostic.code} {where}".rstrip()


def accepted(text: str) -> Any:
    """The module or function of a program about which there is nothing to say."""
    found, made = _parsed(text)
    assert [in_short(d) for d in found] == []
    return made


def warned(text: str) -> Any:
    """The module or function of a program that is taken with warnings, of which there are some."""
    found, made = _parsed(text)
    assert {d.severity for d in found} == {"warning"}
    return made


def _parsed(text: str) -> tuple[list[Diagnostic], Any]:
    made: list[Any] = []
    program = complete(text)
    found = diagnostics_of(lambda: made.append(from_source(program)))
    return found, made[0] if made else None
