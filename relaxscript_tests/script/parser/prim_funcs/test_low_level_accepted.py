"""PrimFuncs close to the machine: GPUs, memory, intrinsics, layouts, and modules of PrimFuncs.

Each is printed and read back as the same, and printed again as the same text. Those in `RUN` are
run by both executors; those in `REFUSED` are of other devices, and compiling them says which name
it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, ir as I, tir as T
from relaxscript_tests.prim_funcs import both

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off

PROGRAMS: dict[str, Any] = {}
RUN: dict[str, Any] = {}
REFUSED: dict[str, str] = {}


def accepted(meaning: Any = None, refused: str = "") -> Any:
    """A program of the corpus, what it computes, or the name for which a CPU refuses it."""

    def keep(func: Any) -> Any:
        name = func.__name__ if isinstance(func, IRModule) else func.attrs["global_symbol"]
        PROGRAMS[name] = func
        if meaning is not None:
            RUN[name] = meaning
        if refused:
            REFUSED[name] = refused
        return func

    return keep


# ---------------------------------------------------------------- threads of GPUs


@accepted(refused="threads of a GPU")
@T.prim_func
def matmul_gpu(A: T.Buffer((1024, 1024), "float32"),  # noqa: C901
               B: T.Buffer((1024, 1024), "float32"),
               C: T.Buffer((1024, 1024), "float32")):
    T.func_attr({"target": T.target("cuda"), "tir.noalias": True})
    C_local = T.alloc_buffer((1024, 1024), scope="local")
    A_shared = T.alloc_buffer((1024, 1024), scope="shared")
    B_shared = T.alloc_buffer((1024, 1024), scope="shared")
    for by in T.thread_binding(16, thread="blockIdx.y"):
        for bx in T.thread_binding(16, thread="blockIdx.x"):
            for ty in T.thread_binding(8, thread="threadIdx.y"):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
                    for i, j in T.grid(8, 8):
                        with T.block("C_init"):
                            vi = T.axis.spatial(1024, by * 64 + ty * 8 + i)
                            vj = T.axis.spatial(1024, bx * 64 + tx * 8 + j)
                            T.reads()
                            T.writes(C_local[vi, vj])
                            C_local[vi, vj] = T.float32(0)
                    for k_0 in range(128):
                        # Cooperative fetching: all threads of a block load a tile together.
                        for ax0_ax1_fused_0 in range(2):
                            for ax0_ax1_fused_3 in T.vectorized(4):
                                with T.block("A_shared"):
                                    v0 = T.axis.spatial(1024, by * 64 + (
                                        (ax0_ax1_fused_0 * 64 + ty * 8 + tx) * 4
                                        + ax0_ax1_fused_3) // 8)
                                    v1 = T.axis.spatial(1024, k_0 * 8 + (
                                        (ax0_ax1_fused_0 * 64 + ty * 8 + tx) * 4
                                        + ax0_ax1_fused_3) % 8)
                                    A_shared[v0, v1] = A[v0, v1]
                        for k_1, i, j in T.grid(8, 8, 8):
                            with T.block("C"):
                                vi = T.axis.spatial(1024, by * 64 + ty * 8 + i)
                                vj = T.axis.spatial(1024, bx * 64 + tx * 8 + j)
                                vk = T.axis.reduce(1024, k_0 * 8 + k_1)
                                T.reads(C_local[vi, vj], A_shared[vi, vk], B_shared[vk, vj])
                                T.writes(C_local[vi, vj])
                                C_local[vi, vj] += A_shared[vi, vk] * B_shared[vk, vj]
                    for ax0, ax1 in T.grid(8, 8):
                        with T.block("C_local"):
                            v0 = T.axis.spatial(1024, by * 64 + ty * 8 + ax0)
                            v1 = T.axis.spatial(1024, bx * 64 + tx * 8 + ax1)
                            C[v0, v1] = C_local[v0, v1]


@accepted(refused="T.launch_thread")
@T.prim_func
def lowered_gpu(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    T.func_attr({"calling_conv": 2, "thread_extent": {"blockIdx.x": 32, "threadIdx.x": 32}})
    bx = T.launch_thread("blockIdx.x", 32)
    tx = T.launch_thread("threadIdx.x", 32)
    shared = T.allocate([32], "float32", "shared")
    S = T.decl_buffer((32,), data=shared, scope="shared")
    S[tx] = A[bx * 32 + tx]
    T.tvm_storage_sync("shared")
    B[bx * 32 + tx] = S[31 - tx] * T.float32(2)


@accepted(refused="T.launch_thread")
@T.prim_func
def shared_threads(A: T.Buffer((256,), "float32"), B: T.Buffer((256,), "float32")):
    i = T.env_thread("blockIdx.x")
    j = T.env_thread("threadIdx.x")
    vx = T.env_thread("vthread")
    with T.launch_thread(i, 16), T.launch_thread(j, 16):
        A[i * 16 + j] = T.float32(0)
    with T.launch_thread(i, 4):
        T.launch_thread(j, 32)
        T.launch_thread(vx, 2)
        B[i * 64 + j * 2 + vx] = A[i * 64 + j * 2 + vx]


@accepted(refused="T.launch_thread")
@T.prim_func
def cross_thread_reduction(A: T.Buffer((16, 32), "float32"), B: T.Buffer((16,), "float32")):
    with T.launch_thread("blockIdx.x", 16) as bx:
        normal = T.alloc_buffer((1,), scope="local")
        total = T.alloc_buffer((1,), scope="local")
        tx = T.launch_thread("threadIdx.x", 32)
        normal[0] = A[bx, tx]
        with T.attr(T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0)]), "reduce_scope",
                    T.reinterpret("handle", T.uint64(0))):
            T.tvm_thread_allreduce(T.uint32(1), normal[0], T.bool(True), total.data, tx)
        if tx == 0:
            B[bx] = total[0]


@accepted(refused="T.launch_thread")
@T.prim_func
def warp_sum(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
    tx = T.launch_thread("threadIdx.x", 32)
    value = T.alloc_buffer((1,), scope="local")
    value[0] = A[tx]
    mask = T.tvm_warp_activemask()
    for step in (16, 8, 4, 2, 1):
        value[0] += T.tvm_warp_shuffle_down(mask, value[0], step, 32, 32)
    if tx == 0:
        B[0] = value[0]


@accepted(refused="tvm_load_matrix_sync")
@T.prim_func
def tensor_core(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16"),
                C: T.Buffer((16, 16), "float32")):
    a = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_a")
    b = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_b")
    c = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
    with T.block("wmma"):
        T.reads(A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.evaluate(T.tvm_load_matrix_sync(a.data, 16, 16, 16, 0, T.tvm_access_ptr(
            T.type_annotation("float16"), A.data, 0, 256, 1), 16, "row_major"))
        T.evaluate(T.tvm_load_matrix_sync(b.data, 16, 16, 16, 0, T.tvm_access_ptr(
            T.type_annotation("float16"), B.data, 0, 256, 1), 16, "row_major"))
        T.evaluate(T.tvm_fill_fragment(c.data, 16, 16, 16, 0, T.float32(0)))
        T.evaluate(T.tvm_mma_sync(c.data, 0, a.data, 0, b.data, 0, c.data, 0))
        T.evaluate(T.tvm_store_matrix_sync(c.data, 16, 16, 16, 0, T.tvm_access_ptr(
            T.type_annotation("float32"), C.data, 0, 256, 2), 16, "row_major"))


@accepted(refused="T.launch_thread")
@T.prim_func
def ptx_product(A: T.Buffer((16, 16), "float16"), B: T.Buffer((8, 16), "float16"),
                C: T.Buffer((16, 8), "float32")):
    T.func_attr({"target": T.target("cuda -arch=sm_80")})
    tx = T.env_thread("threadIdx.x")
    T.launch_thread(tx, 32)
    MultiA = T.decl_buffer([8], "float16", scope="local")
    MultiB = T.decl_buffer([4], "float16", scope="local")
    Accum = T.decl_buffer([4], "float32", scope="local")
    for i in range(4):
        Accum[i] = T.float32(0)
    for lane in range(8):
        MultiA[lane] = A[tx % 32 // 4 + lane % 4 // 2 * 8,
                         tx % 32 % 4 * 2 + lane % 2 + lane // 4 * 8]
    for lane in range(4):
        MultiB[lane] = B[tx % 32 // 4, tx % 32 % 4 * 2 + lane % 2 + lane // 2 * 8]
    T.evaluate(T.ptx_mma("m16n8k16", "row", "col", "fp16", "fp16", "fp32", MultiA.data, 0,
                         MultiB.data, 0, Accum.data, 0, False, dtype="float32"))
    for acc in range(4):
        C[acc // 2 * 8 + tx % 32 // 4, tx % 32 % 4 * 2 + acc % 2] = Accum[acc]


@accepted(refused="ptx_cp_async")
@T.prim_func
def async_copies(A: T.Buffer((32, 128), "float16"), S: T.Buffer((32, 128), "float16")):
    for i in range(16):
        T.evaluate(T.ptx_cp_async("float16", S.data, i * 128, A.data, i * 128, 16))
    T.evaluate(T.ptx_commit_group())
    T.evaluate(T.ptx_wait_group(0))
    T.evaluate(T.ptx_init_barrier_thread_count(0, 32))
    T.evaluate(T.ptx_arrive_barrier(0))
    T.evaluate(T.ptx_wait_barrier(0))


@accepted(refused="make_filled_simdgroup_matrix")
@T.prim_func
def simdgroup(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    a = T.alloc_buffer((8, 8), scope="metal.simdgroup")
    c = T.alloc_buffer((8, 8), scope="metal.simdgroup")
    T.evaluate(T.make_filled_simdgroup_matrix(c.data, 0, T.float32(0), col=8, row=8))
    T.evaluate(T.simdgroup_load(a.data, 0, A.data, 8, 8, 8, False))
    T.evaluate(T.simdgroup_multiply_accumulate(c.data, 0, a.data, 0, a.data, 0, c.data, 0))
    T.evaluate(T.simdgroup_store(c.data, 0, C.data, 8, transpose_matrix=False))


# ---------------------------------------------------------------- memory and layouts


@accepted(lambda x: x * 2)
@T.prim_func
def workspace(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    with T.allocate([64], "float32", "global") as p:
        W = T.decl_buffer((64,), "float32", data=p)
        for i in T.serial(64):
            W[i] = A[i] + A[i]
        for i in T.serial(64):
            B[i] = W[i]


@accepted(lambda x: x[::-1] + np.tile([1, 2, 3, 4], 16).astype("float32"))
@T.prim_func
def constants(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    table = T.allocate_const([1.0, 2.0, 3.0, 4.0], "float32", [4])
    K = T.decl_buffer((4,), "float32", data=table)
    for i in range(64):
        B[i] = A[63 - i] + K[i % 4]


@accepted(lambda x: x + 1)
@T.prim_func
def flat_view(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    A2 = T.Buffer((8, 8), data=A.data)
    B2 = T.decl_buffer((4, 16), "float32", data=B.data)
    for i, j in T.grid(8, 8):
        B2[(i * 8 + j) // 16, (i * 8 + j) % 16] = A2[i, j] + T.float32(1)


@accepted(lambda x: x.reshape(8, 8).T.reshape(-1))
@T.prim_func
def strided_view(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    turned = T.decl_buffer((8, 8), data=A.data, strides=(1, 8))
    whole = T.decl_buffer((8, 8), data=B.data, strides=[8, 1], elem_offset=0)
    for i, j in T.grid(8, 8):
        whole[i, j] = turned[i, j]


@accepted()
@T.prim_func
def any_layout(a: T.handle, b: T.handle):
    n, m, s0, s1, offset = T.int64(), T.int64(), T.int64(), T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "float32", strides=[s0, s1], elem_offset=offset,
                       align=128, offset_factor=4, scope="global")
    B = T.match_buffer(b, (n, m), "float32", axis_separators=[1], buffer_type="auto")
    for i, j in T.grid(n, m):
        B[i, j] = A[i, j]


@accepted(lambda x: x.reshape(16, 4).sum(1).repeat(4).astype("float32"))
@T.prim_func
def opaque_blocks(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(16):
        with T.block("tile"):
            T.reads(A[i * 4:i * 4 + 4])
            T.writes(B[i * 4:i * 4 + 4])
            T.block_attr({"tensorized": True, "stages": [0, 1]})
            tile = T.match_buffer(A[i * 4:i * 4 + 4], (4,), "float32", offset_factor=1)
            out = T.match_buffer(B[i * 4:i * 4 + 4], (4,), "float32", offset_factor=1)
            total = T.alloc_buffer((1,), scope="local")
            total[0] = T.float32(0)
            for k in range(4):
                total[0] += tile[k]
            for k in range(4):
                out[k] = total[0]


@accepted()
@T.prim_func
def software_pipeline(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for tx in T.serial(0, 16):
        for i in T.serial(0, 16, annotations={"software_pipeline_stage": [0, 1],
                                              "software_pipeline_order": [0, 1],
                                              "pragma": "unroll"}):
            with T.block("compute"):
                T.reads(A[tx, i])
                T.writes(C[tx, i])
                B = T.alloc_buffer((16, 1), dtype="float32", scope="shared")
                with T.block("load"):
                    T.reads(A[tx, i])
                    T.writes(B[tx, 0])
                    B[tx, 0] = A[tx, i] * T.float32(2)
                with T.block("add"):
                    T.reads(B[tx, 0])
                    T.writes(C[tx, i])
                    C[tx, i] = B[tx, 0] + T.float32(1)


@accepted()
@T.prim_func
def layout_hints(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    T.func_attr({"layout_free_buffers": [0],
                 "layout": T.index_map(lambda i, j: (i // 4, j // 4, i % 4, j % 4),
                                       inverse_index_map=lambda a, b, c, d: (a * 4 + c, b * 4 + d),
                                       index_dtype="int32")})
    for i, j in T.grid(16, 16):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"buffer_layout": T.index_map(lambda i, j: (j, i))})
            B[vi, vj] = A[vi, vj]


def products_of_those_before(x: Any) -> Any:
    rows = x.reshape(8, 8)
    return np.cumprod(np.concatenate([np.ones((8, 1)), rows[:, :-1]], 1), 1).reshape(-1)


@accepted(products_of_those_before)
@T.prim_func
def realized(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    k = T.int32()
    with T.realize(B[0:64], "local"):
        T.prefetch(A, [T.Range(0, 64)])
        for i, j in T.grid(8, 8):
            B[i * 8 + j] = T.Reduce(T.comm_reducer(lambda x, y: x * y, [T.float32(1)]),
                                    [A[i * 8 + k]],
                                    [T.iter_var(k, T.Range(0, 8), "CommReduce", "")], k < j, 0, [])


@accepted(lambda x: (x.reshape(8, 8)[:, ::-1] * 2).reshape(-1))
@T.prim_func
def realized_row_by_row(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    C = T.Buffer((8, 8), "float32")
    for i in range(8):
        with T.realize(C[i:i + 1, 0:8], "local"):
            for j in range(8):
                C[i, j] = A[i * 8 + j] * T.float32(2)
            for j in range(8):
                B[i * 8 + j] = C[i, 7 - j]


# ---------------------------------------------------------------- vectors


@accepted(lambda x: x * 3)
@T.prim_func
def ramps(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(16):
        B[T.Ramp(i * 4, 1, 4)] = A[i * 4:i * 4 + 4] * T.Broadcast(T.float32(3), 4)


@accepted(lambda x: np.where(np.arange(64) % 8 < 5, x, 0).astype("float32"))
@T.prim_func
def masked(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(8):
        B[i * 8:i * 8 + 8] = T.float32x8(0)
        lanes = T.get_active_lane_mask("boolx8", 0, 5)
        B.vstore([T.Ramp(i * 8, 1, 8)], A.vload([T.Ramp(i * 8, 1, 8)], predicate=lanes),
                 predicate=lanes)


@accepted(lambda x: x.reshape(8, 8)[:, [1, 0, 3, 2, 5, 4, 7, 6]].reshape(-1))
@T.prim_func
def swapped_pairs(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(8):
        v: T.float32x8 = A[i * 8:i * 8 + 8]
        low: T.float32x4 = T.vectorlow("float32x4", v)
        high: T.float32x4 = T.vectorhigh("float32x4", v)
        B[i * 8:i * 8 + 8] = T.vectorcombine(
            "float32x8", T.Shuffle([low], [1, 0, 3, 2]), T.Shuffle([high], [1, 0, 3, 2])
        )


# ---------------------------------------------------------------- calls


@accepted()
@T.prim_func
def packed_call(A: T.Buffer((4, 4), "float32"), k: T.int32):
    T.evaluate(T.tvm_call_packed("tvm.contrib.sort", T.tvm_stack_make_array(
        A.data, T.tvm_stack_make_shape(4, 4), 0, 2, T.float32(0), 0), k, True))


@accepted(refused="lookup_param")
@T.prim_func
def graph_step(stack: T.handle, values: T.handle):
    params: T.handle = T.lookup_param("p0")
    T.evaluate(T.tvm_struct_set(stack, 0, 12, params))
    code: T.int32 = T.tvm_struct_get(values, 0, 5, "int32")
    assert code == 2, "the first value is no tensor"
    T.tvm_check_return(0, -1, T.tvm_throw_last_error())
    T.anylist_setitem_call_packed(values, 3, "vm.builtin.f", stack, T.anylist_getitem(values, 0))
    T.evaluate(T.ret(0))


@accepted()
@T.prim_func
def external(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        B[i] = T.call_pure_extern("float32", "fminf", A[i], T.float32(0))
    T.evaluate(T.call_extern("int32", "memcpy", T.address_of(B[0]), T.address_of(A[4]), 16))
    for i in range(4):
        B[i * 4:i * 4 + 4] = T.call_llvm_pure_intrin(
            "float32x4", "llvm.fma.v4f32", T.uint32(3), A[0:4], A[4:8], B[0:4])


@accepted(lambda x: np.sqrt(np.abs(x)) * x + 1)
@T.prim_func
def vectors_of_llvm(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(8):
        T.evaluate(T.call_llvm_intrin("void", "llvm.prefetch", T.address_of(A[i * 8]), 0, 3, 1))
        size: T.float32x8 = T.call_llvm_pure_intrin(
            "float32x8", "llvm.fabs.v8f32", A[i * 8:i * 8 + 8])
        root: T.float32x8 = T.call_llvm_pure_intrin(
            "float32x8", T.llvm_lookup_intrinsic_id("llvm.sqrt"), T.uint32(1), size)
        B[i * 8:i * 8 + 8] = T.call_llvm_pure_intrin(
            "float32x8", "llvm.fma", T.uint32(3), root, A[i * 8:i * 8 + 8],
            T.Broadcast(T.float32(1), 8))


@accepted(refused="launch")
@I.ir_module
class Kernels:
    I.module_attrs({"runtime": "opencl"})

    @T.prim_func
    def launch(A: T.Buffer((1024,), "float32")):
        T.func_attr({"calling_conv": 1})
        with T.launch_thread("blockIdx.x", 8) as bx:
            with T.launch_thread("threadIdx.x", 128) as tx:
                A[bx * 128 + tx] = Kernels.clamp(A[bx * 128 + tx], T.float32(1))

    @T.prim_func(private=True)
    def clamp(x: T.float32, limit: T.float32) -> T.float32:
        if x > limit:
            return limit
        return x


@accepted()
@I.ir_module
class Library:
    @T.prim_func(private=True)
    def scale(A: T.Buffer((64,), "float32"), factor: T.float32):
        for i in T.parallel(64):
            A[i] *= factor

    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), n: T.int32):
        cls = Library
        for i in range(n):
            cls.scale(A, T.float32(2))


# ---------------------------------------------------------------- the tests


def refuses(func: Any) -> str:
    """What the compiler says of a program of another device."""
    module = func if isinstance(func, IRModule) else None
    with pytest.raises(DiagnosticError) as caught:
        compile_prim_func(func if module is None else module["launch"], module)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0505"
    return diagnostic.message


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_printed_and_read_back_the_same(name):
    func = PROGRAMS[name]
    for options in ({}, {"syntax_sugar": False}):
        text = func.script(**options)
        again = from_source(text)
        assert_structural_equal(again, func)
        assert again.script(**options) == text


@pytest.mark.parametrize("name", RUN)
def test_it_computes_what_numpy_does(name):
    x = np.random.default_rng(3).uniform(-2, 2, 64).astype("float32")
    _, written = both(PROGRAMS[name], [x, np.zeros(64, "float32")])
    np.testing.assert_allclose(written, RUN[name](x), rtol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_by_name_on_a_cpu(name):
    assert REFUSED[name] in refuses(PROGRAMS[name])
