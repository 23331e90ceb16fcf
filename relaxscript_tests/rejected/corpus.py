"""The wrong programs of this room as one corpus: every diagnostic that they get, and its words.

`python -m relaxscript_tests.rejected.corpus` counts them.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from relaxscript.errors import Diagnostic
from relaxscript.testing import diagnostics_of

__all__ = ["Found", "corpus", "programs", "share", "summary", "words_of"]


class Found(NamedTuple):
    """A diagnostic, and the test whose program gets it."""

    test: str
    diagnostic: Diagnostic


def programs() -> Iterator[tuple[str, Callable[[], object]]]:
    """The programs of the tests that `@rejected` makes, by the names of the tests."""
    package = "relaxscript_tests.rejected"
    for found in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not found.name.startswith("test_"):
            continue
        module = importlib.import_module(f"{package}.{found.name}")
        for name, value in vars(module).items():
            program = getattr(value, "program", None)
            if callable(program):
                yield f"{found.name}::{name}", program


@functools.cache
def corpus() -> tuple[Found, ...]:
    """All that is wrong with all programs."""
    return tuple(
        Found(name, diagnostic)
        for name, program in programs()
        for diagnostic in diagnostics_of(program)
    )


def words_of(diagnostic: Diagnostic) -> list[str]:
    """Everything that a diagnostic says: its message, labels, notes and help."""
    said = [diagnostic.message, *(label.text for label in diagnostic.labels), *diagnostic.notes]
    return [text for text in [*said, diagnostic.help or ""] if text]


def share(holds: Callable[[Diagnostic], object]) -> float:
    """The part of the corpus of which something is true."""
    found = corpus()
    return sum(bool(holds(diagnostic)) for _, diagnostic in found) / len(found)


def summary() -> str:
    """How large the corpus is, and how much of it has what."""
    found = [diagnostic for _, diagnostic in corpus()]
    codes, messages = {d.code for d in found}, {d.message for d in found}
    shares = {
        "a place": share(lambda d: d.span),
        "a label": share(lambda d: any(label.text for label in d.labels)),
        "help": share(lambda d: d.help),
        "a fix": share(lambda d: d.fix),
    }
    counted = f"{len(found)} diagnostics of {len(list(programs()))} programs"
    kinds = f"{len(codes)} codes, {len(messages)} messages"
    return "\n".join(
        [counted, kinds, *(f"{part:.0%} have {what}" for what, part in shares.items())]
    )


if __name__ == "__main__":
    print(summary())
