"""The opinion of torch on networks that are modules.

Run by `python -m relaxscript_tests.frontend.nn.second_opinion_of_networks`. Each network takes the
`state_dict` of its counterpart in torch, whose tensors it shares, and must compute the same. The
language model generates with a paged cache; its counterpart computes every text anew. The package
is of the extra `oracles`; `.ci/long` runs this.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import torch
from torch import nn as theirs
from torch.nn import functional

from relaxscript.relax.frontend import nn
from relaxscript_tests.end_to_end.models.llama import (
    DIM,
    GROUPS,
    HEADS,
    HIDDEN,
    LAYERS,
    VOCAB,
    WIDTH,
)
from relaxscript_tests.end_to_end.models.llama_module import SPEC, LlamaModule
from relaxscript_tests.frontend.nn.networks import NETWORKS

__all__ = ["main"]

# How far results of float32 may be apart behind twenty layers.
BOUND = 2e-4


class LeNet(theirs.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = theirs.Conv2d(1, 6, 5)
        self.conv2 = theirs.Conv2d(6, 16, 5)
        self.fc1 = theirs.Linear(256, 120)
        self.fc2 = theirs.Linear(120, 84)
        self.fc3 = theirs.Linear(84, 10)

    def forward(self, x: Any) -> Any:
        x = functional.max_pool2d(self.conv1(x).relu(), 2)
        x = functional.max_pool2d(self.conv2(x).relu(), 2).flatten(1)
        return self.fc3(self.fc2(self.fc1(x).relu()).relu())


class BasicBlock(theirs.Module):
    def __init__(self, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self.conv1 = theirs.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.bn1 = theirs.BatchNorm2d(filters)
        self.conv2 = theirs.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.bn2 = theirs.BatchNorm2d(filters)
        self.downsample = None
        if stride != 1 or channels != filters:
            shortcut = theirs.Conv2d(channels, filters, 1, stride, bias=False)
            self.downsample = theirs.Sequential(shortcut, theirs.BatchNorm2d(filters))

    def forward(self, x: Any) -> Any:
        found = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (found + (x if self.downsample is None else self.downsample(x))).relu()


class ResNet(theirs.Module):
    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.conv1 = theirs.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = theirs.BatchNorm2d(width)
        counts = [(width, width, 1), (width, 2 * width, 2), (2 * width, 4 * width, 2)]
        for number, (channels, filters, stride) in enumerate([*counts, (4 * width, 8 * width, 2)]):
            blocks = BasicBlock(channels, filters, stride), BasicBlock(filters, filters, 1)
            setattr(self, f"layer{number + 1}", theirs.Sequential(*blocks))
        self.fc = theirs.Linear(8 * width, classes)

    def forward(self, x: Any) -> Any:
        x = functional.max_pool2d(self.bn1(self.conv1(x)).relu(), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Encoder(theirs.TransformerEncoder):
    """The encoder of torch itself; it is told which tokens do not count."""

    def __init__(self) -> None:
        layer = theirs.TransformerEncoderLayer(
            12, 3, 20, 0.0, "gelu", batch_first=True, norm_first=True
        )
        super().__init__(layer, 2, theirs.LayerNorm(12), enable_nested_tensor=False)

    def forward(self, x: Any, seen: Any) -> Any:
        return super().forward(x, src_key_padding_mask=~seen)


class TimedBlock(theirs.Module):
    def __init__(self, channels: int, filters: int, times: int) -> None:
        super().__init__()
        self.norm = theirs.GroupNorm(2, channels)
        self.conv = theirs.Conv2d(channels, filters, 3, padding=1)
        self.time = theirs.Linear(times, filters)

    def forward(self, x: Any, times: Any) -> Any:
        silu = functional.silu
        return self.conv(silu(self.norm(x))) + self.time(silu(times))[:, :, None, None]


class TimestepEmbedding(theirs.Module):
    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.linear_1 = theirs.Linear(channels, width)
        self.linear_2 = theirs.Linear(width, width)

    def forward(self, x: Any) -> Any:
        return self.linear_2(functional.silu(self.linear_1(x)))


class Attention(theirs.Module):
    def __init__(self, width: int, heads: int, features: int) -> None:
        super().__init__()
        self.heads = heads
        self.group_norm = theirs.GroupNorm(2, width)
        inner = heads * features
        for name in ("to_q", "to_k", "to_v"):
            setattr(self, name, theirs.Linear(width, inner, bias=False))
        self.to_out = theirs.ModuleList([theirs.Linear(inner, width)])

    def forward(self, x: Any) -> Any:
        x = self.group_norm(x.mT).mT
        rows = (part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                for part in (self.to_q, self.to_k, self.to_v))  # fmt: skip
        found = functional.scaled_dot_product_attention(*rows)
        return self.to_out[0](found.transpose(1, 2).flatten(2))


class UNet(theirs.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.time_embedding = TimestepEmbedding(channels, 8)
        self.conv_in = theirs.Conv2d(3, channels, 3, padding=1)
        self.down = TimedBlock(channels, 2 * channels, 8)
        self.downsample = theirs.Conv2d(2 * channels, 2 * channels, 3, 2, 1)
        self.attn = Attention(2 * channels, 2, 4)
        self.up = TimedBlock(4 * channels, channels, 8)
        self.conv_out = theirs.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x: Any, times: Any) -> Any:
        half = self.channels // 2
        angles = times[:, None] * torch.exp(-math.log(10000) * torch.arange(half) / half)
        embedded = self.time_embedding(torch.cat([angles.cos(), angles.sin()], 1))
        high = self.down(self.conv_in(x), embedded)
        low = self.downsample(high)
        tokens = low.flatten(2).mT
        low = (tokens + self.attn(tokens)).mT.unflatten(2, low.shape[2:])
        low = functional.interpolate(low, scale_factor=2.0)
        return self.conv_out(self.up(torch.cat([low, high], 1), embedded))


class GroupedAttention(theirs.Module):
    """Attention in which several heads of queries share keys and values; none sees what follows."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = theirs.Linear(WIDTH, (HEADS + 2 * GROUPS) * DIM, bias=False)
        self.out = theirs.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: Any) -> Any:
        rows = self.qkv(x).unflatten(-1, (-1, DIM)).transpose(1, 2)
        q, k, v = rows.split([HEADS, GROUPS, GROUPS], 1)
        k, v = (part.repeat_interleave(HEADS // GROUPS, 1) for part in (self.turn(k), v))
        found = functional.scaled_dot_product_attention(self.turn(q), k, v, is_causal=True)
        return self.out(found.transpose(1, 2).flatten(2))

    @staticmethod
    def turn(x: Any) -> Any:
        """The halves of each row as complex numbers, turned by angles that grow with its place."""
        speeds = 10000.0 ** (torch.arange(0, DIM, 2) / -DIM)
        angles = torch.outer(torch.arange(x.shape[2]), speeds)
        turned = torch.complex(*x.chunk(2, -1)) * torch.polar(torch.ones_like(angles), angles)
        return torch.cat([turned.real, turned.imag], -1)


class FeedForward(theirs.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = theirs.Linear(WIDTH, HIDDEN, bias=False)
        self.up = theirs.Linear(WIDTH, HIDDEN, bias=False)
        self.down = theirs.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Any) -> Any:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class LlamaLayer(theirs.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.second_norm = (theirs.RMSNorm(WIDTH, eps=1e-5) for _ in range(2))
        self.attention = GroupedAttention()
        self.feed_forward = FeedForward()

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norm(x))
        return x + self.feed_forward(self.second_norm(x))


class Llama(theirs.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = theirs.Parameter(torch.randn(VOCAB, WIDTH))
        self.layers = theirs.ModuleList([LlamaLayer() for _ in range(LAYERS)])
        self.norm = theirs.RMSNorm(WIDTH, eps=1e-5)
        self.head = theirs.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, tokens: Any) -> Any:
        x = self.embedding[tokens]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


COUNTERPARTS = {"LeNet": LeNet(), "ResNet-18": ResNet(4, 5), "encoder": Encoder(), "U-Net": UNet(4)}


def _arguments() -> dict[str, list[Any]]:
    """Arguments for each network."""
    seen = torch.ones(3, 7, dtype=torch.bool)
    seen[0, 4:] = False
    return {
        "LeNet": [torch.randn(3, 1, 28, 28)],
        "ResNet-18": [torch.randn(3, 3, 40, 36)],
        "encoder": [torch.randn(3, 7, 12), seen],
        "U-Net": [torch.randn(3, 3, 6, 8), torch.tensor([0, 7, 980], dtype=torch.int32)],
    }


def _with_statistics(network: Any) -> Any:
    """A network in which training would have left statistics and weights that differ."""
    for name, value in network.state_dict().items():
        if value.dtype == torch.float32:
            value += (
                0.1 * torch.rand_like(value) if "var" in name else 0.1 * torch.randn_like(value)
            )
    return network.eval()


def _shares_weights(model: Any, counterpart: Any) -> bool:
    """Whether no weight was copied."""
    theirs_by_name = counterpart.state_dict()
    return all(
        np.shares_memory(parameter.data, theirs_by_name[path].numpy())
        for path, parameter in model.named_parameters()
    )


def _apart(got: Any, wanted: Any) -> float:
    """How far results are apart, of the largest; NaN where shapes differ."""
    if got.shape != wanted.shape:
        return math.nan
    return float((got - wanted).abs().max() / wanted.abs().max())


def _of_network(name: str, arguments: list[Any]) -> float:
    """How far a network is from its counterpart."""
    counterpart = _with_statistics(COUNTERPARTS[name])
    model, kinds = NETWORKS[name]
    model.load_state_dict(counterpart.state_dict())
    spec = {arg: nn.spec.Tensor(*kind) for arg, kind in kinds.items()}
    got = model.jit({"forward": spec}, out_format="torch").forward(*arguments)
    return _apart(got, counterpart(*arguments)) if _shares_weights(model, counterpart) else math.nan


def _of_language_model() -> tuple[float, float]:
    """How far logits are apart: those of a prompt, and the farthest of tokens that follow it.

    NaN where a text would go on with another token.
    """
    counterpart, model = _with_statistics(Llama()), LlamaModule()
    model.load_state_dict(counterpart.state_dict())
    if not _shares_weights(model, counterpart):
        return math.nan, math.nan
    run = model.jit(SPEC, out_format="torch")
    cache = run.create(batch=1, tokens=64, chunk=16, page=4)
    cache.add_sequence(0)
    text = torch.randint(VOCAB, (1, 9), dtype=torch.int32)
    given, apart = text, []
    for _ in range(20):
        cache.begin_forward([0], [given.shape[1]])
        got = run.forward(given, cache)
        cache.end_forward()
        wanted = counterpart(text)[:, -given.shape[1] :]
        given = wanted[:, -1:].argmax(-1).int()
        is_same = torch.equal(got[:, -1:].argmax(-1), given)
        apart.append(_apart(got, wanted) if is_same else math.nan)
        text = torch.cat([text, given], 1)
    return apart[0], float(np.max(apart[1:]))


def main() -> int:
    """Ask torch of every network; 1 where it disagrees."""
    torch.manual_seed(0)
    with torch.no_grad():
        found = {name: _of_network(name, arguments) for name, arguments in _arguments().items()}
        found["LLaMA, a prompt"], found["LLaMA, 19 tokens with a cache"] = _of_language_model()
    wrong = 0
    for name, apart in found.items():
        agrees = apart < BOUND
        wrong += not agrees
        print(f"{name}: {apart:.1e} apart" + ("" if agrees else ", which is too far"))
    print(f"{len(NETWORKS) + 1} networks, {wrong} comparisons differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
