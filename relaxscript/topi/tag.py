"""Names that users know as `tvm.topi.tag`."""

from __future__ import annotations

from relaxscript.te.topi import tag
from relaxscript.te.topi.tag import *  # noqa: F403

__all__ = [*tag.__all__]
