"""Names that users know as `relax.op.builtin`: what lowered programs are made of."""

from __future__ import annotations

from relaxscript.op import builtin
from relaxscript.op.builtin import *  # noqa: F403

__all__ = [*builtin.__all__]
