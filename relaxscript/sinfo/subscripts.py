"""Subscripts of sums of products by named axes: "ij,jk->ik".

Source: TVM `topi.einsum`, numpy.
"""

from __future__ import annotations

import functools

from relaxscript.errors import OperandError

__all__ = ["ELLIPSIS", "Label", "labels_of", "letters_of", "parse_subscripts"]

ELLIPSIS = "..."
# An axis by its letter; those of an ellipsis count from its end: -1 is the last.
Label = str | int


@functools.lru_cache
def parse_subscripts(subscripts: str) -> tuple[tuple[str, ...], str]:
    """The axes of each operand, and those of the result; raises `OperandError` (RX0204)."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    letters = "".join(letters_of(term) for term in inputs)
    if not all(c.isascii() and c.isalpha() for c in letters + letters_of(output)):
        raise _unreadable(
            subscripts, 'subscripts have the form "ij,jk->ik": letters, commas, `...` and one arrow'
        )
    dots = ELLIPSIS if ELLIPSIS in left else ""
    if not arrow:
        output = dots + "".join(c for c in sorted(set(letters)) if letters.count(c) == 1)
    unknown = [c for c in letters_of(output) if c not in letters]
    if unknown:
        raise _unreadable(subscripts, f"`{unknown[0]}` is an axis of the result, and of no operand")
    if len(set(letters_of(output))) < len(letters_of(output)):
        raise _unreadable(subscripts, "an axis appears twice in the result")
    if dots not in output:
        raise _unreadable(subscripts, "the axes of `...` are missing in the result")
    return tuple(inputs), output


def letters_of(term: str) -> str:
    """The letters of one operand or of the result, without its ellipsis."""
    return term.replace(ELLIPSIS, "", 1)


def _unreadable(subscripts: str, rule: str) -> OperandError:
    return OperandError("subscripts", f'is "{subscripts}"', message=rule, code="RX0204")


def labels_of(term: str, rank: int) -> list[Label]:
    """The names of the axes; an ellipsis takes what the letters leave of the `rank`."""
    before, _, after = term.partition(ELLIPSIS)
    return [*before, *range(len(before) + len(after) - rank, 0), *after]
