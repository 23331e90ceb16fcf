"""Rejected programs: threads, loops, blocks, axes, regions and memory of PrimFuncs."""

from __future__ import annotations

from relaxscript.script import tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

UNORDERED = {1, 2}

# ---------------------------------------------------------------- threads


@rejected
def test_a_thread_has_a_name():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        tx = T.launch_thread(4, 32)
        #                    ^ error: RX0103 the name of a thread is a string, this is a Python int
        # help: write for example "threadIdx.x"
        x[tx] = 0.0


@rejected
def test_a_thread_that_no_gpu_has():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        tx = T.launch_thread("threadIdx.w", 32)
        #                    ^^^^^^^^^^^^^ warning: RX0501 no GPU has threads named "threadIdx.w"
        # help: did you mean "threadIdx.x"?
        # fix: "threadIdx.x"
        ty = T.env_thread("nothing like it")
        #                 ^^^^^^^^^^^^^^^^^ warning: RX0501 no GPU has threads named "nothing like
        #        | it"
        # help: known are blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z
        with T.launch_thread(ty, 4):
            x[tx + ty] = 0.0


@rejected
def test_a_loop_over_threads_of_an_unknown_name():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in T.thread_binding(4, thread="threadldx.x"):
        #                                   ^^^^^^^^^^^^^ warning: RX0501 no GPU has threads named
        #        | "threadldx.x"
        # help: did you mean "threadIdx.x"?
        # fix: "threadIdx.x"
            x[i] = 0.0


@rejected
def test_a_loop_over_threads_of_an_unknown_name_in_second_place():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in T.thread_binding(4, "threadldx.x"):
        #                            ^^^^^^^^^^^^^ warning: RX0501 no GPU has threads named
        #        | "threadldx.x"
        # help: did you mean "threadIdx.x"?
        # fix: "threadIdx.x"
            x[i] = 0.0


@rejected
def test_a_loop_over_threads_of_no_name():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in T.thread_binding(4, thread=0):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.thread_binding` needs the name of
        #        | a thread
        # help: write `thread="threadIdx.x"`
            x[i] = 0.0


@rejected
def test_a_launch_without_an_extent():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        tx = T.launch_thread("threadIdx.x")
        #    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.launch_thread` needs `extent`
        # help: it is called as `T.launch_thread(thread, extent)`
        x[tx] = 0.0


@rejected
def test_the_extent_of_a_launch_is_an_integer():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        tx = T.launch_thread("threadIdx.x", 32.0)
        #                                   ^^^^ error: RX0501 the number of threads is an integer
        x[tx] = 0.0


@rejected
def test_a_variable_is_no_thread():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        with T.launch_thread(n, 32):
        #                    ^ error: RX0501 `n` is no thread
        # help: declare it: `tx = T.env_thread("threadIdx.x")`
            x[0] = 0.0


@rejected
def test_a_thread_cannot_be_assigned():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        tx = T.launch_thread("threadIdx.x", 4)
        tx = tx + 1
        # <^ error: RX0501 `tx` is a thread; it cannot be assigned again
        # help: take another name
        x[tx] = 0.0


@rejected
def test_a_declared_thread_is_bound_to_a_name():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.env_thread("threadIdx.x")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0501 `T.env_thread` needs a name here
        # help: write `x = T.env_thread("threadIdx.x")`
        x[0] = 0.0


# ---------------------------------------------------------------- loops


@rejected
def test_a_loop_over_a_tensor_or_a_number():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        for i in x.shape[0]:
        #        ^^^^^^^^^^ error: RX0501 a loop of a PrimFunc cannot go over a scalar of type int64
        # help: write `range(x.shape[0])`
        # fix: range(x.shape[0])
            x[i] = 0.0
        for i in n:
        #        ^ error: RX0501 a loop of a PrimFunc cannot go over a scalar of type int32
        # help: write `range(n)`
        # fix: range(n)
            x[i] = 0.0
        for i in T.float32:
        #        ^^^^^^^^^ error: RX0501 a loop of a PrimFunc cannot go over the dtype
        #     | `T.float32`
        # help: loop over `range(n)`, `T.grid(n, m)`, `T.parallel(n)`, `T.vectorized(n)` or
        #     | `T.unroll(n)`
            x[i] = 0.0


@rejected
def test_the_names_of_a_grid_are_counted():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        for i, j, k in T.grid(4, 4):
        #   ^^^^^^^ error: RX0501 2 loops cannot be given to 3 names
            x[i, j] = 0.0
        for i, j in range(4):
        #   ^^^^ error: RX0501 1 loop cannot be given to 2 names
            x[i, j] = 0.0


@rejected
def test_a_loop_counts_with_integers():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in T.serial(0.5):
        #                 ^^^ error: RX0501 a loop counts with integers
            x[i] = 0.0
        for i in T.parallel(0, x[0]):
        #                      ^^^^ error: RX0501 a loop counts with integers
            x[i] = 0.0
        for i in T.grid(4, 4.0):
        #                  ^^^ error: RX0501 a loop counts with integers
            x[i] = 0.0


@rejected
def test_the_annotations_of_a_loop_are_a_dict():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in T.unroll(4, annotations=["pragma"]):
        #                                ^^^^^^^^^^ error: RX0103 attributes are a dict with
        #     | strings as keys
        # help: write `{"name": value}`
            x[i] = 0.0
        for i in T.serial(4, annotation={}):
        #                    ^^^^^^^^^^ error: RX0103 `T.serial` has no parameter `annotation`
        # help: did you mean `annotations`?
        # fix: annotations
            x[i] = 0.0
        for i in T.vectorized():
        #        ^^^^^^^^^^^^^^ error: RX0103 `T.vectorized` needs `start`
        # help: it is called as `T.vectorized(start, stop=None)`
            x[i] = 0.0


@rejected
def test_a_loop_variable_cannot_be_changed():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            i = i + 1
            # < error: RX0501 `i` is a loop variable; it cannot be assigned again
            # help: take another name
            x[i] = 0.0
        for j in range(4):
            j += 1
            # < error: RX0501 `j` is a loop variable; it cannot be assigned again
            # help: take another name


@rejected
def test_a_loop_over_a_set_or_over_what_cannot_be_unpacked():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for k in UNORDERED:
        #        ^^^^^^^^^ error: RX0104 the items of a set have no order
        # help: write `sorted(UNORDERED)`
            x[k] = 0.0
        for a, b in [1, 2]:
        #   ^^^^ error: RX0104 this item of the loop cannot be unpacked
            x[a] = 0.0
        for a, b in [(1, 2, 3)]:
        #   ^^^^ error: RX0104 3 values cannot be given to 2 names
            x[a] = 0.0
        for x[0] in [1, 2]:
        #   ^^^^ error: RX0104 a loop gives its items to names
            x[1] = 0.0


@rejected
def test_a_mistake_in_a_loop_that_is_written_out_is_told_once():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for k in (0, 1, 2):
            x[k] = undefined
            #      ^^^^^^^^^ error: RX0101 `undefined` is not defined


@rejected
def test_break_and_continue_in_a_loop_of_the_program():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            if x[i] > 0.0:
                break
                # <^^^^ error: RX0501 `break` is not part of a PrimFunc
                # help: write `while` with the condition to go on, or guard the rest with `if`
            continue
            # <^^^^^^^ error: RX0501 `continue` is not part of a PrimFunc
            # help: guard the rest of the loop with `if`
        for k in [1, 2]:
            if x[k] > 0.0:
                break
                # <^^^^ error: RX0501 `break` is not part of a PrimFunc
                # help: write `while` with the condition to go on, or guard the rest with `if`


# ---------------------------------------------------------------- blocks and axes


@rejected
def test_an_axis_outside_of_a_block():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            vi = T.axis.spatial(4, i)
            #    ^^^^^^^^^^^^^^^^^^^^ error: RX0504 `T.axis.spatial` belongs in a block
            # help: open one: `with T.block("name"):`
            x[vi] = 0.0


@rejected
def test_an_axis_after_a_statement():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                x[0] = 0.0
                vi = T.axis.spatial(4, i)
                #    ^^^^^^^^^^^^^^^^^^^^ error: RX0504 the axes of a block come before its
                #        | statements
                # help: move this line to the beginning of the block
                x[vi] = 0.0


@rejected
def test_axes_and_loops_are_counted():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("b"):
                vi, vj = T.axis.remap("SSR", [i, j])
                #                     ^^^^^ error: RX0504 there are 3 kinds for 2 loop variables
                # help: one letter for each loop variable: `S` spatial, `R` reduction
                x[vi, vj] = 0.0
            with T.block("c"):
                vi, vj, vk = T.axis.remap("SS", [i, j])
                #                               ^^^^^^ error: RX0504 there are 3 names for 2 loop
                #        | variables
                x[vi, vj] = 0.0
            with T.block("d"):
                vi, vj = T.axis.remap("SX", [i, j])
                #                     ^^^^ error: RX0504 there is no kind of axis `X`
                # help: `S` is spatial, `R` reduction, `C` scan, `O` opaque
                x[vi, vj] = 0.0
            with T.block("e"):
                vi = T.axis.remap("S", i)
                #                      ^ error: RX0504 the loop variables are given as a list
                # help: write `[i]`
                x[vi, vi] = 0.0


@rejected
def test_an_axis_over_what_is_no_loop():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.remap("S", [n])
                #                       ^ error: RX0504 `n` is not the variable of a loop around
                #        | the block
                # help: give the domain yourself: `T.axis.spatial(extent, value)`
                x[vi] = 0.0
            with T.block("c"):
                vi = T.axis.spatial(4)
                #    ^^^^^^^^^^^^^^^^^ error: RX0103 `T.axis.spatial` needs `binding`
                # help: it is called as `T.axis.spatial(dom, binding, dtype='int32')`
                x[vi] = 0.0
            with T.block("d"):
                vi = T.axis.spatial(4, x[0])
                #                      ^^^^ error: RX0504 the value of an axis is an integer
                x[vi] = 0.0
            with T.block("e"):
                vi = T.axis.spatial(4.0, i)
                #                   ^^^ error: RX0504 the domain of an axis is given by integers
                x[vi] = 0.0


@rejected
def test_an_axis_cannot_be_assigned():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                vi = vi + 1
                # <^ error: RX0501 `vi` is an axis; it cannot be assigned again
                # help: take another name
                x[vi] = 0.0


@rejected
def test_what_only_a_block_has():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.reads(x[0])
        # <^^^^^^^^^^^^ error: RX0504 `T.reads` belongs in a block
        # help: open one: `with T.block("name"):`
        T.writes(x[0])
        # <^^^^^^^^^^^^^ error: RX0504 `T.writes` belongs in a block
        # help: open one: `with T.block("name"):`
        T.where(x[0] > 0.0)
        # <^^^^^^^^^^^^^^^^^^ error: RX0504 `T.where` belongs in a block
        # help: open one: `with T.block("name"):`
        T.block_attr({"a": 1})
        # <^^^^^^^^^^^^^^^^^^^^^ error: RX0504 `T.block_attr` belongs in a block
        # help: open one: `with T.block("name"):`
        with T.init():
        #    ^^^^^^^^ error: RX0504 `T.init()` belongs in a block
        # help: open one: `with T.block("name"):`
            x[0] = 0.0


@rejected
def test_what_a_block_reads_are_regions():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        with T.block("b"):
            T.reads(x[0])
            #         ^ error: RX0503 `x` takes 2 indices, not 1
            T.writes(x[0:4, 0:4], 3)
            #                     ^ error: RX0504 a region of a buffer is needed here, this is a
            #        | Python int
            # help: write for example `A[0:4, vi]`
            T.where(1)
            #       ^ error: RX0502 a condition is a bool, this is int32
            # help: compare it: `1 != 0`
            T.block_attr("a")
            #            ^^^ error: RX0103 attributes are a dict with strings as keys
            # help: write `{"name": value}`
            x[0, 0] = 0.0


@rejected
def test_a_block_has_a_name_and_one_init():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block(3):
        #    ^^^^^^^^^^ error: RX0504 the name of a block is a string
            x[0] = 0.0
        with T.block("b"):
            with T.init():
                x[0] = 0.0
            with T.init():
            #    ^^^^^^^^ error: RX0504 this block has an `init` already
                x[1] = 0.0
        with T.block("a", "b", "c"):
        #                      ^^^ error: RX0103 `T.block` takes 2 arguments, not 3
        # help: it is called as `T.block(name='', no_realize=False)`
            x[0] = 0.0
        with T.block("d") as d:
        #                    ^ error: RX0501 `T.block` gives no value
            x[0] = 0.0


# ---------------------------------------------------------------- buffers and memory


@rejected
def test_indices_in_several_brackets():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        x[0, 0] = x[1][2]
        #         ^^^^^^^ error: RX0503 the indices of `x` are written in one pair of brackets
        # help: write `x[1, 2]`
        # fix: x[1, 2]
        x[0][1] = 0.0
        # <^^^^^^ error: RX0503 the indices of `x` are written in one pair of brackets
        # help: write `x[0, 1]`
        # fix: x[0, 1]


@rejected
def test_indices_are_counted():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32"), y: T.Buffer((), "float32")):
        x[0] = 0.0
        # ^ error: RX0503 `x` takes 2 indices, not 1
        x[0, 1, 2] = 0.0
        # ^^^^^^^ error: RX0503 `x` takes 2 indices, not 3
        y[0] = 0.0
        # ^ error: RX0503 `y` takes 0 indices, not 1
        x[0, 0] = y
        #         ^ error: RX0501 `y` is a whole buffer, and a scalar is needed here
        # help: take an element: `y[()]`


@rejected
def test_indices_are_integers():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0.5] = 0.0
        # ^^^ error: RX0503 an index is an integer
        # help: convert it: `T.cast(0.5, "int32")`
        x["a"] = 0.0
        # ^^^ error: RX0503 an index is an integer
        x[x[0]] = 0.0
        # ^^^^ error: RX0503 an index is an integer
        # help: convert it: `T.cast(x[0], "int32")`
        x[None] = 0.0
        # ^^^^ error: RX0501 a scalar is needed here, this is `None`


@rejected
def test_a_slice_of_no_constant_length():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        x[0:n] = 0.0
        # ^^^ error: RX0503 the number of elements of this slice is not a constant
        # help: loop over the elements: `for i in range(...)`
        x[0:4:-1] = 0.0
        # ^^^^^^ error: RX0503 the step of a slice is a positive number
        x[2:2] = 0.0
        # ^^^ error: RX0503 this slice has no elements


@rejected
def test_the_arguments_of_a_buffer():
    @T.prim_func
    def f(a: T.handle, x: T.Buffer((4,), "float32")):
        A = T.match_buffer(a, (4, -1), "float32")
        #                         ^^ error: RX0108 a dimension cannot be negative, this is -1
        B = T.match_buffer(x, (4,), "float32")
        #                  ^ error: RX0501 `T.match_buffer` takes a parameter `a: T.handle`
        C = T.alloc_buffer((4,), "float32", strides=[1, 1])
        #                                           ^^^^^^ error: RX0108 1 dimension needs 1 stride,
        #     | not 2
        D = T.decl_buffer((4,), "float32", data=x)
        #                                       ^ error: RX0501 `data` is the address of memory,
        #     | this is the buffer `x`
        # help: it comes from `T.allocate(...)` or is `A.data` of another buffer
        E = T.alloc_buffer((4,), "float32", scop="shared")
        #                                   ^^^^ error: RX0103 `T.alloc_buffer` has no parameter
        #     | `scop`
        # help: did you mean `scope`?
        # fix: scope
        F = T.alloc_buffer((4,), "float23")
        #                        ^^^^^^^^^ error: RX0108 "float23" is not a dtype
        # help: did you mean "float32"?
        # fix: "float32"
        x[0] = 0.0


@rejected
def test_the_arguments_of_memory():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        p = T.allocate([4.0], "float32")
        #               ^^^ error: RX0108 an extent is a whole number, this is a scalar of type
        #        | float32
        q = T.allocate([4])
        #   ^^^^^^^^^^^^^^^ error: RX0103 `T.allocate` needs `dtype`
        # help: it is called as `T.allocate(extents, dtype, scope='global', condition=None,
        #        | annotations=None)`
        r = T.allocate([4], "float32", 3)
        #                              ^ error: RX0103 the scope of memory is a string
        s = T.allocate_const([1, 2], "handle", [2])
        #                            ^^^^^^^^ error: RX0108 constants are numbers, not of handle
        t = T.allocate_const([1, 2, 3], "int32", [2])
        #                    ^^^^^^^^^ error: RX0108 3 values cannot fill 2 elements
        x[0] = 0.0


@rejected
def test_realize_and_prefetch_take_regions():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32"), n: T.int32):
        T.prefetch(x, [T.Range(0, 4)])
        #             ^^^^^^^^^^^^^^^ error: RX0503 `x` has 2 axes, not 1
        T.prefetch(x, 4)
        #             ^ error: RX0103 the region is a list with a range for each axis
        # help: write `[T.Range(0, 4)]`
        T.prefetch(n, [T.Range(0, 4)])
        #          ^ error: RX0501 this is a scalar of type int32, not a buffer
        with T.realize(n, "local"):
        #              ^ error: RX0504 a region of a buffer is needed here, this is a scalar of
        #        | type int32
        # help: write for example `A[0:4, vi]`
            x[0, 0] = 0.0
        with T.realize(x[0:4, 0:4], 3):
        #                           ^ error: RX0103 the scope of memory is a string
            x[0, 0] = 0.0
        with T.realize(x[0:4, 0:4], "local", x[0, 0]):
        #                                    ^^^^^^^ error: RX0502 a condition is a bool, this is
        #        | float32
        # help: compare it: `x[0, 0] != 0`
            x[0, 0] = 0.0


@rejected
def test_a_store_by_call():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        T.buffer_store(x, 0.0, [0])
        #                      ^^^ error: RX0503 `x` takes 2 indices, not 1
        T.buffer_store(x[0, 0], 0.0, [0, 0])
        #              ^^^^^^^ error: RX0501 this is a scalar of type float32, not a buffer
        T.buffer_store(x, 0.0)
        # <^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.buffer_store` needs `indices`
        # help: it is called as `T.buffer_store(buffer, value, indices, predicate=None)`
        x.vstore([0], 0.0)
        #        ^^^ error: RX0503 `x` takes 2 indices, not 1
