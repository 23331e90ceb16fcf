"""Names that users know as `relax.frontend.nn.spec`: what the arguments of methods are."""

from __future__ import annotations

from relaxscript.frontend.nn import spec
from relaxscript.frontend.nn.spec import *  # noqa: F403

__all__ = [*spec.__all__]
