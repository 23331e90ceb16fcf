"""Names that users know as `relax.ir.instrument`."""

from __future__ import annotations

from relaxscript.ir import instrument
from relaxscript.ir.instrument import *  # noqa: F403
from relaxscript.transform import VerifyEach

__all__ = ["VerifyEach", *instrument.__all__]
