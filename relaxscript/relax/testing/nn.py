"""Names that users know as `relax.testing.nn`: small networks for tests."""

from __future__ import annotations

from relaxscript.testing.nn import (
    Linear,
    LogSoftmax,
    Module,
    Parameter,
    Placeholder,
    ReLU,
    Sequential,
    checkpoint,
    emit,
    emit_checkpoint,
    emit_checkpoint_sequential,
    emit_te,
    init_params,
)

__all__ = [
    "Linear",
    "LogSoftmax",
    "Module",
    "Parameter",
    "Placeholder",
    "ReLU",
    "Sequential",
    "checkpoint",
    "emit",
    "emit_checkpoint",
    "emit_checkpoint_sequential",
    "emit_te",
    "init_params",
]
