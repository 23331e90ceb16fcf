"""Names that users know as `relax.frontend.nn.init`: initial values of parameters."""

from __future__ import annotations

from relaxscript.frontend.nn import init
from relaxscript.frontend.nn.init import *  # noqa: F403

__all__ = [*init.__all__]
