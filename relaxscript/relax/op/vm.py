"""Names that users know as `relax.op.vm`: storages of the virtual machine."""

from __future__ import annotations

from relaxscript.op import vm
from relaxscript.op.vm import *  # noqa: F403

__all__ = [*vm.__all__]
