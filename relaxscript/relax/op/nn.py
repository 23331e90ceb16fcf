"""Names that users know as `relax.op.nn`: layers of networks."""

from __future__ import annotations

from relaxscript.op import nn
from relaxscript.op.nn import *  # noqa: F403

__all__ = [*nn.__all__]
