"""What is wrong, as data: a `Diagnostic` has a code, one sentence, a place, facts about places.

How a diagnostic is shown stands in `render.py`, how it is raised in `exceptions.py`. Tone: the
message says what is wrong; each label states a fact about its spot; `help` is something to type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .span import Span

Severity = Literal["error", "warning"]

# What Python would call such a mistake: a `TypeError` (a value of another kind, data type or device
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
        object.__setattr__(self, "labels", tuple(Label(*label) for label in self.labels))
        object.__setattr__(self, "notes", tuple(self.notes))
        object.__setattr__(self, "fix", tuple(Edit(*edit) for edit in self.fix))
        object.__setattr__(self, "nature", self.nature or NATURES.get(self.code))

    def __str__(self) -> str:
        from .render import render

        return render(self)

    def _repr_html_(self) -> str:
        from .render import render

        return render(self, "html")


# Longer names are compared with none: what stands there is no slip of anybody's.
MOST_LETTERS = 200


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that somebody who wrote `name` most likely meant, or None.

    Case and underscores count among equals only; otherwise one slip (a letter wrong, missing, too
    many, or two swapped) is allowed for every three letters. Two letters swapped, one doubled and
    an `s` at the end are likelier slips than others. Failing that, a candidate that begins with
    `name`. Most candidates are passed by at a glance; the others cost their length times the slips
    that are allowed.
    """
    wanted = _plain(name)
    if len(wanted) > MOST_LETTERS:
        return None
    letters = set(wanted)
    close = []
    longer = []
    most = len(wanted) + MOST_LETTERS  # slips with which a candidate is still as likely as others
    for place, other in enumerate(dict.fromkeys(candidates)):
        plain = _plain(other)
        if other == name:
            continue
        if len(wanted) >= 3 and plain.startswith(wanted):
            longer.append(other)
        limit = min(most, max(len(wanted), len(plain)) // 3)
        # A letter that only one of the two has is a slip.
        if abs(len(wanted) - len(plain)) > limit or len(letters.difference(plain)) > limit:
            continue
        slips = _slips(wanted, plain, limit)
        if slips <= limit:
            exact = _slips(name, other, max(len(name), len(other)))
            first = other[:1].lower() != name[:1].lower()
            likely = _unlikelihood(wanted, plain)
            most = min(most, likely // _LIKELY)
            close.append((likely, first, abs(len(other) - len(name)), exact, place, other))
    if close:
        return min(close)[-1]
    return min(longer, key=len, default=None)


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


# How unlikely slips are: two neighbours swapped, a letter doubled or single, an `s` at the end; any
# other letter that is missing, or a digit wrong; a letter that is too many, or wrong.
_LIKELY, _MISSING, _OTHER = 4, 5, 6


def _unlikelihood(written: str, meant: str) -> int:
    """How unlikely it is that somebody who meant one plain name wrote the other."""
    singled = [_LIKELY if j and meant[j] == meant[j - 1] else _MISSING for j in range(len(meant))]
    before: list[int] = []
    last = [sum(singled[:j]) for j in range(len(meant) + 1)]
    for i, letter in enumerate(written):
        repeats = (i > 0 and letter == written[i - 1]) or (letter == "s" == written[i:])
        extra = _LIKELY if repeats else _OTHER
        row = [last[0] + extra]
        for j, other in enumerate(meant):
            digits = letter.isdigit() and other.isdigit()
            wrong = 0 if letter == other else _MISSING if digits else _OTHER
            best = min(last[j + 1] + extra, row[j] + singled[j], last[j] + wrong)
            if i and j and letter == meant[j - 1] and written[i - 1] == other != letter:
                best = min(best, before[j - 1] + _LIKELY)
            row.append(best)
        before, last = last, row
    return last[-1]


def _slips(a: str, b: str, limit: int) -> int:
    """The edit distance in which swapping two neighbours is one step, or more than `limit`."""
    far = limit + 1
    same = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    a, b = a[same:], b[same:]
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        # Off the diagonal by more than `limit`, there are more slips than that.
        low, high = max(1, i - limit), min(len(b), i + limit)
        row = [far] * (len(b) + 1)
        row[0] = i
        for j in range(low, high + 1):
            other = b[j - 1]
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                best = min(best, before[j - 2] + 1)
            row[j] = best
        if min(row) > limit:
            return far
        before, last = last, row
    return last[-1]
