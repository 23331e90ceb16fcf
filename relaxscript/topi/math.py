"""Names that users know as `tvm.topi.math`: functions of each element, among others."""

from __future__ import annotations

from relaxscript.te import topi
from relaxscript.te.topi import *  # noqa: F403

__all__ = [*topi.__all__]
