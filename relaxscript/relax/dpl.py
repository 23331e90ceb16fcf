"""Names that users know as `relax.dpl`: patterns of expressions, and rewriting by them."""

from __future__ import annotations

from relaxscript import dpl
from relaxscript.dpl import *  # noqa: F403

__all__ = [*dpl.__all__]
