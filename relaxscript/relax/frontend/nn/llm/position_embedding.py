"""Names that users know as `relax.frontend.nn.llm.position_embedding`: rotary positions."""

from __future__ import annotations

from relaxscript.frontend.nn.llm import position_embedding
from relaxscript.frontend.nn.llm.position_embedding import *  # noqa: F403

__all__ = [*position_embedding.__all__]
