"""The names that `R.` offers: every operator, and the compositions of others.

`__all__` is those names and nothing else; the families list their own.
"""

from __future__ import annotations

from . import (
    base,
    binary,
    builtin,
    calls,
    ccl,
    collapse_sum,
    comparison,
    contraction,
    create,
    datatype,
    device,
    dist,
    gather_scatter,
    grad,
    image,
    indexing,
    inplace,
    inspect,
    linear_algebra,
    logical_reduction,
    manipulate,
    mask,
    memory,
    nn,
    order_statistics,
    qdq,
    random,
    ranges,
    sampling,
    scan,
    search,
    sets,
    slicing,
    sorting,
    statistical,
    ternary,
    unary,
    vision,
    vm,
)
from .base import *  # noqa: F403
from .binary import *  # noqa: F403
from .calls import *  # noqa: F403
from .collapse_sum import *  # noqa: F403
from .comparison import *  # noqa: F403
from .contraction import *  # noqa: F403
from .create import *  # noqa: F403
from .datatype import *  # noqa: F403
from .device import *  # noqa: F403
from .gather_scatter import *  # noqa: F403
from .indexing import *  # noqa: F403
from .inplace import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .logical_reduction import *  # noqa: F403
from .manipulate import *  # noqa: F403
from .mask import *  # noqa: F403
from .order_statistics import *  # noqa: F403
from .qdq import *  # noqa: F403
from .ranges import *  # noqa: F403
from .sampling import *  # noqa: F403
from .scan import *  # noqa: F403
from .search import *  # noqa: F403
from .sets import *  # noqa: F403
from .slicing import *  # noqa: F403
from .sorting import *  # noqa: F403
from .statistical import *  # noqa: F403
from .ternary import *  # noqa: F403
from .unary import *  # noqa: F403

_FAMILIES = (
    base, binary, calls, collapse_sum, comparison, contraction, create, datatype, device,
    gather_scatter, indexing, inplace, linear_algebra, logical_reduction, manipulate, mask,
    order_statistics, qdq, ranges, sampling, scan, search, sets, slicing, sorting, statistical,
    ternary, unary,
)  # fmt: skip
__all__ = [
    "builtin", "ccl", "dist", "grad", "image", "inspect", "memory", "nn", "random", "vision", "vm",
    *(name for family in _FAMILIES for name in family.__all__),
]  # fmt: skip

for _space in (builtin, ccl, dist, grad, image, inspect, memory, nn, random, vision, vm):
    # A prompt offers the operators, not what their files import.
    vars(_space)["__dir__"] = _space.__all__.copy
