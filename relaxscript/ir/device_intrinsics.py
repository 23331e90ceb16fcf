"""The intrinsics of hardware and of run times, as one table: tensor cores, threads, packed calls.

Programs for other devices are full of them. Here they are read, printed and transformed as calls
of their own names with a checked number of operands; code is made for those that are marked so.

One line is an intrinsic: its name, its marks, the dtype of its result, its operands. `P` marks one
that only computes a value; any other may do more. `C` marks one that the interpreter evaluates and
code is made for, `X` one about C functions and addresses. The result is a dtype or the name of the
operand whose dtype it has. It is `given` where the call says it as its first argument. Of an
operand, `:text` says that it is a literal string. `=3` says that it may be left out and is 3 then,
`?` that it may be left out altogether; `*` stands for any number of further ones.

Source: TVM `tir.op` for names, order of parameters and results.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DeviceIntrinsic", "device_intrinsics"]

_TABLE = """
call_extern                     CX   given     func_name:text *
call_pure_extern                PCX  given     func_name:text *
call_llvm_intrin                C    given     llvm_intrin_name *
call_llvm_pure_intrin           PC   given     llvm_intrin_name *
llvm_lookup_intrinsic_id        P    uint32    name:text
tvm_call_packed                 CX   int32     func_name:text *
tvm_call_cpacked                CX   int32     func_name:text *
tvm_call_packed_lowered         -    int32     func_name:text *
tvm_call_cpacked_lowered        -    int32     func_name:text *
call_packed_lowered             -    int32     func_name:text *
call_cpacked_lowered            -    int32     func_name:text *
address_of                      PCX  handle    obj
isnullptr                       PCX  bool      val
lookup_param                    -    handle    param_name:text
undef                           PC   int32
type_annotation                 P    given
vectorlow                       PC   given     vec
vectorhigh                      PC   given     vec
vectorcombine                   PC   given     vec1 vec2
dp4a                            PC   int32     vec1 vec2 acc=0
q_multiply_shift                PC   int32     x y q s
q_multiply_shift_per_axis       PC   int32     x y ls rs q is_lshift_required is_rshift_required
vscale                          P    int32
get_active_lane_mask            PC   given     base limit
ignore_loop_partition           PC   predicate predicate
start_profile_intrinsic         -    void      id
end_profile_intrinsic           -    void      id
tvm_access_ptr                  P    handle    ptype data offset extent rw_mask
tvm_check_return                -    int32     expected return_unexpected nested_call
tvm_throw_last_error            -    handle
tvm_stack_alloca                -    handle    dtype_str:text num
tvm_stack_make_shape            P    handle    *
tvm_stack_make_array            -    handle    data shape strides ndim arr_dtype elem_offset
tvm_tuple                       P    handle    *
tvm_struct_get                  -    given     arr index field
tvm_struct_set                  -    int32     arr index field value
anylist_getitem                 -    handle    list_handle index
anylist_resetitem               -    int32     list_handle index
anylist_setitem_call_packed     -    int32     list_handle index func_name:text *
anylist_setitem_call_cpacked    -    int32     list_handle index func_name:text *
TVMBackendAllocWorkspace        -    handle    device_type device_id nbytes dtype_code_hint dtype_bits_hint
TVMBackendFreeWorkspace         -    int32     device_type device_id ptr
tvm_thread_allreduce            -    handle    *
tvm_storage_sync                -    int32     storage_scope:text *
tvm_warp_shuffle                -    value     mask value warp_id width warp_size
tvm_warp_shuffle_up             -    value     mask value offset width warp_size
tvm_warp_shuffle_down           -    value     mask value offset width warp_size
tvm_warp_activemask             -    uint32
tvm_load_matrix_sync            -    handle    fragment m n k index buffer_ptr stride layout:text
tvm_store_matrix_sync           -    handle    fragment m n k index buffer_ptr stride layout:text
tvm_fill_fragment               -    handle    fragment m n k index value
tvm_mma_sync                    -    handle    fragment_d index_d fragment_a index_a fragment_b index_b fragment_c index_c
tvm_bmma_sync                   -    handle    fragment_d index_d fragment_a index_a fragment_b index_b fragment_c index_c
ptx_mma                         -    given     shape:text A_layout:text B_layout:text A_dtype:text B_dtype:text C_dtype:text multiplicand_a a_index multiplicand_b b_index accumulator c_index saturate operator:text?
ptx_mma_sp                      -    given     shape:text A_layout:text B_layout:text A_dtype:text B_dtype:text C_dtype:text multiplicand_a a_index multiplicand_b b_index accumulator c_index metadata meta_index sparse_selector saturate
ptx_ldmatrix                    -    given     trans num type:text local_ptr local_offset smem_ptr smem_offset
ptx_cp_async                    -    given     shared_ptr shared_offset global_ptr global_offset bytes predicate?
ptx_cp_async_bulk               -    given     shared_ptr shared_offset global_ptr global_offset bytes barrier_id
ptx_cp_async_barrier            -    void      barrier_id
ptx_commit_group                -    void
ptx_wait_group                  -    void      num
ptx_init_barrier_thread_count   -    void      barrier_id thread_count
ptx_arrive_barrier              -    void      barrier_id
ptx_arrive_barrier_expect_tx    -    void      barrier_id byte_count
ptx_wait_barrier                -    void      barrier_id
create_barriers                 -    void      barrier_count
mma_store                       -    given     m n dst_ptr src_ptr src_offset dst_stride
mma_fill                        -    given     local_size local_ptr offset
make_filled_simdgroup_matrix    -    handle    d index value col=8 row=8
simdgroup_load                  -    handle    d index ptr stride col=8 row=8 transpose_matrix=False
simdgroup_store                 -    handle    d index ptr stride col=8 row=8 transpose_matrix=False
simdgroup_multiply_accumulate   -    handle    d index_d a index_a b index_b c index_c
"""  # noqa: E501


class DeviceIntrinsic(NamedTuple):
    """One line of the table; `defaults` are the values of the last parameters, None for none."""

    name: str
    pure: bool
    compiled: bool
    external: bool
    result: str
    parameters: tuple[str, ...]
    texts: frozenset[str]
    defaults: tuple[int | bool | None, ...]
    rest: bool


_VALUES: dict[str, int | bool] = {"False": False, "True": True}


def _line(text: str) -> DeviceIntrinsic:
    name, marks, result, *operands = text.split()
    parameters: list[str] = []
    texts: set[str] = set()
    defaults: list[int | bool | None] = []
    for operand in operands:
        if operand == "*":
            continue
        plain, _, default = operand.partition("=")
        optional = plain.endswith("?")
        word, _, kind = plain.removesuffix("?").partition(":")
        parameters.append(word)
        if kind == "text":
            texts.add(word)
        if optional:
            defaults.append(None)
        elif default:
            defaults.append(_VALUES[default] if default in _VALUES else int(default))
    return DeviceIntrinsic(
        name, "P" in marks, "C" in marks, "X" in marks, result, tuple(parameters),
        frozenset(texts), tuple(defaults), "*" in operands,
    )  # fmt: skip


def device_intrinsics() -> list[DeviceIntrinsic]:
    """The lines of the table."""
    return [_line(line) for line in _TABLE.strip().splitlines()]
