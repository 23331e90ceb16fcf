"""Names that users know as `relax.training.optimizer`."""

from __future__ import annotations

from relaxscript.training.optimizer import SGD, Adam, MomentumSGD, Optimizer

__all__ = ["SGD", "Adam", "MomentumSGD", "Optimizer"]
