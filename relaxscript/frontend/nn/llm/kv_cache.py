"""Paged caches of keys and values in models: objects whose methods call the cache of the run time.

    class Model(nn.Module):
        def create_cache(self, batch, tokens, chunk, page) -> nn.Object:
            return TIRPagedKVCache("mha", batch, tokens, chunk, page, ...)

        def forward(self, x: nn.Tensor, cache: PagedKVCache) -> nn.Tensor:
            ...
            return cache.attention_with_fused_qkv(layer_id, qkv, num_qo_heads, sm_scale)

What the calls do is in `runtime/kv_cache/`. Source: TVM `relax.frontend.nn.llm.kv_cache`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from relaxscript.frontend.nn.tensor import Object, Tensor, expression, tensor_info, wrap_nested
from relaxscript.frontend.nn.trace import current_builder, model_error
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import ObjectStructInfo, TupleStructInfo
from relaxscript.runtime.kv_cache import AttnKind, RopeMode
from relaxscript.script import relax as R, tir as T

from .position_embedding import llama_rope_with_position_map

__all__ = ["AttnKind", "FlashInferPagedKVCache", "PagedKVCache", "RopeMode", "TIRPagedKVCache"]

_BUILTIN = "vm.builtin.attention_kv_cache_"


class PagedKVCache(Object):
    """A paged cache of keys and values, in a method of a module.

    At run time the method is called between `begin_forward` and `end_forward` of the cache. It gets
    the new tokens of all sequences. A tensor of tokens is `(batch, length, heads, dim)`, and what
    counts is the number of tokens, `batch * length`.
    """

    def attention_with_fused_qkv(
        self, layer_id: int, qkv: Tensor, num_qo_heads: int, sm_scale: float
    ) -> Tensor:
        """Keep a layer's keys and values; gives the attention of its queries.

        `qkv` is `(batch, length, num_qo_heads + 2 * num_kv_heads, head_dim)`, the result
        `(batch, length, num_qo_heads, head_dim)`. The cache turns queries and keys by their
        positions, as its `RopeMode` says.
        """
        batch, length, heads, dim = _dims("qkv", qkv)
        given = qkv.reshape(batch * length, heads, dim)
        out = tensor_info((batch * length, num_qo_heads, dim), qkv.dtype)
        result = self._write("attention_with_fused_qkv", layer_id, sm_scale, [given], out)
        return result.reshape(batch, length, num_qo_heads, dim)  # type: ignore[no-any-return]

    def self_attention(
        self, layer_id: int, q: Tensor, k: Tensor, v: Tensor, sm_scale: float
    ) -> tuple[Tensor, Tensor]:
        """The attention of the new tokens to each other, with the logarithm of its sums.

        The second result, `(batch, length, heads)` of float32, has these to base 2.
        """
        batch, length, heads, dim = _dims("q", q)
        width = _dims("v", v)[3]
        parts = [q.reshape(batch * length, heads, dim)]
        parts += [x.reshape(batch * length, *_dims(n, x)[2:]) for n, x in (("k", k), ("v", v))]
        return self._attend("self_attention", layer_id, sm_scale, parts, (batch, length, width))

    def cross_attention(
        self, layer_id: int, q: Tensor, v_head_dim: int, sm_scale: float
    ) -> tuple[Tensor, Tensor]:
        """The attention of the new tokens to those in the cache, with the logarithm of its sums."""
        batch, length, heads, dim = _dims("q", q)
        parts = [q.reshape(batch * length, heads, dim)]
        shape = (batch, length, v_head_dim)
        return self._attend("cross_attention", layer_id, sm_scale, parts, shape)

    def append_mla_kv(self, layer_id: int, kv: Tensor) -> PagedKVCache:
        """Keep the latent vectors of a layer, `(batch, length, 1, dim)`; gives the cache.

        What follows in the program is to use the result, so that it comes after.
        """
        batch, length, _, dim = _dims("kv", kv)
        given = kv.reshape(batch * length, dim)._expr
        args = [self._expr, R.prim_value(layer_id), given]
        call = R.call_pure_packed(f"{_BUILTIN}append_mla_kv", *args, sinfo_args=ObjectStructInfo())
        return PagedKVCache(_expr=call, _name="paged_kv_cache")

    def merge_attn_output_inplace(
        self, o_self_attn: Tensor, lse_self_attn: Tensor, o_cross_attn: Tensor,
        lse_cross_attn: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The attention to two sets of tokens together, of that to each of them.

        The first two tensors are written into, and are not to be used after.
        """
        batch, length, heads, dim = _dims("o_self_attn", o_self_attn)
        outs = [x.reshape(batch * length, heads, dim) for x in (o_self_attn, o_cross_attn)]
        sums = [x.reshape(batch * length, heads) for x in (lse_self_attn, lse_cross_attn)]
        args = [x._expr for pair in zip(outs, sums) for x in pair]
        info = TupleStructInfo((outs[0].struct_info, sums[0].struct_info))
        name = "merge_attn_output_inplace"
        call = R.call_pure_packed(f"{_BUILTIN}{name}", self._expr, *args, sinfo_args=info)
        out, lse = wrap_nested(call, "merged")
        return out.reshape(batch, length, heads, dim), lse.reshape(batch, length, heads)

    def get_query_positions(self, total_length: Any) -> Tensor:
        """The positions of the new tokens in their sequences, `(total_length,)` of int32."""
        call = R.call_pure_packed(
            f"{_BUILTIN}get_query_positions", self._expr,
            sinfo_args=tensor_info((total_length,), "int32"),
        )  # fmt: skip
        return wrap_nested(call, "query_positions")  # type: ignore[no-any-return]

    def _write(self, name: str, layer_id: int, scale: float, tensors: Any, out: Any) -> Any:
        """The tensors that a function of the cache writes."""
        args = [self._expr, R.prim_value(layer_id), R.prim_value(T.float64(scale))]
        call = R.call_dps_packed(f"{_BUILTIN}{name}", [*args, *expression(tensors)], out)
        return wrap_nested(call, name)

    def _attend(
        self, name: str, layer_id: int, scale: float, parts: list[Tensor], shape: Any
    ) -> tuple[Tensor, Tensor]:
        batch, length, width = shape
        total, heads = parts[0].shape[:2]
        infos = [
            tensor_info((total, heads, width), parts[0].dtype),
            tensor_info((total, heads), "float32"),
        ]
        out, lse = self._write(name, layer_id, scale, parts, infos)
        return out.reshape(batch, length, heads, width), lse.reshape(batch, length, heads)


class TIRPagedKVCache(PagedKVCache):
    """A new paged cache: what it holds and computes is known when it is made.

    The first sizes may be shape variables: the largest batch, the tokens that have room, those of a
    forward and of a page. `support_sliding_window` is 1 where windows may slide. `attn_kind` is
    "mha", "mla", or a list with one for each layer, in which "mha_sliding" may be.
    `layer_partition` has the first layer and that behind the last.

    Where `rope_scaling` has a type, a kernel for it becomes part of the program. So it does where
    `rotary_dim` is not the whole head. `target` is taken for TVM's sake. Raises `DiagnosticError`
    (RX0711) for what a CPU has not.
    """

    def __init__(
        self,
        attn_kind: Literal["mha", "mla"] | Sequence[Literal["mha", "mla", "mha_sliding"]],
        max_batch_size: Any,
        max_total_seq_len: Any,
        prefill_chunk_size: Any,
        page_size: Any,
        support_sliding_window: Any,
        layer_partition: Any,
        num_hidden_layers: int,
        num_attention_heads: int,
        num_key_value_heads: int,
        qk_head_dim: int,
        v_head_dim: int,
        mla_original_qk_head_dim: int,
        mla_original_v_head_dim: int,
        rope_mode: RopeMode,
        rope_scale: float,
        rope_theta: float,
        rope_scaling: Mapping[str, Any] | None,
        rope_ext_factors: Any,
        rotary_dim: int,
        enable_disaggregation: bool,
        dtype: str,
        target: Any = None,
        name: str = "paged_kv_cache",
    ) -> None:
        if enable_disaggregation:
            raise model_error("caches on a CPU send nothing to other processors")
        kinds = [attn_kind] * num_hidden_layers if isinstance(attn_kind, str) else attn_kind
        sizes = [max_batch_size, max_total_seq_len, prefill_chunk_size, page_size]
        partition = (
            layer_partition if isinstance(layer_partition, Expr) else R.shape(layer_partition)
        )
        plain: list[Any] = [
            R.shape([*sizes, support_sliding_window]), partition,
            *map(R.prim_value, (num_attention_heads, num_key_value_heads, qk_head_dim, v_head_dim)),
            R.shape([_kind(kind) for kind in kinds]), R.prim_value(T.bool(False)),
            R.prim_value(int(rope_mode)), R.prim_value(T.float64(rope_scale)),
            R.prim_value(T.float64(rope_theta)), _factors(rope_ext_factors),
            R.const(0.0, dtype),
        ]  # fmt: skip
        scaled = bool((rope_scaling or {}).get("rope_type"))
        if rope_mode != RopeMode.NONE and (scaled or rotary_dim != qk_head_dim):
            kernel = llama_rope_with_position_map(
                rope_theta, rope_scale, qk_head_dim, num_attention_heads, num_key_value_heads,
                dtype, rope_scaling, rotary_dim,
            )  # fmt: skip
            plain.append(current_builder("TIRPagedKVCache").add_func(kernel, "split_rotary"))
        created = R.call_pure_packed(
            "vm.builtin.paged_attention_kv_cache_create", *plain, sinfo_args=ObjectStructInfo()
        )
        super().__init__(_expr=created, _name=name)


class FlashInferPagedKVCache(PagedKVCache):
    """A cache with the kernels of FlashInfer, which are for GPUs: making one raises RX0711."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise model_error(
            "the kernels of FlashInfer run on GPUs only", help="write `TIRPagedKVCache(...)`"
        )


def _kind(name: str) -> int:
    try:
        return int(AttnKind[name.upper()])
    except KeyError:
        known = ", ".join(f'"{kind.name.lower()}"' for kind in AttnKind)
        help = f"write one of {known}"
        raise model_error(f"there is no attention of the kind {name!r}", help=help) from None


def _factors(factors: Any) -> Any:
    if factors is None:
        return R.null_value()
    return factors if isinstance(factors, Expr) else expression(factors)


def _dims(name: str, tensor: Tensor) -> list[Any]:
    shape = tensor.shape
    if len(shape) != 4:
        raise model_error(f"`{name}` is (batch, length, heads, dim), got {tuple(shape)}")
    return shape
