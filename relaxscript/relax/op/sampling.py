"""Names that users know as `relax.op.sampling`: indices by probabilities."""

from __future__ import annotations

from relaxscript.op.sampling import multinomial_from_uniform

__all__ = ["multinomial_from_uniform"]
