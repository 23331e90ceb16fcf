"""Names that users know as `relax.op.distributed`: operators on distributed tensors."""

from __future__ import annotations

from relaxscript.op import dist
from relaxscript.op.dist import *  # noqa: F403

__all__ = [*dist.__all__]
