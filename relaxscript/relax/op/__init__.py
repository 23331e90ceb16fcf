"""Names that users know as `relax.op`: the operators."""

from __future__ import annotations

from . import (
    base,
    binary,
    builtin,
    ccl,
    create,
    datatype,
    distributed,
    grad,
    image,
    index,
    inspect,
    linear_algebra,
    manipulate,
    mask,
    memory,
    nn,
    qdq,
    random,
    sampling,
    search,
    set,
    sorting,
    statistical,
    ternary,
    unary,
    vision,
    vm,
)
from .base import *  # noqa: F403
from .binary import *  # noqa: F403
from .create import *  # noqa: F403
from .datatype import *  # noqa: F403
from .index import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .manipulate import *  # noqa: F403
from .mask import *  # noqa: F403
from .qdq import *  # noqa: F403
from .sampling import *  # noqa: F403
from .search import *  # noqa: F403
from .set import *  # noqa: F403
from .sorting import *  # noqa: F403
from .statistical import *  # noqa: F403
from .ternary import *  # noqa: F403
from .unary import *  # noqa: F403
from .vision import *  # noqa: F403

__all__ = [
    "base", "binary", "builtin", "ccl", "create", "datatype", "distributed", "grad", "image",
    "index", "inspect", "linear_algebra", "manipulate", "mask", "memory", "nn", "qdq", "random",
    "sampling", "search", "set", "sorting", "statistical", "ternary", "unary", "vision", "vm",
    *base.__all__, *binary.__all__, *create.__all__, *datatype.__all__, *index.__all__,
    *linear_algebra.__all__, *manipulate.__all__, *mask.__all__, *qdq.__all__,
    *sampling.__all__, *search.__all__, *set.__all__, *sorting.__all__, *statistical.__all__,
    *ternary.__all__, *unary.__all__, *vision.__all__,
]  # fmt: skip
