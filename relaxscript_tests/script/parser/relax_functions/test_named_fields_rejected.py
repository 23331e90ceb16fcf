"""Rejected programs: names of fields that there are not, and mappings that say nothing."""

from __future__ import annotations

from relaxscript.script import relax as R
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off
W = {"fc1.weight": R.Tensor((4, 3), "float32"), "fc1.bias": R.Tensor((3,), "float32")}
MANY = {f"w{i}": R.Tensor((4,), "float32") for i in range(8)}
NUMBERS = {1: R.Tensor((4,), "float32")}
WRONG = {"a": R.Tensor((4,), "float32"), "b": 4}


@rejected
def test_a_name_that_is_nearly_one():
    @R.function
    def f(params: R.Tuple(W)):
        return params["fc1.wieght"]
        #             ^^^^^^^^^^^^ error: RX0208 `params` has no field "fc1.wieght"
        #                          help: did you mean "fc1.weight"?
        #                          fix: "fc1.weight"


@rejected
def test_a_name_that_is_like_none():
    @R.function
    def f(x: R.Tensor((4,), "float32"), params: R.Tuple(MANY)):
        y = R.add(x, params["scale"])
        #                   ^^^^^^^ error: RX0208 `params` has no field "scale"
        #                           help: it has "w0", "w1", "w2", "w3", "w4" and 3 more
        return y


@rejected
def test_a_tuple_without_names():
    @R.function
    def f(t: R.Tuple(R.Tensor((4,), "float32"))):
        return t["a"]
        #        ^^^ error: RX0208 the fields of `t` have no names
        #            help: write `t[0]`; of a mapping, `R.Tuple(weights)` names the fields


@rejected
def test_an_input_behind_the_weights():
    @R.function
    def f(params: R.Tuple(W), x: R.Tensor((4,), "float32")):
        #                     ^ error: RX0104 the input `x` is behind weights
        #                       help: put it before `params`
        return (params, x)


@rejected
def test_names_that_are_no_strings():
    @R.function
    def f(params: R.Tuple(NUMBERS)):
        #                 ^^^^^^^ error: RX0108 the names of a tuple's fields are strings, not `1`
        return params


@rejected
def test_a_value_that_says_nothing():
    @R.function
    def f(params: R.Tuple(WRONG)):
        #                 ^^^^^ error: RX0108 the field `b`: `4` is not an annotation
        return params
