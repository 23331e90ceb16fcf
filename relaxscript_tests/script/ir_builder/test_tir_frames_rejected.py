"""Rejected programs: frames of TIR that are nested, filled or ended in ways that mean nothing."""

from __future__ import annotations

from relaxscript.ir.prim import Var as PrimVar
from relaxscript.script.ir_builder import IRBuilder, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_parameters_stand_in_a_prim_func():
    with IRBuilder():
        T.arg("A", T.Buffer((4,), "float32"))
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0105 `T.arg` belongs in a PrimFunc
        # help: open one: `with T.prim_func():`


@rejected
def test_statements_of_tir_in_a_relax_function():
    with IRBuilder(), R.function():
        T.evaluate(0)
        # <^^^^^^^^^^^^ error: RX0105 `T.evaluate` belongs in a PrimFunc, not in `R.function`
        # help: open one: `with T.prim_func():`


@rejected
def test_two_parameters_of_one_name():
    with IRBuilder(), T.prim_func():
        T.arg("A", T.Buffer((4,), "float32"))
        T.arg("A", T.Buffer((4,), "float32"))
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0302 two parameters are called `A`
        # help: rename one of them


@rejected
def test_a_parameter_of_a_prim_func_has_a_type():
    with IRBuilder(), T.prim_func():
        T.arg("A", 3)
        # <^^^^^^^^^^^^ error: RX0108 a Python int is not the type of a parameter
        # help: write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`


@rejected
def test_the_type_of_a_result():
    with IRBuilder(), T.prim_func():
        T.func_ret(3)
        # <^^^^^^^^^^^^ error: RX0108 `3` is not the type of a scalar
        # help: write for example `T.int32`


@rejected
def test_a_loop_counts_with_integers():
    with IRBuilder(), T.prim_func(), T.serial(4.0):
    #                                ^^^^^^^^^^^^^ error: RX0501 a loop counts with integers
    #                                ------------- label: is float32
        pass


@rejected
def test_a_store_of_another_data_type():
    with IRBuilder(), T.prim_func():
        A = T.arg("A", T.Buffer((4,), "float32"))
        T.buffer_store(A, T.int32(1), [0])
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0502 the value is int32, not float32
        # help: convert it: `T.cast(value, "float32")`


@rejected
def test_a_store_with_too_many_indices():
    with IRBuilder(), T.prim_func():
        A = T.arg("A", T.Buffer((4,), "float32"))
        T.buffer_store(A, 1.0, [0, 1])
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0503 `A` takes 1 index, not 2


@rejected
def test_arguments_of_a_buffer():
    with IRBuilder(), T.prim_func():
        T.alloc_buffer((4,), "float32", colour="red")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.alloc_buffer` has no
        # | parameter `colour`
        # help: it is called as `T.alloc_buffer(shape, ...)`


@rejected
def test_axes_stand_in_a_block():
    with IRBuilder(), T.prim_func(), T.serial(4) as i:
        T.axis.spatial(4, i)
        # <^^^^^^^^^^^^^^^^^^^ error: RX0504 `T.axis.spatial` belongs in a block
        # help: open one: `with T.block("name"):`


@rejected
def test_axes_are_remapped_from_loops():
    with IRBuilder(), T.prim_func(), T.block("b"):
        T.axis.remap("S", [PrimVar("i", "int32")])
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0504 `i` is not the variable of a
        # | loop around the block
        # help: give the domain yourself: `T.axis.spatial(extent, value)`


@rejected
def test_the_name_of_a_block_is_a_text():
    with IRBuilder(), T.prim_func(), T.block(3):
    #                                ^^^^^^^^^^ error: RX0504 the name of a block is a string
        pass


@rejected
def test_init_stands_in_a_block():
    with IRBuilder(), T.prim_func(), T.init():
    #                                ^^^^^^^^ error: RX0504 `T.init` belongs in a block
    # help: open one: `with T.block("name"):`
        pass


@rejected
def test_a_block_has_one_init():
    with IRBuilder(), T.prim_func(), T.block("b"):
        with T.init():
            T.evaluate(0)
        with T.init():
        #    ^^^^^^^^ error: RX0504 this block has an `init` already
            T.evaluate(1)


@rejected
def test_a_way_stands_in_a_choice():
    with IRBuilder(), T.prim_func(), T.Then():
    #                                ^^^^^^^^ error: RX0501 `T.Then` belongs directly in `T.If`
    # help: write `with T.If(condition):` around it
        pass


@rejected
def test_a_choice_has_a_way():
    with IRBuilder(), T.prim_func():
        n = T.arg("n", T.int32())
        with T.If(n > 0):
        #    ^^^^^^^^^^^ error: RX0501 `T.If` needs `T.Then`
        # help: write `with T.Then():` inside it
            pass


@rejected
def test_a_choice_has_each_way_once():
    with IRBuilder(), T.prim_func():
        n = T.arg("n", T.int32())
        with T.If(n > 0):
            with T.Then():
                T.evaluate(0)
            with T.Then():
            #    ^^^^^^^^ error: RX0501 `T.If` has two `T.Then`
                T.evaluate(1)


@rejected
def test_statements_beside_the_ways_of_a_choice():
    with IRBuilder(), T.prim_func():
        n = T.arg("n", T.int32())
        with T.If(n > 0):
        #    ^^^^^^^^^^^ error: RX0501 `T.If` holds `T.Then` and `T.Else` only
        # help: write `with T.Then():`
            T.evaluate(0)


@rejected
def test_memory_of_no_data_type():
    with IRBuilder(), T.prim_func(), T.allocate([4], "flaot32"):
    #                                ^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 "flaot32" is not a
    # | dtype
    # help: did you mean "float32"?
        pass


@rejected
def test_a_buffer_needs_a_shape():
    with IRBuilder(), T.prim_func():
        T.arg("A", T.Buffer)
        # <^^^^^^^^^^^^^^^^^^^ error: RX0108 a buffer needs a shape
        # help: write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`


@rejected
def test_the_name_of_a_dimension_is_not_that_of_a_buffer():
    with IRBuilder(), T.prim_func():
        T.arg("A", T.Buffer((4,), "float32"))
        T.alloc_buffer(("A",), "float32")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 `A` is the buffer `A`,
        # | not a dimension
        # help: give the dimension another name


@rejected
def test_a_dimension_in_a_string_is_an_expression():
    with IRBuilder(), T.prim_func():
        T.alloc_buffer(("n +",), "float32")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 "n +" is not an expression


@rejected
def test_a_dimension_in_a_string_is_arithmetic():
    with IRBuilder(), T.prim_func():
        T.alloc_buffer(("n.x",), "float32")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 "n.x" is not an expression


@rejected
def test_a_dimension_in_arithmetic_stands_alone_somewhere():
    with IRBuilder(), T.prim_func():
        T.alloc_buffer(("n * 2",), "float32")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0109 the dimension `n` is not defined here
        # help: it must be a whole dimension of some shape: `T.Buffer(("n",), ...)`


@rejected
def test_a_class_of_python_as_a_data_type():
    with IRBuilder(), T.prim_func(), T.allocate([4], list):
    #                                ^^^^^^^^^^^^^^^^^^^^^ error: RX0108 a dtype is a string or a
    # | type of numpy, not type
        pass


@rejected
def test_a_number_as_a_data_type():
    with IRBuilder(), T.prim_func(), T.allocate([4], 3):
    #                                ^^^^^^^^^^^^^^^^^^ error: RX0108 a dtype is a string such
    # | as "float32", this is a Python int
        pass


@rejected
def test_a_grid_has_loops():
    with IRBuilder(), T.prim_func(), T.grid():
    #                                ^^^^^^^^ error: RX0103 `T.grid` needs an extent for each loop
    # help: write for example `T.grid(16, 16)`
        pass


@rejected
def test_a_buffer_of_a_pointer_needs_a_shape():
    with IRBuilder(), T.prim_func():
        a = T.arg("a", T.handle())
        T.match_buffer(a)
        # <^^^^^^^^^^^^^^^^ error: RX0501 the buffer of `a` needs a shape
        # help: write for example `T.match_buffer(a, (n,), "float32")`
