"""What torch thinks of a training.

Run by `python -m relaxscript_tests.end_to_end.second_opinion_of_training`. The digits network and
the transformer learn to read digits here and in torch, from the same start, by every optimizer.
After each batch losses and parameters are compared; what is further apart than rounding explains is
a mistake of ours until shown otherwise, and the program fails. The packages are of the extra
`oracles`; `.ci/long` runs this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from relaxscript.compiler import VirtualMachine, build
from relaxscript.interpreter import Interpreter
from relaxscript.ir import IRModule
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.training import (
    SGD,
    Adam,
    CrossEntropyLoss,
    L1Loss,
    Loss,
    MomentumSGD,
    MSELoss,
    Optimizer,
    SetupTrainer,
    Trainer,
)
from relaxscript_tests.end_to_end.models.trained import (
    DEPTH,
    DIGITS,
    HEADS,
    ROWS,
    TRANSFORMER,
    WIDTH,
    TrainedNetwork,
    images_of_digits,
    start_of,
)

__all__ = ["main"]

BATCH, STEPS = 24, 70
# How far parameters around 1 may be apart after so many steps in float32.
BOUND = 1e-4
Tensors = dict[str, Any]


def digits(x: Any, p: Tensors) -> Any:
    return torch.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def transformer(x: Any, p: Tensors) -> Any:
    inside = x @ p["w_in"] + p["place"]
    normal = functional.layer_norm(inside, (WIDTH,), p["gamma1"], p["beta1"], 1e-5)
    q, k, v = (
        (normal @ p[name]).reshape(len(x), ROWS, HEADS, DEPTH).transpose(1, 2)
        for name in ("wq", "wk", "wv")
    )
    mixed = functional.scaled_dot_product_attention(q, k, v)
    attended = inside + mixed.transpose(1, 2).reshape(len(x), ROWS, WIDTH) @ p["wo"]
    normal = functional.layer_norm(attended, (WIDTH,), p["gamma2"], p["beta2"], 1e-5)
    active = torch.relu(normal @ p["w_up"] + p["b_up"])
    fed = attended + active @ p["w_down"] + p["b_down"]
    return fed.mean(1) @ p["w_out"] + p["b_out"]


NETWORKS: dict[str, tuple[TrainedNetwork, Callable[[Any, Tensors], Any]]] = {
    "digits": (DIGITS, digits), "transformer": (TRANSFORMER, transformer),
}  # fmt: skip

OPTIMIZERS: dict[str, tuple[Callable[[], Optimizer], Callable[[Any], Any]]] = {
    "SGD": (
        lambda: SGD(0.1, weight_decay=0.01),
        lambda params: torch.optim.SGD(params, 0.1, weight_decay=0.01),
    ),
    "MomentumSGD": (
        lambda: MomentumSGD(0.05, 0.9, weight_decay=0.01),
        lambda params: torch.optim.SGD(params, 0.05, 0.9, weight_decay=0.01),
    ),
    "MomentumSGD of Nesterov": (
        lambda: MomentumSGD(0.05, 0.9, nesterov=True),
        lambda params: torch.optim.SGD(params, 0.05, 0.9, nesterov=True),
    ),
    "Adam": (
        lambda: Adam(0.003, (0.8, 0.99), 1e-5, 0.01),
        lambda params: torch.optim.Adam(params, 0.003, (0.8, 0.99), 1e-5, 0.01),
    ),
}


def apart_after_steps(network: str, optimizer: str) -> tuple[float, float]:
    """The largest difference of losses and parameters on the way, and the last loss."""
    ours, forward = NETWORKS[network]
    make, make_theirs = OPTIMIZERS[optimizer]
    operands = [TensorStructInfo((BATCH, 10), "float32"), TensorStructInfo((BATCH,), "int64")]
    module = SetupTrainer(CrossEntropyLoss(), make(), operands)(ours.module(BATCH))
    trainer = Trainer(module, VirtualMachine(build(module)), "cpu")
    trainer.load_params(start_of(ours))
    params = {
        name: torch.tensor(value, requires_grad=True) for name, value in start_of(ours).items()
    }
    theirs = make_theirs(list(params.values()))
    images, labels = images_of_digits(ours.image)
    apart, loss = 0.0, 0.0
    for step in range(STEPS):
        batch = slice(step * BATCH, (step + 1) * BATCH)
        theirs.zero_grad()
        cost = functional.cross_entropy(
            forward(torch.from_numpy(images[batch]), params), torch.from_numpy(labels[batch])
        )
        cost.backward()
        theirs.step()
        loss = float(trainer.update(images[batch], labels[batch]))
        found = trainer.export_params()
        differences = [np.abs(found[n] - p.detach().numpy()).max() for n, p in params.items()]
        apart = max(apart, abs(loss - float(cost.detach())), *differences)
    return apart, loss


def losses_apart(rng: np.random.Generator) -> float:
    """The largest difference of the value of a loss."""
    x, y = (rng.normal(size=(6, 5)).astype("float32") for _ in range(2))
    classes, weights = rng.integers(0, 5, 6), rng.uniform(0.5, 2, 5).astype("float32")
    found = 0.0
    for reduction in ("mean", "sum", "none"):
        pairs: list[tuple[Loss, tuple[Any, ...], Any]] = [
            (L1Loss(reduction), (x, y), functional.l1_loss),  # type: ignore[arg-type]
            (MSELoss(reduction), (x, y), functional.mse_loss),  # type: ignore[arg-type]
            (
                CrossEntropyLoss(reduction, ignore_index=2),  # type: ignore[arg-type]
                (x, classes, weights),
                lambda *a, reduction: functional.cross_entropy(
                    *a, ignore_index=2, reduction=reduction
                ),
            ),
        ]
        for loss, operands, counterpart in pairs:
            infos = [TensorStructInfo(a.shape, str(a.dtype)) for a in operands]
            ours = Interpreter(IRModule({loss.loss_name: loss(*infos)}))[loss.loss_name](*operands)
            theirs = counterpart(*map(torch.from_numpy, operands), reduction=reduction)
            found = max(found, float(np.abs(ours - theirs.numpy()).max()))
    return found


def main() -> int:
    """1 if a training, or the value of a loss, is further apart than rounding explains."""
    wrong = 0
    apart = losses_apart(np.random.default_rng(1))
    wrong += apart > 1e-4
    print(f"losses: at most {apart:.1e} apart")
    for network in NETWORKS:
        for optimizer in OPTIMIZERS:
            apart, loss = apart_after_steps(network, optimizer)
            wrong += not apart <= BOUND
            told = f"after {STEPS} steps a loss of {loss:.3f}, at most {apart:.1e} apart"
            print(f"{network} by {optimizer}: {told}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
