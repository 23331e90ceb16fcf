"""What is wrong, as data: a `Diagnostic` has a code, one sentence, a place, facts about places.

How a diagnostic is shown stands in `render.py`, how it is raised in `exceptions.py`. Tone: the
message says what is wrong; each label states a fact about its spot; `help` is something to type.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .span import Span

Severity = Literal["error", "warning"]


class Label(NamedTuple):
    """A place that matters and what is true there, in a few words: "has 63 rows"."""

    span: Span
    text: str


class Edit(NamedTuple):
    """The text at `span` is to be replaced by `new_text`; an empty span inserts."""

    span: Span
    new_text: str


@dataclass(frozen=True)
class Diagnostic:
    """One mistake.

    `code` is stable and has a page (`explain(code)`). `message` is one sentence without jargon.
    `span` is the culprit, exactly, or None where no text is to blame. A label whose span equals
    `span` says what is true of the culprit itself. `fix` is the help as edits, where it is
    mechanical.
    """

    code: str
    message: str
    span: Span | None
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    fix: tuple[Edit, ...] = ()
    severity: Severity = "error"

    def __post_init__(self) -> None:
        # People write lists and plain pairs; everybody who reads finds tuples of labels and edits.
        object.__setattr__(self, "labels", tuple(Label(*label) for label in self.labels))
        object.__setattr__(self, "notes", tuple(self.notes))
        object.__setattr__(self, "fix", tuple(Edit(*edit) for edit in self.fix))

    def __str__(self) -> str:
        from .render import render

        return render(self)

    def _repr_html_(self) -> str:
        from .render import render

        return render(self, "html")


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that somebody who wrote `name` most likely meant, or None.

    Case and underscores count among equals only; otherwise one slip (a letter wrong, missing, too
    many, or two swapped) is allowed for every three letters. Failing that, a candidate that begins
    with `name`.
    """
    names = list(dict.fromkeys(candidates))
    wanted = _plain(name)
    scored = [(_slips(wanted, _plain(other)), other) for other in names if other != name]
    close = [
        (slips, other[:1].lower() != name[:1].lower(), abs(len(other) - len(name)),
         _slips(name, other), place, other)
        for place, (slips, other) in enumerate(scored)
        if slips <= max(len(wanted), len(_plain(other))) // 3
    ]  # fmt: skip
    if close:
        return min(close)[-1]
    longer = [other for _, other in scored if len(wanted) >= 3 and _plain(other).startswith(wanted)]
    return min(longer, key=len, default=None)


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _slips(a: str, b: str) -> int:
    """The edit distance in which swapping two neighbours is one step."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, last = last, row
    return last[-1]
