"""Operators of neural networks, `R.nn.…`."""

from __future__ import annotations

from . import (
    activation,
    batch_normalization,
    channels,
    conv_transpose,
    convolution,
    lookup,
    loss,
    normalization,
    padding,
    pooling,
    scaled_dot_product,
    variable_lengths,
)
from .activation import *  # noqa: F403
from .batch_normalization import *  # noqa: F403
from .channels import *  # noqa: F403
from .conv_transpose import *  # noqa: F403
from .convolution import *  # noqa: F403
from .lookup import *  # noqa: F403
from .loss import *  # noqa: F403
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pooling import *  # noqa: F403
from .scaled_dot_product import *  # noqa: F403
from .variable_lengths import *  # noqa: F403

_FAMILIES = (
    activation, scaled_dot_product, variable_lengths, batch_normalization, channels, convolution,
    lookup, loss, normalization, padding, pooling, conv_transpose,
)  # fmt: skip
__all__ = [name for family in _FAMILIES for name in family.__all__]
