"""Networks that are known by name, as modules; their parameters are called as PyTorch calls them.

So each takes the `state_dict` of its counterpart, as `second_opinion_of_networks.py` shows.
"""

from __future__ import annotations

from typing import Any

from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import op
from relaxscript.script import relax as R

__all__ = ["NETWORKS", "LeNet", "ResNet", "TransformerEncoder", "UNet"]


def max_pool(x: nn.Tensor, size: int, stride: int, padding: int = 0) -> nn.Tensor:
    """An operator of Relax that `nn.op` has no function for."""
    pooled: nn.Tensor = nn.wrap_nested(
        R.nn.max_pool2d(x._expr, (size, size), strides=stride, padding=padding), "max_pool"
    )
    return pooled


class LeNet(nn.Module):
    """The network of LeCun for 28 x 28 images."""

    def __init__(self) -> None:
        self.conv1 = nn.Conv2D(1, 6, 5)
        self.conv2 = nn.Conv2D(6, 16, 5)
        self.fc1 = nn.Linear(256, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        for conv in (self.conv1, self.conv2):
            x = max_pool(op.relu(conv(x)), 2, 2)
        x = op.reshape(x, (x.shape[0], 256))
        found: nn.Tensor = self.fc3(op.relu(self.fc2(op.relu(self.fc1(x)))))
        return found


class BatchNorm(nn.Module):
    """A norm by statistics that training left, along the channels of images."""

    def __init__(self, channels: int, eps: float = 1e-5) -> None:
        self.eps = eps
        self.weight = nn.Parameter((channels,))
        self.bias = nn.Parameter((channels,))
        self.running_mean = nn.Parameter((channels,))
        self.running_var = nn.Parameter((channels,))
        self.num_batches_tracked = nn.Parameter((), "int64")

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        parts = (self.weight, self.bias, self.running_mean, self.running_var)
        call = R.nn.batch_norm(
            x._expr, *(part._expr for part in parts), axis=1, epsilon=self.eps, training=False
        )
        normed: nn.Tensor = nn.wrap_nested(call, "batch_norm")[0]
        return normed


class BasicBlock(nn.Module):
    """Two convolutions, to whose result the operand is added."""

    def __init__(self, channels: int, filters: int, stride: int) -> None:
        self.conv1 = nn.Conv2D(channels, filters, 3, stride, 1, bias=False)
        self.bn1 = BatchNorm(filters)
        self.conv2 = nn.Conv2D(filters, filters, 3, 1, 1, bias=False)
        self.bn2 = BatchNorm(filters)
        self.downsample: nn.ModuleList | None = None
        if stride != 1 or channels != filters:
            shortcut = nn.Conv2D(channels, filters, 1, stride, bias=False)
            self.downsample = nn.ModuleList([shortcut, BatchNorm(filters)])

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        found = self.bn2(self.conv2(op.relu(self.bn1(self.conv1(x)))))
        return op.relu(found + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """The network of He with 18 layers, of so many filters in the first of them."""

    def __init__(self, width: int = 64, classes: int = 1000) -> None:
        self.conv1 = nn.Conv2D(3, width, 7, 2, 3, bias=False)
        self.bn1 = BatchNorm(width)
        self.layer1 = nn.ModuleList([BasicBlock(width, width, 1), BasicBlock(width, width, 1)])
        self.layer2 = self._layer(width)
        self.layer3 = self._layer(2 * width)
        self.layer4 = self._layer(4 * width)
        self.fc = nn.Linear(8 * width, classes)

    @staticmethod
    def _layer(channels: int) -> nn.ModuleList:
        blocks = [BasicBlock(channels, 2 * channels, 2), BasicBlock(2 * channels, 2 * channels, 1)]
        return nn.ModuleList(blocks)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        x = max_pool(op.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        rows, columns = x.shape[2:]
        found: nn.Tensor = self.fc(op.sum(x, [2, 3]) / float(rows * columns))
        return found


class SelfAttention(nn.Module):
    """Attention whose queries, keys and values are one product."""

    def __init__(self, width: int, heads: int) -> None:
        self.heads = heads
        self.in_proj_weight = nn.Parameter((3 * width, width))
        self.in_proj_bias = nn.Parameter((3 * width,))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x: nn.Tensor, mask: nn.Tensor) -> nn.Tensor:
        batch, tokens, width = x.shape
        fused = x @ self.in_proj_weight.permute_dims() + self.in_proj_bias
        shape = (batch, tokens, self.heads, width // self.heads)
        query, key, value = (part.reshape(shape) for part in op.split(fused, 3, axis=-1))
        found = op.scaled_dot_product_attention(query, key, value, mask)
        result: nn.Tensor = self.out_proj(found.reshape(batch, tokens, width))
        return result


class EncoderLayer(nn.Module):
    """Attention and two products, each behind a norm and added to its operand."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        self.self_attn = SelfAttention(width, heads)
        self.linear1 = nn.Linear(width, inner)
        self.linear2 = nn.Linear(inner, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x: nn.Tensor, mask: nn.Tensor) -> nn.Tensor:
        x = x + self.self_attn(self.norm1(x), mask)
        return x + self.linear2(op.gelu(self.linear1(self.norm2(x))))


class TransformerEncoder(nn.Module):
    """Layers of attention over any number of tokens; `seen` says which of them count."""

    def __init__(self, width: int = 12, heads: int = 3, inner: int = 20, layers: int = 2) -> None:
        self.layers = nn.ModuleList([EncoderLayer(width, heads, inner) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x: nn.Tensor, seen: nn.Tensor) -> nn.Tensor:
        batch, tokens = seen.shape
        mask = op.reshape(seen, (batch, 1, 1, tokens))
        for layer in self.layers:
            x = layer(x, mask)
        found: nn.Tensor = self.norm(x)
        return found


class TimedBlock(nn.Module):
    """A convolution behind a norm, to which a vector of the time is added."""

    def __init__(self, channels: int, filters: int, times: int) -> None:
        self.norm = nn.GroupNorm(2, channels)
        self.conv = nn.Conv2D(channels, filters, 3, padding=1)
        self.time = nn.Linear(times, filters)

    def forward(self, x: nn.Tensor, times: nn.Tensor) -> nn.Tensor:
        shift = op.unsqueeze(op.unsqueeze(self.time(op.silu(times)), -1), -1)
        return self.conv(op.silu(self.norm(x))) + shift


class UNet(nn.Module):
    """A small network of diffusion: images and times go down, through attention, and up again."""

    def __init__(self, channels: int = 4) -> None:
        self.times = nn.Timesteps(channels, True, 0)
        self.time_embedding = nn.TimestepEmbedding(channels, 8)
        self.conv_in = nn.Conv2D(3, channels, 3, padding=1)
        self.down = TimedBlock(channels, 2 * channels, 8)
        self.downsample = nn.Conv2D(2 * channels, 2 * channels, 3, 2, 1)
        self.attn = nn.Attention(2 * channels, heads=2, dim_head=4, norm_num_groups=2)
        self.up = TimedBlock(4 * channels, channels, 8)
        self.conv_out = nn.Conv2D(channels, 3, 3, padding=1)

    def forward(self, x: nn.Tensor, times: nn.Tensor) -> nn.Tensor:
        embedded = self.time_embedding(self.times(times))
        high = self.down(self.conv_in(x), embedded)
        low = self.downsample(high)
        batch, channels, rows, columns = low.shape
        tokens = op.reshape(op.permute_dims(low, [0, 2, 3, 1]), (batch, rows * columns, channels))
        tokens = op.reshape(tokens + self.attn(tokens), (batch, rows, columns, channels))
        low = op.interpolate(op.permute_dims(tokens, [0, 3, 1, 2]), scale_factor=2.0)
        found: nn.Tensor = self.conv_out(self.up(op.concat([low, high], 1), embedded))
        return found


# Each network with what its arguments are.
NETWORKS: dict[str, tuple[nn.Module, dict[str, Any]]] = {
    "LeNet": (LeNet(), {"x": (("n", 1, 28, 28), "float32")}),
    "ResNet-18": (ResNet(4, 5), {"x": (("n", 3, 40, 36), "float32")}),
    "encoder": (
        TransformerEncoder(), {"x": (("n", "t", 12), "float32"), "seen": (("n", "t"), "bool")},
    ),
    "U-Net": (UNet(), {"x": (("n", 3, 6, 8), "float32"), "times": (("n",), "int32")}),
}  # fmt: skip
