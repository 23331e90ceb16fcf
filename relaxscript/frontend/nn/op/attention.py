"""Attention, and what tells it the time of a diffusion."""

from __future__ import annotations

import math

from relaxscript.frontend.nn.default_dtype import get_default_dtype
from relaxscript.frontend.nn.tensor import Tensor, apply, require_tensor
from relaxscript.frontend.nn.trace import model_error
from relaxscript.script import relax as R

from .comparison import where
from .manipulate import concat, pad, unsqueeze

__all__ = ["get_timestep_embedding", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    is_causal: bool = False, scale: float | None = None,
    name: str = "scaled_dot_product_attention",
) -> Tensor:  # fmt: skip
    """Means of the values, by how much the query of each token is like the keys.

    All have the axes batch, tokens, heads, features of a head. `attn_mask` is spread to batch,
    heads, queries, keys: numbers are added to the products, and false hides a key. With
    `is_causal` a query sees no key that comes after it. `scale` is that of the products, 1 divided
    by the root of the number of features unless said.
    """
    require_tensor(query, "`query` of `scaled_dot_product_attention`")
    if isinstance(attn_mask, Tensor) and attn_mask.dtype == "bool":
        attn_mask = where(attn_mask, Tensor.from_scalar(0.0, query.dtype), -math.inf, "attn_mask")
    causal = "TopLeft" if is_causal else None
    return apply(R.nn.attention, name, query, key, value, attn_mask, scale, causal)


def get_timestep_embedding(
    x: Tensor, embedding_dim: int, flip_sin_to_cos: bool = False, downscale_freq_shift: float = 1,
    scale: float = 1, max_period: int = 10000, name: str = "get_timestep_embedding",
) -> Tensor:  # fmt: skip
    """Sines and cosines of each time in `x`, of falling frequencies: `(times, embedding_dim)`.

    With `half = embedding_dim // 2` those are the powers of `1 / max_period` to the exponents
    `k / (half - downscale_freq_shift)`. The sines come first, with `flip_sin_to_cos` the cosines;
    a last column is 0 where `embedding_dim` is odd. The result has the default dtype. Raises
    `DiagnosticError` (RX0711) where the exponents have no step.
    """
    require_tensor(x, "the operand of `get_timestep_embedding`")
    half = embedding_dim // 2
    if half == downscale_freq_shift or half < 1:
        raise model_error(
            f"an embedding of {embedding_dim} dimensions has no frequencies with "
            f"`downscale_freq_shift={downscale_freq_shift}`",
            help="write a larger `embedding_dim`",
        )
    places = apply(R.arange, "exponent", 0, half, 1, "float32")
    frequencies = apply(
        R.exp, "frequencies", places * (-math.log(max_period) / (half - downscale_freq_shift))
    )
    angles = unsqueeze(x.astype("float32"), 1) * unsqueeze(frequencies, 0)
    if scale != 1:
        angles = angles * float(scale)
    waves = [apply(R.sin, "sin", angles), apply(R.cos, "cos", angles)]
    found = concat(waves[::-1] if flip_sin_to_cos else waves, -1, name)
    if embedding_dim % 2:
        found = pad(found, [0, 0, 0, 1])
    return found.astype(get_default_dtype())
