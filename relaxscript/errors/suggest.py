"""Suggestions of names: the nearest of the names that there are, and how it is offered.

    meant = nearest(name, known)
    help = did_you_mean(meant, f"there are {', '.join(known)}")

Every "did you mean" is made here, so that all offer alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

__all__ = ["MOST_LETTERS", "did_you_mean", "meant_hint", "meant_notes", "nearest"]


@overload
def did_you_mean(meant: str, *, quote: str = ...) -> str: ...
@overload
def did_you_mean(meant: str | None, otherwise: str, quote: str = ...) -> str: ...
@overload
def did_you_mean(
    meant: str | None, otherwise: str | None = ..., quote: str = ...
) -> str | None: ...
def did_you_mean(meant: str | None, otherwise: str | None = None, quote: str = "`") -> str | None:
    """The help that offers what was meant; `otherwise` where nothing is near."""
    return otherwise if meant is None else f"did you mean {quote}{meant}{quote}?"


def meant_notes(meant: str | None) -> list[str]:
    """The offer as the notes of an error; no note where nothing is near."""
    return [] if meant is None else [did_you_mean(meant)]


def meant_hint(meant: str | None, quote: str = "`") -> str:
    """The offer as the end of a message; "" where nothing is near."""
    return "" if meant is None else f"; {did_you_mean(meant, quote=quote)}"


# Longer names are compared with none: what is there is no slip of anybody's.
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
# other letter that is missing; a digit wrong; a letter that is too many, or wrong.
_LIKELY, _MISSING, _DIGIT, _OTHER = 8, 10, 11, 12


def _unlikelihood(written: str, meant: str) -> int:
    """The unlikelihood that somebody who meant one plain name wrote the other."""
    singled = [_LIKELY if j and meant[j] == meant[j - 1] else _MISSING for j in range(len(meant))]
    before: list[int] = []
    last = [sum(singled[:j]) for j in range(len(meant) + 1)]
    for i, letter in enumerate(written):
        repeats = (i > 0 and letter == written[i - 1]) or (letter == "s" == written[i:])
        extra = _LIKELY if repeats else _OTHER
        row = [last[0] + extra]
        for j, other in enumerate(meant):
            digits = letter.isdigit() and other.isdigit()
            wrong = 0 if letter == other else _DIGIT if digits else _OTHER
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
