"""Exporting a transformer of 12 layers, as a multiple of `np.add` of 64 floats for each binding."""

from __future__ import annotations

import numpy as np

from relaxscript.relax.frontend import nn

from .timing import least_in_turns


class Attention(nn.Module):
    """Self-attention with several heads."""

    def __init__(self, width: int, heads: int) -> None:
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        n, length, width = x.shape
        split = (n, length, self.heads, width // self.heads)
        query = self.query(x).reshape(split).permute_dims(0, 2, 1, 3)
        key = self.key(x).reshape(split).permute_dims(0, 2, 3, 1)
        value = self.value(x).reshape(split).permute_dims(0, 2, 1, 3)
        scores = nn.op.matmul(query, key) * 0.125
        mixed = nn.op.matmul(scores, value).permute_dims(0, 2, 1, 3)
        return self.out(mixed.reshape(n, length, width))


class Layer(nn.Module):
    """Attention and two products, each beside what it takes."""

    def __init__(self, width: int, heads: int) -> None:
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.activation = nn.ReLU()

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        x = x + self.attention(x)
        return x + self.down(self.activation(self.up(x)))


def main() -> None:
    model = nn.ModuleList([Layer(64, 4) for _ in range(12)])
    spec = {"forward": {"x": nn.spec.Tensor(("n", "length", 64), "float32")}}
    array, times = np.ones(64, "float32"), 1_000
    mod, _ = model.export_tvm(spec)
    count = len(mod["forward"].body.blocks[0].bindings)

    def add() -> None:
        for _ in range(times):
            np.add(array, array)

    measured = least_in_turns({"add": add, "export": lambda: model.export_tvm(spec)}, runs=21)
    each = measured["export"] / count
    ratio = each / (measured["add"] / times)
    print(f"export of {count} bindings           {measured['export'] * 1e3:8.2f} ms")
    print(f"each                             {each * 1e6:8.2f} us = {ratio:.1f} x np.add")
    print("aim                                at most 105 x np.add")


if __name__ == "__main__":
    main()
