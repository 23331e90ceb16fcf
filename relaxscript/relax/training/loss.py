"""Names that users know as `relax.training.loss`."""

from __future__ import annotations

from relaxscript.training.loss import (
    CategoricalCrossEntropyLoss,
    CrossEntropyLoss,
    L1Loss,
    Loss,
    MSELoss,
)

__all__ = ["CategoricalCrossEntropyLoss", "CrossEntropyLoss", "L1Loss", "Loss", "MSELoss"]
