"""Names that users know as `relax.struct_info`: what is known of a value before a program runs."""

from __future__ import annotations

from .ir import struct_info
from .ir.struct_info import *  # noqa: F403

__all__ = [*struct_info.__all__]
