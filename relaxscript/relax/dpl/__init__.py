"""Names that users know as `relax.dpl`: patterns of expressions, and rewriting by them."""

from __future__ import annotations

from relaxscript import dpl
from relaxscript.dpl import *  # noqa: F403
from relaxscript.transform import MatchResult

from . import context, pattern, rewrite

__all__ = ["MatchResult", "context", "pattern", "rewrite", *dpl.__all__]
