"""What is declared as something else than it must be, or twice; and what follows from a cast."""

# ruff: noqa: E501, F601, UP037  (what is rejected is not meant to be good Python)

from __future__ import annotations

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_a_dimension_that_is_a_float():
    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        #              ^^^ error: RX0108 a dimension is an int64, and `n` is float32
        #                  help: write `n = T.int64()`
        #                  fix: T.int64
        n = T.float32()
        #   --------- label: `n` is float32
        return x


@rejected
def test_a_dimension_of_another_width():
    @R.function
    def f(x: R.Object):
        k = T.int32()
        #   ------- label: `k` is int32
        y = R.match_cast(x, R.Tensor((2, k), "float32"))
        #                                ^ error: RX0108 a dimension is an int64, and `k` is int32
        #                                  help: write `k = T.int64()`
        #                                  fix: T.int64
        z: R.Tensor((k,)) = R.zeros((k,), "float32")
        return (y, z)


@rejected
def test_a_cast_of_nothing_leaves_its_dimensions_unknown():
    @R.function
    def f(x: R.Object):
        m = T.int64()
        y: R.Tensor((m,)) = R.match_cast(R.exp(w), R.Tensor((m,), "float32"))
        #                                      ^ error: RX0101 `w` is not defined
        z: R.Tensor((m,), "float32") = R.exp(y)
        lv: R.Tensor[(k,), "float32"] = R.match_shape(v, (k,))
        #                                             ^ error: RX0101 `v` is not defined
        gv: R.Tensor[(k,), "float32"] = R.exp(lv)
        return (z, gv)


@rejected
def test_a_private_function_with_a_symbol():
    @I.ir_module
    class Module:
        @R.function(private=True)
        def g(x: R.Object):
            R.func_attr({"global_symbol": "g"})
            #            ^^^^^^^^^^^^^^^ error: RX0313 `g` is private and has a global symbol
            #                            help: leave out `private=True`, or the attribute `global_symbol`
            return x

        @R.function
        def main(x: R.Object):
            return Module.g(x)


@rejected
def test_an_attribute_that_is_given_twice():
    @R.function
    def f(x: R.Object):
        R.func_attr({"a": 1, "b": 2})
        R.func_attr({"c": 1, "a": 3})
        #                    ^^^ error: RX0302 the function has the attribute `a` already
        #                        help: leave one of them out
        return x


@rejected
def test_keys_that_stand_twice_in_a_dict():
    @I.ir_module
    class Module:
        I.module_attrs({"a": 1, "b": 2, "a": 3})
        #                               ^^^ error: RX0302 `a` is given twice
        #                                   help: leave one of them out
        #               --- label: the first one

        @T.prim_func
        def clear(x: T.Buffer((2,), "float32")):
            T.func_attr({"tir.noalias": True, "tir.noalias": False})
            #                                 ^^^^^^^^^^^^^ error: RX0302 `tir.noalias` is given twice
            #                                               help: leave one of them out
            #            ------------- label: the first one
            for i in range(2):
                x[i] = T.float32(0)


@rejected
def test_an_attribute_of_a_prim_func_that_is_given_twice():
    @T.prim_func
    def clear(x: T.Buffer((2,), "float32")):
        T.func_attr({"tir.noalias": True})
        T.func_attr({"tir.noalias": True})
        #            ^^^^^^^^^^^^^ error: RX0302 the function has the attribute `tir.noalias` already
        #                          help: leave one of them out
        for i in range(2):
            x[i] = T.float32(0)


@rejected
def test_equal_calls_in_a_tuple_are_blamed_one_by_one():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((2, 4), "float32")):
        good = (R.exp(x), R.exp(x))
        return (R.exp(w), [R.add(x, w), R.exp(x)], good)
        #                           ^ error: RX0203 `R.add` cannot take these operands
        #                             help: shapes are compared from the right: dimensions are equal, or one of them is 1


@rejected
def test_what_is_written_in_place_is_written_out():
    @I.ir_module
    class Module:
        @T.prim_func
        def add_to(x: T.Buffer((2,), "float32"), y: T.Buffer((2,), "float32")):
            for i in range(2):
                x[i] += y[i]

        @R.function
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
            cls = Module
            info = R.Tensor((2,), "float32")
            t = (x, y)
            z = R.call_tir_inplace(cls.add_to, t, inplace_indices=[0], out_sinfo=info)
            #                                  ^ error: RX0323 `R.call_tir_inplace` takes its arguments in a tuple that is written out
            #                                    help: name what is written in place: `(x, y)`
            #                                    fix: (t[0], t[1])
            return z
