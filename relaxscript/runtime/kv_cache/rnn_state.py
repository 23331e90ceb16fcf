"""States of recurrent models, one set for each sequence, with what they were some tokens before.

Source: TVM `RNNState`, `vm.builtin.rnn_state_create`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxscript.errors import quantity
from relaxscript.errors.exceptions import is_user_error
from relaxscript.runtime.values import kind_of

from .kv_state import cache_error

__all__ = ["RNNState"]

__tracebackhide__ = is_user_error

Array = np.ndarray[Any, Any]
States = dict[tuple[int, int], Array]  # by layer and number; arrays are never written into


class _Recurrent(NamedTuple):
    """A sequence: its length, its states, and those before each of its last tokens."""

    length: int
    states: States
    history: tuple[States, ...]


class RNNState:
    """The states of at most `max_sequences` sequences, in each of `num_layers` layers.

    `init_layer_value` has the states of a layer of a new sequence. `max_history` is how many states
    are kept: the present one, and those to which `popn` can go back. Whatever cannot be done raises
    `VMError` and changes nothing.
    """

    def __init__(
        self, num_layers: int, max_sequences: int, max_history: int, init_layer_value: Any
    ) -> None:
        name = "rnn_state_create"
        sizes = {"layers": num_layers, "sequences": max_sequences, "states in history": max_history}
        for noun, size in sizes.items():
            if size < 1:
                raise cache_error(name, f"there cannot be {size} {noun}")
        for value in init_layer_value:
            if type(value) is not np.ndarray:
                text = "the states of a layer are tensors on the host"
                raise cache_error(name, f"{text}, got {kind_of(value)}")
        self.num_layers, self.max_sequences = num_layers, max_sequences
        self.max_history = max_history
        self._init: States = {
            (layer, state): value.copy()
            for layer in range(num_layers)
            for state, value in enumerate(init_layer_value)
        }
        self._sequences: dict[int, _Recurrent] = {}
        self._running: tuple[tuple[int, ...], tuple[int, ...], States] | None = None

    def __repr__(self) -> str:
        return f"<RNN state of {quantity(len(self._sequences), 'sequence')}>"

    def clear(self) -> None:
        """Forget all sequences, and a forward that has begun."""
        self._sequences.clear()
        self._running = None

    def add_sequence(self, seq_id: int) -> None:
        """Add a sequence of no tokens, with the first states."""
        self._require_new("add_sequence", seq_id)
        self._sequences[seq_id] = _Recurrent(0, self._init, ())

    def remove_sequence(self, seq_id: int) -> None:
        """Forget a sequence."""
        self._require_rest("remove_sequence")
        self._sequence("remove_sequence", seq_id)
        del self._sequences[seq_id]

    def fork_sequence(self, parent_seq_id: int, child_seq_id: int, fork_pos: int = -1) -> None:
        """Add a sequence with the states that another has, or had after `fork_pos` tokens."""
        name = "fork_sequence"
        parent = self._sequence(name, parent_seq_id)
        self._require_new(name, child_seq_id)
        position = parent.length if fork_pos == -1 else fork_pos
        child = self._back(name, parent_seq_id, parent.length - position)
        self._sequences[child_seq_id] = child

    def popn(self, seq_id: int, n: int) -> None:
        """Go back by `n` tokens. Raises `VMError` where the states of then are not kept."""
        self._require_rest("popn")
        self._sequences[seq_id] = self._back("popn", seq_id, n)

    def begin_forward(
        self,
        seq_ids: Sequence[int],
        append_lengths: Sequence[int],
        token_tree_parents: Sequence[int] | None = None,
    ) -> None:
        """Name the sequences of a forward, and how many tokens each gets."""
        name = "begin_forward"
        self._require_rest(name)
        if len(seq_ids) != len(append_lengths) or not seq_ids:
            text = f"{quantity(len(seq_ids), 'sequence')} and {len(append_lengths)} lengths"
            raise cache_error(name, f"{text} are given; there is one length for each")
        for seq_id, count in zip(seq_ids, append_lengths):
            self._sequence(name, seq_id)
            if count < 1:
                raise cache_error(name, f"sequence {seq_id} cannot get {quantity(count, 'token')}")
        if len(set(seq_ids)) < len(seq_ids):
            raise cache_error(name, "a sequence is given twice")
        chains = [i for count in append_lengths for i in range(-1, count - 1)]
        if token_tree_parents is not None and list(token_tree_parents) != chains:
            raise cache_error(name, "recurrent states have no trees of tokens")
        self._running = (tuple(seq_ids), tuple(append_lengths), {})

    def end_forward(self) -> None:
        """End a forward: states that were set are those of their sequences.

        One can go back before a single token, not into several that came at once.
        """
        ids, counts, new = self._forward("end_forward")
        self._running = None
        for row, (seq_id, count) in enumerate(zip(ids, counts)):
            old = self._sequences[seq_id]
            states = {**old.states, **{key: rows[row] for key, rows in new.items()}}
            kept = (*old.history, old.states) if count == 1 else ()
            history = kept[max(0, len(kept) - self.max_history + 1) :]
            self._sequences[seq_id] = _Recurrent(old.length + count, states, history)

    def get(self, layer_id: int, state_id: int, o_data: Array) -> None:
        """Write the states of the forward's sequences, as they were before it, into `o_data`."""
        ids, _, _ = self._forward("rnn_state_get")
        self._require("rnn_state_get", layer_id, state_id, o_data, len(ids))
        for row, seq_id in enumerate(ids):
            o_data[row] = self._sequences[seq_id].states[layer_id, state_id]

    def set(self, layer_id: int, state_id: int, data: Array) -> None:
        """Set the states of the forward's sequences, one in each row of `data`."""
        ids, _, new = self._forward("rnn_state_set")
        self._require("rnn_state_set", layer_id, state_id, data, len(ids))
        new[layer_id, state_id] = data.copy()

    def debug_get(self, layer_id: int, state_id: int, seq_id: int) -> Array:
        """A copy of a state of a sequence."""
        name = "rnn_state_debug_get"
        sequence = self._sequence(name, seq_id)
        self._require_state(name, layer_id, state_id)
        return sequence.states[layer_id, state_id].copy()

    def _back(self, name: str, seq_id: int, n: int) -> _Recurrent:
        """A sequence as it was `n` tokens before."""
        found = self._sequence(name, seq_id)
        if not 0 <= n <= len(found.history):
            text = (
                f"the states of sequence {seq_id} are kept {quantity(len(found.history), 'token')}"
            )
            raise cache_error(name, f"{text} back, not {n}")
        if n == 0:
            return found
        return _Recurrent(found.length - n, found.history[-n], found.history[:-n])

    def _sequence(self, name: str, seq_id: int) -> _Recurrent:
        try:
            return self._sequences[seq_id]
        except (KeyError, TypeError):
            known = ", ".join(map(str, self._sequences)) or "none"
            raise cache_error(name, f"there is no sequence {seq_id}; there are: {known}") from None

    def _forward(self, name: str) -> tuple[tuple[int, ...], tuple[int, ...], States]:
        if self._running is None:
            raise cache_error(
                name, "no forward has begun; `begin_forward` says for which sequences"
            )
        return self._running

    def _require_rest(self, name: str) -> None:
        if self._running is not None:
            raise cache_error(name, "a forward has begun; `end_forward` comes first")

    def _require_new(self, name: str, seq_id: int) -> None:
        self._require_rest(name)
        if seq_id in self._sequences:
            raise cache_error(name, f"there is a sequence {seq_id} already")
        if len(self._sequences) == self.max_sequences:
            text = f"there is room for {quantity(self.max_sequences, 'sequence')}"
            raise cache_error(name, f"{text}, and none for sequence {seq_id}")

    def _require_state(self, name: str, layer: int, state: int) -> None:
        if (layer, state) not in self._init:
            count = quantity(len(self._init) // self.num_layers, "state")
            text = f"{quantity(self.num_layers, 'layer')} have {count} each"
            raise cache_error(name, f"{text}, and none is number {state} of layer {layer}")

    def _require(self, name: str, layer: int, state: int, value: Any, rows: int) -> None:
        self._require_state(name, layer, state)
        own = self._init[layer, state]
        shape = (rows, *own.shape)
        if type(value) is np.ndarray and value.shape == shape and value.dtype == own.dtype:
            return
        text = f"a tensor of shape {shape} and dtype {own.dtype.name} is wanted"
        raise cache_error(name, f"{text}, got {kind_of(value)}")
