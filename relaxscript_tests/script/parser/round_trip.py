"""What every accepted program goes through: printed, parsed back, compared, and printed again."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from relaxscript.errors import RelaxWarning
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source

__all__ = ["accepted", "round_trip"]


def round_trip(program: Any) -> str:
    """The text of a program, which parses back to it and prints as itself."""
    text: str = program.script(show_meta=True)
    again = quietly(text)
    assert_structural_equal(again, program)
    assert again.script(show_meta=True) == text
    return text


def accepted(text: str, **options: Any) -> Any:
    """The program that a text means, after its round trip."""
    program = quietly(inspect.cleandoc(text), **options)
    round_trip(program)
    return program


def quietly(text: str, **options: Any) -> Any:
    """The program that a text means; what can only be checked at run time is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        return from_source(text, **options)
