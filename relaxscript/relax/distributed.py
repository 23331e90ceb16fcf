"""Names that users know as `relax.distributed`: meshes of devices, and tensors on them."""

from __future__ import annotations

from relaxscript import distributed
from relaxscript.distributed import *  # noqa: F403

__all__ = [*distributed.__all__]
