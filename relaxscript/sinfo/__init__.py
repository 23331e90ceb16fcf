"""Relations of StructInfos: subtyping, compatibility, upper bounds, scopes, shape variables.

Start with `check_compatibility` (may this value go there?) and `explain_mismatch` (if not, why?).
`mismatch.py` holds the one comparison behind both. All are derived from the roles of the fields,
which each kind declares in `ir/struct_info.py`; function types have rules of their own. Answers are
YES, NO or UNKNOWN as in `relaxscript.arith`.
"""

from __future__ import annotations

from relaxscript.ir.vdevice import same_vdevice

from .base_check import BaseCheckResult, struct_info_base_check
from .branching import facts_in_branch
from .compatibility import (
    can_cast,
    check_compatibility,
    explain_mismatch,
    explain_never,
    mismatch_fact,
)
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
from .mismatch import Mismatch, MismatchKind, find_mismatches, prove_same_shape
from .partial_application import apply_partially
from .shape_variables import dimensions, scalar_variables
from .static_checks import ProvableArguments, always_matches, sizes_of_bound_vars
from .static_type import erase_struct_info, is_static_subtype, struct_info_of_type
from .subtyping import is_base_of, is_subtype
from .vdevice import differs_in_devices_only, with_vdevice_of

__all__ = [
    "BaseCheckResult", "Mismatch", "MismatchKind", "ProvableArguments", "always_matches",
    "apply_partially", "can_cast", "check_compatibility", "definable_shape_vars",
    "differs_in_devices_only", "dimensions",
    "erase_struct_info", "erase_to_well_defined", "explain_mismatch", "explain_never",
    "facts_in_branch", "find_mismatches", "free_shape_vars", "is_base_of", "is_static_subtype",
    "is_subtype", "mismatch_fact", "prove_same_shape",
    "same_vdevice", "scalar_variables", "shape_var_mapping", "shape_vars", "sizes_of_bound_vars",
    "struct_info_base_check", "struct_info_of_type", "struct_info_parts", "substitute_held_shapes",
    "substitute_shape_vars", "unify_struct_info", "with_vdevice_of",
]  # fmt: skip
