"""What is true of StructInfos: subtyping, compatibility, upper bounds, scopes, shape variables.

Start with `check_compatibility` (may this value go there?) and `why` (if not, what to tell the
user); `relation.py` holds the one comparison behind both. Answers are YES, NO or UNKNOWN as in
`relaxscript.arith`.
"""

from __future__ import annotations

from .compatibility import can_cast, check_compatibility, why
from .erasure import erase_struct_info, erase_to_well_defined
from .lub import unify_struct_info
from .matching import (
    definable_shape_vars,
    free_shape_vars,
    shape_var_mapping,
    shape_vars,
    substitute_shape_vars,
)
from .partial import partially_applied
from .relation import Certainty, Disagreement, disagreements, prove_same_shape, same_vdevice
from .subtyping import is_subtype

__all__ = [
    "Certainty", "Disagreement", "can_cast", "check_compatibility", "definable_shape_vars",
    "disagreements", "erase_struct_info", "erase_to_well_defined", "free_shape_vars",
    "is_subtype", "partially_applied", "prove_same_shape", "same_vdevice", "shape_var_mapping",
    "shape_vars", "substitute_shape_vars", "unify_struct_info", "why",
]  # fmt: skip
