"""Attention of tokens to each other, or to those of a condition."""

from __future__ import annotations

from typing import Any

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.module import Module, ModuleList
from relaxscript.frontend.nn.tensor import Tensor
from relaxscript.frontend.nn.trace import model_error

from .linear import Linear
from .normalization import GroupNorm

__all__ = ["Attention"]


class Attention(Module):
    """Attention with `heads` of `dim_head` features, as diffusion models have it.

    The parameters are the products `to_q`, `to_k`, `to_v`, `to_out.0`, and with `norm_num_groups`
    those of `group_norm`. Keys and values are made of `cross_attention_dim` features, or of
    `query_dim`. `scale_qk` divides products by the root of `dim_head`.
    """

    def __init__(
        self, query_dim: int, cross_attention_dim: int | None = None, heads: int = 8,
        dim_head: int = 64, bias: bool = False, norm_num_groups: int | None = None,
        out_bias: bool = True, scale_qk: bool = True,
    ) -> None:  # fmt: skip
        source = query_dim if cross_attention_dim is None else cross_attention_dim
        self.heads = heads
        self.dim_head = dim_head
        self.scale = dim_head**-0.5 if scale_qk else 1.0
        self.group_norm: GroupNorm | None = None
        if norm_num_groups is not None:
            self.group_norm = GroupNorm(norm_num_groups, query_dim)
        inner = heads * dim_head
        self.to_q = Linear(query_dim, inner, bias=bias)
        self.to_k = Linear(source, inner, bias=bias)
        self.to_v = Linear(source, inner, bias=bias)
        self.to_out = ModuleList([Linear(inner, query_dim, bias=out_bias)])

    def forward(
        self, hidden_states: Tensor, encoder_hidden_states: Tensor | None = None,
        attention_mask: Tensor | None = None, **cross_attention_kwargs: Any,
    ) -> Tensor:  # fmt: skip
        """The tokens `(batch, tokens, query_dim)`, each with what it attends to.

        That is `encoder_hidden_states`, `(batch, tokens, cross_attention_dim)`, or the tokens
        themselves. `attention_mask` is one of `nn.op.scaled_dot_product_attention`.
        """
        if cross_attention_kwargs:
            name = next(iter(cross_attention_kwargs))
            raise model_error(f"`Attention` knows nothing of `{name}`", help=f"leave out `{name}`")
        if self.group_norm is not None:
            hidden_states = self.group_norm(hidden_states, channel_axis=2, axes=[1])
        source = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        query = self._as_heads(self.to_q(hidden_states))
        key, value = self._as_heads(self.to_k(source)), self._as_heads(self.to_v(source))
        found = op.scaled_dot_product_attention(query, key, value, attention_mask, scale=self.scale)
        batch, tokens, *_ = found.shape
        result: Tensor = self.to_out(op.reshape(found, (batch, tokens, self.heads * self.dim_head)))
        return result

    def _as_heads(self, x: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        return op.reshape(x, (batch, tokens, self.heads, self.dim_head))
