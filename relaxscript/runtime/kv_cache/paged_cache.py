"""The paged cache of keys and values that language models generate with.

A cache has sequences by number. A forward of a model is between `begin_forward` and `end_forward`.
It appends tokens to some sequences, as many as it says for each. So prefill and decode may be in
one batch. Each layer hands its queries, keys and values over and gets attention. One thread at a
time uses a cache.

Whatever cannot be done raises `VMError` and leaves the cache as it was.
Source: TVM `AttentionKVCache`, `vm.builtin.paged_attention_kv_cache_create`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import quantity
from relaxscript.errors.exceptions import is_user_error
from relaxscript.runtime.values import kind_of

from .attention import attend, attend_one, merge_in_place, working_dtype
from .forward import Forward, SeenTokens
from .kv_state import KVState, cache_error
from .pages import PagePool
from .rotary import RopeMode, RotaryEmbedding, rotate

__all__ = ["AttnKind", "PagedAttentionKVCache"]

__tracebackhide__ = is_user_error

Array = np.ndarray[Any, Any]


class AttnKind(enum.IntEnum):
    """The kind of attention of a layer.

    `MHA` keeps keys and values of each head, `MLA` one latent vector a token. In a cache with
    layers of `MHA_SLIDING` windows hold in these only.
    """

    MHA = 0
    MLA = 1
    LINEAR_ATTN = 2
    MHA_SLIDING = 3


class PagedAttentionKVCache(KVState):
    """Keys and values of many sequences, in pages that forked sequences share.

    `max_total_seq_len` tokens have room, in pages of `page_size`. A forward has at most
    `max_batch_size` sequences and `prefill_chunk_size` new tokens. `attn_kinds` has the kind of
    each layer, and layers are numbered from `first_layer` on. `split_rotary` is a kernel that
    splits what is fused and turns queries and keys by their positions. Without it that is done by
    `rope_theta`, `rope_scale` and `rope_ext_factors`. Raises `VMError` for sizes that cannot be.
    """

    def __init__(
        self,
        max_batch_size: int,
        max_total_seq_len: int,
        prefill_chunk_size: int,
        page_size: int,
        attn_kinds: Sequence[AttnKind | int],
        num_qo_heads: int,
        num_kv_heads: int,
        qk_head_dim: int,
        v_head_dim: int | None = None,
        dtype: str = "float32",
        *,
        support_sliding_window: bool = False,
        rope_mode: RopeMode | int = RopeMode.NONE,
        rope_scale: float = 1.0,
        rope_theta: float = 10000.0,
        rope_ext_factors: Array | None = None,
        first_layer: int = 0,
        split_rotary: Callable[..., Any] | None = None,
    ) -> None:
        sizes = {
            "max_batch_size": max_batch_size, "max_total_seq_len": max_total_seq_len,
            "prefill_chunk_size": prefill_chunk_size, "page_size": page_size,
            "num_qo_heads": num_qo_heads, "num_kv_heads": num_kv_heads, "qk_head_dim": qk_head_dim,
        }  # fmt: skip
        for name, size in sizes.items():
            if size < 1:
                raise cache_error(
                    "paged_attention_kv_cache_create", f"`{name}` is {size}, not positive"
                )
        if num_qo_heads % num_kv_heads:
            text = f"{num_qo_heads} heads of queries are no multiple of {num_kv_heads} of keys"
            raise cache_error("paged_attention_kv_cache_create", text)
        self.num_qo_heads, self.num_kv_heads = num_qo_heads, num_kv_heads
        self.qk_head_dim = qk_head_dim
        self.v_head_dim = qk_head_dim if v_head_dim is None else v_head_dim
        self.dtype = DataType(dtype).numpy
        self.attn_kinds = tuple(map(_attn_kind, attn_kinds))
        if rope_mode not in tuple(RopeMode) or not DataType(dtype).is_float:
            text = f"there is no mode {rope_mode} of rope, or keys of dtype {dtype}"
            raise cache_error("paged_attention_kv_cache_create", text)
        self.rope_mode = RopeMode(rope_mode)
        self._work = working_dtype(self.dtype)
        self._rope: RotaryEmbedding | None = None
        if self.rope_mode is not RopeMode.NONE:
            self._rope = RotaryEmbedding(rope_theta, qk_head_dim, rope_scale, rope_ext_factors)
        self._split_rotary, self._ext_factors = split_rotary, rope_ext_factors
        sliding = AttnKind.MHA_SLIDING in self.attn_kinds
        self._windowed = [not sliding or k is AttnKind.MHA_SLIDING for k in self.attn_kinds]
        pages = -(-max_total_seq_len // page_size)
        pool = PagePool(pages, page_size, list(map(self._width, self.attn_kinds)), self.dtype)
        super().__init__(
            pool, len(self.attn_kinds), max_batch_size, prefill_chunk_size,
            bool(support_sliding_window), first_layer, not sliding,
        )  # fmt: skip

    def _width(self, kind: AttnKind) -> tuple[int, int, int, bool]:
        """The heads of a layer's rows, their widths, and whether values are part of the keys."""
        if kind is AttnKind.MLA:
            if self.v_head_dim > self.qk_head_dim:
                text = f"latent vectors of {self.qk_head_dim} elements hold no values"
                raise cache_error("paged_attention_kv_cache_create", f"{text} of {self.v_head_dim}")
            return 1, self.qk_head_dim, self.v_head_dim, True
        return self.num_kv_heads, self.qk_head_dim, self.v_head_dim, False

    # -- attention ---------------------------------------------------------------------------------

    def attention_with_fused_qkv(
        self, layer_id: int, sm_scale: float, qkv: Array, o: Array
    ) -> None:
        """Keep a layer's new keys and values, and write the attention of its queries into `o`.

        `qkv` is `(new tokens, num_qo_heads + 2 * num_kv_heads, head_dim)`, `o` is
        `(new tokens, num_qo_heads, head_dim)`. Each token sees those of its sequence up to itself,
        as far as its window goes.
        """
        name = "attention_with_fused_qkv"
        forward = self._running(name)
        layer = self._layer(name, layer_id, AttnKind.MHA)
        heads, groups, total = self.num_qo_heads, self.num_kv_heads, forward.total
        dim = self.qk_head_dim
        if self.v_head_dim != dim:
            text = f"keys have {dim} and values {self.v_head_dim} elements a head"
            raise cache_error(name, f"{text}, and cannot be fused")
        self._require_tensor(name, "qkv", qkv, (total, heads + 2 * groups, dim))
        self._require_tensor(name, "o", o, (total, heads, dim))
        if self.rope_mode is not RopeMode.NONE and self._split_rotary is not None:
            parts = self._split_by_kernel(qkv, forward.positions)
            if self.rope_mode is RopeMode.INLINE:
                parts = parts[0], qkv[:, heads : heads + groups], parts[2]
        else:
            parts = forward.quiet(self._split, qkv, forward)
        forward.quiet(self._keep_and_attend, layer, sm_scale, parts, o, forward)

    def _split(self, qkv: Array, forward: Forward) -> tuple[Array, ...]:
        """Queries, keys and values; the first two turned by their positions if it is time."""
        heads, behind = self.num_qo_heads, self.num_qo_heads + self.num_kv_heads
        if self.rope_mode is RopeMode.NORMAL and self._rope is not None:
            turned = rotate(qkv[:, :behind], forward.tables(self._rope, self._work))
            return turned[:, :heads], turned[:, heads:], qkv[:, behind:]
        queries = qkv[:, :heads]
        if self._rope is not None:
            queries = rotate(queries, forward.tables(self._rope, self._work))
        return queries, qkv[:, heads:behind], qkv[:, behind:]

    def _keep_and_attend(
        self, layer: int, sm_scale: float, parts: Any, o: Array, forward: Forward
    ) -> None:
        """Keep new keys and values, and write each sequence's attention to all that it sees."""
        queries, rows = parts[0], forward.rows
        keys, values = self._pool.keys[layer], self._pool.values[layer]
        keys[rows] = parts[1]
        values[rows] = parts[2]
        forward.written[layer] = 1
        inline = self.rope_mode is RopeMode.INLINE
        single = not inline and self.dtype == self._work
        for seen, (first, last) in zip(forward.seen(self._windowed[layer]), forward.bounds):
            if single and seen.all_seen and last == first + 1:
                attend_one(queries[first], keys[seen.rows], values[seen.rows], sm_scale, o[first])
                continue
            own = self._turned(keys[seen.rows].astype(self._work, copy=False), seen)
            read = values[seen.rows].astype(self._work, copy=False)
            attend(queries[first:last], own, read, sm_scale, o[first:last], None, seen.hidden)

    def _split_by_kernel(self, qkv: Array, positions: Array) -> tuple[Array, ...]:
        """Queries, keys and values as a kernel splits and turns them."""
        assert self._split_rotary is not None
        shape, dim = (self.num_qo_heads, self.num_kv_heads, self.num_kv_heads), self.qk_head_dim
        parts = tuple(np.empty((len(qkv), heads, dim), self.dtype) for heads in shape)
        last = 1 if self._ext_factors is None else self._ext_factors
        self._split_rotary(qkv, positions, *parts, last)
        return parts

    def _turned(self, keys: Array, seen: SeenTokens) -> Array:
        """Keys as queries meet them."""
        if self.rope_mode is not RopeMode.INLINE or self._rope is None:
            return keys
        if self._split_rotary is not None:  # it turns keys beside queries, and there are none
            queries, groups = self.num_qo_heads, self.num_kv_heads
            fused = np.zeros((len(keys), queries + 2 * groups, self.qk_head_dim), self.dtype)
            fused[:, queries : queries + groups] = keys
            positions = seen.positions.astype("int32", copy=False)
            return self._split_by_kernel(fused, positions)[1].astype(self._work, copy=False)
        if seen.tables is None:
            seen.tables = self._rope.tables(seen.positions, self._work)
        return rotate(keys, seen.tables)

    def self_attention(
        self, layer_id: int, sm_scale: float, q: Array, k: Array, v: Array, o: Array, lse: Array
    ) -> None:
        """Write the attention of the new tokens to each other into `o`.

        `lse` gets the logarithm, to base 2, of each query's sum of exponentials, as
        `merge_attn_output_inplace` takes it. Nothing is kept, and nothing is turned by positions.
        """
        name = "self_attention"
        forward = self._running(name)
        layer = self._layer(name, layer_id)
        total = forward.total
        self._require_tensor(name, "q", q, (total, None, None))
        heads, dim = q.shape[1:]
        self._require_tensor(name, "k", k, (total, None, dim))
        self._require_tensor(name, "v", v, (total, k.shape[1], None))
        if not k.shape[1] or heads % k.shape[1]:
            text = f"`q` has {heads} heads, which is no multiple of the {k.shape[1]} of `k`"
            raise cache_error(name, text)
        self._require_tensor(name, "o", o, (total, heads, v.shape[2]))
        _require_sums(name, "lse", lse, (total, heads))
        keys, values = k.astype(self._work, copy=False), v.astype(self._work, copy=False)
        seen = forward.seen(self._windowed[layer], old=False)
        for one, (first, last) in zip(seen, forward.bounds):
            own = slice(first, last)
            given = q[own], keys[own], values[own]
            forward.quiet(attend, *given, sm_scale, o[own], lse[own], one.hidden)

    def cross_attention(
        self, layer_id: int, sm_scale: float, q: Array, o: Array, lse: Array
    ) -> None:
        """Write the attention of the new tokens to those in the cache into `o`, as above.

        These are the tokens before this forward. Where it has one token of each sequence, that
        token is among them if `append_mla_kv` has kept it.
        """
        name = "cross_attention"
        forward = self._running(name)
        layer = self._layer(name, layer_id)
        latent = self.attn_kinds[layer] is AttnKind.MLA
        total, heads = forward.total, self.num_qo_heads
        self._require_tensor(name, "q", q, (total, heads, self.qk_head_dim))
        self._require_tensor(name, "o", o, (total, heads, self.v_head_dim))
        _require_sums(name, "lse", lse, (total, heads))
        new = latent and forward.one_each and bool(forward.written[layer])
        keys, values = self._pool.keys[layer], self._pool.values[layer]
        seen = forward.seen(self._windowed[layer], new=new)
        for one, (first, last) in zip(seen, forward.bounds):
            own = self._turned(keys[one.rows].astype(self._work, copy=False), one)
            read = values[one.rows].astype(self._work, copy=False)
            part = slice(first, last)
            given = q[part], own, read
            forward.quiet(attend, *given, sm_scale, o[part], lse[part], one.hidden)

    def append_mla_kv(self, layer_id: int, kv: Array) -> None:
        """Keep the latent vectors of a layer's new tokens: `(new tokens, qk_head_dim)`."""
        forward = self._running("append_mla_kv")
        layer = self._layer("append_mla_kv", layer_id, AttnKind.MLA)
        self._require_tensor("append_mla_kv", "kv", kv, (forward.total, self.qk_head_dim))
        self._pool.keys[layer][forward.rows, 0] = kv
        forward.written[layer] = 1

    def merge_attn_output_inplace(
        self, o_self_attn: Array, lse_self_attn: Array, o_cross_attn: Array, lse_cross_attn: Array
    ) -> tuple[Array, Array]:
        """The attention to two sets of tokens together, of that to each.

        It is written into the first two tensors, which are the result.
        """
        name = "merge_attn_output_inplace"
        self._require_tensor(name, "o_self_attn", o_self_attn, (None, None, None))
        self._require_tensor(name, "o_cross_attn", o_cross_attn, o_self_attn.shape)
        _require_sums(name, "lse_self_attn", lse_self_attn, o_self_attn.shape[:2])
        _require_sums(name, "lse_cross_attn", lse_cross_attn, o_self_attn.shape[:2])
        with np.errstate(all="ignore"):
            merge_in_place(o_self_attn, lse_self_attn, o_cross_attn, lse_cross_attn)
        return o_self_attn, lse_self_attn

    # -- looking inside ----------------------------------------------------------------------------

    def debug_get_kv(
        self, seq_id: int, start_pos: int, end_pos: int, k_data: Array, v_data: Array
    ) -> None:
        """Write the keys and values of tokens `start_pos` to `end_pos` of a sequence into arrays.

        These are `(layers, tokens, num_kv_heads, head_dim)`; an `end_pos` of -1 is the end.
        """
        name = "debug_get_kv"
        rows, count = self._rows_of(name, seq_id, start_pos, end_pos, AttnKind.MHA)
        outer = (len(self.attn_kinds), count, self.num_kv_heads)
        self._require_tensor(name, "k_data", k_data, (*outer, self.qk_head_dim))
        self._require_tensor(name, "v_data", v_data, (*outer, self.v_head_dim))
        for layer, (keys, values) in enumerate(zip(self._pool.keys, self._pool.values)):
            k_data[layer], v_data[layer] = keys[rows], values[rows]

    def debug_get_kv_mla(self, seq_id: int, start_pos: int, end_pos: int, kv_data: Array) -> None:
        """The same of latent vectors, into `(layers, tokens, qk_head_dim)`."""
        name = "debug_get_kv_mla"
        rows, count = self._rows_of(name, seq_id, start_pos, end_pos, AttnKind.MLA)
        shape = (len(self.attn_kinds), count, self.qk_head_dim)
        self._require_tensor(name, "kv_data", kv_data, shape)
        for layer, keys in enumerate(self._pool.keys):
            kv_data[layer] = keys[rows, 0]

    def _rows_of(
        self, name: str, seq_id: int, first: int, last: int, kind: AttnKind
    ) -> tuple[Any, int]:
        for layer in range(len(self.attn_kinds)):
            self._layer(name, layer + self.first_layer, kind)
        sequence, size = self._sequence(name, seq_id), self.page_size
        end = sequence.length if last == -1 else last
        if not 0 <= first <= end <= sequence.length:
            text = f"sequence {seq_id} has {quantity(sequence.length, 'token')}"
            raise cache_error(name, f"{text}, and none from {first} to {last}")
        low, high = (page * size for page in sequence.gone)
        if first < high and end > low:
            text = f"the tokens {low} to {high} of sequence {seq_id} have left its window"
            raise cache_error(name, text)
        return sequence.slots(first, end, size), end - first

    # -- what must hold ----------------------------------------------------------------------------

    def _layer(self, name: str, layer_id: int, kind: AttnKind | None = None) -> int:
        layer = layer_id - self.first_layer
        if not 0 <= layer < len(self.attn_kinds):
            last = self.first_layer + len(self.attn_kinds) - 1
            raise cache_error(
                name, f"there is no layer {layer_id}; there are {self.first_layer} to {last}"
            )
        found = self.attn_kinds[layer]
        if kind is not None and (found is AttnKind.MLA) != (kind is AttnKind.MLA):
            raise cache_error(
                name, f"layer {layer_id} is of the kind {found.name}, not {kind.name}"
            )
        return layer

    def _require_tensor(
        self, name: str, what: str, value: Any, shape: Sequence[int | None]
    ) -> None:
        if type(value) is np.ndarray and value.dtype == self.dtype:
            if value.shape == shape:
                return
            if value.ndim == len(shape) and all(
                wanted is None or wanted == size for wanted, size in zip(shape, value.shape)
            ):
                return
        sizes = ", ".join("_" if size is None else str(size) for size in shape)
        text = f"`{what}` is a tensor of shape ({sizes}) and dtype {self.dtype.name}"
        raise cache_error(name, f"{text}, got {kind_of(value)}")


def _require_sums(name: str, what: str, value: Any, shape: Sequence[int]) -> None:
    if type(value) is not np.ndarray or value.dtype != np.float32 or value.shape != tuple(shape):
        text = f"`{what}` is a tensor of shape {tuple(shape)} and dtype float32"
        raise cache_error(name, f"{text}, got {kind_of(value)}")


def _attn_kind(kind: int) -> AttnKind:
    if kind not in (AttnKind.MHA, AttnKind.MLA, AttnKind.MHA_SLIDING):
        named = AttnKind(kind).name if kind == AttnKind.LINEAR_ATTN else kind
        text = f"the cache has layers of the kinds MHA, MLA and MHA_SLIDING, not {named}"
        raise cache_error("paged_attention_kv_cache_create", text)
    return AttnKind(kind)
