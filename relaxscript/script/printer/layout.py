"""Breaking a line that is too long, inside its brackets, the way Python formatters do.

A line is a list of pieces of text. Most pieces are plain strings; those where a line may be broken
are of the classes below. To break the line these pieces are replaced by ones that hold the newline.
So the number of pieces never changes, and positions remembered by piece stay right.

The rule, which formatters call the right-hand split:

    head(            the last bracket of the line that does any good (of a `def`: the first)
        body         on one line, if it fits
    )tail

A body that does not fit has one item a line with a comma, each broken by the same rule.
"""

from __future__ import annotations

from itertools import pairwise

from relaxscript.script.names import syntax

__all__ = ["BinaryOperator", "Close", "Comma", "LastClose", "Open", "Wrap", "lay_out"]


class Open(str):
    """An opening bracket; the empty one is a parenthesis that only shows when it is needed."""

    __slots__ = ()


class Wrap(Open):
    """A parenthesis that shows only where breaking the brackets inside does not help."""

    __slots__ = ()


class Close(str):
    """A closing bracket; a comma may come before it."""

    __slots__ = ()


class LastClose(Close):
    """A closing bracket that must not have a comma before it."""

    __slots__ = ()


class Comma(str):
    """The separator of items."""

    __slots__ = ()


class BinaryOperator(str):
    """A binary operator with its blanks; a broken line goes on with the operator."""

    __slots__ = ("level",)
    level: syntax.Level


def lay_out(pieces: list[str], start: int, width: int, step: int = 4) -> None:
    """Break the line that begins at piece `start` (its newline and indentation), in place.

    What is between brackets is indented by `step` more.
    """
    indent = len(pieces[start].rpartition("\n")[2])
    definition = len(pieces) > start + 1 and pieces[start + 1].startswith(("def ", "class "))
    _Line(pieces, width, step).lay(start + 1, len(pieces), indent, indent, 0, definition=definition)


class _Line:
    """One long line; `lay` breaks a stretch of its pieces where that does not fit."""

    def __init__(self, pieces: list[str], width: int, step: int) -> None:
        self.pieces = pieces
        self.width = width
        self.step = step

    def lay(
        self, low: int, high: int, indent: int, column: int, after: int,
        definition: bool = False, inside: bool = False,
    ) -> None:  # fmt: skip
        """Break pieces `low` to `high`, which begin at `column` of a line indented by `indent`.

        `after` is the width of what follows on the same line; `inside` says that brackets around
        it are broken, so that the stretch may be broken at its operators.
        """
        if column + self.length(low, high) + after <= self.width:
            return
        pairs = self.pairs(low, high)
        if inside and self.separate(low, high, indent, pairs):
            return
        chosen = self.choose(pairs, low, high, indent, column, after, definition)
        if chosen is None:
            return
        opening, closing = chosen
        self.lay(low, opening, indent, column, max(len(self.pieces[opening]), 1))
        tail = indent + max(len(self.pieces[closing]), 1)
        self.split(opening, closing, indent, definition)
        self.lay(closing + 1, high, indent, tail, after)

    def length(self, low: int, high: int) -> int:
        return sum(map(len, self.pieces[low:high]))

    def pairs(self, low: int, high: int) -> list[tuple[int, int]]:
        """The outermost pairs of brackets that hold something."""
        found: list[tuple[int, int]] = []
        opened: list[int] = []
        for at in range(low, high):
            piece = self.pieces[at]
            if piece.__class__ is str:
                continue
            if isinstance(piece, Open):
                opened.append(at)
            elif isinstance(piece, Close) and opened:
                # Without an opening one it belongs to brackets that begin before the stretch.
                opening = opened.pop()
                if not opened and at > opening + 1:
                    found.append((opening, at))
        return found

    def choose(
        self, pairs: list[tuple[int, int]], low: int, high: int, indent: int, column: int,
        after: int, definition: bool,
    ) -> tuple[int, int] | None:  # fmt: skip
        """The pair to break: the last one that leaves a head and a tail that fit."""
        if definition or not pairs:
            return pairs[0] if pairs else None
        for opening, closing in reversed(pairs):
            tail = indent + max(self.length(closing, high), 1) + after
            for pair in self.ways(opening, closing):
                head = column + self.length(low, pair[0]) + max(len(self.pieces[pair[0]]), 1)
                if head <= self.width and tail <= self.width:
                    return pair
        plain = [self.ways(*pair)[0] for pair in pairs]
        return next((p for p in plain if not isinstance(self.pieces[p[0]], Wrap)), None)

    def ways(self, opening: int, closing: int) -> list[tuple[int, int]]:
        """A pair, or where it only wraps a value, the brackets that end the value before it."""
        pair = (opening, closing)
        if not isinstance(self.pieces[opening], Wrap):
            return [pair]
        inner = self.pairs(opening + 1, closing)
        return [inner[-1], pair] if inner and inner[-1][1] == closing - 1 else [pair]

    def separators(self, low: int, high: int) -> list[int]:
        """The commas of a stretch at its own depth, or else its weakest operators."""
        commas: list[int] = []
        operators: list[int] = []
        depth = 0
        for at in range(low, high):
            piece = self.pieces[at]
            if piece.__class__ is str:
                continue
            if isinstance(piece, Open):
                depth += 1
            elif isinstance(piece, Close):
                depth -= 1
            elif depth == 0 and isinstance(piece, Comma):
                commas.append(at)
            elif depth == 0 and isinstance(piece, BinaryOperator):
                operators.append(at)
        if commas:
            return commas
        levels = {
            at: piece.level
            for at in operators
            if isinstance(piece := self.pieces[at], BinaryOperator)
        }
        weakest = min(levels.values(), default=0)
        return [at for at in operators if levels[at] == weakest]

    def split(self, opening: int, closing: int, indent: int, definition: bool) -> None:
        """Put what is between two brackets on lines of its own."""
        inner = indent + self.step
        alone = definition and not self.separators(opening + 1, closing)
        fits = inner + self.length(opening + 1, closing) + alone <= self.width
        separators = self.separators(opening + 1, closing)
        commas = bool(separators) and isinstance(self.pieces[separators[0]], Comma)
        comma = ""
        if not fits and separators:
            self.items(opening + 1, closing, inner, separators)
            comma = "," if commas else ""
        elif not fits:
            self.lay(opening + 1, closing, inner, inner, int(alone), inside=True)
        if isinstance(self.pieces[closing], LastClose):
            comma = ""
        elif alone:
            comma = ","  # formatters give one to a lone parameter
        self.pieces[opening] = f"{self.pieces[opening] or '('}\n{' ' * inner}"
        self.pieces[closing] = f"{comma}\n{' ' * indent}{self.pieces[closing] or ')'}"

    def separate(self, low: int, high: int, indent: int, pairs: list[tuple[int, int]]) -> bool:
        """Break a stretch inside broken brackets at its operators, if it has any."""
        separators = self.separators(low, high)
        if not separators or isinstance(self.pieces[separators[0]], Comma):
            return False
        self.items(low, high, indent, separators)
        return True

    def items(self, low: int, high: int, inner: int, separators: list[int]) -> None:
        """One item a line: break at the separators, and within the items that are too long."""
        bounds = [low - 1, *separators, high]
        newline = "\n" + " " * inner
        for before, at in pairwise(bounds):
            sign = self.pieces[before] if isinstance(self.pieces[before], BinaryOperator) else ""
            self.lay(before + 1, at, inner, inner + len(sign.lstrip()), 1, inside=True)
        for at in separators:
            piece = self.pieces[at]
            comma = isinstance(piece, Comma)
            self.pieces[at] = f",{newline}" if comma else newline + piece.lstrip()
