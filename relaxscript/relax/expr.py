"""Names that users know as `relax.expr`: the expressions and bindings of Relax."""

from __future__ import annotations

from relaxscript import expr
from relaxscript.expr import *  # noqa: F403

__all__ = [*expr.__all__]
