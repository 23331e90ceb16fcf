"""Names that users know as `tvm.topi.nn`."""

from __future__ import annotations

from relaxscript.te.topi import nn
from relaxscript.te.topi.nn import *  # noqa: F403

__all__ = [*nn.__all__]
