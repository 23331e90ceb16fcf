"""Names that users know as `relax.expr`: the expressions and bindings of Relax."""

from __future__ import annotations

from .analysis.struct_infos import get_shape_of
from .ir import relax
from .ir.relax import *  # noqa: F403
from .script.names.relax_forms import const

__all__ = ["const", "get_shape_of", *relax.__all__]
