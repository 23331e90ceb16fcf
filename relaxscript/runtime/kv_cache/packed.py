"""The caches as packed functions, by TVM's names, for programs to call.

They are no builtins of the machine: only a cache knows what it holds. So their results are checked
as those of any packed function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from relaxscript.errors.exceptions import is_user_error
from relaxscript.runtime.values import Closure, DeviceTensor, Prim, kind_of

from .growing_cache import AttentionKVCache
from .kv_state import KVState, cache_error
from .paged_cache import PagedAttentionKVCache
from .rnn_state import RNNState

__all__ = ["CACHE_FUNCTIONS"]

__tracebackhide__ = is_user_error

CACHE_FUNCTIONS: dict[str, Callable[..., Any]] = {}

_PLAIN = 13  # arguments of a paged cache before its kernels
_SPLIT_ROTARY = 24  # the place of the one kernel that a cache calls


def _packed(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CACHE_FUNCTIONS[f"vm.builtin.{name}"] = function
        return function

    return register


# -- the simple cache ------------------------------------------------------------------------------


@_packed("attention_kv_cache_create")
def create(init_data: Any, reserve_shape: Any, init_fill_count: Any) -> AttentionKVCache:
    """A cache that begins with rows of `init_data`."""
    shape = _integers("attention_kv_cache_create", "reserve_shape", reserve_shape)
    count = _integer("attention_kv_cache_create", "init_fill_count", init_fill_count)
    return AttentionKVCache(init_data, tuple(shape), count)


@_packed("attention_kv_cache_append")
def append(cache: Any, value: Any) -> AttentionKVCache:
    """Append rows to a cache, which is the result."""
    _growing("attention_kv_cache_append", cache).append(value)
    return cache  # type: ignore[no-any-return]


@_packed("attention_kv_cache_update")
def update(cache: Any, value: Any) -> AttentionKVCache:
    """Replace the rows of a cache, which is the result."""
    _growing("attention_kv_cache_update", cache).update(value)
    return cache  # type: ignore[no-any-return]


@_packed("attention_kv_cache_view")
def view(cache: Any, *shape: Any) -> Any:
    """The rows of a cache as a tensor, which has the shape where one is given."""
    name = "attention_kv_cache_view"
    found = _growing(name, cache)
    if len(shape) > 1:
        raise cache_error(name, f"expected a cache and perhaps a shape, got {len(shape) + 1}")
    return found.view(tuple(_integers(name, "shape", shape[0])) if shape else None)


@_packed("attention_kv_cache_window_override")
def window_override(cache: Any, value: Any, max_cache_size: Any) -> AttentionKVCache:
    """Append rows to a cache that keeps the last `max_cache_size` of them; gives the cache."""
    name = "attention_kv_cache_window_override"
    _growing(name, cache).window_override(value, _integer(name, "max_cache_size", max_cache_size))
    return cache  # type: ignore[no-any-return]


@_packed("attention_kv_cache_window_override_with_sinks")
def window_override_with_sinks(
    cache: Any, value: Any, max_cache_size: Any, num_attention_sinks: Any
) -> AttentionKVCache:
    """The same where the first `num_attention_sinks` rows stay."""
    name = "attention_kv_cache_window_override_with_sinks"
    size = _integer(name, "max_cache_size", max_cache_size)
    sinks = _integer(name, "num_attention_sinks", num_attention_sinks)
    _growing(name, cache).window_override(value, size, sinks)
    return cache  # type: ignore[no-any-return]


@_packed("attention_kv_cache_array_popn")
def array_popn(caches: Any, n: Any) -> None:
    """Forget the last `n` rows of each of a tuple of caches, or of none where one has fewer."""
    name = "attention_kv_cache_array_popn"
    found, count = _all_growing(name, caches), _integer(name, "n", n)
    for cache in found:
        cache.require_popn(count)
    for cache in found:
        cache.popn(count)


@_packed("attention_kv_cache_array_clear")
def array_clear(caches: Any) -> None:
    """Forget all rows of each of a tuple of caches."""
    for cache in _all_growing("attention_kv_cache_array_clear", caches):
        cache.clear()


# -- the paged cache -------------------------------------------------------------------------------


@_packed("paged_attention_kv_cache_create")
def paged_create(*args: Any) -> PagedAttentionKVCache:
    """A paged cache, of the arguments that TVM has, or the first 13 of them and one kernel.

    First comes a shape: the largest batch, all tokens, the tokens of a forward and of a page, and 1
    where windows may slide. Then a shape of the first layer and of that behind the last. Then the
    heads of queries and of keys, and the dimensions of keys and of values. Then a shape of the
    layers' kinds, and false. Then the mode of rope, its scale and theta, and its extension factors
    or None. Last comes a tensor of the dtype.

    Of the kernels that follow, only that at place 24 is called, which may also come alone. It
    splits what is fused and turns queries and keys. What the others do, the cache does itself.
    """
    name = "paged_attention_kv_cache_create"
    if len(args) not in (_PLAIN, _PLAIN + 1, 28, 29):
        text = "expected 28 or 29 arguments, or the first 13 and perhaps one kernel"
        raise cache_error(name, f"{text}, got {len(args)}")
    config = _integers(name, "cache_config", args[0])
    if len(config) != 5:
        text = "`cache_config` has the largest batch, all tokens, those of a forward and of a page"
        raise cache_error(name, f"{text}, and 1 if windows may slide; got {len(config)} numbers")
    batch, tokens, chunk, page, windows = config
    layers = _integers(name, "layer_indptr", args[1])
    kinds = _integers(name, "attn_kinds", args[6])
    if len(layers) != 2 or not 0 <= layers[0] < layers[1] <= len(kinds):
        text = f"{tuple(layers)} is no range of {len(kinds)} layers"
        raise cache_error(name, f"{text}; one worker has all of them here")
    if args[7] is not False and _integer(name, "enable_kv_transfer", args[7]):
        _no_transfer(name)
    heads, groups, keys, values, mode = (
        _integer(name, what, args[place]) for what, place in _NUMBERS.items()
    )
    place = _SPLIT_ROTARY if len(args) > _PLAIN + 1 else _PLAIN
    rotary = args[place] if len(args) > _PLAIN else None
    if rotary is not None and not callable(rotary):
        text = f"argument {place} is a function or None, got {kind_of(rotary)}"
        raise cache_error(name, text)
    if not isinstance(args[12], (np.ndarray, DeviceTensor)):
        raise cache_error(name, f"argument 12 is a tensor of the dtype, got {kind_of(args[12])}")
    return PagedAttentionKVCache(
        batch, tokens, chunk, page, kinds[layers[0] : layers[1]], heads, groups, keys, values,
        args[12].dtype.name, support_sliding_window=bool(windows), rope_mode=mode,
        rope_scale=_number(name, "rotary_scale", args[9]),
        rope_theta=_number(name, "rotary_theta", args[10]),
        rope_ext_factors=args[11] if isinstance(args[11], np.ndarray) and args[11].ndim else None,
        first_layer=layers[0],
        split_rotary=rotary.call if isinstance(rotary, Closure) else rotary,
    )  # fmt: skip


_NUMBERS = {"num_qo_heads": 2, "num_kv_heads": 3, "qk_head_dim": 4, "v_head_dim": 5, "rope_mode": 8}


# -- sequences, of a paged cache or of recurrent states --------------------------------------------


@_packed("kv_state_clear")
def state_clear(state: Any) -> None:
    """Forget all sequences."""
    _sequences("kv_state_clear", state).clear()


@_packed("kv_state_add_sequence")
def state_add_sequence(state: Any, seq_id: Any) -> None:
    """Add an empty sequence."""
    name = "kv_state_add_sequence"
    _sequences(name, state).add_sequence(_integer(name, "seq_id", seq_id))


@_packed("kv_state_remove_sequence")
def state_remove_sequence(state: Any, seq_id: Any) -> None:
    """Forget a sequence."""
    name = "kv_state_remove_sequence"
    _sequences(name, state).remove_sequence(_integer(name, "seq_id", seq_id))


@_packed("kv_state_fork_sequence")
def state_fork_sequence(state: Any, parent: Any, child: Any, fork_pos: Any = -1) -> None:
    """Add a sequence that begins as another does, up to `fork_pos`."""
    name = "kv_state_fork_sequence"
    ids = _integer(name, "parent_seq_id", parent), _integer(name, "child_seq_id", child)
    _sequences(name, state).fork_sequence(*ids, _integer(name, "fork_pos", fork_pos))


@_packed("kv_state_popn")
def state_popn(state: Any, seq_id: Any, n: Any) -> None:
    """Forget the last tokens of a sequence."""
    name = "kv_state_popn"
    _sequences(name, state).popn(_integer(name, "seq_id", seq_id), _integer(name, "n", n))


@_packed("kv_state_begin_forward")
def state_begin_forward(state: Any, seq_ids: Any, append_lengths: Any, *parents: Any) -> None:
    """Make room for new tokens of sequences."""
    name = "kv_state_begin_forward"
    ids = _integers(name, "seq_ids", seq_ids)
    lengths = _integers(name, "append_lengths", append_lengths)
    if len(parents) > 1:
        raise cache_error(name, f"expected 3 or 4 arguments, got {len(parents) + 3}")
    tree = None
    if parents and parents[0] is not None:
        tree = _integers(name, "token_tree_parent_ptr", parents[0])
    _sequences(name, state).begin_forward(ids, lengths, tree)


@_packed("kv_state_end_forward")
def state_end_forward(state: Any) -> None:
    """End a forward."""
    _sequences("kv_state_end_forward", state).end_forward()


@_packed("attention_kv_cache_commit_accepted_token_tree_nodes")
def commit(state: Any, seq_ids: Any, leaf_indices: Any) -> None:
    """Keep the accepted tokens of trees."""
    name = "attention_kv_cache_commit_accepted_token_tree_nodes"
    ids = _integers(name, "seq_ids", seq_ids)
    leaves = _integers(name, "leaf_indices", leaf_indices)
    _state(name, state).commit_accepted_token_tree_nodes(ids, leaves)


@_packed("attention_kv_cache_enable_sliding_window_for_seq")
def enable_sliding_window(state: Any, seq_id: Any, size: Any, sinks: Any) -> None:
    """Have a sequence see so many of its last tokens."""
    name = "attention_kv_cache_enable_sliding_window_for_seq"
    found = _state(name, state)
    numbers = _integer(name, "sliding_window_size", size), _integer(name, "attn_sink_size", sinks)
    found.enable_sliding_window_for_seq(_integer(name, "seq_id", seq_id), *numbers)


@_packed("attention_kv_cache_empty")
def empty(state: Any) -> bool:
    """True if a cache has no sequence."""
    return _state("attention_kv_cache_empty", state).empty()


@_packed("attention_kv_cache_get_num_available_pages")
def get_num_available_pages(state: Any) -> int:
    """The number of free pages."""
    return _state("attention_kv_cache_get_num_available_pages", state).get_num_available_pages()


@_packed("attention_kv_cache_get_total_sequence_length")
def get_total_sequence_length(state: Any) -> int:
    """The number of tokens of all sequences."""
    name = "attention_kv_cache_get_total_sequence_length"
    return _state(name, state).get_total_sequence_length()


@_packed("attention_kv_cache_get_query_positions")
def get_query_positions(state: Any) -> Any:
    """The positions of the new tokens in their sequences."""
    return _state("attention_kv_cache_get_query_positions", state).get_query_positions()


@_packed("attention_kv_cache_attention_with_fused_qkv")
def attention_with_fused_qkv(cache: Any, layer: Any, sm_scale: Any, qkv: Any, o: Any) -> None:
    """Keep new keys and values, and write the attention of the queries into the last."""
    name = "attention_kv_cache_attention_with_fused_qkv"
    if type(layer) is not int or type(sm_scale) is not float:
        layer, sm_scale = _integer(name, "layer_id", layer), _number(name, "sm_scale", sm_scale)
    _paged(name, cache).attention_with_fused_qkv(layer, sm_scale, qkv, o)


@_packed("attention_kv_cache_self_attention")
def self_attention(
    cache: Any, layer: Any, sm_scale: Any, q: Any, k: Any, v: Any, o: Any, lse: Any
) -> None:
    """Write the attention of the new tokens to each other into the last two."""
    name = "attention_kv_cache_self_attention"
    scale = _number(name, "sm_scale", sm_scale)
    _paged(name, cache).self_attention(_integer(name, "layer_id", layer), scale, q, k, v, o, lse)


@_packed("attention_kv_cache_cross_attention")
def cross_attention(cache: Any, layer: Any, sm_scale: Any, q: Any, o: Any, lse: Any) -> None:
    """Write the attention of the new tokens to those in the cache into the last two."""
    name = "attention_kv_cache_cross_attention"
    scale = _number(name, "sm_scale", sm_scale)
    _paged(name, cache).cross_attention(_integer(name, "layer_id", layer), scale, q, o, lse)


@_packed("attention_kv_cache_append_mla_kv")
def append_mla_kv(cache: Any, layer: Any, kv: Any) -> PagedAttentionKVCache:
    """Keep the latent vectors of the new tokens; gives the cache."""
    name = "attention_kv_cache_append_mla_kv"
    _paged(name, cache).append_mla_kv(_integer(name, "layer_id", layer), kv)
    return cache  # type: ignore[no-any-return]


@_packed("attention_kv_cache_merge_attn_output_inplace")
def merge_attn_output_inplace(cache: Any, o: Any, lse: Any, other: Any, other_lse: Any) -> Any:
    """Merge two attentions into the first, which is the result."""
    found = _paged("attention_kv_cache_merge_attn_output_inplace", cache)
    return found.merge_attn_output_inplace(o, lse, other, other_lse)


@_packed("attention_kv_cache_debug_get_kv")
def debug_get_kv(cache: Any, seq_id: Any, start: Any, end: Any, k: Any, v: Any) -> None:
    """Write keys and values of a sequence into the last two."""
    name = "attention_kv_cache_debug_get_kv"
    where = _integer(name, "start_pos", start), _integer(name, "end_pos", end)
    _paged(name, cache).debug_get_kv(_integer(name, "seq_id", seq_id), *where, k, v)


@_packed("attention_kv_cache_debug_get_kv_mla")
def debug_get_kv_mla(cache: Any, seq_id: Any, start: Any, end: Any, kv: Any) -> None:
    """Write the latent vectors of a sequence into the last."""
    name = "attention_kv_cache_debug_get_kv_mla"
    where = _integer(name, "start_pos", start), _integer(name, "end_pos", end)
    _paged(name, cache).debug_get_kv_mla(_integer(name, "seq_id", seq_id), *where, kv)


@_packed("kv_cache_disagg_prepare_recv")
def disagg_prepare_recv(*args: Any) -> NoReturn:
    """Fail: keys and values are not sent to other processors."""
    _no_transfer("kv_cache_disagg_prepare_recv")


@_packed("kv_cache_disagg_mark_send")
def disagg_mark_send(*args: Any) -> NoReturn:
    """Fail: keys and values are not sent to other processors."""
    _no_transfer("kv_cache_disagg_mark_send")


def _no_transfer(name: str) -> NoReturn:
    raise cache_error(name, "caches on a CPU send nothing to other processors")


# -- recurrent states ------------------------------------------------------------------------------


@_packed("rnn_state_create")
def rnn_create(
    num_layers: Any, reserved_num_seqs: Any, max_history: Any, f_gets: Any, f_sets: Any,
    init_layer_value: Any,
) -> RNNState:  # fmt: skip
    """States of recurrent models; what the functions for TVM do, it does itself."""
    name = "rnn_state_create"
    if not isinstance(init_layer_value, (tuple, list)):
        text = f"`init_layer_value` is a tuple of tensors, got {kind_of(init_layer_value)}"
        raise cache_error(name, text)
    layers = _integer(name, "num_layers", num_layers)
    kept = _integer(name, "max_history", max_history)
    room = _integer(name, "reserved_num_seqs", reserved_num_seqs)
    return RNNState(layers, room, kept, init_layer_value)


@_packed("rnn_state_get")
def rnn_get(state: Any, layer_id: Any, state_id: Any, o_data: Any) -> None:
    """Write a state of the sequences of a forward into the last."""
    name = "rnn_state_get"
    ids = _integer(name, "layer_id", layer_id), _integer(name, "state_id", state_id)
    _recurrent(name, state).get(*ids, o_data)


@_packed("rnn_state_set")
def rnn_set(state: Any, layer_id: Any, state_id: Any, data: Any) -> RNNState:
    """Set a state of the sequences of a forward; gives the states."""
    name = "rnn_state_set"
    ids = _integer(name, "layer_id", layer_id), _integer(name, "state_id", state_id)
    _recurrent(name, state).set(*ids, data)
    return state  # type: ignore[no-any-return]


@_packed("rnn_state_debug_get")
def rnn_debug_get(state: Any, layer_id: Any, state_id: Any, seq_id: Any) -> Any:
    """A state of one sequence."""
    name = "rnn_state_debug_get"
    ids = _integer(name, "layer_id", layer_id), _integer(name, "state_id", state_id)
    return _recurrent(name, state).debug_get(*ids, _integer(name, "seq_id", seq_id))


# -- arguments -------------------------------------------------------------------------------------


def _growing(name: str, cache: Any) -> AttentionKVCache:
    if not isinstance(cache, AttentionKVCache):
        text = "expected a cache that `vm.builtin.attention_kv_cache_create` made"
        raise cache_error(name, f"{text}, got {kind_of(cache)}")
    return cache


def _all_growing(name: str, caches: Any) -> list[AttentionKVCache]:
    if not isinstance(caches, (tuple, list)):
        raise cache_error(name, f"expected a tuple of caches, got {kind_of(caches)}")
    return [_growing(name, cache) for cache in caches]


def _sequences(name: str, state: Any) -> KVState | RNNState:
    return state if isinstance(state, RNNState) else _state(name, state)


def _recurrent(name: str, state: Any) -> RNNState:
    if not isinstance(state, RNNState):
        text = "expected a state that `vm.builtin.rnn_state_create` made"
        raise cache_error(name, f"{text}, got {kind_of(state)}")
    return state


def _state(name: str, state: Any) -> KVState:
    if not isinstance(state, KVState):
        raise _no_paged_cache(name, state)
    return state


def _paged(name: str, cache: Any) -> PagedAttentionKVCache:
    if not isinstance(cache, PagedAttentionKVCache):
        raise _no_paged_cache(name, cache)
    return cache


def _no_paged_cache(name: str, value: Any) -> Exception:
    text = "expected a cache that `vm.builtin.paged_attention_kv_cache_create` made"
    return cache_error(name, f"{text}, got {kind_of(value)}")


def _integer(name: str, what: str, value: Any) -> int:
    if isinstance(value, (bool, int, np.integer)):
        return int(value)
    if isinstance(value, Prim) and isinstance(value.value, int):
        return value.value
    raise cache_error(name, f"`{what}` is an integer, got {kind_of(value)}")


def _integers(name: str, what: str, values: Any) -> Sequence[int]:
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        return values.tolist()  # type: ignore[no-any-return]
    if isinstance(values, (tuple, list)):
        return [_integer(name, what, value) for value in values]
    raise cache_error(name, f"`{what}` is a shape or a tuple of integers, got {kind_of(values)}")


def _number(name: str, what: str, value: Any) -> float:
    found = value.value if isinstance(value, Prim) else value
    if isinstance(found, (int, float, np.integer, np.floating)):
        return float(found)
    raise cache_error(name, f"`{what}` is a number, got {kind_of(value)}")
