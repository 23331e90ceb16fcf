"""Models in other manners than scripts: `nn`, modules that own their parameters by name."""

from __future__ import annotations

from . import nn
from .detach_params import detach_params

__all__ = ["detach_params", "nn"]
