"""Names that users know as `relax.op.index`: parts of tensors."""

from __future__ import annotations

from relaxscript.op.search import take
from relaxscript.op.slicing import dynamic_strided_slice, strided_slice

__all__ = ["dynamic_strided_slice", "strided_slice", "take"]
