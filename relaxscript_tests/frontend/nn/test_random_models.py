"""Random models read back as exported, and compute the same however they are cut and passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.interpreter import Interpreter
from relaxscript.ir import assert_structural_equal
from relaxscript.relax.frontend import nn
from relaxscript_tests import examples
from relaxscript_tests.frontend.nn.models import random_weights

WIDTH = 4
STEPS: tuple[Callable[[nn.Tensor, nn.Tensor], nn.Tensor], ...] = (
    lambda x, y: x + y,
    lambda x, y: x - y * 0.5,
    lambda x, y: 2 - x,
    lambda x, y: nn.op.relu(x),
    lambda x, y: x.maximum(y),
    lambda x, y: x.minimum(0.25),
    lambda x, y: x.reshape(x.shape[0] * WIDTH).reshape(*x.shape),
    lambda x, y: x.permute_dims(1, 0).permute_dims(),
)


class RandomBlock(nn.Module):
    """Steps over the values so far, some of which are other blocks; some share parameters."""

    def __init__(self, rng: np.random.Generator, depth: int, cut: bool) -> None:
        chosen = bool(rng.integers(2))
        self.define_subroutine = cut and chosen
        self.linear = nn.Linear(WIDTH, WIDTH, bias=bool(rng.integers(2)))
        count = int(rng.integers(3)) if depth else 0
        self.blocks = nn.ModuleList([RandomBlock(rng, depth - 1, cut) for _ in range(count)])
        if count > 1 and rng.integers(2):
            self.blocks[1].linear = self.blocks[0].linear
        kinds = len(STEPS) + 2
        self.steps = rng.integers((kinds, 1000, 1000), size=(int(rng.integers(1, 6)), 3)).tolist()

    def forward(self, x: nn.Tensor, y: nn.Tensor) -> Any:
        values = [x, y]
        for kind, first, second in self.steps:
            a, b = values[first % len(values)], values[second % len(values)]
            if kind < len(STEPS):
                values.append(STEPS[kind](a, b))
            elif kind == len(STEPS) or not len(self.blocks):
                values.append(self.linear(a))
            else:
                values.extend(self.blocks[second % len(self.blocks)](a, b))
        return values[-1], values[-2]


class RandomModel(nn.Module):
    """A block, of whose results one is given."""

    def __init__(self, rng: np.random.Generator, cut: bool) -> None:
        self.block = RandomBlock(rng, 2, cut)

    def forward(self, x: nn.Tensor, y: nn.Tensor) -> nn.Tensor:
        first, second = self.block(x, y)
        return first + second


@pytest.mark.slow
def test_random_models_are_what_their_scripts_say_however_they_are_exported(
    rng: np.random.Generator,
):
    x, y = rng.standard_normal((2, 3, WIDTH)).astype("float32")
    for seed in rng.integers(1 << 30, size=examples(100)):
        results = []
        for cut in (False, True):
            model = RandomModel(np.random.default_rng(seed), cut)
            weights = {name: array * 0.5 for name, array in random_weights(model).items()}
            model.load_state_dict(weights)
            for mode in ("plain", "packed"):
                shape = nn.spec.Tensor(("n", WIDTH), "float32")
                spec = {"forward": {"x": shape, "y": shape, "$": {"param_mode": mode}}}
                mod, params = model.export_tvm(spec)
                assert rx.analysis.well_formed(mod)
                text = mod.script(show_meta=True)
                again = rx.from_source(text)
                assert_structural_equal(again, mod)
                assert again.script(show_meta=True) == text
                data = [parameter.data for _, parameter in params]
                given = [tuple(data)] if mode == "packed" else data
                results.append(Interpreter(mod).forward(x, y, *given))
                results.append(rx.jit(mod, "reference").forward(x, y, *given))
        for result in results[1:]:
            np.testing.assert_allclose(result, results[0], rtol=1e-4, atol=1e-4)
