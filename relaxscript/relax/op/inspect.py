"""Names that users know as `relax.op.inspect`: what a tensor says of itself."""

from __future__ import annotations

from relaxscript.op import inspect
from relaxscript.op.inspect import *  # noqa: F403

__all__ = [*inspect.__all__]
