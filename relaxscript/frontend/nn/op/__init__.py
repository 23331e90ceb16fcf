"""Functions of tensors, by the names, parameters and defaults of TVM: `nn.op`.

Each gives the `nn.Tensor` of a call that it binds; `name` is what the variable is called.

Source: TVM `relax.frontend.nn.op`.
"""

from __future__ import annotations

from relaxscript.frontend.nn.call_mistakes import tells_arguments as _tells_arguments
from relaxscript.frontend.nn.tensor import wrap_nested

from . import (
    activation,
    attention,
    binary,
    calls,
    ccl,
    comparison,
    convolution,
    create,
    debug,
    image,
    manipulate,
    normalization,
    sampling,
    sorting,
    statistical,
    unary,
)
from .activation import *  # noqa: F403
from .attention import *  # noqa: F403
from .binary import *  # noqa: F403
from .calls import *  # noqa: F403
from .ccl import *  # noqa: F403
from .comparison import *  # noqa: F403
from .convolution import *  # noqa: F403
from .create import *  # noqa: F403
from .debug import *  # noqa: F403
from .image import *  # noqa: F403
from .manipulate import *  # noqa: F403
from .normalization import *  # noqa: F403
from .sampling import *  # noqa: F403
from .sorting import *  # noqa: F403
from .statistical import *  # noqa: F403
from .unary import *  # noqa: F403

__all__ = [
    "wrap_nested", *activation.__all__, *attention.__all__, *binary.__all__, *calls.__all__,
    *ccl.__all__, *comparison.__all__, *convolution.__all__, *create.__all__, *debug.__all__,
    *image.__all__, *manipulate.__all__, *normalization.__all__, *sampling.__all__,
    *sorting.__all__, *statistical.__all__, *unary.__all__,
]  # fmt: skip

for _name in __all__:
    globals()[_name] = _tells_arguments(f"nn.op.{_name}")(globals()[_name])
