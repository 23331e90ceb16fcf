"""Names that users know as `relax.frontend.nn.op`: functions of tensors."""

from __future__ import annotations

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.op import *  # noqa: F403

__all__ = [*op.__all__]
