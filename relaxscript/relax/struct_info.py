"""Names that users know as `relax.struct_info`: what is known of a value."""

from __future__ import annotations

from relaxscript import struct_info
from relaxscript.struct_info import *  # noqa: F403

__all__ = [*struct_info.__all__]
