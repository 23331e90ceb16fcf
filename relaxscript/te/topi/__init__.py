"""Functions of tensors that computes of operators share, and that users call.

Names and parameters are those of `tvm.topi`; `nn/` is `topi.nn`. Start reading at `broadcast.py`.
"""

from __future__ import annotations

from . import broadcast, elementwise, nn, tensor
from .broadcast import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .tensor import *  # noqa: F403

__all__ = [*broadcast.__all__, *elementwise.__all__, "nn", *tensor.__all__]
