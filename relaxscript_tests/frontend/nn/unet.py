"""A small U-Net as a module, as diffusion models have it, and the same by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.relax.frontend import nn

__all__ = ["SPEC", "UNet", "random_unet", "unet"]

Array = np.ndarray[Any, Any]
Weights = dict[str, Array]

CHANNELS, TIMES, GROUPS, HEADS = 8, 16, 4, 2
SPEC = {
    "forward": {
        "x": nn.spec.Tensor(("n", 3, 8, 8), "float32"),
        "times": nn.spec.Tensor(("n",), "float32"),
    }
}


# ---------------------------------------------------------------- as a module


class Resnet(nn.Module):
    """Two convolutions beside what they take, with the vectors of times added between."""

    def __init__(self, channels: int, width: int) -> None:
        self.norm1 = nn.GroupNorm(GROUPS, channels)
        self.conv1 = nn.Conv2D(channels, width, 3, padding=1)
        self.time_emb_proj = nn.Linear(TIMES, width)
        self.norm2 = nn.GroupNorm(GROUPS, width)
        self.conv2 = nn.Conv2D(width, width, 3, padding=1)
        self.act = nn.SiLU()
        self.conv_shortcut = nn.Conv2D(channels, width, 1) if channels != width else nn.Identity()

    def forward(self, x: nn.Tensor, times: nn.Tensor) -> nn.Tensor:
        h = self.conv1(self.act(self.norm1(x)))
        added = self.time_emb_proj(self.act(times))
        h = h + added.reshape(*added.shape, 1, 1)
        h = self.conv2(self.act(self.norm2(h)))
        return self.conv_shortcut(x) + h


class Middle(nn.Module):
    """Attention of all pixels to each other, beside what it takes."""

    def __init__(self, channels: int) -> None:
        self.attention = nn.Attention(
            channels, heads=HEADS, dim_head=channels // HEADS, norm_num_groups=GROUPS
        )

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        n, channels, height, width = x.shape
        pixels = x.reshape(n, channels, height * width).permute_dims(0, 2, 1)
        found = self.attention(pixels).permute_dims(0, 2, 1)
        return x + found.reshape(n, channels, height, width)


class UNet(nn.Module):
    """What noise is in an image at a time: down, attention, and up beside what was before."""

    def __init__(self) -> None:
        self.time_proj = nn.Timesteps(CHANNELS, flip_sin_to_cos=True, downscale_freq_shift=0)
        self.time_embedding = nn.TimestepEmbedding(CHANNELS, TIMES)
        self.conv_in = nn.Conv2D(3, CHANNELS, 3, padding=1)
        self.down = Resnet(CHANNELS, CHANNELS)
        self.downsampler = nn.Conv2D(CHANNELS, CHANNELS, 3, stride=2, padding=1)
        self.inner = Resnet(CHANNELS, 2 * CHANNELS)
        self.middle = Middle(2 * CHANNELS)
        self.upsampler = nn.Conv2D(2 * CHANNELS, CHANNELS, 3, padding=1)
        self.up = Resnet(2 * CHANNELS, CHANNELS)
        self.conv_norm_out = nn.GroupNorm(GROUPS, CHANNELS)
        self.conv_act = nn.SiLU()
        self.conv_out = nn.Conv2D(CHANNELS, 3, 3, padding=1)

    def forward(self, x: nn.Tensor, times: nn.Tensor) -> nn.Tensor:
        t = self.time_embedding(self.time_proj(times))
        before = self.down(self.conv_in(x), t)
        h = self.middle(self.inner(self.downsampler(before), t))
        h = self.upsampler(nn.op.interpolate(h, scale_factor=2))
        h = self.up(nn.op.concat([h, before], 1), t)
        return self.conv_out(self.conv_act(self.conv_norm_out(h)))


def random_unet() -> tuple[UNet, Weights]:
    """A network with weights that its norms do not hide."""
    model = UNet()
    schemes = {"*norm*.weight": nn.init.uniform(0.5, 1.5), "*.bias": nn.init.uniform(-0.2, 0.2)}
    weights = nn.init.initialize(model.state_dict(), {**schemes, "*": "xavier_uniform"}, key=0)
    model.load_state_dict(weights)
    return model, weights


# ---------------------------------------------------------------- by numpy


def unet(x: Array, times: Array, w: Weights) -> Array:
    """The result of `UNet` for images and their times, in the dtype of the weights."""
    t = _linear(_silu(_linear(_waves(times), w, "time_embedding.linear_1")), w,
                "time_embedding.linear_2")  # fmt: skip
    before = _resnet(_conv(x, w, "conv_in"), t, w, "down")
    h = _resnet(_conv(before, w, "downsampler")[:, :, ::2, ::2], t, w, "inner")
    h = h + _attention(h, w, "middle.attention")
    h = _conv(h.repeat(2, 2).repeat(2, 3), w, "upsampler")
    h = _resnet(np.concatenate([h, before], 1), t, w, "up")
    return _conv(_silu(_norm(h, w, "conv_norm_out")), w, "conv_out")


def _waves(times: Array) -> Array:
    half = CHANNELS // 2
    angles = np.outer(times, 10_000.0 ** (-np.arange(half) / half))
    return np.concatenate([np.cos(angles), np.sin(angles)], 1)


def _resnet(x: Array, t: Array, w: Weights, name: str) -> Array:
    h = _conv(_silu(_norm(x, w, f"{name}.norm1")), w, f"{name}.conv1")
    h = h + _linear(_silu(t), w, f"{name}.time_emb_proj")[:, :, None, None]
    h = _conv(_silu(_norm(h, w, f"{name}.norm2")), w, f"{name}.conv2")
    shortcut = f"{name}.conv_shortcut"
    return h + (_conv(x, w, shortcut) if f"{shortcut}.weight" in w else x)


def _attention(x: Array, w: Weights, name: str) -> Array:
    n, channels = x.shape[:2]
    pixels = _norm(x, w, f"{name}.group_norm").reshape(n, channels, -1).transpose(0, 2, 1)
    heads = (n, -1, HEADS, channels // HEADS)
    q, k, v = (
        (pixels @ w[f"{name}.to_{part}.weight"].T).reshape(heads).transpose(0, 2, 1, 3)
        for part in "qkv"
    )
    scores = np.exp(q @ k.transpose(0, 1, 3, 2) / np.sqrt(channels // HEADS))
    mixed = scores / scores.sum(-1, keepdims=True) @ v
    joined = mixed.transpose(0, 2, 1, 3).reshape(n, -1, channels)
    return _linear(joined, w, f"{name}.to_out.0").transpose(0, 2, 1).reshape(x.shape)


def _conv(x: Array, w: Weights, name: str) -> Array:
    kernel = w[f"{name}.weight"]
    pad = kernel.shape[2] // 2
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2:], axis=(2, 3))
    found: Array = np.einsum("nchwij,fcij->nfhw", windows, kernel)
    return found + w[f"{name}.bias"][:, None, None]


def _norm(x: Array, w: Weights, name: str) -> Array:
    groups = x.reshape(len(x), GROUPS, -1)
    centred = groups - groups.mean(-1, keepdims=True)
    found = (centred / np.sqrt(centred.var(-1, keepdims=True) + 1e-5)).reshape(x.shape)
    scale, shift = w[f"{name}.weight"], w[f"{name}.bias"]
    return found * scale[:, None, None] + shift[:, None, None]


def _linear(x: Array, w: Weights, name: str) -> Array:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def _silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))
