"""Names that users know as `relax.frontend.nn.llm.kv_cache`: paged caches of keys and values."""

from __future__ import annotations

from relaxscript.frontend.nn.llm import kv_cache
from relaxscript.frontend.nn.llm.kv_cache import *  # noqa: F403

__all__ = [*kv_cache.__all__]
