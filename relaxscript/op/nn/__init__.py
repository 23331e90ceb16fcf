"""Operators of neural networks, `R.nn.…`."""

from __future__ import annotations

from . import (
    activation,
    attending,
    batch,
    channels,
    convolution,
    loss,
    normalization,
    padding,
    pooling,
    transposed,
)
from .activation import *  # noqa: F403
from .attending import *  # noqa: F403
from .batch import *  # noqa: F403
from .channels import *  # noqa: F403
from .convolution import *  # noqa: F403
from .loss import *  # noqa: F403
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pooling import *  # noqa: F403
from .transposed import *  # noqa: F403

_FAMILIES = (
    activation, attending, batch, channels, convolution, loss, normalization, padding, pooling,
    transposed,
)  # fmt: skip
__all__ = [name for family in _FAMILIES for name in family.__all__]
