"""Names that users know as `relax.frontend.nn.modules`: modules that models are made of."""

from __future__ import annotations

from relaxscript.frontend.nn import modules
from relaxscript.frontend.nn.modules import *  # noqa: F403

__all__ = [*modules.__all__]
