"""Rejected programs: calls of intrinsics, of hardware and of what tensor expressions have."""

from __future__ import annotations

from relaxscript.script import ir as I, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- how many operands


@rejected
def test_a_function_of_one_scalar_gets_two():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.exp(x[1], x[2])
        #                  ^^^^ error: RX0103 `T.exp` takes 1 argument, not 2
        # help: it is called as `T.exp(x)`


@rejected
def test_a_function_of_two_scalars_gets_one():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.atan2(x[1])
        #      ^^^^^^^^^^^^^ error: RX0103 `T.atan2` needs `b`
        # help: it is called as `T.atan2(a, b)`


@rejected
def test_a_function_gets_no_operand():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.sqrt()
        #      ^^^^^^^^ error: RX0103 `T.sqrt` needs `x`
        # help: it is called as `T.sqrt(x)`


@rejected
def test_a_choice_without_its_other_value():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.if_then_else(x[0] > 0.0, x[1])
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.if_then_else` needs `f`
        # help: it is called as `T.if_then_else(cond, t, f)`
        x[1] = T.Select(x[0] > 0.0, x[1])
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.Select` needs `false_value`
        # help: it is called as `T.Select(condition, true_value, false_value)`


@rejected
def test_a_tensor_core_gets_too_few_operands():
    @T.prim_func
    def f(x: T.Buffer((256,), "float16")):
        T.evaluate(T.tvm_mma_sync(x.data, 0, x.data, 0, x.data, 0))
        #          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.tvm_mma_sync`
        #        | needs `fragment_c` and `index_c`
        # help: it is called as `T.tvm_mma_sync(fragment_d, index_d, fragment_a, index_a,
        #        | fragment_b, index_b, fragment_c, index_c, ...)`


@rejected
def test_a_fragment_is_filled_with_too_many_operands():
    @T.prim_func
    def f(x: T.Buffer((256,), "float32")):
        a = x.data
        T.tvm_fill_fragment(a, 16, 16, 16, 0, 0.0, 1)
        #                                          ^ error: RX0103 `T.tvm_fill_fragment` takes 6
        #        | arguments, not 7
        # help: it is called as `T.tvm_fill_fragment(fragment, m, n, k, index, value)`


@rejected
def test_a_copy_without_its_size():
    @T.prim_func
    def f(x: T.Buffer((256,), "float16"), s: T.Buffer((256,), "float16")):
        T.evaluate(T.ptx_cp_async("float16", s.data, 0, x.data, 0))
        #          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.ptx_cp_async`
        #        | needs `bytes`
        # help: it is called as `T.ptx_cp_async(dtype, shared_ptr, shared_offset, global_ptr,
        #        | global_offset, bytes, ...)`


@rejected
def test_a_group_is_committed_with_an_operand():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.evaluate(T.ptx_commit_group(1))
        #                             ^ error: RX0103 `T.ptx_commit_group` takes 0 arguments, not 1
        # help: it is called as `T.ptx_commit_group()`
        T.evaluate(T.ptx_wait_group())
        #          ^^^^^^^^^^^^^^^^^^ error: RX0103 `T.ptx_wait_group` needs `num`
        # help: it is called as `T.ptx_wait_group(num)`


@rejected
def test_an_operand_by_a_name_that_there_is_not():
    @T.prim_func
    def f(x: T.Buffer((64,), "float32")):
        T.simdgroup_store(x.data, 0, x.data, 8, trans=True)
        #                                       ^^^^^ error: RX0103 `T.simdgroup_store` has no
        #     | parameter `trans`
        # help: did you mean `transpose_matrix`?
        # fix: transpose_matrix


@rejected
def test_a_shuffle_of_a_warp_without_its_width():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.tvm_warp_shuffle_down(1, x[0], 16)
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.tvm_warp_shuffle_down` needs
        #        | `width` and `warp_size`
        # help: it is called as `T.tvm_warp_shuffle_down(mask, value, offset, width, warp_size)`


@rejected
def test_a_barrier_of_a_gpu_names_its_memory():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.tvm_storage_sync()
        # <^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.tvm_storage_sync` needs `storage_scope`
        # help: it is called as `T.tvm_storage_sync(storage_scope, *args)`
        T.tvm_storage_sync(1)
        #                  ^ error: RX0502 `T.tvm_storage_sync` takes a string here


@rejected
def test_a_packed_function_is_called_by_its_name():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.evaluate(T.call_packed(3, x))
        #                        ^ error: RX0502 `T.call_packed` takes the name of a
        #                        | function first, a string
        #                        - label: is int32
        T.evaluate(T.call_cpacked(x))
        #                         ^ error: RX0502 `T.call_cpacked` takes the name of a
        #                         | function first, a string
        #                         - label: is handle
        T.evaluate(T.call_packed())
        #          ^^^^^^^^^^^^^^^ error: RX0502 `T.call_packed` takes the name
        #                          | of a function first, a string
        #          --------------- label: is missing


@rejected
def test_the_shape_of_a_product_is_a_text():
    @T.prim_func
    def f(a: T.Buffer((8,), "float16"), c: T.Buffer((8,), "float32")):
        T.evaluate(T.ptx_mma("float32", 16816, "row", "col", "fp16", "fp16", "fp32", a.data, 0,
        #                               ^^^^^ error: RX0502 `T.ptx_mma` takes a string here
                             a.data, 0, c.data, 0, False))


# ---------------------------------------------------------------- dtypes


@rejected
def test_the_data_type_of_a_result_is_missing():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0:4] = T.vectorlow(x[0:8], x[0:8])
        #                    ^^^^^^ error: RX0502 `T.vectorlow` needs the dtype of its result
        # help: write it first, for example `"int32"`
        x[0] = T.call_extern(x[0], "sinf", x[1])
        #                    ^^^^ error: RX0502 `T.call_extern` needs the dtype of its result
        # help: write it first, for example `"int32"`


@rejected
def test_a_misspelt_data_type_of_a_result():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0] = T.call_pure_extern("flaot32", "sinf", x[1])
        #                         ^^^^^^^^^ error: RX0502 "flaot32" is not a dtype
        # help: did you mean "float32"?
        # fix: "float32"


@rejected
def test_half_of_a_vector_has_half_of_its_lanes():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0:4] = T.vectorlow("float32x2", x[0:8])
        #                    ^^^^^^^^^^^ error: RX0502 the result of `T.vectorlow` is float32x4
        #        | here
        x[0:4] = T.vectorhigh("float32x4", x[0])
        #                                  ^^^^ error: RX0502 `T.vectorhigh` takes a vector with
        #        | an even number of lanes


@rejected
def test_halves_of_a_vector_are_alike():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float64")):
        x[0:8] = T.vectorcombine("float32x8", x[0:4], y[0:4])
        #                                             ^^^^^^ error: RX0502 `T.vectorcombine` takes
        #        | two vectors of one dtype, float32x4


@rejected
def test_a_dot_product_is_of_bytes():
    @T.prim_func
    def f(x: T.Buffer((8,), "int32")):
        x[0] = T.dp4a(x[0:4], x[4:8], x[0])
        #             ^^^^^^ error: RX0502 `T.dp4a` takes vectors of four bytes


@rejected
def test_fixed_point_numbers_are_of_32_bits():
    @T.prim_func
    def f(x: T.Buffer((8,), "int32"), y: T.Buffer((8,), "int64")):
        x[0] = T.q_multiply_shift(y[0], 1 << 30, 31, 0)
        #                         ^^^^ error: RX0502 `T.q_multiply_shift` takes scalars of int32


@rejected
def test_a_mask_is_a_vector_of_bools():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), k: T.int32):
        a = T.get_active_lane_mask("int32x8", k, 8)
        #                          ^^^^^^^^^ error: RX0502 `T.get_active_lane_mask` gives a vector
        #        | of bools
        # help: write for example `"boolx4"`
        b = T.get_active_lane_mask("boolx8", x[0], 8)
        #                                    ^^^^ error: RX0502 `T.get_active_lane_mask` takes
        #        | integers


@rejected
def test_the_bits_of_another_size():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "int64")):
        y[0] = T.reinterpret("int64", x[0])
        #                             ^^^^ error: RX0502 `T.reinterpret` cannot take the bits of
        #        | float32 for those of int64


@rejected
def test_bits_are_of_integers():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0] = T.bitwise_and(x[0], x[1])
        #                    ^^^^ error: RX0502 each operand of `T.bitwise_and` is an integer or a
        #        | bool
        x[1] = T.popcount(x[1])
        #                 ^^^^ error: RX0502 each operand of `T.popcount` is an integer
        x[2] = T.shift_left(x[2], 1)
        #                   ^^^^ error: RX0502 each operand of `T.shift_left` is an integer
        x[3] = x[3] << 2
        #      ^^^^ error: RX0502 each operand of `<<` is an integer


@rejected
def test_a_root_is_of_a_float():
    @T.prim_func
    def f(i: T.Buffer((8,), "int32")):
        i[0] = T.sqrt(i[1])
        #             ^^^^ error: RX0502 each operand of `T.sqrt` is a floating-point number
        # help: convert with `T.cast(i[1], "float32")`
        # fix: T.cast(i[1], "float32")


@rejected
def test_the_greatest_value_of_what_is_no_data_type():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0] = T.max_value("flaot32")
        #                  ^^^^^^^^^ error: RX0502 "flaot32" is not a dtype
        # help: did you mean "float32"?
        # fix: "float32"
        x[1] = T.infinity("int32")
        #                 ^^^^^^^ error: RX0502 only floating-point numbers can be infinite


@rejected
def test_a_whole_buffer_is_no_operand():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0] = T.exp(x)
        #            ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`
        T.evaluate(T.call_extern("int32", "free", x))
        #                                         ^ error: RX0501 `x` is a whole buffer, and a
        #        | scalar is needed here
        # help: take an element: `x[i]`


@rejected
def test_an_intrinsic_that_there_is_not():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0] = T.call_intrin("float32", "tir.sqtr", x[0])
        #                               ^^^^^^^^^^ error: RX0501 there is no intrinsic of this name
        # help: did you mean "tir.sqrt"?
        # fix: "tir.sqrt"
        x[1] = T.sqtr(x[0])
        #      ^^^^^^ error: RX0102 `T` has no `sqtr`
        # help: did you mean `T.sqrt`?
        # fix: T.sqrt
        T.ptx_comit_group()
        # <^^^^^^^^^^^^^^^^ error: RX0102 `T` has no `ptx_comit_group`
        # help: did you mean `T.ptx_commit_group`?
        # fix: T.ptx_commit_group


@rejected
def test_kinds_of_effects_have_names():
    @T.prim_func
    def f(x: T.Buffer((8,), "int32")):
        x[0] = T.CallEffectKind.Pur
        #      ^^^^^^^^^^^^^^^^^^^^ error: RX0102 `T.CallEffectKind` has no `Pur`
        # help: did you mean `T.CallEffectKind.Pure`?
        # fix: T.CallEffectKind.Pure
        x[1] = T.CallEffectKind.Nothing
        #      ^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0102 `T.CallEffectKind` has no `Nothing`
        # help: it has ExprAnnotation, Pure, ReadState, UpdateState, SpecialCallArg, EmbedInfo,
        #        | ControlJump


# ---------------------------------------------------------------- vectors and casts


@rejected
def test_a_vector_has_lanes():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0:4] = T.Broadcast(x[0], 0)
        #                          ^ error: RX0502 the lanes of `T.Broadcast` are a positive
        #        | number that is known now
        x[T.Ramp(0, 1, -4)] = T.float32x4(0)
        #              ^^ error: RX0502 the lanes of `T.Ramp` are a positive number that is known
        #        | now
        x[T.Ramp(0, 1, 4)] = T.Broadcast(x[0], x[1])
        #                                      ^^^^ error: RX0502 the lanes of `T.Broadcast` are a
        #        | positive number that is known now


@rejected
def test_no_vector_is_scalable():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[T.Ramp(0, 1, 4 * T.vscale())] = T.float32x4(0)
        #              ^^^^^^^^^^^^^^ error: RX0502 the lanes of `T.Ramp` are a positive number that
        #                           | is known now
        #                           help: write how many there are: no vector is scalable here
        x[0:4] = T.Cast("float32xvscalex4", 0)
        #               ^^^^^^^^^^^^^^^^^^ error: RX0502 "float32xvscalex4" is not a dtype
        #                                help: did you mean "float32x4"?
        #                                fix: "float32x4"


@rejected
def test_lanes_that_do_not_fit():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0:4] = x[0:8]
        #        ^^^^^^ error: RX0502 the value is a vector of 8 lanes, not of 4 lanes
        x[0] = x[0:4]
        #      ^^^^^^ error: RX0502 the value is a vector of 4 lanes, not of 1 lane
        x[0:4] = x[0:4] + x[0:8]
        #                 ^^^^^^ error: RX0502 `+` cannot combine these operands


@rejected
def test_a_literal_that_does_not_fit():
    @T.prim_func
    def f(x: T.Buffer((8,), "int8")):
        x[0] = 300
        #      ^^^ error: RX0502 300 does not fit in int8
        x[1] = T.int8(-129)
        #             ^^^^ error: RX0502 `T.int8` cannot take this: -129 does not fit in int8
        x[2] = T.uint8(256)
        #              ^^^ error: RX0502 `T.uint8` cannot take this: 256 does not fit in uint8
        x[3] = T.IntImm("int8", 1000)
        #      ^^^^^^^^^^^^^^^^^^^^^^ error: RX0502 `T.IntImm` cannot take this: 1000 does not fit
        #        | in int8


@rejected
def test_what_cannot_be_converted():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0] = T.float32([1])
        #                ^^^ error: RX0502 `T.float32` cannot take this: `T.float32` converts
        #        | scalars, not list
        x[1] = T.cast(x[0], "float31")
        #                   ^^^^^^^^^ error: RX0502 "float31" is not a dtype
        # help: did you mean "float32"?
        # fix: "float32"
        x[2] = T.Cast("floating", x[0])
        #             ^^^^^^^^^^ error: RX0502 "floating" is not a dtype
        # help: write for example `"float32"`
        x[3] = x[0].astype("flaot32")
        #                  ^^^^^^^^^ error: RX0502 "flaot32" is not a dtype
        # help: did you mean "float32"?
        # fix: "float32"


@rejected
def test_a_let_takes_variables():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        x[0] = T.Let(x[0], where=[x[1]])
        #                        ^^^^^^ error: RX0502 the values of `T.Let` are a dict from
        #        | variables
        # help: write `where={x: value}`
        x[1] = T.Shuffle(x[0:4], [1])
        #                ^^^^^^ error: RX0502 the vectors of `T.Shuffle` are given as a list, at
        #        | least one of them


# ---------------------------------------------------------------- reducers and index maps


@rejected
def test_a_combiner_of_the_wrong_number_of_parameters():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        with T.attr(T.comm_reducer(lambda x: x, [T.float32(0)]), "reduce_scope", 0):
        #                          ^^^^^^^^^^^ error: RX0103 1 identity needs a function of 2
        #        | parameters, not 1
            x[0] = 0.0
        with T.attr(T.comm_reducer(lambda a, b, c, d: a + c, [0.0, 1.0]), "reduce_scope", 0):
        #                          ^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 the combiner gives 1
        #        | value, not 2
            x[0] = 0.0


@rejected
def test_a_combiner_that_changes_the_data_type():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        with T.attr(T.comm_reducer(lambda x, y: x < y, [T.float32(0)]), "reduce_scope", 0):
        #                          ^^^^^^^^^^^^^^^^^^ error: RX0502 the combiner gives bool, not
        #        | float32
            x[0] = 0.0


@rejected
def test_a_combiner_is_a_function():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        with T.attr(T.comm_reducer("add", [T.float32(0)]), "reduce_scope", 0):
        #                          ^^^^^ error: RX0103 the combiner of a reduction is a function,
        #        | this is a Python str
        # help: write for example `lambda x, y: x + y`
            x[0] = 0.0
        with T.attr(T.comm_reducer(lambda x, *y: x, [T.float32(0)]), "reduce_scope", 0):
        #                          ^^^^^^^^^^^^^^^ error: RX0104 a `lambda` has plain parameters
        #        | only here
        # help: define a function outside
            x[0] = 0.0
        with T.attr(T.comm_reducer(lambda x, y: x + y), "reduce_scope", 0):
        #           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.comm_reducer` needs
        #        | `identity`
        # help: it is called as `T.comm_reducer(combiner, identity)`
            x[0] = 0.0


@rejected
def test_an_undefined_name_in_a_combiner():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        with T.attr(T.comm_reducer(lambda a, b: a + bb, [T.float32(0)]), "reduce_scope", 0):
        #                                           ^^ error: RX0101 `bb` is not defined
            x[0] = 0.0


@rejected
def test_the_axes_of_a_reduction_are_axes():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        k = T.int32()
        add = T.comm_reducer(lambda a, b: a + b, [T.float32(0)])
        axis = T.iter_var(k, T.Range(0, 8), "CommReduce", "")
        no_variable = T.iter_var(x, T.Range(0, 8), "CommReduce", "")
        no_kind = T.iter_var(k, T.Range(0, 8), 2, "")
        x[0] = T.Reduce(add, [x[k]], [k], True, 0)
        #                            ^^^ error: RX0501 an axis is needed here, this is a scalar of
        #        | type int32
        # help: write `T.iter_var(k, T.Range(0, 8), "CommReduce", "")`
        x[1] = T.Reduce(add, x[k], [axis], True, 0)
        #                    ^^^^ error: RX0103 `src` is a list
        # help: write `[x[k]]`
        x[2] = T.Reduce(add, [x[k]], [no_variable], True, 0)
        #                            ^^^^^^^^^^^^^ error: RX0501 the variable of an axis is
        #        | needed, this is the buffer `x`
        x[3] = T.Reduce(add, [x[k]], [no_kind], True, 0)
        #                            ^^^^^^^^^ error: RX0103 the kind and the thread of an axis
        #        | are strings
        x[4] = T.Reduce(add, [x[k], x[k]], [axis], True, 0)
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0502 `T.Reduce` cannot take
        #        | this: `Reduce.source` has 2 and the combiner 1 values, of which `value_index` 0
        #        | names one
        x[5] = T.Reduce(T.comm_reducer(max, [0.0]), [x[k]])
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.Reduce` needs `rdom`
        #        | and `condition` and `value_index`
        # help: it is called as `T.Reduce(combiner, src, rdom, condition, value_index, init=None)`


@rejected
def test_an_index_map_gives_integers():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        T.func_attr({"layout": T.index_map(lambda i, j: (i * 0.5, j))})
        #                                  ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0502 an index is an
        #        | integer, this gives float32
        T.func_attr({"other": T.index_map((1, 2))})
        #                                 ^^^^^^ error: RX0103 an index map is a function, this is
        #        | a Python tuple
        # help: write for example `lambda i, j: (j, i)`


# ---------------------------------------------------------------- calls in a module


@rejected
def test_a_function_of_the_module_gets_too_many_arguments():
    @I.ir_module
    class Module:
        @T.prim_func
        def scale(x: T.Buffer((4,), "float32"), factor: T.float32):
            x[0] = x[0] * factor

        @T.prim_func
        def main(x: T.Buffer((4,), "float32")):
            Module.scale(x, 2.0, 3.0)
            # <^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `Module.scale` takes 2 arguments, not 3
            Module.scale(x, factor=2.0)
            #               ^^^^^^^^^^ error: RX0103 arguments of PrimFuncs are given by position
            Module.sacle(x, 2.0)
            # <^^^^^^^^^^^ error: RX0102 the module has no function `sacle`
            # help: did you mean `Module.scale`?
            # fix: Module.scale
