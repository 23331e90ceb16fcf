"""Properties of integers: simplification, bounds and proofs of scalar expressions.

Integers are read as mathematical ones, and every variable is at least zero unless `Facts` say
otherwise. Start with `simplify`, `bounds` and `prove_equal`; `Analyzer` offers the same by TVM's
names.
"""

from __future__ import annotations

from .analyzer import (
    AlreadyBoundError,
    Analyzer,
    ConstIntBound,
    Extension,
    ModularSet,
    ProofStrength,
)
from .answer import NO, UNKNOWN, YES, Answer, all_of, any_of, negate
from .bounds import bounds
from .deduce_bound import deduce_bound
from .domain_touched import domain_touched
from .evaluate import EvaluationError, evaluate
from .facts import Facts, Interval
from .format import format_expr
from .index_map import index_bounds, inverse_map, map_shape, places_of
from .int_set import IntervalSet, IntSet, neg_inf, pos_inf, union_lower_bound
from .iter_map import (
    IterMapExpr,
    IterMapLevel,
    IterMapResult,
    IterMark,
    IterSplitExpr,
    IterSumExpr,
    detect_iter_map,
    inverse_affine_iter_map,
    iter_map_simplify,
    normalize_iter_map_to_expr,
    normalize_to_iter_sum,
    subspace_divide,
)
from .linear_equation import detect_clip_bound, detect_linear_equation
from .prove import prove, prove_equal
from .region_bounds import (
    estimate_region_lower_bound,
    estimate_region_strict_bound,
    estimate_region_upper_bound,
)
from .simplify import simplify
from .solution import only_solution

__all__ = [
    "NO", "UNKNOWN", "YES", "AlreadyBoundError", "Analyzer", "Answer", "ConstIntBound",
    "EvaluationError", "Extension", "Facts", "IntSet", "Interval", "IntervalSet", "IterMapExpr",
    "IterMapLevel", "IterMapResult", "IterMark", "IterSplitExpr", "IterSumExpr", "ModularSet",
    "ProofStrength", "all_of", "any_of", "bounds", "deduce_bound", "detect_clip_bound",
    "detect_iter_map", "detect_linear_equation", "domain_touched", "estimate_region_lower_bound",
    "estimate_region_strict_bound", "estimate_region_upper_bound", "evaluate", "format_expr",
    "index_bounds", "inverse_affine_iter_map", "inverse_map", "iter_map_simplify", "map_shape",
    "neg_inf", "negate", "normalize_iter_map_to_expr", "normalize_to_iter_sum", "only_solution",
    "places_of", "pos_inf", "prove", "prove_equal", "simplify", "subspace_divide",
    "union_lower_bound",
]  # fmt: skip
