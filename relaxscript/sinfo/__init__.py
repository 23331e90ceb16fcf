"""What is true of StructInfos: subtyping, compatibility, upper bounds, scopes, shape variables.

Start with `check_compatibility` (may this value go there?) and `why` (if not, what to tell the
user); `mismatch.py` holds the one comparison behind both. Answers are YES, NO or UNKNOWN as in
`relaxscript.arith`.
"""

from __future__ import annotations

from .base_check import BaseCheckResult, struct_info_base_check
from .branching import facts_in_branch
from .compatibility import can_cast, check_compatibility, why, why_never
from .erasure import erase_to_well_defined
from .lub import unify_struct_info
from .matching import (
    definable_shape_vars,
    free_shape_vars,
    shape_var_mapping,
    shape_vars,
    struct_info_parts,
    substitute_held_shapes,
    substitute_shape_vars,
)
from .mismatch import Certainty, Disagreement, disagreements, prove_same_shape, same_vdevice
from .partial_application import partially_applied
from .shape_variables import dimensions, scalar_variables
from .static_checks import always_matches, proved_arguments, sizes_taken
from .static_type import described_by, erase_struct_info, is_static_subtype
from .subtyping import is_base_of, is_subtype
from .vdevice import differs_in_devices_only, placed_each, placed_like

__all__ = [
    "BaseCheckResult", "Certainty", "Disagreement", "always_matches", "can_cast",
    "check_compatibility", "definable_shape_vars", "described_by", "differs_in_devices_only",
    "dimensions", "disagreements", "erase_struct_info", "erase_to_well_defined", "facts_in_branch",
    "free_shape_vars", "is_base_of", "is_static_subtype", "is_subtype", "partially_applied",
    "placed_each", "placed_like", "prove_same_shape", "proved_arguments", "same_vdevice",
    "scalar_variables", "shape_var_mapping", "shape_vars", "sizes_taken", "struct_info_base_check",
    "struct_info_parts", "substitute_held_shapes", "substitute_shape_vars", "unify_struct_info",
    "why", "why_never",
]  # fmt: skip
