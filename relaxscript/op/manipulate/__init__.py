"""Operators that move elements about without computing, by the names of `relax.op.manipulate`."""

from __future__ import annotations

from . import axes, concat_split, relayout, repetition, rotation, shapes
from .axes import *  # noqa: F403
from .concat_split import *  # noqa: F403
from .relayout import *  # noqa: F403
from .repetition import *  # noqa: F403
from .rotation import *  # noqa: F403
from .shapes import *  # noqa: F403

__all__ = [
    name
    for family in (axes, concat_split, relayout, repetition, rotation, shapes)
    for name in family.__all__
]
