"""Functions of tensors that computes of operators share, and that users call.

Names and parameters are those of `tvm.topi`; `nn/` is `topi.nn`. Start reading at `broadcast.py`.
"""

from __future__ import annotations

from . import (
    broadcast,
    elementwise,
    fast_math,
    gathering,
    image,
    joining,
    linear_algebra,
    nn,
    order_statistics,
    reduction,
    scan,
    scattering,
    searching,
    slicing,
    sorting,
    tag,
    tensor,
    transform,
)
from .broadcast import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .fast_math import *  # noqa: F403
from .gathering import *  # noqa: F403
from .joining import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .named_axes import einsum
from .order_statistics import *  # noqa: F403
from .reduction import *  # noqa: F403
from .scan import *  # noqa: F403
from .scattering import *  # noqa: F403
from .searching import *  # noqa: F403
from .slicing import *  # noqa: F403
from .sorting import *  # noqa: F403
from .tensor import *  # noqa: F403
from .transform import *  # noqa: F403

__all__ = [
    "einsum",
    "image",
    "nn",
    "tag",
    *broadcast.__all__,
    *elementwise.__all__,
    *fast_math.__all__,
    *gathering.__all__,
    *joining.__all__,
    *linear_algebra.__all__,
    *order_statistics.__all__,
    *reduction.__all__,
    *scan.__all__,
    *scattering.__all__,
    *searching.__all__,
    *slicing.__all__,
    *sorting.__all__,
    *tensor.__all__,
    *transform.__all__,
]
