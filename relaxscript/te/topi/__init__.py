"""Functions of tensors that computes of operators share, and that users call.

Names and parameters are those of `tvm.topi`; `nn/` is `topi.nn`. Start reading at `broadcast.py`.
"""

from __future__ import annotations

from . import broadcast, elementwise, linear_algebra, nn, reduction, scan, tensor
from .broadcast import *  # noqa: F403
from .einsum import einsum
from .elementwise import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .reduction import *  # noqa: F403
from .scan import *  # noqa: F403
from .tensor import *  # noqa: F403

__all__ = [
    *broadcast.__all__, "einsum", *elementwise.__all__, *linear_algebra.__all__, "nn",
    *reduction.__all__, *scan.__all__, *tensor.__all__,
]  # fmt: skip
