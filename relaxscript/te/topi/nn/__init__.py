"""Functions of tensors for neural networks, `topi.nn`."""

from __future__ import annotations

from . import elemwise
from .elemwise import *  # noqa: F403

__all__ = [*elemwise.__all__]
