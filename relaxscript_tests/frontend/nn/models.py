"""Models that several tests export."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.relax.frontend import nn


class MLP(nn.Module):
    """Two products with an activation between."""

    def __init__(self, width: int = 6) -> None:
        self.fc1 = nn.Linear(4, width)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(width, 3, bias=False)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return self.fc2(self.relu(self.fc1(x)))


MLP_SPEC = {"forward": {"x": nn.spec.Tensor(("n", 4), "float32")}}


def random_weights(model: nn.Module, seed: int = 0) -> dict[str, Any]:
    """An array for each parameter."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.standard_normal([int(size) for size in parameter.shape]).astype(parameter.dtype)
        for name, parameter in model.named_parameters()
    }
