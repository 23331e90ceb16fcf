"""The wrong programs of all tests as one corpus: every diagnostic that they get, and its words.

A program stands beside what is accepted of the same construct.

`python -m relaxscript_tests.rejected.corpus` counts them.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from relaxscript.errors import Diagnostic
from relaxscript.testing import diagnostics_of
from relaxscript_tests.architecture import module_of, python_files

__all__ = ["Found", "corpus", "programs", "share", "summary", "words_of"]

OF_THE_DECORATOR = "relaxscript_tests/testing/test_rejected.py"


class Found(NamedTuple):
    """A diagnostic, and the test whose program gets it."""

    test: str
    diagnostic: Diagnostic


def programs() -> Iterator[tuple[str, Callable[[], object]]]:
    """The programs of the tests that `@rejected` makes, by the names of the tests."""
    for path, text in python_files("relaxscript_tests").items():
        if "\n@rejected\n" not in text or path == OF_THE_DECORATOR:
            continue
        module = importlib.import_module(module_of(path))
        for name, value in vars(module).items():
            program = getattr(value, "program", None)
            if callable(program):
                yield f"{path}::{name}", program


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
