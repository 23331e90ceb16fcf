"""Networks trained on real digits: each step is that of numpy, and they learn to read."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import VirtualMachine, build
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.runtime.values import cpu
from relaxscript.training import Adam, CrossEntropyLoss, MomentumSGD, SetupTrainer, Trainer
from relaxscript_tests.end_to_end.models.trained import (
    DIGITS,
    TRANSFORMER,
    images_of_digits,
    start_of,
)

pytestmark = pytest.mark.slow

BATCH, RATE, MOMENTUM = 24, 0.1, 0.9
EVERY_NETWORK = {"digits": DIGITS, "transformer": TRANSFORMER}
every_network = pytest.mark.parametrize("network", EVERY_NETWORK.values(), ids=EVERY_NETWORK)


def trainer_of(network, optimizer, target="llvm", legalize=True):
    """A trainer whose parameters are those that all begin with."""
    scores = TensorStructInfo((BATCH, 10), "float32")
    labels = TensorStructInfo((BATCH,), "int64")
    step = SetupTrainer(CrossEntropyLoss(), optimizer, [scores, labels], legalize)
    module = step(network.module(BATCH))
    made = Trainer(module, VirtualMachine(build(module, target)), cpu())
    made.load_params(start_of(network))
    return made


def batches(network):
    images, labels = images_of_digits(network.image)
    for first in range(0, len(images) - BATCH + 1, BATCH):
        yield images[first : first + BATCH], labels[first : first + BATCH]


@every_network
@pytest.mark.parametrize(
    ("target", "legalize"),
    [("reference", False), ("llvm -opt-level=0", True), ("llvm", True), ("llvm", False)],
)
def test_each_step_is_that_of_numpy(network, target, legalize):
    trainer = trainer_of(network, MomentumSGD(RATE, MOMENTUM), target, legalize)
    params = {name: value.astype("float64") for name, value in start_of(network).items()}
    moves = dict.fromkeys(params, 0.0)
    for (x, y), _ in zip(batches(network), range(5)):
        loss, slopes = network.loss(x.astype("float64"), y, params)
        np.testing.assert_allclose(trainer.update(x, y), loss, rtol=1e-4)
        for name, slope in slopes.items():
            moves[name] = MOMENTUM * moves[name] + slope
            params[name] = params[name] - RATE * moves[name]
        for name, value in trainer.export_params().items():
            np.testing.assert_allclose(value, params[name], rtol=1e-3, atol=1e-5, err_msg=name)


@every_network
def test_a_network_learns_to_read_digits(network):
    trainer = trainer_of(network, Adam(0.01))
    seen = list(batches(network))
    train, held_out = seen[:60], seen[60:]
    for _ in range(8):
        losses = [trainer.update(x, y) for x, y in train]
    assert np.mean(losses) < 0.25
    right = [(trainer.predict(x).argmax(axis=1) == y).mean() for x, y in held_out]
    assert np.mean(right) > 0.93
