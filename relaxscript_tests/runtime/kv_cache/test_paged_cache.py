"""A paged cache, operation by operation, and what it says of what cannot be done."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.kv_cache import AttnKind, PagedAttentionKVCache, RopeMode


def make(kinds=(0, 0), dim=4, batch=4, total=24, chunk=16, page=4, heads=4, groups=2, **options):
    return PagedAttentionKVCache(batch, total, chunk, page, kinds, heads, groups, dim, **options)


def run(cache, ids, counts, seed=0):
    """A forward in which every layer gets random numbers; the attention of the last layer."""
    shape = (sum(counts), cache.num_qo_heads + 2 * cache.num_kv_heads, cache.qk_head_dim)
    qkv = np.random.default_rng(seed).normal(size=shape).astype(cache.dtype)
    out = np.empty((shape[0], cache.num_qo_heads, shape[2]), cache.dtype)
    cache.begin_forward(ids, counts)
    for layer in range(len(cache.attn_kinds)):
        cache.attention_with_fused_qkv(layer + cache.first_layer, 0.5, qkv, out)
    cache.end_forward()
    return out


@pytest.fixture
def cache():
    made = make(support_sliding_window=True)
    made.add_sequence(3)
    run(made, [3], [6])
    return made


def test_a_cache_begins_empty_with_all_pages_free():
    cache = make()
    assert (cache.empty(), cache.get_num_available_pages()) == (True, 6)
    assert repr(cache) == "<KV cache of 0 sequences, 6 pages free>"


def test_a_fork_shares_pages_until_one_of_both_writes_into_them(cache):
    cache.fork_sequence(3, 5)
    assert cache.get_num_available_pages() == 4
    run(cache, [5], [1])
    assert cache.get_num_available_pages() == 3
    run(cache, [3], [1])
    assert cache.get_num_available_pages() == 3
    assert cache.get_total_sequence_length() == 14
    cache.remove_sequence(3)
    assert cache.get_num_available_pages() == 4


def test_a_fork_at_a_full_page_copies_nothing(cache):
    cache.fork_sequence(3, 5, 4)
    run(cache, [5], [1])
    assert cache.get_num_available_pages() == 3


def test_pages_that_are_copied_are_counted_before_anything_changes():
    cache = make(total=8)
    cache.add_sequence(0)
    run(cache, [0], [6])
    for child in (1, 2):
        cache.fork_sequence(0, child)
    begin = cache.begin_forward
    refused("sequence 1 needs 1 more page of 4 tokens, and 0 of 2 are free", begin, [1], [1])
    text = "sequences 0, 1, 2 need 2 more pages of 4 tokens, and 0 of 2 are free"
    refused(text, begin, [0, 1, 2], [1, 1, 1])
    cache.remove_sequence(1)
    cache.remove_sequence(2)
    run(cache, [0], [2])
    assert cache.get_total_sequence_length() == 8


def test_prefill_in_parts_and_prefill_and_decode_in_one_batch_give_the_same():
    whole, parts = make(total=64), make(total=64)
    rng = np.random.default_rng(1)
    qkv = rng.normal(size=(6, 8, 4)).astype("float32")
    want = np.empty((6, 4, 4), "float32")
    whole.add_sequence(0)
    whole.begin_forward([0], [6])
    whole.attention_with_fused_qkv(0, 0.5, qkv, want)
    parts.add_sequence(0)
    parts.add_sequence(1)
    other = rng.normal(size=(3, 8, 4)).astype("float32")
    for first, last in ((0, 3), (3, 5), (5, 6)):
        batch = np.concatenate([other, qkv[first:last]])
        out = np.empty((len(batch), 4, 4), "float32")
        parts.begin_forward([1, 0], [3, last - first])
        for layer in range(2):
            parts.attention_with_fused_qkv(layer, 0.5, batch, out)
        parts.end_forward()
        np.testing.assert_allclose(out[3:], want[first:last], rtol=1e-6)


def test_keys_are_turned_before_they_are_kept_or_when_they_are_read_with_the_same_numbers():
    results = []
    for mode in (RopeMode.NORMAL, RopeMode.INLINE):
        cache = make(rope_mode=mode, rope_theta=100.0, rope_scale=0.5)
        cache.add_sequence(0)
        run(cache, [0], [5])
        results.append(run(cache, [0], [3], seed=1))
    np.testing.assert_allclose(*results, rtol=1e-5)


def test_extension_factors_divide_the_angles():
    plain, divided = (
        make(dim=2, rope_mode=RopeMode.NORMAL, rope_scale=scale, rope_ext_factors=factors)
        for scale, factors in ((0.25, None), (1.0, np.array([4.0])))
    )
    outs = []
    for cache in (plain, divided):
        cache.add_sequence(0)
        outs.append(run(cache, [0], [5]))
    np.testing.assert_array_equal(*outs)


def test_a_kernel_may_split_and_turn_what_is_fused():
    seen = []

    def split(qkv, positions, q, k, v, apply_rope):
        seen.append((positions.tolist(), apply_rope))
        q[...], k[...], v[...] = 2 * qkv[:, :4], qkv[:, 4:6], qkv[:, 6:]

    doubled = make(rope_mode=RopeMode.NORMAL, split_rotary=split)
    plain = make()
    for cache in (doubled, plain):
        cache.add_sequence(0)
    out = run(doubled, [0], [2])
    plain.begin_forward([0], [2])
    qkv = np.random.default_rng(0).normal(size=(2, 8, 4)).astype("float32")
    want = np.empty_like(out)
    plain.attention_with_fused_qkv(0, 1.0, qkv, want)
    np.testing.assert_allclose(out, want, rtol=1e-6)
    assert seen == [([0, 1], 1)] * 2


def test_a_long_prefill_is_computed_block_by_block(monkeypatch):
    want, seen = make(chunk=64, total=64), make(chunk=64, total=64)
    for cache in (want, seen):
        cache.add_sequence(0)
    whole = run(want, [0], [50])
    monkeypatch.setattr("relaxscript.runtime.kv_cache.attention._BLOCK", 7 * 4 * 50)
    np.testing.assert_allclose(run(seen, [0], [50]), whole, rtol=1e-6)


def test_tokens_that_no_later_one_sees_leave_with_their_pages(cache):
    cache.enable_sliding_window_for_seq(3, 5, 2)
    run(cache, [3], [12])
    assert cache.get_num_available_pages() == 4  # the sinks have a page and the window
    assert cache.get_total_sequence_length() == 18 - 12
    k = np.empty((2, 2, 2, 4), "float32")
    cache.debug_get_kv(3, 16, -1, k, k.copy())
    with pytest.raises(VMError, match="tokens 4 to 16 of sequence 3 have left its window"):
        cache.debug_get_kv(3, 6, 10, k, k)
    with pytest.raises(VMError, match="tokens 4 to 16 of sequence 3 have left its window, and "):
        cache.popn(3, 5)
    cache.popn(3, 16)
    assert (cache.get_num_available_pages(), cache.get_total_sequence_length()) == (5, 2)
    run(cache, [3], [3])
    cache.debug_get_kv(3, 3, 5, k, k.copy())


def test_a_sequence_with_a_window_goes_on_in_a_few_pages():
    cache = make(support_sliding_window=True, total=16, rope_mode=RopeMode.NORMAL)
    cache.add_sequence(0)
    cache.enable_sliding_window_for_seq(0, 6, 2)
    for _ in range(50):
        run(cache, [0], [3])
    assert cache.get_total_sequence_length() <= 12
    assert cache.get_num_available_pages() >= 1


@pytest.mark.parametrize("mode", list(RopeMode))
def test_narrow_floats_are_kept_and_computed_in_float32(mode):
    outs = []
    for dtype in ("bfloat16", "float32"):
        cache = make(dtype=dtype, rope_mode=mode)
        cache.add_sequence(0)
        run(cache, [0], [3])
        outs.append(run(cache, [0], [1], seed=1).astype("float32"))
    np.testing.assert_allclose(*outs, rtol=0.05, atol=0.05)


def test_what_is_no_number_spreads_to_the_tokens_that_see_it():
    cache = make(kinds=(0,))
    cache.add_sequence(0)
    for tokens in (3, 1):
        qkv = np.ones((tokens, 8, 4), "float32")
        qkv[-1, :6] = np.inf if tokens == 3 else 1
        out = np.empty((tokens, 4, 4), "float32")
        cache.begin_forward([0], [tokens])
        cache.attention_with_fused_qkv(0, 1.0, qkv, out)
        cache.end_forward()
        assert np.isfinite(out).all(axis=(1, 2)).tolist() == [True] * (tokens - 1) + [False]


def test_latent_attention_is_kept_once_and_merged_with_that_of_the_new_tokens():
    """Keys of 6 elements, the first 4 of which are the values; a self and a cross attention."""
    rng = np.random.default_rng(2)
    cache = make(kinds=(AttnKind.MLA,), dim=6, v_head_dim=4)
    kv = rng.normal(size=(7, 6)).astype("float32")
    q = rng.normal(size=(7, 4, 6)).astype("float32")
    cache.add_sequence(0)
    out, lse = np.empty((7, 4, 4), "float32"), np.empty((7, 4), "float32")
    for first, last in ((0, 3), (3, 6), (6, 7)):
        cache.begin_forward([0], [last - first])
        cache.append_mla_kv(0, kv[first:last])
        own = slice(first, last)
        keys = kv[own, None]
        if last - first > 1:
            cache.self_attention(0, 0.5, q[own], keys, keys[..., :4], out[own], lse[own])
            far, far_lse = np.empty_like(out[own]), np.empty_like(lse[own])
            cache.cross_attention(0, 0.5, q[own], far, far_lse)
            cache.merge_attn_output_inplace(out[own], lse[own], far, far_lse)
        else:
            cache.cross_attention(0, 0.5, q[own], out[own], lse[own])
        cache.end_forward()
    scores = np.einsum("qhd,kd->qhk", q, kv) * 0.5
    scores[:, :, :][np.triu(np.ones((7, 7), bool), 1)[:, None, :].repeat(4, 1)] = -np.inf
    weights = np.exp(scores)
    want = np.einsum("qhk,kd->qhd", weights / weights.sum(-1, keepdims=True), kv[:, :4])
    np.testing.assert_allclose(out, want, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(lse, np.log2(weights.sum(-1)), rtol=1e-4, atol=1e-5)
    held = np.empty((1, 7, 6), "float32")
    cache.debug_get_kv_mla(0, 0, -1, held)
    assert (held[0] == kv).all()


def test_of_a_tree_the_path_to_a_leaf_is_kept(cache):
    cache.begin_forward([3], [4], [-1, 0, 0, 2])
    assert cache.get_query_positions().tolist() == [6, 7, 7, 8]
    qkv = np.random.default_rng(5).normal(size=(4, 8, 4)).astype("float32")
    for layer in range(2):
        cache.attention_with_fused_qkv(layer, 0.5, qkv, np.empty((4, 4, 4), "float32"))
    cache.end_forward()
    with pytest.raises(VMError, match="sequence 3 has a tree of tokens of which none is accepted"):
        cache.popn(3, 1)
    cache.commit_accepted_token_tree_nodes([3], [3])
    assert cache.get_total_sequence_length() == 9
    k, v = np.empty((2, 3, 2, 4), "float32"), np.empty((2, 3, 2, 4), "float32")
    cache.debug_get_kv(3, 6, 9, k, v)
    assert (k[1] == qkv[[0, 2, 3], 4:6]).all()


def refused(match, operation, *args):
    with pytest.raises(VMError, match=match) as caught:
        operation(*args)
    assert caught.value.code == "RX0606"


def test_sequences_that_are_not_there_or_there_already_are_named(cache):
    refused("`popn`: there is no sequence 7; there are: 3", cache.popn, 7, 1)
    refused("there is no sequence 7", cache.remove_sequence, 7)
    refused("there is no sequence 7", cache.fork_sequence, 7, 8)
    refused("there is no sequence 7", cache.begin_forward, [3, 7], [1, 1])
    refused("`add_sequence`: there is a sequence 3 already", cache.add_sequence, 3)
    refused("there is a sequence 3 already", cache.fork_sequence, 3, 3)
    refused("there is no sequence 1; there are: none", make().popn, 1, 1)


def test_more_tokens_than_there_are_cannot_be_popped_or_forked(cache):
    refused("sequence 3 has 6 tokens, of which 7 cannot be popped", cache.popn, 3, 7)
    refused("sequence 3 has 6 tokens, of which -1 cannot be popped", cache.popn, 3, -1)
    refused("sequence 3 has 6 tokens and cannot be forked at 7", cache.fork_sequence, 3, 4, 7)


def test_windows_are_checked(cache):
    enable = cache.enable_sliding_window_for_seq
    refused("a window of 2 cannot have 2 sinks, for sequence 3", enable, 3, 2, 2)
    enable(3, 4, 1)
    refused("sequence 3 has a window of 4 already", enable, 3, 4, 1)
    plain = make()
    plain.add_sequence(0)
    without = "made without support of sliding windows"
    refused(without, plain.enable_sliding_window_for_seq, 0, 4, 1)


def test_a_forward_is_checked_before_anything_changes(cache):
    begin = cache.begin_forward
    refused("1 sequence and 2 lengths are given", begin, [3], [1, 2])
    refused("0 sequences and 0 lengths are given", begin, [], [])
    refused("sequence 3 is given twice", begin, [3, 3], [1, 1])
    refused("sequence 3 cannot get 0 tokens", begin, [3], [0])
    refused("at most 16 tokens, got 17 for sequence 3", begin, [3], [17])
    for seq_id in range(4, 8):
        cache.add_sequence(seq_id)
    refused("at most 4 sequences, got 5", begin, [3, 4, 5, 6, 7], [1] * 5)
    text = "sequences 4, 5 need 5 more pages of 4 tokens, and 4 of 6 are free"
    refused(text, begin, [4, 5], [9, 7])
    assert (cache.get_num_available_pages(), cache.get_total_sequence_length()) == (4, 6)
    begin([3], [1])
    refused("a forward of sequence 3 has begun; `end_forward` comes first", begin, [4], [1])
    refused("a forward of sequence 3 has begun", cache.remove_sequence, 3)


def test_what_needs_a_forward_says_that_none_has_begun(cache):
    text = "no forward has begun; `begin_forward` says for which sequences"
    refused(text, cache.end_forward)
    refused(text, cache.get_query_positions)
    refused(text, cache.attention_with_fused_qkv, 0, 1.0, None, None)


def test_trees_are_checked(cache):
    begin, commit = cache.begin_forward, cache.commit_accepted_token_tree_nodes
    refused("1 parent for 2 tokens, of sequence 3", begin, [3], [2], [-1])
    refused("token 1 of sequence 3 cannot follow token 1", begin, [3], [2], [-1, 1])
    refused("sequence 3 has no tree of tokens", commit, [3], [0])
    refused("1 sequence and 2 leaves are given", commit, [3], [0, 1])
    cache.add_sequence(4)
    cache.enable_sliding_window_for_seq(4, 3, 0)
    refused("sequence 4 has a window, and no trees of tokens", begin, [4], [2], [-1, -1])
    begin([3], [2], [-1, -1])
    for layer in range(2):
        ones = np.ones((2, 8, 4), "float32")
        cache.attention_with_fused_qkv(layer, 1.0, ones, ones[:, :4].copy())
    cache.end_forward()
    refused("the tree of sequence 3 has 2 tokens, and no token 2", commit, [3], [2])


def test_layers_and_tensors_are_checked_before_anything_is_kept(cache):
    qkv, out = np.zeros((2, 8, 4), "float32"), np.zeros((2, 4, 4), "float32")
    cache.begin_forward([3], [2])
    attend = cache.attention_with_fused_qkv
    refused("there is no layer 2; there are 0 to 1", attend, 2, 1.0, qkv, out)
    text = r"`qkv` is a tensor of shape \(2, 8, 4\) and dtype float32, got a tensor of shape \(1, "
    refused(text, attend, 0, 1.0, qkv[:1], out)
    refused("`qkv` is .* dtype float64", attend, 0, 1.0, qkv.astype("float64"), out)
    refused(r"`o` is a tensor of shape \(2, 4, 4\)", attend, 0, 1.0, qkv, qkv)
    refused("layer 0 is of the kind MHA, not MLA", cache.append_mla_kv, 0, qkv[:, 0])
    lse = np.zeros((2, 4), "float32")
    own = cache.self_attention
    refused(r"`k` is a tensor of shape \(2, _, 4\)", own, 0, 1.0, out, out[:1], out, out, lse)
    odd = np.zeros((2, 3, 4), "float32")
    text = "`q` has 4 heads, which is no multiple of the 3 of `k`"
    refused(text, own, 0, 1.0, out, odd, odd, out, lse)
    refused(r"`lse` is a tensor of shape \(2, 4\)", own, 0, 1.0, out, out, out, out, lse[:1])
    with pytest.raises(VMError, match="layers 0, 1 got no keys and values of the tokens of sequen"):
        cache.end_forward()
    assert cache.get_total_sequence_length() == 6


def test_keys_and_values_of_different_widths_cannot_be_fused():
    cache = make(v_head_dim=2)
    cache.add_sequence(0)
    cache.begin_forward([0], [1])
    text = "keys have 4 and values 2 elements a head, and cannot be fused"
    refused(text, cache.attention_with_fused_qkv, 0, 1.0, None, None)


def test_what_is_looked_at_must_be_there(cache):
    k = np.empty((2, 2, 2, 4), "float32")
    refused("sequence 3 has 6 tokens, and none from 5 to 7", cache.debug_get_kv, 3, 5, 7, k, k)
    refused("layer 0 is of the kind MHA, not MLA", cache.debug_get_kv_mla, 3, 0, 2, k[:, :, 0])


def test_sizes_that_cannot_be_are_refused():
    refused("4 heads of queries are no multiple of 3 of keys", lambda: make(groups=3))
    refused("`page_size` is 0, not positive", lambda: make(page=0))
    refused("kinds MHA, MLA and MHA_SLIDING, not LINEAR_ATTN", lambda: make(kinds=[2]))
    text = "latent vectors of 4 elements hold no values of 6"
    refused(text, lambda: make(kinds=[1], v_head_dim=6))
    refused("there is no mode 3 of rope", lambda: make(rope_mode=3))
    refused("or keys of dtype int32", lambda: make(dtype="int32"))
    refused("not 9", lambda: make(kinds=[9]))
    refused("pairs of elements, and a head has 3", lambda: make(dim=3, rope_mode=1))
    refused(
        r"heads of 4 elements need 2 extension factors of rope, got shape \(3,\)",
        lambda: make(rope_mode=1, rope_ext_factors=np.ones(3)),
    )
    refused("cannot allocate .* pages of 4 tokens: ", lambda: make(total=1 << 58))
