"""Rejected programs: `R.emit_te` of what is no tensor expression, each mistake at its place."""

from __future__ import annotations

import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript.script import ir as I, relax as R
from relaxscript.testing import check_rejected, rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- the function


@rejected
def test_what_is_no_function_of_tensors():
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            a = R.emit_te()
            #   ^^^^^^^^^^^ error: RX0103 `R.emit_te` takes a function of tensors, and its arguments
            # help: write for example `R.emit_te(topi.add, x, y)`
            b = R.emit_te(R.exp, x)
            #             ^^^^^ error: RX0201 `R.exp` is an operator, and no function of tensor
            # | expressions
            # help: call it: `R.exp(...)`
            c = R.emit_te(x, x)
            #             ^ error: RX0201 `x` is no function of tensor expressions
            # help: write for example `R.emit_te(topi.add, x, y)`
            d = R.emit_te(3, x)
            #             ^ error: RX0201 `3` is no function of tensor expressions
            # help: write for example `R.emit_te(topi.add, x, y)`
            e = R.emit_te(*[topi.exp], x)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.emit_te` takes a function of tensors,
            # | and its arguments
            # help: write for example `R.emit_te(topi.add, x, y)`
            f = R.emit_te(topi.ex, x)
            #             ^^^^^^^ error: RX0102 `topi` has no `ex`
            # help: did you mean `topi.exp`?
            # fix: topi.exp
            return x


@rejected
def test_a_function_on_its_own_has_no_place_for_a_prim_func():
    @R.function
    def main(x: R.Tensor((3, 4), "float32")):
        y = R.emit_te(topi.exp, x)
        #   ^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 `R.emit_te` makes a PrimFunc, and a function on
        # | its own has no place for it
        # help: put the function in a class under `@I.ir_module`
        return y


@rejected
def test_a_function_that_raises():
    failure = ValueError("no luck")

    def unlucky(a):
        raise failure
        # <------------ label: raised here

    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            y = R.emit_te(unlucky, x)
            #   ^^^^^^^^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised ValueError: no
            # | luck
            return y


@rejected
def test_a_function_that_calls_itself_without_end():
    def deep(a):
        return deep(a)

    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            y = R.emit_te(deep, x)
            #             ^^^^ error: RX0104 the tensor expressions are nested too deeply
            # help: compute a part of them by a call of its own
            return y


@rejected
def test_a_function_that_asks_for_what_there_is_not():
    def absent(a):
        te.Cast
        # <------ label: raised here

    def chooses(a):
        return te.compute((3,), lambda i: 1.0 if a[i, 0] > 0 else 0.0)
        #      ------------------------------------------------------- label: raised here

    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            y = R.emit_te(absent, x)
            #   ^^^^^^^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised AttributeError:
            # | module `relaxscript.te` has no attribute `Cast`
            z = R.emit_te(chooses, x)
            #   ^^^^^^^^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised TypeError: a
            # | symbolic expression has no truth value while the program is being built: combine
            # | with tir.all and tir.any, choose with tir.if_then_else
            return y


@rejected
def test_a_function_that_gives_no_tensor():
    def nothing(a):
        te.compute(a.shape, lambda i, j: a[i, j])

    def number(a):
        return [a, 3]

    def empty(a):
        return []

    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            a = R.emit_te(nothing, x)
            #             ^^^^^^^ error: RX0203 `nothing` gives `None` where a tensor or a list of
            # | tensors is needed
            # help: end it with `return` and the tensor
            #             ------- label: gives `None`
            b = R.emit_te(number, x)
            #             ^^^^^^ error: RX0203 `number` gives a Python int where a tensor or a list
            # | of tensors is needed
            #             ------ label: gives a Python int
            c = R.emit_te(empty, x)
            #             ^^^^^ error: RX0203 `empty` gives nothing where a tensor or a list of
            # | tensors is needed
            #             ----- label: gives nothing
            return x


@rejected
def test_a_function_that_calls_operators():
    def relaxed(a, b):
        return R.add(a, b)
        #      ^^^^^^^^^^^ error: RX0201 `R.add` cannot take these operands
        # note: `x1` is a tensor of tensor expressions, not a tensor

    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            y = R.emit_te(relaxed, x, x)
            #   ------------------------ label: called here
            return y


# ---------------------------------------------------------------- shapes, dtypes and indices


@rejected
def test_a_compute_that_does_not_fit_says_which_axis_of_which_tensor():
    def far(a):
        def element(i, j):
            return a(i, 4)
            #      ^^^^^^^ error: RX0503 axis 1 of the tensor `A` has extent 4, and no element 4
            #      ------- label: is 4

        return te.compute((3, 5), element)

    def fewer(a):
        def element(i):
            return te.exp(a[i])
            #      ^^^^^^^^^^^^ error: RX0503 the tensor `A` has 2 axes, and 1 of them are indexed:
            # | an element is needed here
            #      ------------ label: has 1

        return te.compute((3,), element)

    def index(a):
        def element(i):
            place = i.astype("float32")
            return a(i, place)
            #      ^^^^^^^^^^^ error: RX0503 axis 1 of the tensor `A` is indexed by a value of
            # | float32, which is no integer
            #      ----------- label: is float32

        return te.compute((3,), element)

    def shape(a):
        return te.compute(("n", 4), lambda i, j: a[i, j])
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0502 a dimension is an integer,
        # | and axis 0 is a Python str
        #      ------------------------------------------ label: is a Python str

    def sums(a, b):
        same = te.compute((3, 4), lambda i, j: a[i, j])
        return topi.add(same, b)
        #      ^^^^^^^^^^^^^^^^^ error: RX0203 `topi.add` cannot broadcast axis -1: `compute` has 4
        # | elements there, `B` has 5
        #      ----------------- label: has 5

    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32"), w: R.Tensor((5,), "float32")):
            a = R.emit_te(far, x)
            #                  - label: `A` is this `R.Tensor((3, 4), "float32")`
            #   ----------------- label: called here
            b = R.emit_te(fewer, x)
            #                    - label: `A` is this `R.Tensor((3, 4), "float32")`
            #   ------------------- label: called here
            c = R.emit_te(index, x)
            #                    - label: `A` is this `R.Tensor((3, 4), "float32")`
            #   ------------------- label: called here
            d = R.emit_te(shape, x)
            #   ------------------- label: called here
            e = R.emit_te(sums, x, w)
            #                      - label: `B` is this `R.Tensor((5,), "float32")`
            #   --------------------- label: called here
            return x


@rejected
def test_elements_and_dimensions_that_there_are_not():
    def invented(a):
        m = te.var("m", "int64")
        return te.compute((m,), lambda i: a[0, 0])

    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            g = R.emit_te(lambda a: te.compute((3, 4), lambda i, j: a[i, j + 1]), x)
            #             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0503 `A`
            # | has no element 4 here: axis 1 has extent 4
            # help: choose by `te.if_then_else(condition, element, 0.0)` where there is none
            #             ------------------------------------------------------ label: leaves
            # | a tensor
            #                                                                     - label: `A` is
            # | this `R.Tensor((3, 4), "float32")`
            f = R.emit_te(invented, x)
            #             ^^^^^^^^ error: RX0305 `invented` makes a tensor of the variable `m`,
            # | which has no value where it is called
            # help: make it of the dimensions of its arguments
            #             -------- label: has `m`
            return x


@rejected
def test_a_function_of_ours_is_blamed_on_its_arguments():
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32"), w: R.Tensor((5, 6), "float32")):
            a = R.emit_te(topi.matmul, x, w)
            #                             ^ error: RX0203 `topi.matmul` sums over 4 elements of one
            # | tensor and 5 of the other
            #                             - label: has 5
            #                          - label: has 4
            b = R.emit_te(topi.add, x, w)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0203 `topi.add` cannot broadcast axis -2: `A`
            # | has 3 elements there, `B` has 5
            #   ------------------------- label: has 5
            #                       - label: `A` is this `R.Tensor((3, 4), "float32")`
            #                          - label: `B` is this `R.Tensor((5, 6), "float32")`
            c = R.emit_te(topi.add, x)
            #   ^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `topi.add` needs `rhs`
            # help: it is called as `topi.add(lhs, rhs)`
            d = R.emit_te(topi.add, x, x, z=3)
            #                               ^ error: RX0103 `topi.add` has no parameter `z`
            # help: it is called as `topi.add(lhs, rhs)`
            e = R.emit_te(topi.exp, [x])
            #   ^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0501 an element of a tensor is a scalar, this is
            # | a Python list
            #   ------------------------ label: is a Python list
            f = R.emit_te(topi.exp, 3)
            #                       ^ error: RX0502 each operand of `T.exp` is a floating-point
            # | number
            # help: convert with `T.cast(x, "float32")`
            #                       - label: is int32
            return x


# ---------------------------------------------------------------- arguments


@rejected
def test_operands_that_no_tensor_stands_for():
    @I.ir_module
    class M:
        @R.function
        def main(
            u: R.Tensor(ndim=2, dtype="float32"), v: R.Tensor((2, 3)), o: R.Object,
            k: R.Prim("int64"),
        ):
            a = R.emit_te(topi.exp, u)
            #                       ^ error: RX0203 a tensor expression is made for operands of
            # | known shape and dtype
            # help: check it first: `R.match_cast(u, R.Tensor((n, 4), "float32"))`
            #                       - label: is R.Tensor(dtype="float32", ndim=2)
            b = R.emit_te(topi.exp, v)
            #                       ^ error: RX0203 a tensor expression is made for operands of
            # | known shape and dtype
            # help: check it first: `R.match_cast(v, R.Tensor((2, 3), "float32"))`
            #                       - label: is R.Tensor((2, 3))
            c = R.emit_te(topi.exp, o)
            #                       ^ error: RX0203 a tensor expression takes tensors, shapes,
            # | scalars of known value and tuples of them
            #                       - label: is an object of unknown kind
            d = R.emit_te(topi.exp, k)
            #                       ^ error: RX0203 a tensor expression takes tensors, shapes,
            # | scalars of known value and tuples of them
            #                       - label: is a scalar
            e = R.emit_te(topi.exp, zork)
            #                       ^^^^ error: RX0101 `zork` is not defined
            return u


@rejected
def test_what_is_said_of_the_prim_func():
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            a = R.emit_te(topi.exp, x, primfunc_name_hint="e to")
            #                                             ^^^^^^ error: RX0103 `primfunc_name_hint`
            # | is the name of a PrimFunc, and 'e to' is none
            #                                             ------ label: is no name
            c = R.emit_te(topi.exp, x, te_grad_name=3)
            #                                       ^ error: RX0103 `te_grad_name` is the name
            # | under which a gradient is registered
            # help: register it: `relax.training.register_te_gradient(name, gradient)`
            #                                       - label: is a Python int
            d = R.emit_te(topi.exp, x, te_grad_kwargs={"factor": 2})
            #                                         ^^^^^^^^^^^^^ error: RX0103 `te_grad_name` is
            # | the name under which a gradient is registered
            # help: register it: `relax.training.register_te_gradient(name, gradient)`
            #                                         ------------- label: is of no gradient
            e = R.emit_te(topi.exp, x, te_grad_name="g", te_grad_kwargs=3)
            #                                                           ^ error: RX0103
            # | `te_grad_kwargs` is a dict of names and of values that a script can say
            #                                                           - label: is a Python int
            b = R.emit_te(topi.exp, x, primfunc_attrs=3)
            #                                         ^ error: RX0103 `primfunc_attrs` are the
            # | attributes of a PrimFunc by their names
            # help: write for example `primfunc_attrs={"op_pattern": 0}`
            #                                         - label: is a Python int
            return x


@rejected
def test_a_lambda_knows_no_values_of_the_program():
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3, 4), "float32"), w: R.Tensor((4,), "float32")):
            a = R.emit_te(lambda a: a + w, x)
            #                           ^ error: RX0112 `w` is a value of the program, which is not
            # | known to a function that runs now
            # help: give it to the function as an argument
            b = R.emit_te(lambda a: a + zork, x)
            #                           ^^^^ error: RX0101 `zork` is not defined
            c = R.emit_te(
                lambda a: te.compute(
                    (3,),
                    lambda i: a(i, 7)),
                    #         ^^^^^^^ error: RX0503 axis 1 of the tensor `A` has extent 4, and no
                    # | element 7
                    #         ------- label: is 7
                x)
                # < label: `A` is this `R.Tensor((3, 4), "float32")`
            return x


# fmt: on


def test_data_mode_runs_no_function_of_python():
    check_rejected(
        """
        from relaxscript.script import ir as I, relax as R
        from relaxscript import topi

        @I.ir_module
        class M:
            @R.function
            def main(x: R.Tensor((3, 4), "float32")):
                y = R.emit_te(topi.exp, x)
                #             ^^^^^^^^ error: RX0104 `R.emit_te` runs `topi.exp`, and in data mode
                # | no Python is run
                # help: read the script with `mode="python"`, or print the module and read that
                z = R.emit_te(lambda a: a, x)
                #             ^^^^^^^^^^^ error: RX0104 `R.emit_te` runs `lambda a: a`, and in data
                # | mode no Python is run
                # help: read the script with `mode="python"`, or print the module and read that
                return y
        """,
        mode="data",
    )


def test_a_call_outside_of_any_function_is_refused():
    x = te.placeholder((3,))
    with pytest.raises(DiagnosticError, match=r"`R\.emit_te` belongs in a Relax function"):
        R.emit_te(topi.exp, x)
