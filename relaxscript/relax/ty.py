"""Names that users know as `relax.ty`: types without sizes, values or devices."""

from __future__ import annotations

from relaxscript import ty
from relaxscript.ty import *  # noqa: F403

__all__ = [*ty.__all__]
