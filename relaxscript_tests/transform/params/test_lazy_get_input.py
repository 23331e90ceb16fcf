"""Weights are asked for where they are first used."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.analysis import well_formed
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.runtime import PackedFunc
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform import LazyGetInput
from relaxscript_tests.transform.before_after import check

HEAD = "@I.ir_module\nclass M:\n    @R.function\n    def main(\n        "
BEFORE = (
    HEAD
    + """x: R.Tensor((3,), "float32"), w: R.Tensor((3,), "float32"),
        unused: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32"),
    ) -> R.Tensor((3,), "float32"):
        R.func_attr({"num_input": 1})
        y = R.exp(x)
        z = R.multiply(y, w)
        u = R.add(z, b)
        v = R.add(u, w)
        return v
"""
)
AFTER = (
    HEAD
    + """x: R.Tensor((3,), "float32"),
        fget_param: R.Callable((R.Prim("int64"), R.Object), R.Object),
    ) -> R.Tensor((3,), "float32"):
        R.func_attr({"num_input": 2})
        y = R.exp(x)
        w_untyped = fget_param(R.prim_value(0), R.str("w"))
        w = R.match_cast(w_untyped, R.Tensor((3,), "float32"))
        z = R.multiply(y, w)
        b_untyped = fget_param(R.prim_value(2), R.str("b"))
        b = R.match_cast(b_untyped, R.Tensor((3,), "float32"))
        u = R.add(z, b)
        v = R.add(u, w)
        return v
"""
)


class Getter:
    """A callback that gives arrays, and notes for which it is asked."""

    def __init__(self, *arrays):
        self.arrays = arrays
        self.asked = []

    def __call__(self, index, name):
        self.asked.append((int(index), str(name)))
        return self.arrays[int(index)]

    @property
    def function(self):
        return PackedFunc("getter", self)


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


def check_runs(text, inputs, weights):
    """The program gives the same, weights being asked for; what it asks for."""
    before = from_source(text)
    made = LazyGetInput()(before)
    assert_same(from_source(made.script(show_meta=True)), made)
    getter = Getter(*weights)
    found = rx.jit(made).main(*inputs, getter.function)
    expected = rx.jit(before).main(*inputs, *weights)
    for one, other in zip(
        [found] if isinstance(found, np.ndarray) else found,
        [expected] if isinstance(expected, np.ndarray) else expected,
    ):
        assert np.array_equal(one, other)
    return getter.asked


def test_each_weight_is_asked_for_before_its_first_use_and_none_twice():
    check(LazyGetInput(), BEFORE, AFTER)
    asked = check_runs(BEFORE, arrays((3,)), arrays((3,), (3,), (3,)))
    assert asked == [(0, "w"), (2, "b")]


def test_without_the_attribute_all_parameters_are_weights():
    text = BEFORE.replace('R.func_attr({"num_input": 1})', "")
    made = LazyGetInput()(from_source(text))
    assert [param.name_hint for param in made["main"].params] == ["fget_param"]
    assert made["main"].attrs["num_input"] == 1
    assert [i for i, _ in check_runs(text, [], arrays((3,), (3,), (3,), (3,)))] == [0, 1, 3]


def test_functions_without_weights_and_private_ones_stay():
    check(LazyGetInput(), BEFORE.replace('"num_input": 1', '"num_input": 4'))
    check(LazyGetInput(), AFTER)
    private = BEFORE.replace("@R.function", "@R.function(private=True)")
    public = "\n    @R.function\n    def other():\n        return R.const(1)\n"
    check(LazyGetInput(), private + public)


def test_weights_of_a_dataflow_block_are_asked_for_inside_of_it():
    text = (
        HEAD
        + """x: R.Tensor((3,), "float32"), w: R.Tensor((3,), "float32"),
        b: R.Tensor((3,), "float32"),
    ):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            y = R.multiply(x, w)
            z = R.add(y, b)
            R.output(z)
        return z, b
"""
    )
    blocks = LazyGetInput()(from_source(text))["main"].body.blocks
    names = [[binding.var.name_hint for binding in block.bindings] for block in blocks]
    assert names == [["b_untyped", "b"], ["w_untyped", "w", "y", "z"]]
    assert check_runs(text, arrays((3,)), arrays((3,), (3,))) == [(1, "b"), (0, "w")]


def test_sizes_that_weights_tell_are_known_before_they_are_used():
    text = (
        HEAD
        + """x: R.Tensor(("2 * n",), "float32"), w: R.Tensor(("n * m",), "float32"),
        b: R.Tensor(("m",), "float32"), c: R.Tensor(("n",), "float32"), d: R.Object,
    ) -> R.Tensor(("m", "n"), "float32"):
        R.func_attr({"num_input": 1})
        m = T.int64()
        n = T.int64()
        y = R.sum(w)
        z = R.add(R.zeros((m, n), "float32"), y)
        u = R.add(z, R.sum(x))
        return u
"""
    )
    made = LazyGetInput()(from_source(text))
    assert str(made["main"].ret_struct_info) == 'R.Tensor(dtype="float32", ndim=2)'
    asked = check_runs(text, arrays((4,)), [*arrays((6,), (3,), (2,)), None])
    assert [name for _, name in asked] == ["c", "w", "b"]


def test_two_weights_may_mention_sizes_of_each_other():
    text = (
        HEAD
        + """w: R.Tensor(("n", "m + 1"), "float32"), b: R.Tensor(("m", "n + 1"), "float32"),
    ):
        y = R.add(R.sum(w), R.sum(b))
        return y
"""
    )
    check_runs(text, [], arrays((2, 4), (3, 3)))
    made = rx.jit(LazyGetInput()(from_source(text)))
    with pytest.raises(VMError, match=r"is 4; must be `n \+ 1`"):
        made.main(Getter(*arrays((2, 4), (3, 4))).function)


def test_weights_of_branches_and_of_local_functions_are_asked_for_before_them():
    text = (
        HEAD
        + """x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool"),
        w: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32"), o: R.Object,
    ):
        R.func_attr({"num_input": 2})
        if c:
            y = R.multiply(x, w)
        else:
            y = R.exp(x)
        with R.dataflow():
            @R.function
            def shifted(z: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
                a = R.add(z, b)
                return a

            u = shifted(y)
            R.output(u)
        return u, o
"""
    )
    asked = check_runs(text, [*arrays((3,)), np.array(True)], [*arrays((3,), (3,), (1,))])
    assert [name for _, name in asked] == ["w", "b", "o"]


def test_what_the_module_calls_is_as_it_was():
    text = (
        BEFORE
        + """
    @R.function
    def other(x: R.Tensor((3,), "float32")):
        cls = M
        y = cls.main(x, x, x, x)
        return y
"""
    )
    before = from_source(text)
    made = LazyGetInput()(before)
    (x,) = arrays((3,))
    found = rx.jit(made).other(Getter(x).function)
    assert np.array_equal(found, rx.jit(before).other(x))
    assert made["main_with_params"].is_private


def test_a_weight_that_does_not_fit_is_told_where_it_is_checked():
    made = rx.jit(LazyGetInput()(from_source(BEFORE)))
    with pytest.raises(VMError, match=r"has 4|is 4|\(4,\)"):
        made.main(*arrays((3,)), Getter(*arrays((4,), (3,), (3,))).function)


def test_a_number_of_inputs_that_is_none_is_told_at_the_function():
    with pytest.raises(DiagnosticError, match="`num_input` of `main` is 5") as raised:
        LazyGetInput()(from_source(BEFORE.replace('"num_input": 1', '"num_input": 5')))
    assert "def main" in str(raised.value)


def test_a_weight_is_there_before_a_local_function_whose_parameters_have_its_sizes() -> None:
    mod = from_source(
        HEAD
        + """x: R.Tensor((3,), "float32"), w: R.Tensor(("n",), "float32")
    ):
        R.func_attr({"num_input": 1})
        n = T.int64()

        @R.function
        def inner(y: R.Tensor((n,), "float32"), z: R.Tensor((n,), "float32")):
            return R.add(y, z)

        return (inner, inner(w, w))
"""
    )
    made = LazyGetInput()(mod)
    text = made["main"].script()
    assert text.index("w = R.match_cast(") < text.index("def inner(")
    assert "y: R.Tensor((n,), " in text
    # A function of tensors with the sizes of a weight is not one of tensors with any size.
    assert str(made["main"].ret_struct_info).startswith("R.Tuple(R.Object, ")
    assert well_formed(made)
