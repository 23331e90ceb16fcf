"""Operators of neural networks, `R.nn.…`: activations and normalizations."""

from __future__ import annotations

from . import activation, normalization
from .activation import *  # noqa: F403
from .normalization import *  # noqa: F403

__all__ = [*activation.__all__, *normalization.__all__]
