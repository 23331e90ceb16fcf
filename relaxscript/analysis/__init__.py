"""Questions about programs, by the names that TVM has for them.

`derive.py` answers what is known of an expression's value; `struct_infos.py` asks about
StructInfos, `call_graph.py` about functions and modules. `unused.py` finds what nothing needs,
`inplace_use.py` what is used after it was written into. `well_formedness.py` finds what keeps a
program from being well-formed, `memory_usage.py` what it allocates. `op_pattern.py` and
`reshape_pattern.py` ask what PrimFuncs do, `layout_suggestions.py` which layouts go together.
"""

from __future__ import annotations

from relaxscript.sinfo import BaseCheckResult

from .call_graph import (
    all_global_vars,
    all_vars,
    bound_vars,
    computable_at_compile_time,
    contains_impure_call,
    detect_recursion,
    free_vars,
    get_var2val,
    name_to_binding,
    post_order_visit,
    udchain,
    used_vars,
)
from .derive import Context, call_purity, derive_struct_info, function_struct_info
from .layout_suggestions import suggest_layout_transforms
from .memory_usage import estimate_memory_usage
from .op_pattern import OpPattern, op_pattern
from .reshape_pattern import has_reshape_pattern
from .struct_infos import (
    collect_non_negative_expressions,
    definable_tir_vars_in_struct_info,
    defined_symbolic_vars,
    derive_call_ret_struct_info,
    erase_to_well_defined,
    free_symbolic_vars,
    get_static_type,
    struct_info_base_check,
    struct_info_lca,
    tir_vars_in_struct_info,
)
from .unused import remove_all_unused
from .well_formedness import check_well_formed, ill_formed, well_formed

__all__ = [
    "BaseCheckResult", "Context", "OpPattern", "all_global_vars", "all_vars", "bound_vars",
    "call_purity", "check_well_formed", "collect_non_negative_expressions",
    "computable_at_compile_time", "contains_impure_call", "definable_tir_vars_in_struct_info",
    "defined_symbolic_vars", "derive_call_ret_struct_info", "derive_struct_info",
    "detect_recursion", "erase_to_well_defined", "estimate_memory_usage", "free_symbolic_vars",
    "free_vars", "function_struct_info", "get_static_type", "get_var2val", "has_reshape_pattern",
    "ill_formed", "name_to_binding", "op_pattern", "post_order_visit", "remove_all_unused",
    "struct_info_base_check", "struct_info_lca", "suggest_layout_transforms",
    "tir_vars_in_struct_info", "udchain", "used_vars", "well_formed",
]  # fmt: skip
