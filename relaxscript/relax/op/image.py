"""Names that users know as `relax.op.image`: operators of images."""

from __future__ import annotations

from relaxscript.op import image
from relaxscript.op.image import *  # noqa: F403

__all__ = [*image.__all__]
