"""Random numbers by explicit keys, `R.random.…`.

    key = R.random.key(42)
    keys = R.random.split(key, 2)
    x = R.random.normal(keys[0], (4, 64))
    mask = R.random.bernoulli(keys[1], (4, 64), 0.9)

A key is a tensor of two uint32. A number is a function of its key and its place in row-major order.
So the same program gives the same numbers on every machine and executor. One key gives one tensor:
for more numbers, split it. Start reading at `threefry.py`.
"""

from __future__ import annotations

from . import distributions, keys
from .distributions import *  # noqa: F403
from .keys import *  # noqa: F403

__all__ = [*distributions.__all__, *keys.__all__]
