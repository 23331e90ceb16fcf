"""Maps from iterators to indices that fuse and split them: found, checked, divided and inverted.

`detect_iter_map` reads indices such as `x * 16 + y // 4` into digits of iterators and says whether
they are surjective or bijective. Start with `digits.py`, which has the algebra, and `detect.py`.

Source: TVM `arith.detect_iter_map` and its neighbours (names and meaning).
"""

from __future__ import annotations

from relaxscript.ir.iter_map import IterMapExpr, IterMark, IterSplitExpr, IterSumExpr

from .detect import (
    IterMapLevel,
    IterMapResult,
    detect_iter_map,
    iter_map_simplify,
    normalize_to_iter_sum,
)
from .divide import subspace_divide
from .inverse import inverse_affine_iter_map
from .normalize import normalize_iter_map_to_expr

__all__ = [
    "IterMapExpr", "IterMapLevel", "IterMapResult", "IterMark", "IterSplitExpr", "IterSumExpr",
    "detect_iter_map", "inverse_affine_iter_map", "iter_map_simplify",
    "normalize_iter_map_to_expr", "normalize_to_iter_sum", "subspace_divide",
]  # fmt: skip
