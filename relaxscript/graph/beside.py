"""Boxes that stand to the right of a frame, at the height of what uses them.

They are the parameters that only one dataflow block uses. Those of a large
model would make one very wide row above it, with a wire down to each layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Beside", "moved", "put_beside"]

GAP = 22.0
# The words below a box.
LABEL = 16.0


@dataclass
class Beside:
    """One such box: from `x - left` to `x + right` with its words, and `height` down from `y`.

    `x` and `y` count from the upper left corner of the frame.
    """

    key: int
    x: float
    y: float
    left: float
    right: float
    height: float


def moved(boxes: Sequence[Beside], x: float, y: float) -> list[Beside]:
    """Boxes of a frame that is in another one at a place, as boxes of that."""
    return [replace(box, x=box.x + x, y=box.y + y) for box in boxes]


def put_beside(boxes: Sequence[Beside], edge: float) -> float:
    """Put boxes to the right of an edge, so that none overlaps another; how far they reach."""
    near: list[Beside] = []
    reached = edge
    for box in sorted(boxes, key=lambda box: (box.y, box.x, box.key)):
        near = [other for other in near if box.y < other.y + other.height + LABEL]
        taken = max((other.x + other.right for other in near), default=edge)
        box.x = taken + GAP + box.left
        near.append(box)
        reached = max(reached, box.x + box.right)
    return reached
