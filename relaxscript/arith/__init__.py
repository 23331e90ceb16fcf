"""What is true of integers: simplification, bounds and proofs of scalar expressions.

Integers are read as mathematical ones, and every variable is at least zero unless `Facts` say
otherwise. Start with `simplify`, `bounds` and `prove_equal`; `Analyzer` offers the same by TVM's
names.
"""

from __future__ import annotations

from .analyzer import Analyzer, ConstIntBound, ModularSet, ProofStrength
from .answer import NO, UNKNOWN, YES, Answer, all_of, any_of, negated
from .bounds import bounds
from .evaluate import EvaluationError, evaluate
from .facts import Facts, Interval
from .prove import prove, prove_equal
from .simplify import simplify
from .text import text_of

__all__ = [
    "NO", "UNKNOWN", "YES", "Analyzer", "Answer", "ConstIntBound", "EvaluationError", "Facts",
    "Interval", "ModularSet", "ProofStrength", "all_of", "any_of", "bounds", "evaluate", "negated",
    "prove", "prove_equal", "simplify", "text_of",
]  # fmt: skip
