"""Names that users know as `tvm.tir.functor`: visitors and mutators as classes."""

from __future__ import annotations

from relaxscript.ir import tir_functor
from relaxscript.ir.tir_functor import *  # noqa: F403

__all__ = [*tir_functor.__all__]
