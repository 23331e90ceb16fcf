"""Names that users know as `relax.frontend.nn.llm`: caches of keys and values, rotary positions."""

from __future__ import annotations

from relaxscript.frontend.nn import llm
from relaxscript.frontend.nn.llm import *  # noqa: F403

__all__ = [*llm.__all__]
