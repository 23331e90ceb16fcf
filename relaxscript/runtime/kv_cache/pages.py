"""Pages of keys and values, and the sequences whose tokens are in them.

A page holds the keys and values of `page_size` tokens in every layer. Several sequences may refer
to one page: it is copied before one of them writes into it, and free when none refers to it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.errors import VMError
from relaxscript.errors.exceptions import is_user_error

__all__ = ["CachedSequence", "PagePool", "TokenTree", "Window"]

__tracebackhide__ = is_user_error

Array = np.ndarray[Any, Any]
GONE = -1  # in a page table: all tokens of this page have left the window


class PagePool:
    """The pages of a cache: their memory, how many sequences refer to each, and which are free.

    `keys[layer]` and `values[layer]` have a row for each token of each page, in the order of pages.
    Values of a width of None are the first elements of the keys.
    """

    def __init__(
        self,
        num_pages: int,
        page_size: int,
        widths: Sequence[tuple[int, int, int, bool]],
        dtype: np.dtype[Any],
    ) -> None:
        rows = num_pages * page_size
        self.num_pages, self.page_size = num_pages, page_size
        self.keys: list[Array] = []
        self.values: list[Array] = []
        self._memory: list[Array] = []
        try:
            for heads, key_dim, value_dim, latent in widths:
                keys = np.zeros((rows, heads, key_dim), dtype)
                values = (
                    keys[..., :value_dim] if latent else np.zeros((rows, heads, value_dim), dtype)
                )
                self.keys.append(keys)
                self.values.append(values)
                self._memory += [keys] if latent else [keys, values]
        except (MemoryError, ValueError) as error:
            text = f"cannot allocate {num_pages} pages of {page_size} tokens: {error}"
            raise VMError(text, code="RX0606") from error
        self.clear()

    def clear(self) -> None:
        """Make every page free."""
        self.counts = [0] * self.num_pages
        self.free = list(range(self.num_pages))

    def take(self) -> int:
        """The free page of the lowest number, which one sequence refers to now."""
        page = heapq.heappop(self.free)
        self.counts[page] = 1
        return page

    def share(self, page: int) -> None:
        """Count one more sequence that refers to a page."""
        self.counts[page] += 1

    def release(self, page: int) -> None:
        """Count one sequence less that refers to a page."""
        self.counts[page] -= 1
        if not self.counts[page]:
            heapq.heappush(self.free, page)

    def own(self, page: int) -> int:
        """A page that has what `page` holds and to which no other sequence refers."""
        if self.counts[page] == 1:
            return page
        copy, size = self.take(), self.page_size
        for rows in self._memory:
            rows[copy * size : (copy + 1) * size] = rows[page * size : (page + 1) * size]
        self.release(page)
        return copy

    def move(self, source: Any, target: Any) -> None:
        """Copy rows to other rows, in every layer."""
        for rows in self._memory:
            rows[target] = rows[source]


class Window:
    """A sliding window: of all tokens that are before a query it sees the first `sinks`.

    Of the others it sees as many of the last as fill the window, itself among them.
    """

    __slots__ = ("sinks", "size")

    def __init__(self, size: int, sinks: int) -> None:
        self.size = size
        self.sinks = sinks

    def first_seen(self, position: int) -> int:
        """The first position behind the sinks that the query of a position sees."""
        return max(self.sinks, position - (self.size - self.sinks) + 1)


class TokenTree:
    """New tokens of which several may follow one: `parents` has the index of each one's parent.

    The parent of those that follow the sequence itself is -1.
    """

    __slots__ = ("depths", "parents", "seen", "start")

    def __init__(self, parents: Sequence[int], start: int) -> None:
        self.parents = tuple(parents)
        self.start = start
        self.seen = np.eye(len(parents), dtype=bool)  # each node sees its ancestors and itself
        self.depths = np.zeros(len(parents), np.int64)
        for node, parent in enumerate(parents):
            if parent >= 0:
                self.seen[node] |= self.seen[parent]
                self.depths[node] = self.depths[parent] + 1

    def path(self, leaf: int) -> list[int]:
        """The nodes from the root to `leaf`."""
        found = []
        while leaf >= 0:
            found.append(leaf)
            leaf = self.parents[leaf]
        return found[::-1]


class CachedSequence:
    """A sequence of tokens: its length, and for each page of it the number in the pool."""

    __slots__ = ("gone", "length", "pages", "tree", "window")

    def __init__(self) -> None:
        self.pages: list[int] = []
        self.length = 0
        self.window: Window | None = None
        self.gone = (0, 0)  # from the first of these pages up to the second
        self.tree: TokenTree | None = None  # of tokens of which some will be accepted

    def slots(self, first: int, last: int, size: int) -> Any:
        """The rows of the tokens from `first` up to `last`: a slice where that can be."""
        if first >= last:
            return slice(0, 0)
        start, end = first // size, (last - 1) // size + 1
        pages = self.pages[start:end]
        if pages == list(range(pages[0], pages[0] + end - start)):
            offset = (pages[0] - start) * size
            return slice(first + offset, last + offset)
        rows = np.asarray(pages)[:, None] * size + np.arange(size)
        return rows.reshape(-1)[first - start * size : last - start * size]

    def tokens(self, size: int) -> int:
        """The number of tokens whose keys and values are there."""
        first, last = self.gone
        return self.length - (last - first) * size

    def fork(self, position: int, pool: PagePool) -> CachedSequence:
        """A sequence that shares the first `position` tokens."""
        child = CachedSequence()
        child.window, child.length = self.window, position
        child.pages = self.pages[: -(-position // pool.page_size)]
        child.gone = self.gone if len(child.pages) > self.gone[0] else (0, 0)
        for page in child.pages:
            if page != GONE:
                pool.share(page)
        return child

    def truncate(self, length: int, pool: PagePool) -> None:
        """Forget the tokens from `length` on."""
        kept = -(-length // pool.page_size)
        for page in self.pages[kept:]:
            if page != GONE:
                pool.release(page)
        del self.pages[kept:]
        self.length = length
        if kept <= self.gone[0]:
            self.gone = (0, 0)

    def lacks(self, length: int, size: int) -> bool:
        """True if a token that follows the first `length` ones would see some that are gone."""
        first, last = self.gone
        if self.window is None or first * size >= length:
            return False
        return self.window.first_seen(length) < last * size

    def slide(self, pool: PagePool) -> None:
        """Let go of the pages that no later token sees."""
        if self.window is None:
            return
        size = pool.page_size
        first = -(-self.window.sinks // size)
        last = self.window.first_seen(self.length) // size
        start = max(first, self.gone[1])
        if last > start:
            for index in range(start, last):
                pool.release(self.pages[index])
                self.pages[index] = GONE
            self.gone = (first, last)
