"""Names that users know as `relax.analysis`: questions about programs."""

from __future__ import annotations

from relaxscript import analysis
from relaxscript.analysis import *  # noqa: F403

__all__ = [*analysis.__all__]
