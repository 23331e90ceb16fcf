"""What is true of StructInfos: subtyping, compatibility, upper bounds, scopes, shape variables.

Start with `check_compatibility` (may this value go there?) and `why` (if not, what to tell the
user); `relation.py` holds the one comparison behind both. Answers are YES, NO or UNKNOWN as in
`relaxscript.arith`.
"""

from __future__ import annotations

from .base_check import BaseCheckResult, struct_info_base_check
from .compatibility import can_cast, check_compatibility, why
from .erasure import erase_struct_info, erase_to_well_defined
from .lub import unify_struct_info
from .matching import (
    definable_shape_vars,
    dimensions,
    free_shape_vars,
    scalar_variables,
    shape_var_mapping,
    shape_vars,
    struct_info_parts,
    substitute_shape_vars,
)
from .partial import partially_applied
from .proved import always_matches, proved_arguments, sizes_taken
from .relation import Certainty, Disagreement, disagreements, prove_same_shape, same_vdevice
from .subtyping import is_base_of, is_subtype

__all__ = [
    "BaseCheckResult", "Certainty", "Disagreement", "always_matches", "can_cast",
    "check_compatibility", "definable_shape_vars", "dimensions", "disagreements",
    "erase_struct_info", "erase_to_well_defined", "free_shape_vars", "is_base_of", "is_subtype",
    "partially_applied", "prove_same_shape", "proved_arguments", "same_vdevice",
    "scalar_variables", "shape_var_mapping", "shape_vars", "sizes_taken",
    "struct_info_base_check", "struct_info_parts", "substitute_shape_vars", "unify_struct_info",
    "why",
]  # fmt: skip
