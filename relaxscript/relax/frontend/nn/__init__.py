"""Names that users know as `relax.frontend.nn`: models as modules that own their parameters."""

from __future__ import annotations

from relaxscript.frontend import nn
from relaxscript.frontend.nn import *  # noqa: F403

from . import core, exporter, llm, subroutine, visitor

__all__ = [*nn.__all__, "core", "exporter", "llm", "subroutine", "visitor"]
