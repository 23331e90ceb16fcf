"""Names that users know as `relax.training.setup_trainer`."""

from __future__ import annotations

from relaxscript.training.setup_trainer import SetupTrainer

__all__ = ["SetupTrainer"]
