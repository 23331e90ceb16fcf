"""A step of a training, as a multiple of the same in torch and in numpy by hand.

The digits network and a small transformer, in batches of 32, by two optimizers: loss, gradients and
new parameters. All runs in a fresh process on one thread, all sides in turns. Torch runs eagerly,
as people train with it; where it is not installed the figures are those beside numpy only.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import relaxscript as rx
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.training import Adam, CrossEntropyLoss, MomentumSGD, SetupTrainer, Trainer
from relaxscript_tests.end_to_end.models.trained import (
    DIGITS,
    TRANSFORMER,
    TrainedNetwork,
    start_of,
)

from .timing import in_turns

BATCH, CALLS = 32, 50
RATE, MOMENTUM = 0.01, 0.9
NETWORKS = {"digits": (DIGITS, 1.5), "transformer": (TRANSFORMER, 2.0)}
OPTIMIZERS = {"MomentumSGD": lambda: MomentumSGD(RATE, MOMENTUM), "Adam": lambda: Adam(RATE)}

Step = Callable[[], object]


def drawn(network: TrainedNetwork) -> tuple[Any, Any]:
    """A batch of images of noise."""
    rng = np.random.default_rng(0)
    images = rng.uniform(0, 1, (BATCH, *network.image)).astype("float32")
    return images, rng.integers(0, 10, BATCH)


def by_ours(network: TrainedNetwork, optimizer: str) -> Step:
    operands = [TensorStructInfo((BATCH, 10), "float32"), TensorStructInfo((BATCH,), "int64")]
    setup = SetupTrainer(CrossEntropyLoss(), OPTIMIZERS[optimizer](), operands, legalize=False)
    module = setup(network.module(BATCH))
    trainer = Trainer(module, rx.VirtualMachine(rx.build(module)), "cpu")
    trainer.load_params(start_of(network))
    images, labels = drawn(network)
    return lambda: trainer.update(images, labels)


def by_numpy(network: TrainedNetwork) -> Step:
    """The step of MomentumSGD, by the gradients that are derived by hand."""
    images, labels = drawn(network)
    params = start_of(network)
    moves = {name: np.zeros_like(value) for name, value in params.items()}

    def step() -> None:
        _, slopes = network.loss(images, labels, params)
        for name, slope in slopes.items():
            moves[name] *= np.float32(MOMENTUM)
            moves[name] += slope
            params[name] -= np.float32(RATE) * moves[name]

    return step


def by_torch(name: str, optimizer: str) -> Step:
    import torch

    from relaxscript_tests.end_to_end.second_opinion_of_training import NETWORKS as COUNTERPARTS

    torch.set_num_threads(1)
    network, forward = COUNTERPARTS[name]
    images, labels = map(torch.from_numpy, drawn(network))
    params = {n: torch.tensor(v, requires_grad=True) for n, v in start_of(network).items()}
    values = list(params.values())
    moving: Any = (
        torch.optim.Adam(values, RATE)
        if optimizer == "Adam"
        else torch.optim.SGD(values, RATE, MOMENTUM)
    )

    def step() -> None:
        moving.zero_grad()
        torch.nn.functional.cross_entropy(forward(images, params), labels).backward()
        moving.step()

    return step


def many(step: Step) -> Step:
    return lambda: [step() for _ in range(CALLS)]


def report(name: str, optimizer: str) -> None:
    network, aim = NETWORKS[name]
    sides = {"ours": by_ours(network, optimizer)}
    if optimizer == "MomentumSGD":
        sides["numpy"] = by_numpy(network)
    if importlib.util.find_spec("torch") is not None:
        sides["torch"] = by_torch(name, optimizer)
    found = in_turns({side: many(step) for side, step in sides.items()}, 15)
    line = f"{name} by {optimizer}"
    print(f"{line:<28}{found['ours'] / CALLS * 1e6:9.1f} us", end="")
    for side, taken in found.items():
        if side != "ours":
            wanted = f" (aim {aim})" if side == "torch" else ""
            print(f" = {found['ours'] / taken:5.2f} x {side}{wanted}", end="")
    print()


def main() -> None:
    if importlib.util.find_spec("torch") is None:
        print("torch is not installed: no figures beside it")
    for name in NETWORKS:
        for optimizer in OPTIMIZERS:
            report(name, optimizer)


if __name__ == "__main__":
    if sys.argv[1:] == ["here"]:
        main()
    else:
        one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, "-m", "relaxscript_tests.benchmarks.training", "here"]
        sys.exit(subprocess.run(command, env={**os.environ, **one}, check=False).returncode)
