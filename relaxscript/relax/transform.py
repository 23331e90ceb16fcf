"""Names that users know as `relax.transform`: the passes."""

from __future__ import annotations

from relaxscript import transform
from relaxscript.transform import *  # noqa: F403

__all__ = [*transform.__all__]
