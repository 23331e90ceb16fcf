"""Names that users know as `relax.expr`: the expressions and bindings of Relax."""

from __future__ import annotations

from .analysis.struct_infos import get_shape_of
from .builder import make_shape, te_tensor
from .ir import relax
from .ir.relax import *  # noqa: F403
from .ir.relax import ExternFunc as extern
from .script.names.relax_forms import const

__all__ = ["const", "extern", "get_shape_of", "make_shape", "te_tensor", *relax.__all__]
