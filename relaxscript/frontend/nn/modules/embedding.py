"""Vectors for what is counted: tokens, and times of a diffusion."""

from __future__ import annotations

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.module import Module
from relaxscript.frontend.nn.parameter import Parameter
from relaxscript.frontend.nn.tensor import Tensor
from relaxscript.frontend.nn.trace import model_error

from .activation import SiLU
from .linear import Linear

__all__ = ["Embedding", "TimestepEmbedding", "Timesteps"]


class Embedding(Module):
    """A vector for each of `num` tokens; `weight` is `(num, dim)`."""

    def __init__(self, num: int | str, dim: int | str, dtype: str | None = None) -> None:
        self.num = num
        self.dim = dim
        self.weight = Parameter((num, dim), dtype)

    def forward(self, x: Tensor) -> Tensor:
        """The vectors of tokens, along a last axis; each token must be there."""
        return op.take(self.weight, x, 0, name="embedding")


class Timesteps(Module):
    """`nn.op.get_timestep_embedding` as a module: `num_channels` numbers for each time."""

    def __init__(
        self, num_channels: int, flip_sin_to_cos: bool = False, downscale_freq_shift: float = 1
    ) -> None:
        self.num_channels = num_channels
        self.flip_sin_to_cos = flip_sin_to_cos
        self.downscale_freq_shift = downscale_freq_shift

    def forward(self, x: Tensor) -> Tensor:
        """Sines and cosines of each time in `x`, which has one axis."""
        return op.get_timestep_embedding(
            x, self.num_channels, self.flip_sin_to_cos, self.downscale_freq_shift
        )


class TimestepEmbedding(Module):
    """Two products with an activation between, for vectors of times.

    The parameters are `linear_1`, `linear_2`, and with `cond_proj_dim` `cond_proj`, a product of a
    condition that is added first. The result has `out_dim` numbers, or `time_embed_dim`.
    `post_act_fn` is an activation behind. Raises `DiagnosticError` (RX0711) for another one than
    "silu".
    """

    def __init__(
        self, in_channels: int, time_embed_dim: int, act_fn: str = "silu",
        out_dim: int | None = None, post_act_fn: str | None = None,
        cond_proj_dim: int | None = None,
    ) -> None:  # fmt: skip
        for name in (act_fn, post_act_fn):
            if name not in ("silu", None) or act_fn is None:
                raise model_error(
                    f"`TimestepEmbedding` has no activation {name!r}", help='write "silu"'
                )
        self.linear_1 = Linear(in_channels, time_embed_dim)
        self.cond_proj: Linear | None = None
        if cond_proj_dim is not None:
            self.cond_proj = Linear(cond_proj_dim, in_channels, bias=False)
        self.act = SiLU()
        self.linear_2 = Linear(time_embed_dim, time_embed_dim if out_dim is None else out_dim)
        self.post_act = None if post_act_fn is None else SiLU()

    def forward(self, sample: Tensor, condition: Tensor | None = None) -> Tensor:
        """The vectors of times, `(times, in_channels)`, as those that layers add."""
        if condition is not None:
            if self.cond_proj is None:
                raise model_error(
                    "a `TimestepEmbedding` takes no condition unless it is made for one",
                    help="write `nn.TimestepEmbedding(..., cond_proj_dim=64)`",
                )
            sample = sample + self.cond_proj(condition)
        found: Tensor = self.linear_2(self.act(self.linear_1(sample)))
        return found if self.post_act is None else self.post_act(found)
