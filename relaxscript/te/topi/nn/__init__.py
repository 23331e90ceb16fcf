"""Functions of tensors for neural networks, `topi.nn`."""

from __future__ import annotations

from . import (
    channels,
    conv_transpose,
    convolution,
    convolution_by_layout,
    elemwise,
    loss,
    matrix_products,
    normalization,
    padding,
    pooling,
    pooling_gradients,
)
from .channels import *  # noqa: F403
from .conv_transpose import *  # noqa: F403
from .convolution import *  # noqa: F403
from .convolution_by_layout import *  # noqa: F403
from .elemwise import *  # noqa: F403
from .loss import *  # noqa: F403
from .matrix_products import *  # noqa: F403
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pooling import *  # noqa: F403
from .pooling_gradients import *  # noqa: F403
from .softmax import fast_softmax, log_softmax, softmax

__all__ = [
    *channels.__all__, *conv_transpose.__all__, *convolution.__all__,
    *convolution_by_layout.__all__, *elemwise.__all__, *loss.__all__, *matrix_products.__all__,
    *normalization.__all__, *padding.__all__, *pooling.__all__,
    *pooling_gradients.__all__, "fast_softmax", "log_softmax", "softmax",
]  # fmt: skip
