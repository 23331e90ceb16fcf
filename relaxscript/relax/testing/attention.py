"""Names that users know as `relax.testing.attention`: programs of one attention."""

from __future__ import annotations

from relaxscript.testing.attention import (
    get_relax_attention_module,
    get_relax_stacked_attention_module,
)

__all__ = ["get_relax_attention_module", "get_relax_stacked_attention_module"]
