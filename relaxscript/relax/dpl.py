"""Names that users know as `relax.dpl`: patterns of expressions, and rewriting by them."""

from __future__ import annotations

from relaxscript import dpl
from relaxscript.dpl import *  # noqa: F403
from relaxscript.transform import MatchResult

__all__ = ["MatchResult", *dpl.__all__]
