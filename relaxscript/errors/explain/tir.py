"""Pages of RX05: PrimFuncs and the programs of loops that they are."""

from __future__ import annotations

PAGES: dict[str, str] = {
    "RX0501": """
RX0501: this statement or expression is not part of a PrimFunc

A PrimFunc consists of loops, blocks, stores into buffers, `if`, `while`, `assert` and scalar
variables. Whole buffers are not values: take their elements.

Wrong:

    @T.prim_func
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        y = x + x

Right:

    @T.prim_func
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + x[i]
""",
    "RX0502": """
RX0502: dtypes of scalars disagree

The two sides of an operation, or a value and the buffer in which it is stored, have different
dtypes. Convert with `T.cast` or write the constant as `T.float32(0)`.

Wrong:

    @T.prim_func
    def widen(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float64")):
        for i in range(4):
            y[i] = x[i]

Right:

    @T.prim_func
    def widen(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float64")):
        for i in range(4):
            y[i] = T.cast(x[i], "float64")
""",
    "RX0503": """
RX0503: a buffer is indexed in the wrong way

A buffer takes one index for each dimension, and an index is an integer that is at least 0 and less
than the extent. An index that leaves its buffer whenever the function is run is an error; one that
may is checked when it runs, and costs nothing where loops and conditions prove it. The target
"llvm -check=0" leaves these checks out of what you build, never out of what `load` reads.

Wrong:

    @T.prim_func
    def copy(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            y[i, j] = x[i]

Right:

    @T.prim_func
    def copy(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            y[i, j] = x[i, j]
""",
    "RX0504": """
RX0504: the axes of a block do not hold together

`T.axis.remap` takes one letter (`S` spatial, `R` reduction) and one loop variable for each axis,
and `T.init()` needs a reduction axis. Axes come first in a block.

Wrong:

    @T.prim_func
    def total(x: T.Buffer((4,), "float32"), y: T.Buffer((1,), "float32")):
        for i in range(4):
            with T.block("total"):
                vi = T.axis.remap("RS", [i])
                y[0] = y[0] + x[vi]

Right:

    @T.prim_func
    def total(x: T.Buffer((4,), "float32"), y: T.Buffer((1,), "float32")):
        for i in range(4):
            with T.block("total"):
                vi = T.axis.remap("R", [i])
                with T.init():
                    y[0] = T.float32(0)
                y[0] = y[0] + x[vi]
""",
    "RX0505": """
RX0505: this cannot be compiled for the CPU

The PrimFunc uses something that only other devices have (threads of a GPU, their memory scopes or
intrinsics), or a dtype for which the CPU has no instructions.

Wrong:

    @T.prim_func
    def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        i = T.launch_thread("threadIdx.x", 4)
        y[i] = x[i]

    rx.build(copy)

Right:

    @T.prim_func
    def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in T.parallel(4):
            y[i] = x[i]

    rx.build(copy)
""",
    "RX0506": """
RX0506: a step of a schedule would change what the PrimFunc computes

Every step of a `tir.Schedule` is checked before it is made. Iterations that write and read the
same element keep their order, and a loop is parallel or vectorized only where each of its
iterations runs without the others. A step that is refused leaves the schedule as it was.

Wrong:

    @T.prim_func
    def main(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 8):
            with T.block("total"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    y[vi] = T.float32(0)
                y[vi] = y[vi] + x[vi, vk]

    sch = tir.Schedule(main)
    i, k = sch.get_loops(sch.get_block("total"))
    sch.parallel(k)

Right:

    @T.prim_func
    def main(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 8):
            with T.block("total"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    y[vi] = T.float32(0)
                y[vi] = y[vi] + x[vi, vk]

    sch = tir.Schedule(main)
    i, k = sch.get_loops(sch.get_block("total"))
    sch.parallel(i)
""",
}
