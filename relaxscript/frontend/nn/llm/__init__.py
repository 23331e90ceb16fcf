"""Parts of language models: paged caches of keys and values, and rotary positions.

Source: TVM `relax.frontend.nn.llm`.
"""

from __future__ import annotations

from . import kv_cache, position_embedding
from .kv_cache import *  # noqa: F403
from .position_embedding import *  # noqa: F403

__all__ = [
    "kv_cache", "position_embedding", *kv_cache.__all__, *position_embedding.__all__,
]  # fmt: skip
