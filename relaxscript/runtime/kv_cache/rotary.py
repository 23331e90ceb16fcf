"""Rotary position embeddings in numpy: the angles of positions, and turning by them.

Element `i` and element `i + dim / 2` of a head are turned together, by the angle of the position
times `theta ** (-2 * i / dim)`. Source: TVM `relax.frontend.nn.llm.position_embedding`.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from relaxscript.errors import VMError
from relaxscript.errors.exceptions import is_user_error

__all__ = ["RopeMode", "RotaryEmbedding", "rotate"]

__tracebackhide__ = is_user_error

Array = np.ndarray[Any, Any]


class RopeMode(enum.IntEnum):
    """The moment when a cache turns queries and keys by their positions.

    `NORMAL` turns keys before they are kept, `INLINE` whenever they are read, which gives the same
    numbers; `NONE` never.
    """

    NONE = 0
    NORMAL = 1
    INLINE = 2


class RotaryEmbedding:
    """The angles of positions for heads of `dim` elements.

    `divisors`, one for each pair of elements, make angles smaller, as scalings for long contexts
    do. Raises `VMError` where there are not `dim / 2` of them, and for an odd `dim`.
    """

    __slots__ = ("_frequencies", "dim")

    def __init__(
        self, theta: float, dim: int, scale: float = 1.0, divisors: Array | None = None
    ) -> None:
        if dim % 2:
            raise VMError(
                f"rotary embeddings turn pairs of elements, and a head has {dim}", code="RX0606"
            )
        frequencies = scale * float(theta) ** (-np.arange(0, dim, 2) / dim)
        if divisors is not None:
            if divisors.shape != (dim // 2,):
                text = f"heads of {dim} elements need {dim // 2} extension factors of rope"
                raise VMError(f"{text}, got shape {divisors.shape}", code="RX0606")
            frequencies = frequencies / divisors
        self.dim = dim
        self._frequencies = frequencies

    def tables(self, positions: Array, dtype: Any = np.float32) -> tuple[Array, Array]:
        """Cosines and sines of shape `(positions, 1, dim / 2)`."""
        angles = positions[:, None, None] * self._frequencies
        return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def rotate(heads: Array, tables: tuple[Array, Array]) -> Array:
    """The heads `(tokens, heads, dim)` turned by the tables of their positions."""
    cos, sin = tables
    half = heads.shape[-1] // 2
    low, high = heads[..., :half], heads[..., half:]
    turned = np.empty(heads.shape, cos.dtype)
    np.subtract(low * cos, high * sin, out=turned[..., :half])
    np.add(high * cos, low * sin, out=turned[..., half:])
    return turned
