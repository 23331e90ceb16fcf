"""The opinion of torch on networks that are modules.

Run by `python -m relaxscript_tests.frontend.nn.second_opinion_of_networks`. Each network takes the
`state_dict` of its counterpart in torch, whose tensors it shares, and must compute the same. The
package is of the extra `oracles`; `.ci/long` runs this.
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


def main() -> int:
    """Ask torch of every network; 1 where it disagrees."""
    torch.manual_seed(0)
    wrong = 0
    for name, arguments in _arguments().items():
        counterpart = _with_statistics(COUNTERPARTS[name])
        model, kinds = NETWORKS[name]
        model.load_state_dict(counterpart.state_dict())
        spec = {arg: nn.spec.Tensor(*kind) for arg, kind in kinds.items()}
        got = model.jit({"forward": spec}, out_format="torch").forward(*arguments)
        with torch.no_grad():
            wanted = counterpart(*arguments)
        apart = float((got - wanted).abs().max() / wanted.abs().max())
        shared = all(
            np.shares_memory(parameter.data, counterpart.state_dict()[path].numpy())
            for path, parameter in model.named_parameters()
        )
        agrees = got.shape == wanted.shape and apart < BOUND and shared
        wrong += not agrees
        print(f"{name}: {apart:.1e} apart" + ("" if agrees else ", which is too far"))
    print(f"{len(NETWORKS)} networks, {wrong} differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
