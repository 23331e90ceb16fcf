"""Questions about programs, by the names that TVM has for them.

`derive.py` answers what is known of an expression's value; `struct_infos.py` asks about
StructInfos.
"""

from __future__ import annotations

from relaxscript.sinfo import BaseCheckResult, struct_info_base_check

from .derive import Context, call_purity, derive_struct_info, function_struct_info
from .struct_infos import (
    collect_non_negative_expressions,
    definable_tir_vars_in_struct_info,
    defined_symbolic_vars,
    derive_call_ret_struct_info,
    erase_to_well_defined,
    free_symbolic_vars,
    struct_info_lca,
    tir_vars_in_struct_info,
)

__all__ = [
    "BaseCheckResult", "Context", "call_purity", "collect_non_negative_expressions",
    "definable_tir_vars_in_struct_info", "defined_symbolic_vars", "derive_call_ret_struct_info",
    "derive_struct_info", "erase_to_well_defined", "free_symbolic_vars", "function_struct_info",
    "struct_info_base_check", "struct_info_lca", "tir_vars_in_struct_info",
]  # fmt: skip
