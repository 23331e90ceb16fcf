"""Rejected programs: names, dimensions, arguments of calls (RX0101 to RX0103, RX0109, RX0110)."""

from __future__ import annotations

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- names


@rejected
def test_an_undefined_name():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, offset)
        #            ^^^^^^ error: RX0101 `offset` is not defined
        return y


@rejected
def test_an_undefined_name_among_the_attributes():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        R.func_attr({"level": depth})
        #                     ^^^^^ error: RX0101 `depth` is not defined
        return x


@rejected
def test_an_undefined_name_that_is_near_to_one():
    @R.function
    def f(weights: R.Tensor((2, 3), "float32")):
        y = R.add(weights, wieghts)
        #                  ^^^^^^^ error: RX0101 `wieghts` is not defined
        #                            help: did you mean `weights`?
        #                            fix: weights
        return y


@rejected
def test_names_after_letters_that_take_several_bytes():
    @R.function
    def f(größe: R.Tensor((2, 3), "float32")):
        é = R.add(größe, offset)
        #                ^^^^^^ error: RX0101 `offset` is not defined
        return R.add(é, ß)
        #               ^ error: RX0101 `ß` is not defined


@rejected
def test_every_independent_mistake_is_reported_and_no_consequence():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, first)
        #            ^^^^^ error: RX0101 `first` is not defined
        z = R.multiply(y, x)
        w = R.add(z, second)
        #            ^^^^^^ error: RX0101 `second` is not defined
        return R.add(w, third)
        #               ^^^^^ error: RX0101 `third` is not defined


@rejected
def test_a_name_that_is_bound_below():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        z = R.add(x, later)
        #            ^^^^^ error: RX0101 `later` is not defined
        later = R.add(x, x)
        return z


@rejected
def test_a_name_bound_in_one_branch_only():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            inner = R.add(x, x)
            y = R.add(inner, x)
        else:
            y = x
        return R.add(y, inner)
        #               ^^^^^ error: RX0101 `inner` is not defined


@rejected
def test_a_misspelt_operator():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.nn.sofmax(x)
        #   ^^^^^^^^^^^ error: RX0102 `R.nn` has no `sofmax`
        #                 help: did you mean `R.nn.softmax`?
        #                 fix: R.nn.softmax
        return y


@rejected
def test_an_operator_that_stands_in_another_namespace():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.softmax(x)
        #   ^^^^^^^^^ error: RX0102 `R` has no `softmax`
        #               help: did you mean `R.nn.softmax`?
        #               fix: R.nn.softmax
        return y


@rejected
def test_an_operator_that_nothing_resembles():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.quaternion_fourier(x)
        #   ^^^^^^^^^^^^^^^^^^^^ error: RX0102 `R` has no `quaternion_fourier`
        return y


@rejected
def test_a_method_of_numpy_on_a_tensor():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = x.reshape((3, 2))
        return y


@rejected
def test_a_function_of_the_module_by_its_bare_name():
    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor((4,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = g(x)
            #   ^ error: RX0110 `g` is a function of the module
            #       help: write `Module.g`, or `cls.g` after `cls = Module`
            #       fix: Module.g
            return y


@rejected
def test_a_prim_func_of_the_module_by_its_bare_name():
    @I.ir_module
    class Module:
        @T.prim_func
        def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i]

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = R.call_tir(copy, (x,), out_sinfo=R.Tensor((4,), "float32"))
            #              ^^^^ error: RX0110 `copy` is a function of the module
            #                     help: write `Module.copy`, or `cls.copy` after `cls = Module`
            #                     fix: Module.copy
            return y


@rejected
def test_a_function_that_the_module_has_not():
    @I.ir_module
    class Module:
        @R.function
        def double(x: R.Tensor((4,), "float32")):
            return R.add(x, x)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = cls.duoble(x)
            #   ^^^^^^^^^^ error: RX0101 the module has no function `duoble`
            #                help: did you mean `cls.double`?
            #                fix: cls.double
            return y


# ---------------------------------------------------------------- dimensions


@rejected
def test_an_undefined_dimension_in_the_body():
    @R.function
    def f(x: R.Tensor(("n", 4), "float32")):
        y = R.reshape(x, R.shape([m, 4]))
        #                         ^ error: RX0109 the dimension `m` is not defined here
        return y


@rejected
def test_a_dimension_that_nothing_binds():
    @R.function
    def f(x: R.Tensor(("n", 4), "float32")):
        k = T.int64()
        y = R.reshape(x, R.shape([k, 4]))
        #                         ^ error: RX0305 the dimension `k` is used before it is bound
        return y


@rejected
def test_an_undefined_dimension_in_an_annotation():
    @R.function
    def f(x: R.Tensor((n, 4), "float32")):
    #                  ^ error: RX0109 the dimension `n` is not defined here
    #                    help: write `"n"`, or declare it in the body: `n = T.int64()`
    #                    fix: "n"
        return x


@rejected
def test_a_result_of_a_dimension_that_nothing_binds():
    @R.function
    def f(x: R.Tensor(("n",), "float32")) -> R.Tensor(("m",), "float32"):
    #                                                  ^^^ error: RX0304 no parameter has `m` as a
    #        | dimension of its own, so it has no value
    #        help: let a parameter have the dimension `m` by itself, or say the rank only: `ndim=2`
        return x


@rejected
def test_a_result_of_a_dimension_that_only_the_body_binds():
    k = R.dim("k")

    @R.function
    def f(x: R.Tensor[R.i64, ...]) -> R.Tensor[R.i64, k]:
    #                                                 ^ error: RX0304 no parameter has `k` as a
    #        | dimension of its own, so it has no value
    #        help: let a parameter have the dimension `k` by itself, or say the rank only:
    #        | `None` for each dimension
        return R.match_cast(R.unique(x), R.Tensor[R.i64, k])


@rejected
def test_a_parameter_whose_dimension_stands_alone_nowhere():
    @R.function
    def f(x: R.Tensor(("n * 2",), "float32")):
    #                  ^^^^^^^ error: RX0306 no parameter has `n` as a dimension of its own, so
    #        | it has no value
    #                            help: let a parameter have the dimension `n` by itself
        return x


# ---------------------------------------------------------------- calls


@rejected
def test_too_few_arguments():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.add(x)
        #   ^^^^^^^^ error: RX0103 `R.add` needs `x2`
        #              help: it is called as `R.add(x1, x2)`
        return y


@rejected
def test_too_many_arguments():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, x, x)
        #               ^ error: RX0103 `R.add` takes 2 arguments, not 3
        return y


@rejected
def test_a_misspelt_keyword():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axes=1)
        #            ^^^^ error: RX0103 `R.sum` has no parameter `axes`
        #                   help: did you mean `axis`?
        #                   fix: axis
        return y


@rejected
def test_a_keyword_that_nothing_resembles():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.exp(x, quick=True)
        #            ^^^^^ error: RX0103 `R.exp` has no parameter `quick`
        #                    help: it is called as `R.exp(x)`
        return y


@rejected
def test_an_argument_given_twice():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, x=x)
        #            ^ error: RX0103 `R.sum` is given `x` twice
        #                help: leave out one of them, in its place or as `x=`
        return y


@rejected
def test_a_keyword_for_a_function_of_the_module():
    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor((4,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = cls.g(x=x)
            #         ^^^ error: RX0103 a Relax function takes positional arguments only
            return y


@rejected
def test_too_many_arguments_for_a_function_of_the_module():
    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor((4,), "float32")):
            return a

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = cls.g(x, x)
            #   ^^^^^ error: RX0206 `cls.g` takes 1 argument, not 2
            return y
