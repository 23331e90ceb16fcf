"""States of recurrent models: what a forward sets, and going back."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.kv_cache import RNNState
from relaxscript_tests import examples


def make(layers=2, sequences=3, history=3):
    return RNNState(layers, sequences, history, [np.zeros(2, "float32"), np.ones((), "int64")])


def forward(state, ids, counts, value):
    """A forward that sets the first state of the second layer."""
    state.begin_forward(ids, counts)
    state.set(1, 0, np.full((len(ids), 2), value, "float32"))
    state.end_forward()


def value_of(state, seq_id):
    return int(state.debug_get(1, 0, seq_id)[0])


def test_a_forward_gets_what_was_and_sets_what_is():
    state = make()
    state.add_sequence(5)
    state.add_sequence(6)
    forward(state, [6], [2], 7)
    state.begin_forward([5, 6], [1, 1])
    out = np.empty((2, 2), "float32")
    state.set(1, 0, np.full((2, 2), 9, "float32"))
    state.get(1, 0, out)
    assert out.tolist() == [[0, 0], [7, 7]]
    state.end_forward()
    assert [value_of(state, i) for i in (5, 6)] == [9, 9]
    assert state.debug_get(0, 1, 5) == 1
    assert repr(state) == "<RNN state of 2 sequences>"
    state.clear()
    assert repr(state) == "<RNN state of 0 sequences>"


def test_random_operations_agree_with_lists_of_all_states(rng):
    for _ in range(examples(400)):
        history = int(rng.integers(1, 4))
        state, slow = make(sequences=4, history=history), {}
        for step in range(1, 25):
            kind, seq_id = rng.choice(["add", "fork", "pop", "remove", "run"]), int(rng.integers(4))
            if kind == "add" and seq_id not in slow:
                state.add_sequence(seq_id)
                slow[seq_id] = [0]
            elif kind == "remove" and seq_id in slow:
                state.remove_sequence(seq_id)
                del slow[seq_id]
            elif kind == "fork" and seq_id in slow and (child := int(rng.integers(4))) not in slow:
                state.fork_sequence(seq_id, child)
                slow[child] = list(slow[seq_id])
            elif kind == "pop" and seq_id in slow:
                n = int(rng.integers(3))
                if n < len(slow[seq_id]):
                    state.popn(seq_id, n)
                    del slow[seq_id][len(slow[seq_id]) - n :]
                else:
                    with pytest.raises(VMError, match=f"the states of sequence {seq_id} are kept"):
                        state.popn(seq_id, n)
            elif kind == "run" and seq_id in slow:
                count = int(rng.integers(1, 3))
                forward(state, [seq_id], [count], step)
                slow[seq_id] = ([*slow[seq_id], step] if count == 1 else [step])[-history:]
            for known, values in slow.items():
                assert value_of(state, known) == values[-1]


def test_a_fork_may_go_back():
    state = make()
    state.add_sequence(0)
    for value in (1, 2, 3):
        forward(state, [0], [1], value)
    state.fork_sequence(0, 1, 2)
    assert (value_of(state, 1), value_of(state, 0)) == (2, 3)


def refused(match, operation, *args):
    with pytest.raises(VMError, match=match) as caught:
        operation(*args)
    assert caught.value.code == "RX0606"


def test_what_cannot_be_done_is_refused():
    state = make()
    refused("there is no sequence 1; there are: none", state.remove_sequence, 1)
    for seq_id in range(3):
        state.add_sequence(seq_id)
    refused("there is a sequence 2 already", state.add_sequence, 2)
    refused("there is room for 3 sequences, and none for sequence 3", state.add_sequence, 3)
    refused("no forward has begun", state.end_forward)
    begin = state.begin_forward
    refused("1 sequence and 0 lengths are given", begin, [1], [])
    refused("sequence 1 cannot get 0 tokens", begin, [1], [0])
    refused("a sequence is given twice", begin, [1, 1], [1, 1])
    refused("recurrent states have no trees of tokens", begin, [1], [2], [-1, -1])
    refused("the states of sequence 1 are kept 0 tokens back, not 1", state.popn, 1, 1)
    begin([1], [2], [-1, 0])
    refused("a forward has begun; `end_forward` comes first", state.popn, 1, 0)
    out = np.empty((1, 2), "float32")
    refused("2 layers have 2 states each, and none is number 2 of layer 0", state.get, 0, 2, out)
    refused(r"a tensor of shape \(1, 2\) and dtype float32 is wanted, got", state.set, 0, 0, out[0])


def test_sizes_that_cannot_be_are_refused():
    refused("there cannot be 0 states in history", lambda: make(history=0))
    refused("the states of a layer are tensors on the host, got an int", RNNState, 1, 1, 1, [3])
