"""The names behind `R.dist`: its operators, and how distributed tensors are described."""

from __future__ import annotations

from relaxscript.op.dist import *  # noqa: F403
from relaxscript.op.dist import __all__ as _operators

from .relax_distributed import DTensor, device_mesh

__all__ = ["DTensor", "device_mesh", *_operators]
__dir__ = __all__.copy  # a prompt offers the names, not what this file imports
