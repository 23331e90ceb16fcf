"""Names that users know as `tvm.relax.frontend.nn.visitor`: modules in the place of others."""

from __future__ import annotations

from relaxscript.frontend.nn import Mutator

__all__ = ["Mutator"]
