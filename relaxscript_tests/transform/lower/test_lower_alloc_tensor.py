"""Tensors are cut out of storages: how many bytes, and that programs run as before."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import Shape
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, assert_same, check_executors_agree, outcome
from relaxscript.transform import CallTIRRewrite, LowerAllocTensor, Sequential


def function(header, *lines):
    """A module of one function."""
    body = "\n        ".join(lines)
    text = f"@I.ir_module\nclass M:\n    @R.function\n    def {header}:\n        {body}\n"
    return from_source(text)


def lowered(header, shape, dtype, size, *lines):
    """`main` that returns a tensor of a shape and dtype: before the pass, and as expected."""
    made = f'a = R.builtin.alloc_tensor({shape}, R.dtype("{dtype}"), R.prim_value(2), "local")'
    storage = (
        f's = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(2), "local", R.dtype("uint8"))'
    )
    cut = f'a = R.memory.alloc_tensor(s, R.prim_value(0), {shape}, R.dtype("{dtype}"))'
    before = function(header, *lines, made, "return a")
    return before, function(header, *lines, storage, cut, "return a")


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [
        ((2, 3), "float32", 24),
        ((2, 3), "bool", 6),
        ((5,), "float8_e4m3fn", 5),
        ((), "float64", 8),
        ((0, 7), "float16", 0),
        ((3,), "bfloat16", 6),
    ],
)
def test_a_storage_has_the_bytes_of_its_tensor(shape, dtype, size):
    before, after = lowered("main()", f"R.shape({list(shape)})", dtype, size)
    assert_same(LowerAllocTensor()(before), after)
    result = check_executors_agree(after, [])
    assert (result.shape, result.nbytes, result.any()) == (shape, size, False)


def test_symbolic_bytes_are_simplified():
    header = 'main(x: R.Shape(["n"]))'
    before, after = lowered(header, "R.shape([n, 4, 3])", "float32", "n * 48", "n = T.int64()")
    assert_same(LowerAllocTensor()(before), after)
    assert check_executors_agree(after, [Shape([2])]).shape == (2, 4, 3)


def test_a_shape_in_a_variable_that_says_its_dimensions_is_known():
    header = 'main(x: R.Shape(["n", 3]))'
    before, after = lowered(header, "x", "int16", "n * 6", "n = T.int64()")
    assert_same(LowerAllocTensor()(before), after)
    assert check_executors_agree(after, [Shape([2, 3])]).shape == (2, 3)


@pytest.mark.parametrize(
    ("header", "shape", "dtype"),
    [
        ("main(s: R.Shape)", "s", 'R.dtype("int8")'),
        ("main(s: R.Shape(ndim=2))", "s", 'R.dtype("int8")'),
    ],
)
def test_a_tensor_of_unknown_size_stays_as_it_is(header, shape, dtype):
    mod = function(header, f"a = R.builtin.alloc_tensor({shape}, {dtype}, 0)", "return a")
    assert LowerAllocTensor()(mod) is mod
    assert check_executors_agree(mod, [Shape([2, 3])]).shape == (2, 3)


def test_allocations_in_dataflow_blocks_branches_and_local_functions_are_lowered():
    mod = function(
        'main(c: R.Tensor((), "bool"))',
        "@R.function",
        'def local() -> R.Tensor((2,), "int8"):',
        '    return R.builtin.alloc_tensor(R.shape([2]), R.dtype("int8"), 0)',
        "if c:",
        '    a = R.builtin.alloc_tensor(R.shape([2]), R.dtype("int8"), 0)',
        "else:",
        "    a = local()",
        "with R.dataflow():",
        '    b = R.builtin.alloc_tensor(R.shape([2]), R.dtype("int8"), 0)',
        "    d = R.add(a, b)",
        "    R.output(d)",
        "return d",
    )
    made = LowerAllocTensor()(mod)
    assert "builtin.alloc_tensor" not in made.script()
    for condition in (True, False):
        np.testing.assert_array_equal(check_executors_agree(made, [np.array(condition)]), [0, 0])


def test_a_tensor_that_is_too_large_is_refused_by_all_executors():
    mod = function(
        'main(s: R.Shape(["n"]))',
        "n = T.int64()",
        'return R.builtin.alloc_tensor(R.shape([n, n]), R.dtype("int8"), 0)',
    )
    for run in [load(mod) for load in EXECUTORS.values()]:
        error = outcome(lambda run=run: run("main", Shape([2**31])))
        assert isinstance(error, VMError)
        assert error.code == "RX0606"
        assert error.diagnostic.message.startswith("cannot allocate a ")
    assert check_executors_agree(LowerAllocTensor()(mod), [Shape([2**31])]).code == "RX0606"


def test_what_a_kernel_does_not_write_is_zero_with_a_storage_as_well():
    mod = from_source(
        """
@I.ir_module
class M:
    @T.prim_func
    def first(x: T.Buffer(("n", 2), "float32"), y: T.Buffer(("n", 2), "float32")):
        n = T.int64()
        for i in range(n):
            y[i, 0] = x[i, 1]

    @R.function
    def main(x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        cls = M
        y = R.call_tir(cls.first, (x,), out_sinfo=R.Tensor((n, 2), "float32"))
        return y
"""
    )
    made = Sequential([CallTIRRewrite(), LowerAllocTensor()])(mod)
    x = np.arange(6, dtype="float32").reshape(3, 2)
    expected = [[1, 0], [3, 0], [5, 0]]
    np.testing.assert_array_equal(check_executors_agree(made, [x]), expected)
