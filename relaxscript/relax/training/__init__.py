"""Names that users know as `relax.training`: losses, optimizers, and what trains a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.opdef.gradient import register_te_gradient
from relaxscript.training import AppendLoss

from . import loss, optimizer, utils

if not TYPE_CHECKING:  # for type checkers a name that is not here is an error
    from relaxscript.errors.not_built import of_training as __getattr__  # noqa: F401

__all__ = ["AppendLoss", "loss", "optimizer", "register_te_gradient", "utils"]
