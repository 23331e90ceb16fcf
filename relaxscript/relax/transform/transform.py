"""Names that users know as `tvm.relax.transform.transform`: the passes of Relax."""

from __future__ import annotations

from relaxscript import transform
from relaxscript.transform import *  # noqa: F403

__all__ = [*transform.__all__]
