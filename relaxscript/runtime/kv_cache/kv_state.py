"""Sequences of tokens by number, and the forwards of a model that append tokens to them.

Source: TVM `KVState`, `AttentionKVCache`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.errors import VMError, quantity
from relaxscript.errors.exceptions import is_user_error

from .forward import Forward
from .pages import CachedSequence, PagePool, TokenTree, Window

__all__ = ["KVState", "cache_error"]

__tracebackhide__ = is_user_error


class KVState:
    """The sequences of a cache, the pages that they share, and the forward that has begun.

    `layers` layers, from `first_layer` on, are written in each forward. `slides` is true where
    windows hold in all of them, so that pages may be let go of. Whatever cannot be done raises
    `VMError` and changes nothing.
    """

    def __init__(
        self,
        pool: PagePool,
        layers: int,
        max_batch_size: int,
        prefill_chunk_size: int,
        support_sliding_window: bool,
        first_layer: int,
        slides: bool,
    ) -> None:
        self.max_batch_size, self.prefill_chunk_size = max_batch_size, prefill_chunk_size
        self.page_size = pool.page_size
        self.support_sliding_window = support_sliding_window
        self._pool = pool
        self._num_layers, self.first_layer = layers, first_layer
        self._slides = slides
        self._sequences: dict[int, CachedSequence] = {}
        self._forward: Forward | None = None

    def __repr__(self) -> str:
        count = quantity(len(self._sequences), "sequence")
        return f"<KV cache of {count}, {quantity(len(self._pool.free), 'page')} free>"

    # -- sequences ---------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget all sequences, and a forward that has begun."""
        self._sequences.clear()
        self._pool.clear()
        self._forward = None

    def add_sequence(self, seq_id: int) -> None:
        """Add an empty sequence. Raises `VMError` where there is one of this number."""
        self._require_rest("add_sequence")
        if seq_id in self._sequences:
            raise cache_error("add_sequence", f"there is a sequence {seq_id} already")
        self._sequences[seq_id] = CachedSequence()

    def remove_sequence(self, seq_id: int) -> None:
        """Forget a sequence; pages to which no other refers are free."""
        self._require_rest("remove_sequence")
        self._sequence("remove_sequence", seq_id).truncate(0, self._pool)
        del self._sequences[seq_id]

    def fork_sequence(self, parent_seq_id: int, child_seq_id: int, fork_pos: int = -1) -> None:
        """Add a sequence that begins with the first `fork_pos` tokens of another, or with all.

        The child has the window of its parent, and shares its pages until one writes into them.
        Raises `VMError` for a position that the parent has not, or that would see tokens which
        have left its window.
        """
        self._require_rest("fork_sequence")
        parent = self._sequence("fork_sequence", parent_seq_id)
        if child_seq_id in self._sequences:
            raise cache_error("fork_sequence", f"there is a sequence {child_seq_id} already")
        if not -1 <= fork_pos <= parent.length:
            text = f"sequence {parent_seq_id} has {quantity(parent.length, 'token')}"
            raise cache_error("fork_sequence", f"{text} and cannot be forked at {fork_pos}")
        self._require_chain("fork_sequence", parent_seq_id)
        position = parent.length if fork_pos == -1 else fork_pos
        self._require_kept("fork_sequence", parent_seq_id, position)
        self._sequences[child_seq_id] = parent.fork(position, self._pool)

    def popn(self, seq_id: int, n: int) -> None:
        """Forget the last `n` tokens of a sequence.

        Raises `VMError` where it has fewer, or where the next token would see some that have left
        its window.
        """
        self._require_rest("popn")
        sequence = self._sequence("popn", seq_id)
        if not 0 <= n <= sequence.length:
            text = f"sequence {seq_id} has {quantity(sequence.length, 'token')}"
            raise cache_error("popn", f"{text}, of which {n} cannot be popped")
        self._require_chain("popn", seq_id)
        self._require_kept("popn", seq_id, sequence.length - n)
        sequence.truncate(sequence.length - n, self._pool)

    def enable_sliding_window_for_seq(
        self, seq_id: int, sliding_window_size: int, attn_sink_size: int = 0
    ) -> None:
        """Have each token of a sequence see `sliding_window_size` tokens, itself among them.

        The first `attn_sink_size` tokens of the sequence are among these always.
        """
        name = "enable_sliding_window_for_seq"
        self._require_rest(name)
        sequence = self._sequence(name, seq_id)
        if not self.support_sliding_window:
            raise cache_error(name, "the cache was made without support of sliding windows")
        if sequence.window is not None:
            raise cache_error(
                name, f"sequence {seq_id} has a window of {sequence.window.size} already"
            )
        if not 0 <= attn_sink_size < sliding_window_size:
            text = f"a window of {sliding_window_size} cannot have {attn_sink_size} sinks"
            raise cache_error(name, f"{text}, for sequence {seq_id}")
        self._require_chain(name, seq_id)
        sequence.window = Window(sliding_window_size, attn_sink_size)
        if self._slides:
            sequence.slide(self._pool)

    # -- a forward ---------------------------------------------------------------------------------

    def begin_forward(
        self,
        seq_ids: Sequence[int],
        append_lengths: Sequence[int],
        token_tree_parents: Sequence[int] | None = None,
    ) -> None:
        """Make room for as many new tokens of each sequence, which a model is about to compute.

        `token_tree_parents` has the parent of each new token among those of its sequence. It is -1
        for one that follows the sequence itself. `commit_accepted_token_tree_nodes` says later
        which to keep. Raises `VMError` for unknown sequences, more tokens than a forward takes, and
        where pages do not suffice; nothing has changed then.
        """
        self._require_rest("begin_forward")
        batch = self._batch(seq_ids, append_lengths)
        trees = self._trees(seq_ids, append_lengths, token_tree_parents)
        size, pool = self.page_size, self._pool
        needed, shared = 0, Counter[int]()
        for sequence, count in zip(batch, append_lengths):
            needed += -(-(sequence.length + count) // size) - len(sequence.pages)
            if sequence.length % size:
                shared[sequence.pages[-1]] += 1
        needed += sum(min(n, pool.counts[page] - 1) for page, n in shared.items())
        if needed > len(pool.free):
            text = f"{_named(seq_ids)} need{'s' * (len(batch) == 1)}"
            pages = f"{quantity(needed, 'more page')} of {size} tokens"
            free = f"{len(pool.free)} of {pool.num_pages} are free"
            raise cache_error("begin_forward", f"{text} {pages}, and {free}")
        for sequence, count, tree in zip(batch, append_lengths, trees):
            if sequence.length % size:
                sequence.pages[-1] = pool.own(sequence.pages[-1])
            sequence.length += count
            while len(sequence.pages) * size < sequence.length:
                sequence.pages.append(pool.take())
            sequence.tree = tree
        lengths, layers = tuple(append_lengths), self._num_layers
        self._forward = Forward(tuple(seq_ids), batch, lengths, size, layers)

    def _batch(self, ids: Sequence[int], counts: Sequence[int]) -> list[CachedSequence]:
        """The sequences of a forward, which can have so many more tokens."""
        name = "begin_forward"
        if len(ids) != len(counts) or not ids:
            text = f"{quantity(len(ids), 'sequence')} and {quantity(len(counts), 'length')}"
            raise cache_error(name, f"{text} are given; there is one length for each")
        batch = [self._sequence(name, seq_id) for seq_id in ids]
        if len(set(ids)) < len(ids):
            twice = next(i for i, n in Counter(ids).items() if n > 1)
            raise cache_error(name, f"sequence {twice} is given twice")
        for seq_id, count in zip(ids, counts):
            if count < 1:
                raise cache_error(name, f"sequence {seq_id} cannot get {quantity(count, 'token')}")
            self._require_chain(name, seq_id)
        if len(ids) > self.max_batch_size:
            text = (
                f"a forward of this cache has at most {quantity(self.max_batch_size, 'sequence')}"
            )
            raise cache_error(name, f"{text}, got {len(ids)}")
        if sum(counts) > self.prefill_chunk_size:
            text = (
                f"a forward of this cache has at most {quantity(self.prefill_chunk_size, 'token')}"
            )
            raise cache_error(name, f"{text}, got {sum(counts)} for {_named(ids)}")
        return batch

    def _trees(
        self, ids: Sequence[int], counts: Sequence[int], parents: Sequence[int] | None
    ) -> list[TokenTree | None]:
        """The trees of the new tokens; None where each follows the one before it."""
        if parents is None:
            return [None] * len(ids)
        name = "begin_forward"
        if len(parents) != sum(counts):
            text = f"{quantity(len(parents), 'parent')} for {quantity(sum(counts), 'token')}"
            raise cache_error(name, f"{text}, of {_named(ids)}")
        trees: list[TokenTree | None] = []
        for seq_id, count in zip(ids, counts):
            own, parents = list(parents[:count]), parents[count:]
            for node, parent in enumerate(own):
                if not -1 <= parent < node:
                    text = f"token {node} of sequence {seq_id} cannot follow token {parent}"
                    raise cache_error(name, f"{text}; parents come first")
            if own == list(range(-1, count - 1)):
                trees.append(None)
                continue
            if self._sequences[seq_id].window is not None:
                raise cache_error(name, f"sequence {seq_id} has a window, and no trees of tokens")
            trees.append(TokenTree(own, self._sequences[seq_id].length))
        return trees

    def end_forward(self) -> None:
        """End a forward: the new tokens are part of their sequences.

        Raises `VMError` where a layer was given no keys and values: what they were is not known
        then, so the new tokens are taken back.
        """
        forward = self._running("end_forward")
        self._forward = None
        if all(forward.written):
            if self._slides:
                for sequence in forward.sequences:
                    sequence.slide(self._pool)
            return
        for sequence, start in zip(forward.sequences, forward.starts):
            sequence.truncate(start, self._pool)
            sequence.tree = None
        missing = [i for i, done in enumerate(forward.written, self.first_layer) if not done]
        layers = f"layer{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
        text = f"{layers} got no keys and values of the tokens of {_named(forward.ids)}"
        raise cache_error("end_forward", f"{text}, which are taken back")

    def commit_accepted_token_tree_nodes(
        self, seq_ids: Sequence[int], leaf_indices: Sequence[int]
    ) -> None:
        """Keep, of the trees of the last forward, the tokens from the root to a leaf each.

        A leaf of -1 keeps none.
        """
        name = "commit_accepted_token_tree_nodes"
        self._require_rest(name)
        if len(seq_ids) != len(leaf_indices):
            text = f"{quantity(len(seq_ids), 'sequence')} and {len(leaf_indices)} leaves are given"
            raise cache_error(name, f"{text}; there is one leaf for each")
        for seq_id, leaf in zip(seq_ids, leaf_indices):
            tree = self._sequence(name, seq_id).tree
            if tree is None:
                raise cache_error(name, f"sequence {seq_id} has no tree of tokens")
            if not -1 <= leaf < len(tree.parents):
                text = f"the tree of sequence {seq_id} has {quantity(len(tree.parents), 'token')}"
                raise cache_error(name, f"{text}, and no token {leaf}")
        for seq_id, leaf in zip(seq_ids, leaf_indices):
            self._commit(self._sequences[seq_id], leaf)

    def _commit(self, sequence: CachedSequence, leaf: int) -> None:
        tree, size = sequence.tree, self.page_size
        if tree is None:  # named twice
            return
        path = tree.path(leaf)
        rows = [sequence.slots(tree.start + n, tree.start + n + 1, size).start for n in path]
        into = [
            sequence.slots(tree.start + n, tree.start + n + 1, size).start for n in range(len(path))
        ]
        if rows != into:
            self._pool.move(rows, into)
        sequence.tree = None
        sequence.truncate(tree.start + len(path), self._pool)

    # -- questions ---------------------------------------------------------------------------------

    def empty(self) -> bool:
        """True if there is no sequence."""
        return not self._sequences

    def get_num_available_pages(self) -> int:
        """The number of free pages."""
        return len(self._pool.free)

    def get_total_sequence_length(self) -> int:
        """The number of tokens of all sequences, without those that have left their windows."""
        return sum(s.tokens(self.page_size) for s in self._sequences.values())

    def get_query_positions(self) -> np.ndarray[Any, Any]:
        """The position of each new token in its sequence, of dtype int32."""
        return self._running("get_query_positions").positions.copy()

    # -- what must hold ----------------------------------------------------------------------------

    def _sequence(self, name: str, seq_id: int) -> CachedSequence:
        try:
            return self._sequences[seq_id]
        except (KeyError, TypeError):
            known = ", ".join(map(str, self._sequences)) or "none"
            raise cache_error(name, f"there is no sequence {seq_id}; there are: {known}") from None

    def _running(self, name: str) -> Forward:
        if self._forward is None:
            raise cache_error(
                name, "no forward has begun; `begin_forward` says for which sequences"
            )
        return self._forward

    def _require_rest(self, name: str) -> None:
        if self._forward is not None:
            text = f"a forward of {_named(self._forward.ids)} has begun"
            raise cache_error(name, f"{text}; `end_forward` comes first")

    def _require_chain(self, name: str, seq_id: int) -> None:
        if self._sequences[seq_id].tree is not None:
            text = f"sequence {seq_id} has a tree of tokens of which none is accepted yet"
            raise cache_error(name, f"{text}; `commit_accepted_token_tree_nodes` comes first")

    def _require_kept(self, name: str, seq_id: int, length: int) -> None:
        sequence = self._sequences[seq_id]
        if sequence.lacks(length, self.page_size):
            low, high = (page * self.page_size for page in sequence.gone)
            text = f"tokens {low} to {high} of sequence {seq_id} have left its window"
            raise cache_error(name, f"{text}, and token {length} would see some")


def _named(ids: Sequence[int]) -> str:
    return f"sequence{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}"


def cache_error(name: str, text: str) -> VMError:
    """The error of an operation that a cache cannot do."""
    return VMError(f"`{name}`: {text}", code="RX0606")
