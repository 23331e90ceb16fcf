"""Models in other manners than scripts: `nn`, modules that own their parameters by name."""

from __future__ import annotations

from . import nn

__all__ = ["nn"]
