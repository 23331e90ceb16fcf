"""Functions of tensors for neural networks, `topi.nn`."""

from __future__ import annotations

from . import elemwise, matrix_products
from .elemwise import *  # noqa: F403
from .matrix_products import *  # noqa: F403

__all__ = [*elemwise.__all__, *matrix_products.__all__]
