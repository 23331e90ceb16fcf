"""Training of models: losses, optimizers, and what puts them and a model into one module.

loss.py          what predictions cost, as a function of them and of targets.
optimizer.py     how parameters move, as a function of them, gradients and states.
append_loss.py   a model with its loss.
"""

from __future__ import annotations

from .append_loss import AppendLoss
from .loss import CategoricalCrossEntropyLoss, CrossEntropyLoss, L1Loss, Loss, MSELoss
from .optimizer import SGD, Adam, MomentumSGD, Optimizer

__all__ = [
    "SGD", "Adam", "AppendLoss", "CategoricalCrossEntropyLoss", "CrossEntropyLoss", "L1Loss",
    "Loss", "MSELoss", "MomentumSGD", "Optimizer",
]  # fmt: skip
