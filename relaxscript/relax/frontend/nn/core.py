"""Names that users know as `relax.frontend.nn.core`: modules, tensors and effects."""

from __future__ import annotations

from relaxscript.frontend.nn import (
    Effect,
    Module,
    ModuleDict,
    ModuleList,
    Object,
    Parameter,
    Tensor,
    get_default_dtype,
    set_default_dtype,
    wrap_nested,
)

__all__ = [
    "Effect", "Module", "ModuleDict", "ModuleList", "Object", "Parameter", "Tensor",
    "get_default_dtype", "set_default_dtype", "wrap_nested",
]  # fmt: skip
