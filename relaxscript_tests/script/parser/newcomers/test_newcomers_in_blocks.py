"""What newcomers write in dataflow blocks and in PrimFuncs, line by line."""

from __future__ import annotations

import numpy as np

from relaxscript.script import relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- dataflow blocks


@rejected
def test_a_block_that_is_not_called():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with R.dataflow:
        #    ^^^^^^^^^^ error: RX0104 a dataflow block is opened by a call
        # help: write `R.dataflow()`
        # fix: R.dataflow()
            y = R.exp(x)
            R.output(y)
        return y


@rejected
def test_a_block_that_is_named():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with R.dataflow() as block:
        #                    ^^^^^ error: RX0104 a dataflow block has no name
        # help: leave it out: `with R.dataflow():`
        # fix:
            y = R.exp(x)
            R.output(y)
        return y


@rejected
def test_a_return_before_the_end_of_a_block():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            y = R.exp(x)
            return y
            # <^^^^^^^ error: RX0105 `return` is not allowed in a dataflow block
            # help: close the block with `R.output(...)`, then return
            z = R.exp(y)
            # <^^^^^^^^^^^ error: RX0105 nothing can follow `return`


@rejected
def test_an_output_in_quotes():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            y = R.exp(x)
            R.output("y")
            #        ^^^ error: RX0104 `R.output` takes names that the block bound
            # help: write the name without quotes
            # fix: y
        return y


@rejected
def test_a_misspelt_output():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            y = R.exp(x)
            R.ouput(y)
            # <^^^^^^ error: RX0102 `R` has no `ouput`
            # help: did you mean `R.output`?
            # fix: R.output
        return y


@rejected
def test_names_without_their_namespace():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with dataflow():
        #    ^^^^^^^^ error: RX0101 `dataflow` is not defined
        # help: did you mean `R.dataflow`?
        # fix: R.dataflow
            y = softmax(x)
            output(y)
        return y


# ---------------------------------------------------------------- PrimFuncs


@rejected
def test_parameters_of_a_prim_func_without_their_types():
    @T.prim_func
    def f(a, b):
    #     ^ error: RX0108 the parameter `a` has no annotation
    # help: write `a: T.handle`
    # fix: a: T.handle
    #        ^ error: RX0108 the parameter `b` has no annotation
    # help: write `b: T.handle`
    # fix: b: T.handle
        A = T.match_buffer(a, (8,), "float32")
        B = T.match_buffer(b, (8,), "float32")
        for i in range(8):
            B[i] = A[i]


@rejected
def test_tensors_of_relax_as_buffers():
    @T.prim_func
    def f(A: R.Tensor((8,), "float32"), B: R.Tensor((8,), "float32"), n: T.int):
    #        ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 `R.Tensor((8,), "float32")` is not the type of
    #     | a parameter of a PrimFunc
    # help: write `T.Buffer((8,), "float32")`
    # fix: T.Buffer((8,), "float32")
    #                                      ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 `R.Tensor((8,),
    #     | "float32")` is not the type of a parameter of a PrimFunc
    # help: write `T.Buffer((8,), "float32")`
    # fix: T.Buffer((8,), "float32")
    #                                                                    ^^^^^ error: RX0102 `T` has
    #     | no `int`
    # help: did you mean `T.int32`?
    # fix: T.int32
        for i in range(8):
            B[i] = A[i]


@rejected
def test_loops_over_numbers():
    @T.prim_func
    def f(A: T.Buffer((8, 8), "float32")):
        for i in 8:
        #        ^ error: RX0501 a loop of a PrimFunc cannot go over a Python int
        # help: write `range(8)`
        # fix: range(8)
            A[i, 0] = 0.0
        for i in A.shape[0]:
        #        ^^^^^^^^^^ error: RX0501 a loop of a PrimFunc cannot go over a scalar of type int64
        # help: write `range(A.shape[0])`
        # fix: range(A.shape[0])
            A[i, 0] = 0.0
        for i, j in T.grid((8, 8)):
        #                  ^^^^^^ error: RX0501 `T.grid` takes its extents one by one
        # help: write `T.grid(8, 8)`
        # fix: 8, 8
            A[i, j] = 0.0
        for i in T.gird(8):
        #        ^^^^^^ error: RX0102 `T` has no `gird`
        # help: did you mean `T.grid`?
        # fix: T.grid
            A[i, 0] = 0.0


@rejected
def test_elements_in_other_brackets():
    @T.prim_func
    def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
        for i, j in T.grid(8, 8):
            B[i][j] = A[i][j]
            # <^^^^^^ error: RX0503 the indices of `B` are written in one pair of brackets
            # help: write `B[i, j]`
            # fix: B[i, j]
            B[i, j] = A(i, j)
            #         ^ error: RX0103 the buffer `A` cannot be called
            # help: elements are written in brackets: `A[i, j]`
            # fix: A[i, j]


@rejected
def test_functions_of_tensors_in_a_prim_func():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32")):
        for i in range(8):
            A[i] = R.exp(A[i])
            #      ^^^^^ error: RX0501 `R.exp` computes with tensors, and a PrimFunc with scalars
            # help: write `T.exp`
            # fix: T.exp
            A[i] = exp(A[i])
            #      ^^^ error: RX0101 `exp` is not defined
            # help: did you mean `T.exp`?
            # fix: T.exp
            A[i] = np.exp(A[i])
            #      ^^^^^^ error: RX0501 `np.exp` computes with Python numbers only
            # help: write `T.exp`
            # fix: T.exp
            A[i] = T.exp(B[i])
            #            ^^^^ error: RX0502 each operand of `T.exp` is a floating-point number
            # help: convert with `T.cast(B[i], "float32")`
            # fix: T.cast(B[i], "float32")
            A[i] = A.sum()
            #      ^^^^^ error: RX0102 a buffer has no `sum`
            # help: a loop goes over its elements


@rejected
def test_axes_that_are_remapped_without_a_list():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("copy"):
                vi = T.axis.remap("S", i)
                #                      ^ error: RX0504 the loop variables are given as a list
                # help: write `[i]`
                # fix: [i]
                B[vi] = A[vi]
