"""Names that users know as `relax.op.random`: random numbers by explicit keys."""

from __future__ import annotations

from relaxscript.op import random
from relaxscript.op.random import *  # noqa: F403

__all__ = [*random.__all__]
