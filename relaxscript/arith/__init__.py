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
from .evaluate import EvaluationError, evaluate
from .facts import Facts, Interval
from .format import format_expr
from .index_map import index_bounds, places_of
from .int_set import IntervalSet, IntSet, neg_inf, pos_inf
from .prove import prove, prove_equal
from .simplify import simplify
from .solution import only_solution

__all__ = [
    "NO", "UNKNOWN", "YES", "AlreadyBoundError", "Analyzer", "Answer", "ConstIntBound",
    "EvaluationError", "Extension", "Facts", "IntSet", "Interval", "IntervalSet", "ModularSet",
    "ProofStrength", "all_of", "any_of", "bounds", "evaluate", "format_expr", "index_bounds",
    "neg_inf", "negate", "only_solution", "places_of", "pos_inf", "prove", "prove_equal",
    "simplify",
]  # fmt: skip
