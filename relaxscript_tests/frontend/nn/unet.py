"""The small U-Net of `networks.py` with weights, and the same by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.relax.frontend import nn
from relaxscript_tests.frontend.nn.networks import NETWORKS, UNet

__all__ = ["SPEC", "random_unet", "unet"]

Array = np.ndarray[Any, Any]
Weights = dict[str, Array]

CHANNELS, GROUPS, HEADS = 4, 2, 2
SPEC = {"forward": {arg: nn.spec.Tensor(*kind) for arg, kind in NETWORKS["U-Net"][1].items()}}


def random_unet() -> tuple[UNet, Weights]:
    """A network with weights that its norms do not hide."""
    model = UNet(CHANNELS)
    schemes = {"*norm*.weight": nn.init.uniform(0.5, 1.5), "*.bias": nn.init.uniform(-0.2, 0.2)}
    weights = nn.init.initialize(model.state_dict(), {**schemes, "*": "xavier_uniform"}, key=0)
    model.load_state_dict(weights)
    return model, weights


# ---------------------------------------------------------------- by numpy


def unet(x: Array, times: Array, w: Weights) -> Array:
    """The result of `UNet` for images and their times, in the dtype of the weights."""
    waves = _linear(_waves(times), w, "time_embedding.linear_1")
    t = _linear(_silu(waves), w, "time_embedding.linear_2")
    high = _timed(_conv(x, w, "conv_in"), t, w, "down")
    low = _conv(high, w, "downsample")[:, :, ::2, ::2]
    low = (low + _attention(low, w, "attn")).repeat(2, 2).repeat(2, 3)
    return _conv(_timed(np.concatenate([low, high], 1), t, w, "up"), w, "conv_out")


def _waves(times: Array) -> Array:
    half = CHANNELS // 2
    angles = np.outer(times, 10_000.0 ** (-np.arange(half) / half))
    return np.concatenate([np.cos(angles), np.sin(angles)], 1)


def _timed(x: Array, t: Array, w: Weights, name: str) -> Array:
    h = _conv(_silu(_norm(x, w, f"{name}.norm")), w, f"{name}.conv")
    return h + _linear(_silu(t), w, f"{name}.time")[:, :, None, None]


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
