"""One forward of a batch of sequences: where its tokens go, and what each of them sees.

All of this is the same for every layer, so it is found once: when the forward begins, or a layer
first asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any

import numpy as np

from relaxscript.errors.exceptions import is_user_error

from .pages import CachedSequence, Window
from .rotary import RotaryEmbedding

__all__ = ["Forward", "SeenTokens"]

__tracebackhide__ = is_user_error

Array = np.ndarray[Any, Any]


class SeenTokens:
    """The tokens that the new tokens of one sequence may see: their rows and their positions.

    `all_seen` is true where every new token sees all of them.
    """

    __slots__ = ("_hides", "all_seen", "positions", "rows", "tables")

    def __init__(
        self, rows: Any, positions: Array, hides: Callable[[int, int], Array] | None
    ) -> None:
        self.rows = rows
        self.positions = positions
        self.all_seen = hides is None
        self._hides = hides
        self.tables: tuple[Array, Array] | None = None  # that turn keys by these positions

    def hidden(self, first: int, last: int) -> Array | None:
        """A mask of the tokens that the new tokens `first` to `last` do not see."""
        return None if self._hides is None else self._hides(first, last)


class Forward:
    """A batch of sequences with the numbers of tokens that are new to each."""

    __slots__ = (
        "_seen", "_size", "_tables", "bounds", "counts", "ids", "positions", "quiet", "rows",
        "sequences", "starts", "total", "written",
    )  # fmt: skip

    def __init__(
        self,
        ids: Sequence[int],
        sequences: Sequence[CachedSequence],
        counts: Sequence[int],
        size: int,
        layers: int,
    ) -> None:
        self.ids, self.sequences, self.counts = ids, sequences, counts
        self.starts = [s.length - n for s, n in zip(sequences, counts)]
        self.total = sum(counts)
        ends = np.cumsum(counts).tolist()
        self.bounds = list(zip([0, *ends[:-1]], ends))  # of its tokens in the batch
        self.positions = np.concatenate(list(map(_positions, sequences, self.starts))).astype(
            np.int32
        )
        self.rows = _join([s.slots(at, s.length, size) for s, at in zip(sequences, self.starts)])
        self.written = bytearray(layers)
        # What is infinite or no number spreads as in any operator, without a warning of numpy. To
        # enter a context costs less than `numpy.errstate` does.
        context = Context()
        context.run(np.seterr, all="ignore")
        self.quiet = context.run
        self._size = size
        self._seen: dict[tuple[bool, bool, bool], list[SeenTokens]] = {}
        self._tables: tuple[Array, Array] | None = None

    @property
    def one_each(self) -> bool:
        """True if each sequence gets one token, as in decoding."""
        return self.total == len(self.ids)

    def tables(self, rope: RotaryEmbedding, dtype: Any) -> tuple[Array, Array]:
        """The tables that turn queries and keys of the new tokens by their positions."""
        if self._tables is None:
            self._tables = rope.tables(self.positions, dtype)
        return self._tables

    def seen(self, windowed: bool, old: bool = True, new: bool = True) -> list[SeenTokens]:
        """The tokens that those of each sequence see, of what came before this forward and in it.

        `windowed` is true for layers in which windows hold.
        """
        key = (windowed, old, new)
        found = self._seen.get(key)
        if found is None:
            found = [self._seen_of(i, *key) for i in range(len(self.ids))]
            self._seen[key] = found
        return found

    def _seen_of(self, index: int, windowed: bool, old: bool, new: bool) -> SeenTokens:
        sequence, start = self.sequences[index], self.starts[index]
        window = sequence.window if windowed else None
        end = sequence.length if new else start
        first = (window.first_seen(start) if window is not None else 0) if old else start
        sinks = min(window.sinks, end, first) if window is not None and old else 0
        rows = sequence.slots(first, end, self._size) if old else slice(*self.bounds[index])
        if sinks:
            rows = _join([sequence.slots(0, sinks, self._size), rows])
        tokens = np.concatenate([np.arange(sinks), np.arange(first, max(first, end))])
        alone = self.counts[index] == 1
        if sequence.tree is None and (alone or not (new or window is not None)):
            return SeenTokens(rows, tokens, None)
        positions = tokens
        if new and sequence.tree is not None:
            positions = tokens.copy()
            positions[tokens >= start] = start + sequence.tree.depths
        hides = _tree_mask(sequence, tokens, start) if sequence.tree is not None else None
        return SeenTokens(rows, positions, hides or _mask(tokens, start, window))


def _positions(sequence: CachedSequence, start: int) -> Array:
    if sequence.tree is not None:
        return start + sequence.tree.depths
    return np.arange(start, sequence.length)


def _mask(tokens: Array, start: int, window: Window | None) -> Callable[[int, int], Array]:
    """The mask of what comes later, and of what has left the window."""

    def hidden(first: int, last: int) -> Array:
        queries = np.arange(start + first, start + last)[:, None]
        mask: Array = tokens > queries
        if window is not None:
            left = tokens <= queries - (window.size - window.sinks)
            mask |= left & (tokens >= window.sinks)
        return mask

    return hidden


def _tree_mask(sequence: CachedSequence, tokens: Array, start: int) -> Callable[[int, int], Array]:
    """The mask of the new tokens that are no ancestors."""
    tree = sequence.tree
    assert tree is not None
    unseen = ~tree.seen
    columns = tokens - start

    def hidden(first: int, last: int) -> Array:
        mask = np.zeros((last - first, len(tokens)), bool)
        mask[:, columns >= 0] = unseen[first:last]
        return mask

    return hidden


def _join(parts: list[Any]) -> Any:
    """Rows of several parts, each a slice or an array: a slice where they follow one another."""
    whole, *others = parts
    for part in others:
        if isinstance(part, slice) and part.start == part.stop:
            continue
        adjacent = isinstance(whole, slice) and isinstance(part, slice) and part.start == whole.stop
        if not adjacent:
            return np.concatenate([_numbers(part) for part in parts])
        whole = slice(whole.start, part.stop)
    return whole


def _numbers(rows: Any) -> Array:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
