"""Names that users know as `relax.op.ccl`: operators by which workers exchange tensors."""

from __future__ import annotations

from relaxscript.op import ccl
from relaxscript.op.ccl import *  # noqa: F403

__all__ = [*ccl.__all__]
