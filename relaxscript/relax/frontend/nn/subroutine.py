"""Names that users know as `tvm.relax.frontend.nn.subroutine`: modules whose calls stay calls."""

from __future__ import annotations

from relaxscript.frontend.nn import SubroutineMixin

__all__ = ["SubroutineMixin"]
