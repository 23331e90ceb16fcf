"""Rejected programs: values that do not fit what they are given to or declared as (RX02, RX04)."""

from __future__ import annotations

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- functions and calls


@rejected
def test_an_argument_of_another_shape_than_the_parameter():
    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor((4,), "float32")):
            return a

        @R.function
        def main(x: R.Tensor((5,), "float32")):
            cls = Module
            y = cls.g(x)
            #         ^ error: RX0206 argument 1 does not fit the function's parameter
            #             help: the parameter is `R.Tensor((4,), "float32")`
            return y


@rejected
def test_two_arguments_that_ask_for_two_values_of_one_dimension():
    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor(("n",), "float32"), b: R.Tensor(("n",), "float32")):
            return a

        @R.function
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((3,), "float32")):
            cls = Module
            z = cls.g(x, y)
            #            ^ error: RX0206 argument 2 does not fit the function's parameter
            #                help: the parameter is `R.Tensor((2,), "float32")`
            return z


@rejected
def test_another_number_of_arguments_than_parameters():
    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
            return a

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = cls.g(x)
            #   ^^^^^ error: RX0206 `cls.g` takes 2 arguments, not 1
            return y


@rejected
def test_a_call_of_something_that_is_no_function():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = x(x)
        #   ^ error: RX0201 `x` is a tensor, and only functions can be called
        return y


@rejected
def test_a_prim_func_that_takes_other_buffers():
    @I.ir_module
    class Module:
        @T.prim_func
        def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i]

        @R.function
        def main(x: R.Tensor((4,), "float32"), h: R.Tensor((4,), "float16")):
            cls = Module
            a = R.call_tir(cls.copy, (x, x), out_sinfo=R.Tensor((4,), "float32"))
            #                        ^^^^^^ error: RX0203 `copy` takes another number of tensors
            #        help: a PrimFunc has a buffer for each argument and for each result
            b = R.call_tir(cls.copy, (h,), out_sinfo=R.Tensor((4,), "float32"))
            #                         ^ error: RX0202 `copy` takes another tensor there
            c = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((5,), "float32"))
            #                                        ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0203 `copy`
            #        | takes another shape there
            return a


@rejected
def test_a_call_tir_without_the_description_of_its_result():
    @I.ir_module
    class Module:
        @T.prim_func
        def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i]

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = R.call_tir(cls.copy, (x,))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.call_tir` needs
            #        | `out_sinfo`
            #               help: it is called as `R.call_tir(gvar, args, out_sinfo, tir_vars=None)`
            z = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor(ndim=1, dtype="float32"))
            #                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error:
            #        | RX0204 the shape and dtype of results must be said, to allocate them
            #                       help: write for example `out_sinfo=R.Tensor((n, 64), "float32")`
            #                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error:
            return y


@rejected
def test_a_relax_function_given_to_call_tir():
    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor((4,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = R.call_tir(cls.g, (x,), out_sinfo=R.Tensor((4,), "float32"))
            #              ^^^^^ error: RX0201 `R.call_tir` cannot take these operands
            #                    help: call it directly: `cls.g(...)`
            #              ----- label: is a Relax function, not a PrimFunc
            return y


@rejected
def test_an_operator_as_a_value():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = (x, R.add)
        #       ^^^^^ error: RX0309 the operator `R.add` may only be called
        return y


@rejected
def test_the_module_as_a_value():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            return (x, cls)
            #          ^^^ error: RX0201 the module itself is not a value


# ---------------------------------------------------------------- declarations


@rejected
def test_a_value_that_does_not_fit_its_annotation():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y: R.Tensor((3, 3), "float32") = R.add(x, x)
        #                                ^^^^^^^^^^^ error: RX0205 the value does not fit the
        #        | annotation
        #       help: it is `R.Tensor((2, 3), "float32")`, declared as `R.Tensor((3, 3), "float32")`
        #                                ----------- label: dimension 0 is `2`, not `3`
        #  --------------------------- label: declared here
        return y


@rejected
def test_a_result_that_does_not_fit_the_declared_one():
    @R.function
    def f(x: R.Tensor((3, 4), "float32")) -> R.Tensor((4, 3), "float32"):
    #                                        --------------------------- label: declared here
        y = R.add(x, x)
        return y
        #      ^ error: RX0205 the result does not fit the return annotation
        #       help: it is `R.Tensor((3, 4), "float32")`, declared as `R.Tensor((4, 3), "float32")`
        #      - label: dimension 0 is `3`, not `4`


@rejected
def test_a_result_of_another_data_type_than_the_declared_one():
    @R.function
    def f(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float16"):
        return x
        #      ^ error: RX0205 the result does not fit the return annotation
        #          help: it is `R.Tensor((n,), "float32")`, declared as `R.Tensor((n,), "float16")`


@rejected
def test_a_result_of_another_kind_than_the_declared_one():
    @R.function
    def f(x: R.Tensor(("n",), "float32")) -> R.Shape(("n",)):
        return x
        #      ^ error: RX0205 the result does not fit the return annotation
        #          help: it is `R.Tensor((n,), "float32")`, declared as `R.Shape([n])`


@rejected
def test_a_match_cast_that_can_never_succeed_is_a_warning():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.match_cast(x, R.Tensor((3, 3), "float32"))
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ warning: RX0205 this match_cast can
        #        | never succeed: dimension 0 is `2`, not `3`
        return y


@rejected
def test_a_match_cast_that_declares_more_than_it_checks():
    @R.function
    def f(x: R.Tensor(dtype="float32", ndim=2)):
        y: R.Tensor((2, 2)) = R.match_cast(x, R.Tensor(ndim=2))
        #                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0205 the value does
        #                     | not fit the annotation
        #                     help: it is `R.Tensor(ndim=2)`, declared as `R.Tensor((2, 2))`
        return y


# ---------------------------------------------------------------- undecided


@rejected
def test_dimensions_that_may_or_may_not_be_equal_are_a_warning():
    @R.function
    def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        z = R.add(x, y)
        #   ^^^^^^^^^^^ warning: RX0207 `n` and `m` must be equal, or one of them 1; it is
        #        | checked when the program runs
        return z


@rejected
def test_an_annotation_that_says_more_than_is_known_is_a_warning():
    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")):
        y: R.Tensor((4,), "float32") = x
        #                              ^ warning: RX0207 the shape is unknown, and `(4,)` is needed;
        #                                | it is checked when the program runs
        #                                help: write `R.match_cast(x, R.Tensor((4,), "float32"))`
        #                                fix: R.match_cast(
        #                                fix: , R.Tensor((4,), "float32"))
        #  ------------------------- label: declared here
        return y


@rejected
def test_an_argument_that_may_not_fit_is_a_warning():
    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor((4,), "float32")):
            return a

        @R.function
        def main(x: R.Tensor(("n",), "float32")):
            cls = Module
            y = cls.g(x)
            #         ^ warning: RX0207 dimension 0 is `n`, which is not known to be `4`; it is
            #           | checked when the program runs
            #           help: write `R.match_cast(x, R.Tensor((4,), "float32"))`
            return y


# ---------------------------------------------------------------- purity


@rejected
def test_an_impure_call_in_a_pure_function():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.print(x)
        # <^^^^^^ error: RX0401 `R.print` is impure and cannot be called in a pure function
        #          help: declare the function impure: `@R.function(pure=False)`, or vouch
        #          | for it: `R.func_attr({"relax.force_pure": True})`
        return x


@rejected
def test_a_packed_function_in_a_pure_function():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.call_packed("my.scale", x, sinfo_args=R.Tensor((4,), "float32"))
        #   ^^^^^^^^^^^^^ error: RX0401 `my.scale` is impure and cannot be called in a pure function
        #                   help: if it has no side effects, call it by `R.call_pure_packed`; else
        #                   | declare the function impure: `@R.function(pure=False)`
        return y


@rejected
def test_an_impure_call_in_a_dataflow_block():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            R.print(y)
            # <^^^^^^ error: RX0402 `R.print` is impure and cannot be called in a dataflow block
            #          help: move it out of the dataflow block
            R.output(y)
        return y


@rejected
def test_an_impure_function_of_the_module_in_a_pure_one():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def g(x: R.Tensor((4,), "float32")):
            R.print(x)
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = cls.g(x)
            #   ^^^^^ error: RX0401 `g` is impure and cannot be called in a pure function
            #           help: declare the function impure: `@R.function(pure=False)`, or vouch
            #           | for it: `R.func_attr({"relax.force_pure": True})`
            return y


@rejected
def test_results_described_that_are_known():
    @R.function
    def main(x: R.Tensor((4,), "float32"), f: R.Callable((R.Object,), R.Object)):
        y = f(x, sinfo_args=R.Object)
        #        ^^^^^^^^^^^^^^^^^^^ error: RX0103 the results of this function are known
        #     help: leave out `sinfo_args`: it describes what a PackedFunc gives
        return y


@rejected
def test_a_mistake_inside_of_a_dimension_that_is_a_string():
    @R.function
    def main(f: R.Callable((R.Tensor(("n @ 2",)),), R.Object)):
        #                             ^^^^^^^ error: RX0104 `@` has no meaning in `n @ 2`, which is
        #                             | arithmetic of dimensions
        return f


@rejected
def test_metadata_that_holds_no_constant():
    metadata = {"relax.expr.Constant": [{"dtype": "float32"}]}

    @R.function
    def f():
        y = metadata["relax.expr.Constant"][0]
        #   ^^^^^^^^ error: RX0108 the metadata is damaged: an entry of the metadata has the keys
        #            | `dtype`, `shape` and `data`
        return y
