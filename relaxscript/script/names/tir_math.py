"""The intrinsics under their names in scripts: `T.exp`, `T.ceildiv`, `T.max_value` ...

What they mean and take stands in the table of `ir/intrinsic.py`; each name is written out here so
that editors and type checkers see it.
"""

from __future__ import annotations

from relaxscript.ir.scalar_functions import FUNCTIONS

__all__ = [
    "TVMBackendAllocWorkspace",
    "TVMBackendFreeWorkspace",
    "abs",
    "acos",
    "acosh",
    "address_of",
    "anylist_getitem",
    "anylist_resetitem",
    "anylist_setitem_call_cpacked",
    "anylist_setitem_call_packed",
    "asin",
    "asinh",
    "assume",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "call_cpacked",
    "call_cpacked_lowered",
    "call_extern",
    "call_intrin",
    "call_llvm_intrin",
    "call_llvm_pure_intrin",
    "call_packed",
    "call_packed_lowered",
    "call_pure_extern",
    "ceil",
    "ceildiv",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "create_barriers",
    "dp4a",
    "end_profile_intrinsic",
    "erf",
    "exp",
    "exp2",
    "exp10",
    "fabs",
    "floor",
    "floordiv",
    "floormod",
    "fmod",
    "get_active_lane_mask",
    "hypot",
    "if_then_else",
    "ignore_loop_partition",
    "infinity",
    "isfinite",
    "isinf",
    "isnan",
    "isnullptr",
    "ldexp",
    "likely",
    "llvm_lookup_intrinsic_id",
    "log",
    "log1p",
    "log2",
    "log10",
    "lookup_param",
    "make_filled_simdgroup_matrix",
    "max_value",
    "min_value",
    "mma_fill",
    "mma_store",
    "nearbyint",
    "nextafter",
    "popcount",
    "pow",
    "ptx_arrive_barrier",
    "ptx_arrive_barrier_expect_tx",
    "ptx_commit_group",
    "ptx_cp_async",
    "ptx_cp_async_barrier",
    "ptx_cp_async_bulk",
    "ptx_init_barrier_thread_count",
    "ptx_ldmatrix",
    "ptx_mma",
    "ptx_mma_sp",
    "ptx_wait_barrier",
    "ptx_wait_group",
    "q_multiply_shift",
    "q_multiply_shift_per_axis",
    "reinterpret",
    "ret",
    "round",
    "rsqrt",
    "shift_left",
    "shift_right",
    "sigmoid",
    "simdgroup_load",
    "simdgroup_multiply_accumulate",
    "simdgroup_store",
    "sin",
    "sinh",
    "sqrt",
    "start_profile_intrinsic",
    "tan",
    "tanh",
    "trunc",
    "truncdiv",
    "truncmod",
    "tvm_access_ptr",
    "tvm_bmma_sync",
    "tvm_call_cpacked",
    "tvm_call_cpacked_lowered",
    "tvm_call_packed",
    "tvm_call_packed_lowered",
    "tvm_check_return",
    "tvm_fill_fragment",
    "tvm_load_matrix_sync",
    "tvm_mma_sync",
    "tvm_stack_alloca",
    "tvm_stack_make_array",
    "tvm_stack_make_shape",
    "tvm_storage_sync",
    "tvm_store_matrix_sync",
    "tvm_struct_get",
    "tvm_struct_set",
    "tvm_thread_allreduce",
    "tvm_thread_invariant",
    "tvm_throw_last_error",
    "tvm_tuple",
    "tvm_warp_activemask",
    "tvm_warp_shuffle",
    "tvm_warp_shuffle_down",
    "tvm_warp_shuffle_up",
    "type_annotation",
    "undef",
    "vectorcombine",
    "vectorhigh",
    "vectorlow",
    "vscale",
]  # fmt: skip

# fmt: off
TVMBackendAllocWorkspace = FUNCTIONS["TVMBackendAllocWorkspace"]
TVMBackendFreeWorkspace = FUNCTIONS["TVMBackendFreeWorkspace"]
abs = FUNCTIONS["abs"]
acos = FUNCTIONS["acos"]
acosh = FUNCTIONS["acosh"]
address_of = FUNCTIONS["address_of"]
anylist_getitem = FUNCTIONS["anylist_getitem"]
anylist_resetitem = FUNCTIONS["anylist_resetitem"]
anylist_setitem_call_cpacked = FUNCTIONS["anylist_setitem_call_cpacked"]
anylist_setitem_call_packed = FUNCTIONS["anylist_setitem_call_packed"]
asin = FUNCTIONS["asin"]
asinh = FUNCTIONS["asinh"]
assume = FUNCTIONS["assume"]
atan = FUNCTIONS["atan"]
atan2 = FUNCTIONS["atan2"]
atanh = FUNCTIONS["atanh"]
bitwise_and = FUNCTIONS["bitwise_and"]
bitwise_not = FUNCTIONS["bitwise_not"]
bitwise_or = FUNCTIONS["bitwise_or"]
bitwise_xor = FUNCTIONS["bitwise_xor"]
call_cpacked = FUNCTIONS["call_cpacked"]
call_cpacked_lowered = FUNCTIONS["call_cpacked_lowered"]
call_extern = FUNCTIONS["call_extern"]
call_intrin = FUNCTIONS["call_intrin"]
call_llvm_intrin = FUNCTIONS["call_llvm_intrin"]
call_llvm_pure_intrin = FUNCTIONS["call_llvm_pure_intrin"]
call_packed = FUNCTIONS["call_packed"]
call_packed_lowered = FUNCTIONS["call_packed_lowered"]
call_pure_extern = FUNCTIONS["call_pure_extern"]
ceil = FUNCTIONS["ceil"]
ceildiv = FUNCTIONS["ceildiv"]
clz = FUNCTIONS["clz"]
copysign = FUNCTIONS["copysign"]
cos = FUNCTIONS["cos"]
cosh = FUNCTIONS["cosh"]
create_barriers = FUNCTIONS["create_barriers"]
dp4a = FUNCTIONS["dp4a"]
end_profile_intrinsic = FUNCTIONS["end_profile_intrinsic"]
erf = FUNCTIONS["erf"]
exp = FUNCTIONS["exp"]
exp10 = FUNCTIONS["exp10"]
exp2 = FUNCTIONS["exp2"]
fabs = FUNCTIONS["fabs"]
floor = FUNCTIONS["floor"]
floordiv = FUNCTIONS["floordiv"]
floormod = FUNCTIONS["floormod"]
fmod = FUNCTIONS["fmod"]
get_active_lane_mask = FUNCTIONS["get_active_lane_mask"]
hypot = FUNCTIONS["hypot"]
if_then_else = FUNCTIONS["if_then_else"]
ignore_loop_partition = FUNCTIONS["ignore_loop_partition"]
infinity = FUNCTIONS["infinity"]
isfinite = FUNCTIONS["isfinite"]
isinf = FUNCTIONS["isinf"]
isnan = FUNCTIONS["isnan"]
isnullptr = FUNCTIONS["isnullptr"]
ldexp = FUNCTIONS["ldexp"]
likely = FUNCTIONS["likely"]
llvm_lookup_intrinsic_id = FUNCTIONS["llvm_lookup_intrinsic_id"]
log = FUNCTIONS["log"]
log10 = FUNCTIONS["log10"]
log1p = FUNCTIONS["log1p"]
log2 = FUNCTIONS["log2"]
lookup_param = FUNCTIONS["lookup_param"]
make_filled_simdgroup_matrix = FUNCTIONS["make_filled_simdgroup_matrix"]
max_value = FUNCTIONS["max_value"]
min_value = FUNCTIONS["min_value"]
mma_fill = FUNCTIONS["mma_fill"]
mma_store = FUNCTIONS["mma_store"]
nearbyint = FUNCTIONS["nearbyint"]
nextafter = FUNCTIONS["nextafter"]
popcount = FUNCTIONS["popcount"]
pow = FUNCTIONS["pow"]
ptx_arrive_barrier = FUNCTIONS["ptx_arrive_barrier"]
ptx_arrive_barrier_expect_tx = FUNCTIONS["ptx_arrive_barrier_expect_tx"]
ptx_commit_group = FUNCTIONS["ptx_commit_group"]
ptx_cp_async = FUNCTIONS["ptx_cp_async"]
ptx_cp_async_barrier = FUNCTIONS["ptx_cp_async_barrier"]
ptx_cp_async_bulk = FUNCTIONS["ptx_cp_async_bulk"]
ptx_init_barrier_thread_count = FUNCTIONS["ptx_init_barrier_thread_count"]
ptx_ldmatrix = FUNCTIONS["ptx_ldmatrix"]
ptx_mma = FUNCTIONS["ptx_mma"]
ptx_mma_sp = FUNCTIONS["ptx_mma_sp"]
ptx_wait_barrier = FUNCTIONS["ptx_wait_barrier"]
ptx_wait_group = FUNCTIONS["ptx_wait_group"]
q_multiply_shift = FUNCTIONS["q_multiply_shift"]
q_multiply_shift_per_axis = FUNCTIONS["q_multiply_shift_per_axis"]
reinterpret = FUNCTIONS["reinterpret"]
ret = FUNCTIONS["ret"]
round = FUNCTIONS["round"]
rsqrt = FUNCTIONS["rsqrt"]
shift_left = FUNCTIONS["shift_left"]
shift_right = FUNCTIONS["shift_right"]
sigmoid = FUNCTIONS["sigmoid"]
simdgroup_load = FUNCTIONS["simdgroup_load"]
simdgroup_multiply_accumulate = FUNCTIONS["simdgroup_multiply_accumulate"]
simdgroup_store = FUNCTIONS["simdgroup_store"]
sin = FUNCTIONS["sin"]
sinh = FUNCTIONS["sinh"]
sqrt = FUNCTIONS["sqrt"]
start_profile_intrinsic = FUNCTIONS["start_profile_intrinsic"]
tan = FUNCTIONS["tan"]
tanh = FUNCTIONS["tanh"]
trunc = FUNCTIONS["trunc"]
truncdiv = FUNCTIONS["truncdiv"]
truncmod = FUNCTIONS["truncmod"]
tvm_access_ptr = FUNCTIONS["tvm_access_ptr"]
tvm_bmma_sync = FUNCTIONS["tvm_bmma_sync"]
tvm_call_cpacked = FUNCTIONS["tvm_call_cpacked"]
tvm_call_cpacked_lowered = FUNCTIONS["tvm_call_cpacked_lowered"]
tvm_call_packed = FUNCTIONS["tvm_call_packed"]
tvm_call_packed_lowered = FUNCTIONS["tvm_call_packed_lowered"]
tvm_check_return = FUNCTIONS["tvm_check_return"]
tvm_fill_fragment = FUNCTIONS["tvm_fill_fragment"]
tvm_load_matrix_sync = FUNCTIONS["tvm_load_matrix_sync"]
tvm_mma_sync = FUNCTIONS["tvm_mma_sync"]
tvm_stack_alloca = FUNCTIONS["tvm_stack_alloca"]
tvm_stack_make_array = FUNCTIONS["tvm_stack_make_array"]
tvm_stack_make_shape = FUNCTIONS["tvm_stack_make_shape"]
tvm_storage_sync = FUNCTIONS["tvm_storage_sync"]
tvm_store_matrix_sync = FUNCTIONS["tvm_store_matrix_sync"]
tvm_struct_get = FUNCTIONS["tvm_struct_get"]
tvm_struct_set = FUNCTIONS["tvm_struct_set"]
tvm_thread_allreduce = FUNCTIONS["tvm_thread_allreduce"]
tvm_thread_invariant = FUNCTIONS["tvm_thread_invariant"]
tvm_throw_last_error = FUNCTIONS["tvm_throw_last_error"]
tvm_tuple = FUNCTIONS["tvm_tuple"]
tvm_warp_activemask = FUNCTIONS["tvm_warp_activemask"]
tvm_warp_shuffle = FUNCTIONS["tvm_warp_shuffle"]
tvm_warp_shuffle_down = FUNCTIONS["tvm_warp_shuffle_down"]
tvm_warp_shuffle_up = FUNCTIONS["tvm_warp_shuffle_up"]
type_annotation = FUNCTIONS["type_annotation"]
undef = FUNCTIONS["undef"]
vectorcombine = FUNCTIONS["vectorcombine"]
vectorhigh = FUNCTIONS["vectorhigh"]
vectorlow = FUNCTIONS["vectorlow"]
vscale = FUNCTIONS["vscale"]
# fmt: on
