# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Kernels
#
# A PrimFunc says how something is computed: loops, and what is read and written in them. We write
# the product of two matrices so, have it checked, and then change its loops one step at a time,
# until it is hundreds of times as fast and competes with numpy. Each step is checked as well: one
# that would change the result is refused.

# %%
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy computes on one core, as our kernels do

from timeit import repeat

import numpy as np

import relaxscript as rx
from relaxscript import te, tir
from relaxscript.script import ir as I, relax as R, tir as T

# %% [markdown]
# ## 1. Three loops
#
# In plain Python the product is three loops around one line,
# `c[i, j] = c[i, j] + a[i, k] * b[k, j]`. Here it is as a PrimFunc.


# %%
@T.prim_func
def matmul(
    a: T.Buffer[T.f32, 512, 512], b: T.Buffer[T.f32, 512, 512], c: T.Buffer[T.f32, 512, 512]
) -> None:
    for i, j, k in T.grid(512, 512, 512):
        with T.block("c"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                c[vi, vj] = T.float32(0)
            c[vi, vj] = c[vi, vj] + a[vi, vk] * b[vk, vj]


# %% [markdown]
# - A **buffer** is memory with a shape. The result is a parameter like the others.
# - The **block** is what is done at one place. Loops around it say in which order the places come;
#   what is inside does not depend on that order. So loops can be changed and the block stays.
# - Its **axes** `vi`, `vj`, `vk` say which place it is. Here they are the variables of the loops.
#   `S` is a *spatial* axis: each of its values writes elements of its own. `R` is a *reduction*:
#   all its values add to the same elements.
# - `T.init` is done once, before the first of what is added.
#
# What a block reads and writes is found out, and printed.

# %%
matmul.show()

# %% [markdown]
# It runs on numpy's arrays, and writes into the last one.

# %% tags=["varies"]
rng = np.random.default_rng(0)
a = rng.standard_normal((512, 512)).astype("float32")
b = rng.standard_normal((512, 512)).astype("float32")
c = np.empty((512, 512), "float32")

rx.jit(matmul).matmul(a, b, c)
print(f"at most {abs(c - a @ b).max():.0e} from numpy")

# %% [markdown]
# ## 2. What the letters promise
#
# Suppose we call the third axis spatial, too. Then each of its values would begin at 0 again, and
# the result would be the last product instead of the sum. That can hardly be meant, so you are
# warned.


# %%
@T.prim_func
def all_spatial(
    a: T.Buffer[T.f32, 4, 4], b: T.Buffer[T.f32, 4, 4], c: T.Buffer[T.f32, 4, 4]
) -> None:
    for i, j, k in T.grid(4, 4, 4):
        with T.block("c"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            with T.init():
                c[vi, vj] = T.float32(0)
            c[vi, vj] = c[vi, vj] + a[vi, vk] * b[vk, vj]


# %% [markdown]
# ## 3. Bounds
#
# In C, an index that is off by one reads whatever lies there. Here indices are checked, most of
# them before anything runs.


# %% tags=["raises-exception"]
@T.prim_func
def shift(x: T.Buffer[T.f32, 512], y: T.Buffer[T.f32, 512]) -> None:
    for i in range(512):
        with T.block("y"):
            vi = T.axis.spatial(512, i)
            y[vi] = x[vi + 1]


# %% [markdown]
# Some indices nobody can know: those that are read from memory. They are checked when the kernel
# runs. (Those that were proved to be inside are not, and cost nothing.)

# %% tags=["raises-exception"]
n = R.dim("n")


@T.prim_func
def pick(x: T.Buffer[T.f32, 512], places: T.Buffer[T.i64, n], y: T.Buffer[T.f32, n]) -> None:
    for i in T.serial(n):
        with T.block("y"):
            vi = T.axis.spatial(n, i)
            y[vi] = x[places[vi]]


rx.jit(pick).pick(a[0], np.array([0, 511, 512]), np.empty(3, "float32"))

# %% [markdown]
# ## 4. How long it takes
#
# We take the best of some calls, and check the result. A build arranges the loops of kernels by
# rules of its own; that is the end of this notebook. Until then the attribute `tir.is_scheduled`
# says that our loops are to be run as they are.


# %%
def milliseconds(module: rx.IRModule, calls: int = 20) -> float:
    kernel = module["main"].with_attr("tir.is_scheduled", True)
    result = rx.jit(kernel).time_evaluator("matmul", number=1, repeat=calls)(a, b, c)
    assert np.allclose(c, a @ b, rtol=1e-3, atol=1e-3)
    return float(result.min) * 1000


# %% [markdown]
# A **schedule** holds a PrimFunc and the steps that change it; `sch.mod` is a module with what has
# become of it by now. In there it is `sch.mod["main"]`; its own name is still `matmul`, by which it
# is printed and called. In the beginning it is as we wrote it. numpy calls a library that experts
# have tuned for years.

# %% tags=["varies"]
sch = tir.Schedule(matmul)
plain = milliseconds(sch.mod, calls=3)
by_numpy = min(repeat(lambda: np.matmul(a, b, out=c), number=1, repeat=30)) * 1000
print(f"three loops {plain:.1f} ms, numpy {by_numpy:.1f} ms")

# %% [markdown]
# Why is it slow? The innermost loop goes over `k`, so `b[vk, vj]` jumps from row to row: 2 KiB
# further each time. And it adds up one number after the other, each waiting for the one before.
#
# ## 5. Step by step
#
# ### The order of the loops
#
# With `j` innermost, `b` and `c` are read and written along their rows, one neighbour after the
# other, and no sum waits for another. A step takes loops as they are found by `get_loops`.
#
# (Steps add up. So if you want to run one of these cells again, begin with the cell that makes
# `sch`.)

# %%
block = sch.get_block("c")
i, j, k = sch.get_loops(block)
sch.reorder(i, k, j)
sch.mod["main"].show()

# %% tags=["varies"]
times = [plain]


def compare(step: str) -> None:
    """Print how long it takes now, and how many times as fast that is as before the step."""
    times.append(milliseconds(sch.mod))
    before, now = times[-2:]
    print(f"{step}: {now:.1f} ms, {before / now:.1f} times as fast as before")


compare("reorder")

# %% [markdown]
# That is the largest step, and only the order of the loops has changed. Processors compute with
# vectors of 4 to 16 numbers that are neighbours, and LLVM, which makes the machine code, now finds
# them.
#
# ### Tiles
#
# Still, each element of `c` is read and written 512 times. So we want to finish a small part of
# `c`, a *tile* of 4 × 64, before we go to the next. `split` makes two loops of one; `None` stands
# for as many as are needed. Then the loops inside of a tile go innermost.

# %%
i_tile, i_row = sch.split(i, [None, 4])
j_tile, j_column = sch.split(j, [None, 64])
sch.reorder(i_tile, j_tile, k, i_row, j_column)
sch.mod["main"].show()

# %% tags=["varies"]
compare("tiles")

# %% [markdown]
# The block is still the same; what its axes are has followed the loops. By itself a tile makes
# nothing faster, often it is slower: `c` still goes to memory each time.
#
# ### Sums that stay in registers
#
# A tile of 4 × 64 sums fits into the registers of a processor. `cache_write` lets the block add
# up in a buffer of its own, and copies that to `c` in another block. `reverse_compute_at` moves
# this copy into the loop over tiles, so that it is done once for each.

# %%
copy = sch.cache_write(block, 0, "local")
sch.reverse_compute_at(copy, j_tile)
sch.mod["main"].show()

# %% tags=["varies"]
compare("sums in registers")

# %% [markdown]
# ### The beginning apart
#
# `T.init` is still inside of all loops: whether this is the first of the sum is asked each time,
# which also hinders the sums from staying where we want them. `decompose_reduction` makes it a
# block of its own, before the loop over `k`.

# %%
sch.decompose_reduction(block, k)
sch.mod["main"].show()

# %% tags=["varies"]
compare("the beginning apart")

# %% [markdown]
# ### Vectors, said by name
#
# So far LLVM found the vectors by itself. We may also demand them: the columns of a tile as lanes
# of vectors, and its four rows written one after the other, without a loop.

# %%
sch.vectorize(j_column)
sch.unroll(i_row)
sch.mod["main"].show()

# %% tags=["varies"]
compare("vectors by name")
print(f"in all {plain / times[-1]:.0f} times as fast as three loops; numpy {by_numpy:.1f} ms")

# %% [markdown]
# How much that gains depends on how many of them LLVM had found. Now it does not have to.
#
# ### Memory for one tile
#
# One thing is left: `c_local` has the shape of all of `c`, though there is only one tile at a time.
# You can leave that to `build`. It moves the buffer into the loops, replaces the axes of the blocks
# by what they stand for, and keeps as much as is used, 4 × 64. These are the passes:

# %%
from relaxscript.tir.transform import (
    CompactBufferAllocation,
    ConvertBlocksToOpaque,
    PlanAndUpdateBufferAllocationLocation,
)

smaller = rx.transform.Sequential(
    [PlanAndUpdateBufferAllocationLocation(), ConvertBlocksToOpaque(), CompactBufferAllocation()]
)(sch.mod)
smaller["main"].show()

# %% tags=["varies"]
print(f"{milliseconds(smaller):.1f} ms, as before: `build` had done that")

# %% [markdown]
# ## 6. A step that is refused
#
# Why not let the loop over `k` be lanes of vectors?

# %% tags=["raises-exception"]
sch.vectorize(k)

# %% [markdown]
# All its values add to the same elements, and lanes that work at the same time would overwrite
# what the others have added. What is refused changes nothing: the schedule is as it was.
#
# ## 7. The trace
#
# A schedule remembers its steps. They print as Python.

# %%
print(sch.trace)

# %% [markdown]
# A trace can be applied to another function whose block has the same name. This one we get from a
# **tensor expression**: it says what an element is, and the loops follow. (`topi.matmul(A, B)` is
# such a tensor, ready-made; the notebook [11_tensor_expressions](11_tensor_expressions.ipynb) is
# about them.) It has other sizes, too.

# %%
rows, inner, columns = 256, 300, 200
A, B = te.placeholder((rows, inner), name="a"), te.placeholder((inner, columns), name="b")
along = te.reduce_axis((0, inner), name="k")
C = te.compute(
    (rows, columns), lambda i, j: te.sum(A[i, along] * B[along, j], axis=along), name="c"
)

other = tir.Schedule(te.create_prim_func([A, B, C]))
sch.trace.apply_to_schedule(other)
other.mod["main"].show()

# %% [markdown]
# 64 does not divide 200. So the last tiles reach over the edge, and `T.where` says which places
# there are. That was put there by `split`.

# %% tags=["varies"]
x, y = a[:rows, :inner].copy(), b[:inner, :columns].copy()
z = np.empty((rows, columns), "float32")
rx.jit(other.mod).main(x, y, z)
print(f"at most {abs(z - x @ y).max():.0e} from numpy")

# %% [markdown]
# ## 8. In a model
#
# A Relax function calls a kernel by `R.call_tir`, which makes the array for the result. A PrimFunc
# that Python holds joins the module that mentions it.

# %%
fast = smaller["main"]


@I.ir_module
class Model(I.Module):
    @R.function
    def by_hand(
        a: R.Tensor[R.f32, 512, 512], b: R.Tensor[R.f32, 512, 512]
    ) -> R.Tensor[R.f32, 512, 512]:
        c = R.call_tir(fast, (a, b), out_sinfo=R.Tensor[R.f32, 512, 512])
        return c

    @R.function
    def by_operator(
        a: R.Tensor[R.f32, 512, 512], b: R.Tensor[R.f32, 512, 512]
    ) -> R.Tensor[R.f32, 512, 512]:
        c = R.matmul(a, b)
        return c


model = rx.jit(Model)
for function in (model.by_hand, model.by_operator):
    assert np.allclose(function(a, b), a @ b, rtol=1e-3, atol=1e-3)
print(*(var.name_hint for var in Model.get_global_vars()))

# %% [markdown]
# You need not do this for operators. When a program is built, each operator becomes a PrimFunc,
# and `ApplyDefaultSchedule` arranges its loops by rules: tiles in registers for products, vectors
# for elementwise functions, and so on, for symbolic sizes as well. Here both are side by side.

# %% tags=["varies"]
for name in ("by_hand", "by_operator"):
    result = model.time_evaluator(name, number=1, repeat=20)(a, b)
    print(f"{name:11} {result.min * 1000:5.1f} ms")
print(f"{'numpy':11} {by_numpy:5.1f} ms")

# %% [markdown]
# `explain` says which rule arranged each kernel, and the least time that one core of this computer
# could take for it. (`plain` is what no rule has arranged.)

# %% tags=["varies"]
print(model.explain())

# %% [markdown]
# The rules pass by what you have arranged: it fits none of them, or says so by the attribute
# `tir.is_scheduled`. All else they arrange as well, our three loops too:

# %% tags=["varies"]
result = rx.jit(matmul).time_evaluator("matmul", number=1, repeat=20)(a, b, c)
print(f"{result.min * 1000:.1f} ms without a schedule of ours")

# %% [markdown]
# That is right if arrays overlap, too: then the loops run as they are written. Of what `R.call_tir`
# calls it is known that they do not. Where Python calls, their addresses are compared, unless the
# kernel promises it by `T.func_attr({"tir.noalias": True})` in its first line.

# %% [markdown]
# ## Exercises
#
# 1. Write `row_sums(x, y)` for an `x` of `(n, 64)`: which axes are `S`, which are `R`?

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @T.prim_func
# def row_sums(x: T.Buffer[T.f32, n, 64], y: T.Buffer[T.f32, n]) -> None:
#     for i, k in T.grid(n, 64):
#         with T.block("y"):
#             vi, vk = T.axis.remap("SR", [i, k])
#             with T.init():
#                 y[vi] = T.float32(0)
#             y[vi] = y[vi] + x[vi, vk]
#
#
# x, y = np.ones((5, 64), "float32"), np.empty(5, "float32")
# rx.jit(row_sums).row_sums(x, y)
# assert y.tolist() == [64] * 5
# ```
#
# </details>

# %% [markdown]
# 2. Try other tiles: 1 × 64, 8 × 64, 4 × 32. Which is the fastest on your computer? Why is a tile
#    of one row slow?

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# def tiled(height: int, width: int) -> tir.Schedule:
#     sch = tir.Schedule(matmul)
#     block = sch.get_block("c")
#     i, j, k = sch.get_loops(block)
#     i_tile, i_row = sch.split(i, [None, height])
#     j_tile, j_column = sch.split(j, [None, width])
#     sch.reorder(i_tile, j_tile, k, i_row, j_column)
#     sch.reverse_compute_at(sch.cache_write(block, 0, "local"), j_tile)
#     sch.decompose_reduction(block, k)
#     sch.vectorize(j_column)
#     sch.unroll(i_row)
#     return sch
#
#
# measured = {size: milliseconds(tiled(*size).mod) for size in [(1, 64), (8, 64), (4, 32)]}
# # Print `measured`. A tile of one row uses what it reads of `b` once, one of eight rows eight
# # times. Much larger ones do not fit into the registers.
# assert len(measured) == 3
# ```
#
# </details>

# %% [markdown]
# 3. Let the kernel give `T.max(c[vi, vj], 0)` instead of `c`, by a second block, and move this
#    block into the loop over tiles. (`T.alloc_buffer` is a buffer that is no parameter.)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @T.prim_func
# def matmul_relu(
#     a: T.Buffer[T.f32, 512, 512], b: T.Buffer[T.f32, 512, 512], d: T.Buffer[T.f32, 512, 512]
# ) -> None:
#     c = T.alloc_buffer((512, 512), "float32")
#     for i, j, k in T.grid(512, 512, 512):
#         with T.block("c"):
#             vi, vj, vk = T.axis.remap("SSR", [i, j, k])
#             with T.init():
#                 c[vi, vj] = T.float32(0)
#             c[vi, vj] = c[vi, vj] + a[vi, vk] * b[vk, vj]
#     for i, j in T.grid(512, 512):
#         with T.block("d"):
#             vi, vj = T.axis.remap("SS", [i, j])
#             d[vi, vj] = T.max(c[vi, vj], T.float32(0))
#
#
# sch = tir.Schedule(matmul_relu)
# i, j, k = sch.get_loops("c")
# i_tile, i_row = sch.split(i, [None, 4])
# j_tile, j_column = sch.split(j, [None, 64])
# sch.reorder(i_tile, j_tile, k, i_row, j_column)
# sch.reverse_compute_at("d", j_tile)
#
# d = np.empty((512, 512), "float32")
# rx.jit(sch.mod).matmul_relu(a, b, d)
# assert np.allclose(d, np.maximum(a @ b, 0), rtol=1e-3, atol=1e-3)
# ```
#
# </details>

# %% [markdown]
# Next is [06_passes](06_passes.ipynb): programs that change whole modules, as a schedule changes
# one kernel.
