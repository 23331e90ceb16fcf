"""Two texts of a document: which lines of one are lines of the other."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Shift"]


class Shift:
    """From lines of an old text to those of a new one, around what was changed between them."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        most = min(len(old), len(new))
        same = (i for i in range(most) if old[i] != new[i])
        self.above = next(same, most)
        below = (i for i in range(most - self.above) if old[-1 - i] != new[-1 - i])
        self.below = next(below, most - self.above)
        self.old, self.new = len(old), len(new)

    def to_new(self, line: int) -> int | None:
        """The line, from 1, that line `line` of the old text is now; None for a changed one."""
        return _moved(line, self.above, self.old - self.below, self.new - self.old)

    def to_new_lines(self, first: int, last: int) -> tuple[int, int] | None:
        """The lines that two of the old text are now; None where something changed between them."""
        start, end = self.to_new(first), self.to_new(last)
        changed = self.above < last and first <= self.old - self.below
        if start is None or end is None or changed or end - start != last - first:
            return None
        return start, end

    def to_old(self, line: int) -> int | None:
        """The line that line `line` of the new text was; None for a changed one."""
        return _moved(line, self.above, self.new - self.below, self.old - self.new)


def _moved(line: int, above: int, below: int, by: int) -> int | None:
    if line <= above:
        return line
    return line + by if line > below else None
