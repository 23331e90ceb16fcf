"""Names that users know as `relax.training`: losses, optimizers, and what trains a model."""

from __future__ import annotations

from relaxscript.opdef.gradient import register_te_gradient
from relaxscript.training import AppendLoss, SetupTrainer, Trainer

from . import loss, optimizer, setup_trainer, trainer, utils

__all__ = [
    "AppendLoss", "SetupTrainer", "Trainer", "loss", "optimizer", "register_te_gradient",
    "setup_trainer", "trainer", "utils",
]  # fmt: skip
