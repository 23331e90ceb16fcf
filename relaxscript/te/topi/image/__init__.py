"""Functions of images and volumes, `topi.image`."""

from __future__ import annotations

from . import grid, resize
from .grid import *  # noqa: F403
from .resize import *  # noqa: F403

__all__ = [*grid.__all__, *resize.__all__]
