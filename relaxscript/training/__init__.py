"""Training of models: losses, optimizers, and what puts them and a model into one module.

loss.py          what predictions cost, as a function of them and of targets.
optimizer.py     how parameters move, as a function of them, gradients and states.
append_loss.py   a model with its loss.
setup_trainer.py a module with all that a training runs.
trainer.py       parameters and states, which batches move.
"""

from __future__ import annotations

from .append_loss import AppendLoss
from .loss import CategoricalCrossEntropyLoss, CrossEntropyLoss, L1Loss, Loss, MSELoss
from .optimizer import SGD, Adam, MomentumSGD, Optimizer
from .setup_trainer import SetupTrainer
from .trainer import Trainer

__all__ = [
    "SGD", "Adam", "AppendLoss", "CategoricalCrossEntropyLoss", "CrossEntropyLoss", "L1Loss",
    "Loss", "MSELoss", "MomentumSGD", "Optimizer", "SetupTrainer", "Trainer",
]  # fmt: skip
