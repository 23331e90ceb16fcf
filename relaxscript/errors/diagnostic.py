"""Mistakes as data: a `Diagnostic` has a code, one sentence, a place, facts about places.

How a diagnostic is shown is defined in `render.py`, how it is raised in `exceptions.py`. Tone: the
message says what is wrong; each label states a fact about its spot; `help` is something to type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .span import Span

Severity = Literal["error", "warning"]

# What Python would call such a mistake: a `TypeError` (a value of another kind, dtype or device
# is wanted, or other arguments) or a `ValueError` (the kind is right and the value is not).
Nature = Literal["type", "value"]

# The nature of all mistakes of a code; others have none, or say theirs where they are raised.
NATURES: Mapping[str, Nature] = {
    "RX0103": "type",
    "RX0201": "type",
    "RX0202": "type",
    "RX0203": "value",
    "RX0204": "value",
    "RX0205": "type",
    "RX0206": "type",
    "RX0210": "type",
    "RX0211": "type",
}


class Label(NamedTuple):
    """A place that matters and what is true there, in a few words: "has 63 rows"."""

    span: Span
    text: str


class Edit(NamedTuple):
    """The text at `span` is to be replaced by `new_text`; an empty span inserts."""

    span: Span
    new_text: str


# Nobody reads a word, or a string of the program, that is as long as this.
_LONG = re.compile(r'"[^"\n]{300,}"|[^\s"`]{300,}')


def shorten_quotes(text: str) -> str:
    """A sentence with the beginnings of very long names and strings only."""
    if len(text) <= 300:
        return text
    return _LONG.sub(lambda found: f"{found[0][:60]}..." + '"' * (found[0][0] == '"'), text)


@dataclass(frozen=True)
class Diagnostic:
    """One mistake.

    `code` is stable and has a page (`explain(code)`). `message` is one sentence without jargon.
    `span` is the culprit, exactly, or None where no text is to blame. A label whose span equals
    `span` says what is true of the culprit itself. `fix` is the help as edits, where it is
    mechanical. `nature` is what Python would call it; that of the code, where nothing is said.
    """

    code: str
    message: str
    span: Span | None
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    fix: tuple[Edit, ...] = ()
    severity: Severity = "error"
    nature: Nature | None = None

    def __post_init__(self) -> None:
        # People write lists and plain pairs; everybody who reads finds tuples of labels and edits.
        labels = tuple(Label(span, shorten_quotes(text)) for span, text in self.labels)
        object.__setattr__(self, "message", shorten_quotes(self.message))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "notes", tuple(map(shorten_quotes, self.notes)))
        object.__setattr__(self, "help", self.help and shorten_quotes(self.help))
        object.__setattr__(self, "fix", tuple(Edit(*edit) for edit in self.fix))
        object.__setattr__(self, "nature", self.nature or NATURES.get(self.code))

    def __str__(self) -> str:
        from .render import render

        return render(self)

    def _repr_html_(self) -> str:
        from .render import render

        return render(self, "html")
