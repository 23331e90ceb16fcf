"""Names that users know as `relax.frontend.nn.exporter`: how methods become functions."""

from __future__ import annotations

from relaxscript.frontend.nn import exporter
from relaxscript.frontend.nn.exporter import *  # noqa: F403

__all__ = [*exporter.__all__]
