"""Names that users know as `relax.ty`: types without sizes, values or devices."""

from __future__ import annotations

from .ir import types
from .ir.types import *  # noqa: F403

__all__ = [*types.__all__]
