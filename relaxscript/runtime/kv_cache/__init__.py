"""Caches of keys and values on a CPU, with which language models generate.

    paged_cache.py    attention over sequences in pages · kv_state.py  the sequences themselves
    pages.py          pages, sequences, windows, trees of tokens · forward.py  one batch
    growing_cache.py  the simple cache, one tensor that grows · rnn_state.py  recurrent states
    attention.py · rotary.py   what is computed, in numpy
    packed.py         all of it as packed functions by TVM's names

Programs hold a cache as an object and call `vm.builtin.…` with it.
"""

from __future__ import annotations

from .growing_cache import AttentionKVCache
from .kv_state import KVState
from .paged_cache import AttnKind, PagedAttentionKVCache
from .rnn_state import RNNState
from .rotary import RopeMode, RotaryEmbedding

__all__ = [
    "AttentionKVCache", "AttnKind", "KVState", "PagedAttentionKVCache", "RNNState",
    "RopeMode", "RotaryEmbedding",
]  # fmt: skip
