"""The caches as packed functions: by name, from programs, and what they say of wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.runtime import Prim, Shape, get_global_func
from relaxscript.runtime.kv_cache import PagedAttentionKVCache
from relaxscript.runtime.kv_cache.packed import CACHE_FUNCTIONS
from relaxscript.script import ir as I, relax as R, tir as T


def call(name, *args):
    return get_global_func(f"vm.builtin.{name}")(*args)


def plain(config=(2, 16, 8, 4, 1), layers=(0, 1), heads=(2, 1, 4, 4), kinds=(0,), mode=0):
    """The first 13 arguments of a paged cache."""
    dtype = np.zeros((), "float32")
    shapes = Shape(config), Shape(layers)
    return (*shapes, *heads, Shape(kinds), False, mode, 1, 10000, None, dtype)


@pytest.fixture
def cache():
    made = call("paged_attention_kv_cache_create", *plain())
    call("kv_state_add_sequence", made, 1)
    return made


# Those of TVM under `vm.builtin` that are about keys, values and other states of sequences.
NAMES = """
    attention_kv_cache_append attention_kv_cache_append_mla_kv attention_kv_cache_array_clear
    attention_kv_cache_array_popn attention_kv_cache_attention_with_fused_qkv
    attention_kv_cache_commit_accepted_token_tree_nodes attention_kv_cache_create
    attention_kv_cache_cross_attention attention_kv_cache_debug_get_kv
    attention_kv_cache_debug_get_kv_mla attention_kv_cache_empty
    attention_kv_cache_enable_sliding_window_for_seq
    attention_kv_cache_get_num_available_pages attention_kv_cache_get_query_positions
    attention_kv_cache_get_total_sequence_length attention_kv_cache_merge_attn_output_inplace
    attention_kv_cache_self_attention attention_kv_cache_update attention_kv_cache_view
    attention_kv_cache_window_override attention_kv_cache_window_override_with_sinks
    kv_cache_disagg_mark_send kv_cache_disagg_prepare_recv kv_state_add_sequence
    kv_state_begin_forward kv_state_clear kv_state_end_forward kv_state_fork_sequence kv_state_popn
    kv_state_remove_sequence paged_attention_kv_cache_create rnn_state_create rnn_state_debug_get
    rnn_state_get rnn_state_set
"""


def test_the_names_are_those_of_tvm():
    assert {f"vm.builtin.{name}" for name in NAMES.split()} == set(CACHE_FUNCTIONS)


def test_each_is_found_by_its_name_and_says_what_it_does():
    for name, function in CACHE_FUNCTIONS.items():
        assert get_global_func(name).function is function
        assert function.__doc__


def test_the_simple_cache_by_its_names():
    ones = np.ones((1, 2), "float32")
    cache = call("attention_kv_cache_create", ones, Shape([2, 2]), 0)
    assert call("attention_kv_cache_append", cache, ones) is cache
    assert call("attention_kv_cache_update", cache, 2 * ones) is cache
    assert call("attention_kv_cache_view", cache).tolist() == [[2, 2]]
    assert call("attention_kv_cache_window_override", cache, 3 * ones, 2) is cache
    call("attention_kv_cache_window_override_with_sinks", cache, 4 * ones, Prim(2, "int32"), 1)
    assert call("attention_kv_cache_view", cache, Shape([2, 2])).tolist() == [[2, 2], [4, 4]]
    other = call("attention_kv_cache_create", ones, Shape([2, 2]), -1)
    call("attention_kv_cache_append", other, ones)
    call("attention_kv_cache_array_popn", (other,), 1)
    assert call("attention_kv_cache_view", other).shape == (1, 2)
    call("attention_kv_cache_array_clear", (other,))
    assert call("attention_kv_cache_view", other).shape == (0, 2)


def test_of_several_caches_all_are_popped_or_none():
    ones = np.ones((2, 2), "float32")
    caches = tuple(call("attention_kv_cache_create", ones[:n], Shape([2, 2]), -1) for n in (2, 1))
    with pytest.raises(VMError, match="the cache has 1 rows, of which 2 cannot go"):
        call("attention_kv_cache_array_popn", caches, 2)
    assert [call("attention_kv_cache_view", c).shape[0] for c in caches] == [2, 1]


def test_the_paged_cache_by_its_names(cache):
    call("kv_state_begin_forward", cache, Shape([1]), Shape([3]))
    assert call("attention_kv_cache_get_query_positions", cache).tolist() == [0, 1, 2]
    qkv, out = np.ones((3, 4, 4), "float32"), np.zeros((3, 2, 4), "float32")
    call("attention_kv_cache_attention_with_fused_qkv", cache, Prim(0, "int32"), 1, qkv, out)
    assert (out == 1).all()
    lse = np.empty((3, 2), "float32")
    own = qkv[:, 3:]
    call("attention_kv_cache_self_attention", cache, 0, 1.0, out, own, own, out, lse)
    other, other_lse = np.empty_like(out), np.empty_like(lse)
    call("attention_kv_cache_cross_attention", cache, 0, 1.0, out, other, other_lse)
    assert (other_lse == -np.inf).all()
    merged = call("attention_kv_cache_merge_attn_output_inplace", cache, out, lse, other, other_lse)
    assert merged[0] is out
    call("kv_state_end_forward", cache)
    call("kv_state_fork_sequence", cache, 1, 2)
    call("kv_state_popn", cache, 2, 1)
    call("attention_kv_cache_enable_sliding_window_for_seq", cache, 2, 8, 2)
    assert call("attention_kv_cache_get_total_sequence_length", cache) == 5
    assert call("attention_kv_cache_get_num_available_pages", cache) == 3
    k, v = np.zeros((1, 3, 1, 4), "float32"), np.zeros((1, 3, 1, 4), "float32")
    call("attention_kv_cache_debug_get_kv", cache, 1, 0, -1, k, v)
    assert k.all()
    assert v.all()
    call("kv_state_begin_forward", cache, (1,), (2,), np.array([-1, -1]))
    call("attention_kv_cache_attention_with_fused_qkv", cache, 0, 1.0, qkv[:2], out[:2])
    call("kv_state_end_forward", cache)
    call("attention_kv_cache_commit_accepted_token_tree_nodes", cache, Shape([1]), (1,))
    call("kv_state_remove_sequence", cache, 1)
    assert call("attention_kv_cache_empty", cache) is False
    call("kv_state_clear", cache)
    assert call("attention_kv_cache_empty", cache) is True


def test_latent_attention_by_its_names():
    cache = call("paged_attention_kv_cache_create", *plain(heads=(2, 1, 4, 2), kinds=(1,)))
    call("kv_state_add_sequence", cache, 0)
    call("kv_state_begin_forward", cache, (0,), (2,), None)
    ones = np.ones((2, 4), "float32")
    assert call("attention_kv_cache_append_mla_kv", cache, 0, ones) is cache
    call("kv_state_end_forward", cache)
    held = np.zeros((1, 2, 4), "float32")
    call("attention_kv_cache_debug_get_kv_mla", cache, 0, 0, 2, held)
    assert held.all()


def test_recurrent_states_by_their_names():
    init = (np.zeros(2, "float32"),)
    state = call("rnn_state_create", 1, Prim(2, "int32"), 2, (None,), (None,), init)
    call("kv_state_add_sequence", state, 0)
    call("kv_state_fork_sequence", state, 0, 1, -1)
    call("kv_state_begin_forward", state, Shape([0, 1]), Shape([1, 1]))
    assert call("rnn_state_set", state, 0, 0, np.ones((2, 2), "float32")) is state
    out = np.ones((2, 2), "float32")
    call("rnn_state_get", state, 0, 0, out)
    assert not out.any()
    call("kv_state_end_forward", state)
    call("kv_state_popn", state, 1, 1)
    assert call("rnn_state_debug_get", state, 0, 0, 0).tolist() == [1, 1]
    assert call("rnn_state_debug_get", state, 0, 0, 1).tolist() == [0, 0]
    call("kv_state_remove_sequence", state, 0)
    call("kv_state_clear", state)
    with pytest.raises(VMError, match="`init_layer_value` is a tuple of tensors, got an int"):
        call("rnn_state_create", 1, 1, 1, (), (), 3)
    with pytest.raises(VMError, match="expected a state that"):
        call("rnn_state_set", 3, 0, 0, out)


@pytest.mark.parametrize(("before", "after"), [(0, 0), (11, 3), (11, 4)])
def test_all_arguments_that_tvm_has_are_taken_and_layers_are_numbered_as_they_say(before, after):
    seen = []
    kernels = [*[None] * before, lambda *args: seen.append(args), *[None] * after]
    args = plain(layers=(2, 3), kinds=(0, 0, 0), mode=1)
    cache = call("paged_attention_kv_cache_create", *args, *kernels)
    call("kv_state_add_sequence", cache, 0)
    call("kv_state_begin_forward", cache, (0,), (1,))
    qkv = np.ones((1, 4, 4), "float32")
    call("attention_kv_cache_attention_with_fused_qkv", cache, 2, 1.0, qkv, qkv[:, :2].copy())
    assert len(seen) == 1
    with pytest.raises(VMError, match="there is no layer 0; there are 2 to 2"):
        call("attention_kv_cache_attention_with_fused_qkv", cache, 0, 1.0, qkv, qkv)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({0: Shape([1, 2])}, "`cache_config` has the largest batch, .*; got 2 numbers"),
        ({0: "x"}, "`cache_config` is a shape or a tuple of integers, got a string"),
        ({1: Shape([0, 2])}, r"\(0, 2\) is no range of 1 layers; one worker has all of them here"),
        ({2: "x"}, "`num_qo_heads` is an integer, got a string"),
        ({7: True}, "caches on a CPU send nothing to other processors"),
        ({9: "x"}, "`rotary_scale` is a number, got a string"),
        ({12: 1}, "argument 12 is a tensor of the dtype, got an int"),
        ({24: 1}, "argument 24 is a function or None, got an int"),
    ],
)
def test_arguments_of_a_new_cache_are_checked(change, match):
    args = [*plain(), *[None] * 15]
    for place, value in change.items():
        args[place] = value
    with pytest.raises(VMError, match=match):
        call("paged_attention_kv_cache_create", *args)


def test_what_is_no_cache_is_refused(cache):
    for name, args, match in (
        ("attention_kv_cache_append", (cache, 1), "that `vm.builtin.attention_kv_cache_create` ma"),
        ("attention_kv_cache_array_clear", (cache,), "expected a tuple of caches, got an object"),
        ("attention_kv_cache_view", (1, 2, 3), "expected a cache that"),
        (
            "kv_state_clear",
            (3,),
            "that `vm.builtin.paged_attention_kv_cache_create` made, got an i",
        ),
        ("attention_kv_cache_cross_attention", (3, 0, 1.0, 1, 1, 1), "paged_attention_kv_cache_cr"),
        (
            "paged_attention_kv_cache_create",
            (1,),
            "expected 28 or 29 arguments, or the first 13",
        ),
        ("kv_state_begin_forward", (cache, (1,), (1,), 1, 1), "expected 3 or 4 arguments, got 5"),
        ("kv_cache_disagg_mark_send", (cache, 1, 1, 1, 1), "send nothing to other processors"),
        ("kv_cache_disagg_prepare_recv", (cache, 1, 1), "send nothing to other processors"),
    ):
        with pytest.raises(VMError, match=match) as caught:
            call(name, *args)
        assert f"`vm.builtin.{name}`" in str(caught.value) or f"`{name}`" in str(caught.value)
    simple = call("attention_kv_cache_create", np.ones((1, 2)), Shape([2, 2]), 0)
    with pytest.raises(VMError, match="expected a cache and perhaps a shape, got 3"):
        call("attention_kv_cache_view", simple, 1, 2)


@I.ir_module
class Program:
    @R.function(pure=False)
    def create(dtype: R.Tensor((), "float32")) -> R.Object:
        cache: R.Object = R.call_packed(
            "vm.builtin.paged_attention_kv_cache_create",
            R.shape([2, 16, 8, 4, 0]), R.shape([0, 1]), R.prim_value(2), R.prim_value(1),
            R.prim_value(4), R.prim_value(4), R.shape([0]), R.prim_value(T.bool(False)),
            R.prim_value(1), R.prim_value(1), R.prim_value(10000), R.null_value(), dtype,
            sinfo_args=[R.Object],
        )  # fmt: skip
        return cache

    @R.function
    def attend(qkv: R.Tensor(("n", 4, 4), "float32"), cache: R.Object) -> R.Tensor(
        ("n", 2, 4), "float32"
    ):
        n = T.int64()
        with R.dataflow():
            out = R.call_dps_packed(
                "vm.builtin.attention_kv_cache_attention_with_fused_qkv",
                (cache, R.prim_value(0), R.prim_value(T.float32(0.5)), qkv),
                out_sinfo=R.Tensor((n, 2, 4), "float32"),
            )
            R.output(out)
        return out

    @R.function(pure=False)
    def positions(cache: R.Object) -> R.Tensor((2,), "int32"):
        found: R.Tensor((2,), "int32") = R.call_packed(
            "vm.builtin.attention_kv_cache_get_query_positions",
            cache,
            sinfo_args=[R.Tensor((2,), "int32")],
        )
        return found


def test_programs_call_them_and_what_they_give_is_checked():
    vm = rx.jit(Program)
    cache = vm["create"](np.zeros((), "float32"))
    assert isinstance(cache, PagedAttentionKVCache)
    cache.add_sequence(4)
    qkv = np.random.default_rng(0).normal(size=(3, 4, 4)).astype("float32")
    with pytest.raises(VMError, match="no forward has begun") as caught:
        vm["attend"](qkv, cache)
    assert "out = R.call_dps_packed(" in str(caught.value)
    cache.begin_forward([4], [3])
    out = vm["attend"](qkv, cache)
    np.testing.assert_array_equal(out, Program["attend"](qkv, cache))
    with pytest.raises(VMError, match=r"get_query_positions` is 3; must be 2"):
        vm["positions"](cache)
    cache.end_forward()
    assert cache.get_total_sequence_length() == 3


def test_a_program_that_calls_them_needs_nothing_else_when_it_is_loaded(tmp_path):
    rx.save(rx.build(Program), tmp_path / "program.rxs")
    assert rx.load(tmp_path / "program.rxs")
