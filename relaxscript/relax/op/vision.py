"""Names that users know as `relax.op.vision`: operators of object detection."""

from __future__ import annotations

from relaxscript.op import vision
from relaxscript.op.vision import *  # noqa: F403

__all__ = [*vision.__all__]
