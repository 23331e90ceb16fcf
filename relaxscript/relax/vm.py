"""Names that users know as `relax.vm`: building and running programs."""

from __future__ import annotations

from relaxscript import vm
from relaxscript.vm import *  # noqa: F403

__all__ = [*vm.__all__]
