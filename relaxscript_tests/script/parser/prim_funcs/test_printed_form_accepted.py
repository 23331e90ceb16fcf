"""PrimFuncs in the form in which compilers print them: typed literals, full regions, host code.

Each is read from its text, printed, read back as the same, and printed again as the same text.
"""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source

PROGRAMS = {
    "host_function": """
@T.prim_func
def main(
    args: T.handle, arg_type_ids: T.handle("int32"), num_args: T.int32,
    out_ret_value: T.handle("void"), out_ret_tcode: T.handle("int32"), resource_handle: T.handle
) -> T.int32:
    T.func_attr({"calling_conv": 1, "tir.is_entry_func": True,
                 "target": T.target({"keys": ["cpu"], "kind": "llvm", "tag": ""})})
    assert num_args == 3, "main: num_args should be 3"
    arg_type_ids_1 = T.decl_buffer((3,), "int32", data=arg_type_ids)
    arg_code: T.int32 = arg_type_ids_1[0]
    x: T.handle = T.tvm_struct_get(args, 0, 12, "handle")
    assert not T.isnullptr(x), "x is null"
    A: T.handle("float32", "global") = T.tvm_struct_get(x, 0, 1, "handle")
    T.attr(A, "storage_alignment", 64)
    strides: T.handle("int64") = T.tvm_struct_get(x, 0, 3, "handle")
    A_1 = T.decl_buffer((1024,), data=A)
    dev_id: T.int32 = T.tvm_struct_get(x, 0, 9, "int32")
    T.attr("default", "device_id", dev_id)
    T.attr("default", "device_type", 1)
    with T.attr(0, "compute_scope", "main_compute_"):
        for i in T.parallel(1024):
            A_1[i] = T.Cast("float32", i) * T.float32(2)
    return 0
""",
    "device_kernel": """
@T.prim_func
def k(A: T.handle("float32"), B: T.handle("float32", "global"), n: T.int32):
    T.func_attr({
        "target": T.target({
            "arch": "sm_80", "host": {"keys": ["cpu"], "kind": "llvm", "tag": ""},
            "keys": ["cuda", "gpu"], "kind": "cuda", "max_num_threads": 1024, "tag": "",
            "thread_warp_size": 32,
        }),
        "tir.kernel_launch_params": ["blockIdx.x", "threadIdx.x"], "tir.noalias": T.bool(True),
    })
    A_1 = T.Buffer((1024,), data=A)
    B_1 = T.Buffer((1024,), data=B)
    blockIdx_x = T.launch_thread("blockIdx.x", (n + 31) // 32)
    buf_dyn_shmem = T.allocate([1024], "uint8", "shared.dyn")
    buf = T.decl_buffer((256,), data=buf_dyn_shmem, scope="shared.dyn")
    threadIdx_x = T.launch_thread("threadIdx.x", 32)
    cse_var_1: T.int32 = blockIdx_x * 32 + threadIdx_x
    with T.attr(0, "async_commit_queue_scope", 0):
        T.attr(0, "async_scope", 1)
        buf[threadIdx_x] = T.if_then_else(cse_var_1 < n, A_1[cse_var_1], T.float32(0))
    T.tvm_storage_sync("shared.dyn")
    for v in T.serial(4, annotations={"pragma_auto_unroll_max_step": 16,
                                      "pragma_unroll_explicit": T.bool(True)}):
        if T.likely(cse_var_1 < n):
            B_1[cse_var_1] = buf[threadIdx_x] + T.float32(v)
""",
    "threads_in_blocks": """
@T.prim_func
def vt(A: T.Buffer((64,), "float32")):
    with T.block("root"):
        T.reads()
        T.writes()
        vx = T.env_thread("vthread.x")
        for i in T.thread_binding(2, thread="vthread.x"):
            for j in T.thread_binding(T.int64(0), T.int64(32), thread="threadIdx.x",
                                      annotations={"a": 1}):
                with T.block("b", no_realize=False):
                    v = T.axis.spatial(T.int64(64), T.Cast("int64", i) * T.int64(32) + j)
                    T.reads()
                    T.writes(A[v])
                    A[v] = T.float32(0)
""",
    "lowered_operator": """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(A: T.Buffer((T.int64(2), T.int64(3)), "float32"),
            T_add: T.Buffer((T.int64(2), T.int64(3)), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        # with T.block("root"):
        for ax0, ax1 in T.grid(T.int64(2), T.int64(3)):
            with T.block("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(A[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = A[v_ax0, v_ax1] + T.float32(1.0)
""",
    "dynamic_cast": """
@T.prim_func
def f(var_A: T.handle, var_B: T.handle):
    T.func_attr({"op_pattern": 8, "tir.noalias": True})
    n = T.int64(is_size_var=True)
    A = T.match_buffer(var_A, (T.int64(1), T.int64(32), n, n), offset_factor=1)
    B = T.match_buffer(var_B, [T.int64(1), T.int64(32), n, n], "float16")
    for i, j, k, l in T.grid(T.int64(1), T.int64(32), n, n):
        with T.block("compute"):
            v_i, v_j, v_k, v_l = T.axis.remap("SSSS", [i, j, k, l])
            T.reads(A[v_i, v_j, v_k, v_l])
            T.writes(B[v_i, v_j, v_k, v_l])
            B[v_i, v_j, v_k, v_l] = T.Cast("float16", T.min(
                T.max(A[v_i, v_j, v_k, v_l], T.float32(-65504)), T.float32(65504)))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_printed_and_read_back_the_same(name):
    program = from_source(PROGRAMS[name].lstrip())
    for options in ({}, {"syntax_sugar": False}, {"show_meta": True}):
        text = program.script(**options)
        again = from_source(text)
        assert_structural_equal(again, program)
        assert again.script(**options) == text
