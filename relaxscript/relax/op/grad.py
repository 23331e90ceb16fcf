"""Names that users know as `relax.op.grad`: marks for gradients."""

from __future__ import annotations

from relaxscript.op import grad
from relaxscript.op.grad import *  # noqa: F403

__all__ = [*grad.__all__]
