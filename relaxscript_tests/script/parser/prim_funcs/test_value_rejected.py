"""Rejected programs: scalars of PrimFuncs that have no value where they stand."""

from __future__ import annotations

from relaxscript.script import tir as T
from relaxscript.testing import check_rejected, rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_a_thread_is_used_where_it_is_launched():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        tx = T.env_thread("threadIdx.x")
        # <^ error: RX0109 `tx` has no value where nothing launches the thread
        # help: launch it around its uses: `with T.launch_thread(tx, extent):`
        x[tx] = 0.0
        with T.launch_thread(tx, 4):
            x[tx] = 1.0


@rejected
def test_a_new_variable_has_no_value():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.float32()
        #      ^^^^^^^^^^^ error: RX0109 this is a new variable of float32, which has no value
        # help: `T.float32(0)` is a number; name a variable: `n = T.float32()`
        x[1] = T.exp(T.float32())
        #            ^^^^^^^^^^^ error: RX0109 this is a new variable of float32, which has no
        #        | value
        # help: `T.float32(0)` is a number; name a variable: `n = T.float32()`
        x[2] = x[3] + T.float32()
        #             ^^^^^^^^^^^ error: RX0109 this is a new variable of float32, which has no
        #        | value
        # help: `T.float32(0)` is a number; name a variable: `n = T.float32()`


@rejected
def test_regions_of_a_block_do_not_depend_on_its_statements():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                k = vi // 2
                T.reads(x[k])
                #       ^^^^ error: RX0504 `T.reads` is said of the whole block, and `k` is bound
                #        | in it
                # help: bind it before the block, or write its value
                T.where(k < 2)
                #       ^^^^^ error: RX0504 `T.where` is said of the whole block, and `k` is bound
                #        | in it
                # help: bind it before the block, or write its value
                x[vi] = x[k]


@rejected
def test_the_operands_of_a_call_by_name_are_counted():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.call_intrin("float32", "tir.sqrt", x[0], x[1])
        #                               ^^^^^^^^^^ error: RX0103 "tir.sqrt" is called with 2
        #        | operands here, not with 1
        x[1] = T.Call("float32", None, [x[0]])
        #                        ^^^^ error: RX0502 `T.Call` calls an intrinsic by its name, or a
        #        | function of the module
        # help: write for example `"tir.exp"`
        x[2] = T.Call("float32", "tir.pow", 1)
        #                                   ^ error: RX0502 the operands of `T.Call` are given as
        #        | a list


@rejected
def test_the_value_of_a_reduction_is_one_of_several():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        k = T.int32()
        add = T.comm_reducer(lambda a, b: a + b, [T.float32(0)])
        axis = T.iter_var(k, T.Range(0, 8), "CommReduce", "")
        x[0] = T.Reduce(add, [x[k]], [axis], True, 1)
        #                                          ^ error: RX0502 `value_index` names one of the
        #     | values of a `T.Reduce`, which has 1
        x[1] = T.Reduce(3, [x[k]], [axis], True, 0)
        #               ^ error: RX0502 `T.Reduce` cannot take a Python int as its `combiner`


@rejected
def test_an_address_has_no_power():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = x.data ** 2
        #                ^ error: RX0502 the operands of `**` have no common dtype
        x[1] = T.pow(x.data, x[1])
        #                    ^^^^ error: RX0502 the operands of `T.pow` have no common dtype


@rejected
def test_a_choice_between_an_address_and_a_number_has_no_dtype():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = x.data if x[1] > 0.0 else 2
        #                                ^ error: RX0502 the operands of `if` have no common dtype


@rejected
def test_a_dimension_is_not_read_from_a_buffer():
    @T.prim_func
    def f(n: T.Buffer((1,), "int32"), x: T.Buffer((n[0],), "float32"), a: T.handle):
    #                                             ^^^^^^^ error: RX0108 a dimension cannot be read
    #        | from a buffer
    # help: pass it as a parameter: `n: T.int64`
        y = T.match_buffer(a, (n[0],), "float32")
        #                     ^^^^^^^ error: RX0108 a dimension cannot be read from a buffer
        # help: pass it as a parameter: `n: T.int64`
        x[0] = 0.0


def test_a_function_of_python_is_no_combiner_in_data_mode():
    check_rejected(
        """
        @T.prim_func
        def f(x: T.Buffer((8,), "float32")):
            T.evaluate(T.Reduce(T.comm_reducer(max, [0.0]), [x[0]], [], True, 0))
            #                                  ^^^ error: RX0104 `max` is not called in data mode
            # help: write a `lambda`
        """,
        mode="data",
    )


@rejected
def test_a_builtin_of_python_is_no_combiner():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        with T.attr(T.comm_reducer(max, [T.float32(0)]), "reduce_scope", 0):
        #                          ^^^ error: RX0103 the parameters of `max` are not known
        # help: write a `lambda`
            x[0] = 0.0


@rejected
def test_what_decides_about_a_block_is_outside_of_it():
    @T.prim_func
    def f(x: T.Buffer((10,), "float32")):
        for i, j in T.grid(3, 4):
            with T.block("b"):
                vi = T.axis.spatial(12, i * 4 + j)
                vj = T.axis.spatial(10, vi)
                #                       ^^ error: RX0504 `T.axis.spatial` is outside of the
                #        | block, where its axis `vi` has no value
                # help: write the loop variables that give the axis its value
                vk = T.axis.spatial(vi, j)
                #                   ^^ error: RX0504 `T.axis.spatial` is outside of the block,
                #        | where its axis `vi` has no value
                # help: write the loop variables that give the axis its value
                T.where(vi < 10)
                #       ^^^^^^^ error: RX0504 `T.where` is outside of the block, where its
                #        | axis `vi` has no value
                # help: write the loop variables that give the axis its value
                x[vi] = 0.0


@rejected
def test_attributes_hold_no_buffers():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block("b"):
            T.block_attr({"stages": [x[0:4], 1]})
            #            ^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 an attribute cannot hold a region
            #        | of a buffer
            x[0] = 0.0
        with T.block("c"):
            T.block_attr({"buffer": x})
            #            ^^^^^^^^^^^^^ error: RX0103 an attribute cannot hold the buffer `x`
            x[0] = 0.0


@rejected
def test_indices_that_a_call_names():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.BufferLoad(x, [0, 1])
        #                      ^^^^^^ error: RX0503 `x` takes 1 index, not 2
        x[1] = T.BufferLoad(x, [0.5])
        #                       ^^^ error: RX0503 an index is an integer
        # help: convert it: `T.cast(0.5, "int32")`
        x[2] = x.vload([0, 1])
        #              ^^^^^^ error: RX0503 `x` takes 1 index, not 2
        x[3] = x.vload([x[0]])
        #               ^^^^ error: RX0503 an index is an integer
        # help: convert it: `T.cast(x[0], "int32")`
        x[T.int64()] = 0.0
        # ^^^^^^^^^ error: RX0109 this is a new variable of int64, which has no value
        # help: `T.int64(0)` is a number; name a variable: `n = T.int64()`


@rejected
def test_texts_and_addresses_are_no_numbers():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = "one"
        #      ^^^^^ error: RX0502 the value is a string, not float32
        x[1] = x.data
        #      ^^^^^^ error: RX0502 the value is an address, not float32


@rejected
def test_a_vector_lies_along_the_last_axis():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4,), "float32")):
        x[:, 0] = 0.0
        # ^ error: RX0503 only the last index can be a vector
        # help: loop over this axis: `for i in range(...)`
        y[0:4] = x[0:4, 0]
        #        ^^^^^^^^^ error: RX0503 only the last index can be a vector
        # help: loop over the other axes: `for i in range(...)`


@rejected
def test_a_dimension_is_an_int64():
    @T.prim_func
    def f(x: T.Buffer((99999999999999999999,), "float32")):
    #                  ^^^^^^^^^^^^^^^^^^^^ error: RX0108 a dimension is an int64, this is
    #        | 99999999999999999999
        x[0] = 0.0


@rejected
def test_the_number_of_indices_beside_one_that_is_unknown():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4,), "float32")):
        x[missing] = y[0]
        # ^^^^^^^ error: RX0101 `missing` is not defined
        # ^^^^^^^ error: RX0503 `x` takes 2 indices, not 1
        y[0] = y[absent, 0]
        #        ^^^^^^ error: RX0101 `absent` is not defined
        #        ^^^^^^^^^ error: RX0503 `y` takes 1 index, not 2
        x[0] = unclear
        # ^ error: RX0503 `x` takes 2 indices, not 1
        #      ^^^^^^^ error: RX0101 `unclear` is not defined
        x[0, 0] = x[0, 1] + "one"
        #                   ^^^^^ error: RX0502 `+` cannot combine these operands
