"""Operators of object detection, `R.vision.…`."""

from __future__ import annotations

from . import anchors, boxes, regions
from .anchors import *  # noqa: F403
from .boxes import *  # noqa: F403
from .regions import *  # noqa: F403

__all__ = [*anchors.__all__, *boxes.__all__, *regions.__all__]
