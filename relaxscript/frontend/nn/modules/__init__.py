"""Modules that models are made of, by the names, parameters and defaults of TVM.

Source: TVM `relax.frontend.nn.modules`.
"""

from __future__ import annotations

from . import activation, linear
from .activation import *  # noqa: F403
from .linear import *  # noqa: F403

__all__ = [*activation.__all__, *linear.__all__]
