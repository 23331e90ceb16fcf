"""Names that users know as `relax.op.memory`: storages and tensors in them."""

from __future__ import annotations

from relaxscript.op import memory
from relaxscript.op.memory import *  # noqa: F403

__all__ = [*memory.__all__]
