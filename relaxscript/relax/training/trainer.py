"""Names that users know as `relax.training.trainer`."""

from __future__ import annotations

from relaxscript.training.trainer import Trainer

__all__ = ["Trainer"]
