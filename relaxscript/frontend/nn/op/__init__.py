"""Functions of tensors, by the names, parameters and defaults of TVM: `nn.op`.

Each gives the `nn.Tensor` of a call that it binds; `name` is what the variable is called.

Source: TVM `relax.frontend.nn.op`.
"""

from __future__ import annotations

from relaxscript.frontend.nn.tensor import wrap_nested

from . import activation, binary, manipulate
from .activation import *  # noqa: F403
from .binary import *  # noqa: F403
from .manipulate import *  # noqa: F403

__all__ = [
    "wrap_nested",
    *(name for family in (activation, binary, manipulate) for name in family.__all__),
]
