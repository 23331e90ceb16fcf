"""Modules that models are made of, by the names, parameters and defaults of TVM.

Source: TVM `relax.frontend.nn.modules`.
"""

from __future__ import annotations

from relaxscript.frontend.nn.effect import IOEffect

from . import activation, attention, convolution, embedding, kv_cache, linear, normalization
from .activation import *  # noqa: F403
from .attention import *  # noqa: F403
from .convolution import *  # noqa: F403
from .embedding import *  # noqa: F403
from .kv_cache import *  # noqa: F403
from .linear import *  # noqa: F403
from .normalization import *  # noqa: F403

__all__ = [
    "IOEffect", *activation.__all__, *attention.__all__, *convolution.__all__, *embedding.__all__,
    *kv_cache.__all__, *linear.__all__, *normalization.__all__,
]  # fmt: skip
