"""Every way in which an argument can be wrong, on every executor in the same words."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from relaxscript.runtime import DeviceTensor, PackedFunc, Prim, Shape, cpu
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import EXECUTORS, every_executor, failure

RELAX = from_source("""
@I.ir_module
class Relax:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        p: R.Tuple(R.Tensor(("n * 2",), "float32"), R.Tuple(R.Shape(["n", "m"]), R.Prim("int64"))),
        k: R.Prim(value="k"),
        w: R.Tensor(("m + k", "n // 2"), "int8"),
    ) -> R.Shape(ndim=3):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        s = R.shape([n, m, k])
        return s

    @R.function
    def prims(
        a: R.Prim("int32"), b: R.Prim("float64"), c: R.Prim("bool"), o: R.Object
    ) -> R.Object:
        return o

    @R.function
    def functions(
        f: R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32")), g: R.Callable
    ) -> R.Object:
        return g

    @R.function
    def place(x: R.Tensor((2,), "float32", "llvm:1")) -> R.Object:
        return x

    @R.function
    def divided(x: R.Tensor(("n",), "float32"), y: R.Tensor(("8 // n",), "float32")) -> R.Object:
        return y
""")
KERNEL = from_source("""
@I.ir_module
class Kernel:
    @T.prim_func
    def main(x: T.handle, y: T.handle, k: T.int32):
        T.func_attr({"global_symbol": "main"})
        n = T.int64()
        X = T.match_buffer(x, (n, 4), "float32")
        Y = T.match_buffer(y, (n * 2,), "float32", strides=[1])
        for i in range(n):
            Y[i] = X[i, 0] + T.Cast("float32", k)
""")


def zeros(*shape: int, dtype: Any = "float32") -> Any:
    return np.zeros(shape, dtype)


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def nested(depth: int) -> tuple[Any, ...]:
    value: tuple[Any, ...] = ()
    for _ in range(depth):
        value = (value,)
    return value


class Unwilling:
    """Speaks DLPack, but gives nothing away."""

    def __dlpack__(self, **options: Any) -> Any:
        raise RuntimeError("not given")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Touchy:
    """Fails whatever it is asked for."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError(f"touched {name}")


def given(x=None, q=None, s=(2, 3), i=5, k=1, w=None):
    """Arguments of `Relax.main` that fit, but for those that are given."""
    x = zeros(2, 4) if x is None else x
    q = zeros(4) if q is None else q
    return (x, (q, (s, i)), k, zeros(4, 1, dtype="int8") if w is None else w)


FITTING = given()
PARAMETERS = {"main": "xpkw", "prims": "abco", "functions": "fg", "place": "x", "divided": "xy"}
FAULTS = {
    # The kind of value.
    "a list": (
        "main",
        given([[1.0]]),
        "`x` is a list of 1; must be a tensor of shape (n, 4) and dtype float32",
    ),
    "None in a tuple": (
        "main",
        (FITTING[0], (None, ((2, 3), 5)), *FITTING[2:]),
        "`p[0]` is None (the null object); must be a tensor of shape (n * 2,) and dtype float32",
    ),
    "a tensor for a shape": (
        "main",
        given(s=zeros(2)),
        "`p[1][0]` is a tensor of shape (2,) and dtype float32; must be the shape (n, m)",
    ),
    "a shape for a tuple": (
        "main",
        (FITTING[0], (FITTING[1][0], Shape([2, 3])), *FITTING[2:]),
        "`p[1]` is the shape (2, 3); must be a tuple of 2",
    ),
    "an object": (
        "main",
        given(Touchy()),
        "`x` is an object of class Touchy; must be a tensor of shape (n, 4) and dtype float32",
    ),
    "texts": (
        "main",
        given(np.array([["a"] * 4] * 2)),
        "`x` is an array of shape (2, 4) and dtype str",
    ),
    "no function": (
        "functions",
        (5, len),
        "`f` is an int; must be a function of type "
        '`R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32"))`',
    ),
    "a packed function for a closure": (
        "functions",
        (PackedFunc("f", len), len),
        "`f` is a packed function (`f`); must be a function of type",
    ),
    # What cannot be converted.
    "a masked array": (
        "main",
        given(q=np.ma.masked_array(zeros(4))),
        "`p[0]`: a masked array is no tensor; `array.filled(value)` makes it one",
    ),
    "a tensor that is not given": (
        "main",
        given(q=Unwilling()),
        "`p[0]`: cannot take an object of class Unwilling as a tensor: not given",
    ),
    "a negative dimension": (
        "main",
        given(s=[2, -3]),
        "`p[1][0]`: a dimension of a shape cannot be negative, got -3",
    ),
    "a large dimension": (
        "main",
        given(s=[2, 1 << 63]),
        "`p[1][0]`: a dimension of a shape does not fit 64 bits, got 9223372036854775808",
    ),
    "a deep tuple": (
        "prims",
        (np.int32(1), 1.0, True, nested(100_000)),
        "`o` nests deeper than Python allows",
    ),
    # The number of fields, the dtype, the rank, the device.
    "a short tuple": (
        "main",
        (FITTING[0], FITTING[1][:1], *FITTING[2:]),
        "`len(p)` is 1; must be 2",
    ),
    "a dtype": (
        "main",
        given(w=zeros(4, 1)),
        "`w.dtype` is float32; must be int8",
    ),
    "a dtype in a tuple": (
        "main",
        given(q=zeros(4, dtype="float64")),
        "`p[0].dtype` is float64; must be float32",
    ),
    "a complex dtype": (
        "main",
        given(zeros(2, 4, dtype="complex64")),
        "`x` is an array of shape (2, 4) and dtype complex64; must be a tensor of shape (n, 4)",
    ),
    "a prim of another type": (
        "main",
        given(i=5.5),
        "`p[1][1]` is 5.5 of dtype float64; must be of dtype int64",
    ),
    "a long int": (
        "main",
        given(i=1 << 70),
        "`p[1][1]` is an int that does not fit 64 bits; must be a scalar of dtype int64",
    ),
    "an int for an int32": (
        "prims",
        (5, 1.0, True, 0),
        "`a` is 5 of dtype int64; must be of dtype int32",
    ),
    "an int for a float": (
        "prims",
        (Prim(5, "int32"), 1, True, 0),
        "`b` is 1 of dtype int64; must be of dtype float64",
    ),
    "an int for a bool": (
        "prims",
        (Prim(5, "int32"), 1.0, 1, 0),
        "`c` is 1 of dtype int64; must be of dtype bool",
    ),
    "a tensor for a prim": (
        "prims",
        (np.array(5, "int32"), 1.0, True, 0),
        "a scalar is a plain number; `.item()` takes it out of a tensor",
    ),
    "a rank": ("main", given(zeros(2)), "`x.ndim` is 1; must be 2"),
    "a rank of a shape": (
        "main",
        given(s=[2]),
        "`len(p[1][0])` is 1; must be 2",
    ),
    "a device": (
        "place",
        (zeros(2),),
        "`x` is on cpu:0; must be on cpu:1",
    ),
    # Dimensions.
    "a constant": ("main", given(zeros(2, 5)), "`x.shape[1]` is 5; must be 4"),
    "an expression": (
        "main",
        given(q=zeros(5)),
        "`p[0].shape[0]` is 5; must be `n * 2` with `n = 2` from `x.shape[0]`, that is 4",
    ),
    "a variable of a shape": (
        "main",
        given(s=[7, 3]),
        "`p[1][0][0]` is 7; must be `n = 2` from `x.shape[0]`",
    ),
    "two variables": (
        "main",
        given(w=zeros(5, 1, dtype="int8")),
        "`w.shape[0]` is 5; must be `m + k` with `m = 3` from `p[1][0][1]` and `k = 1`, that is 4",
    ),
    "a floor division": (
        "main",
        given(w=zeros(4, 2, dtype="int8")),
        "`w.shape[1]` is 2; must be `n // 2` with `n = 2` from `x.shape[0]`, that is 1",
    ),
    "a division by zero": (
        "divided",
        (zeros(0), zeros(3)),
        "`y.shape[0]` must be `8 // n`, which cannot be computed with `n = 0` from `x.shape[0]`: "
        "something is divided by zero",
    ),
    # The number of arguments.
    "too few": ("main", FITTING[:3], "`main` takes 4 arguments (x, p, k, w), got 3"),
    "too many": ("place", (zeros(2), 1), "`place` takes 1 argument (x), got 2"),
}
KERNEL_FAULTS = {
    "too few": ((zeros(2, 4), zeros(4)), "`main` takes 3 arguments (X, Y, k), got 2"),
    "a list": ((zeros(2, 4), [1], 3), "argument `Y` of `main` is of type list, not a numpy array"),
    "None": ((None, zeros(4), 3), "argument `X` of `main` is of type NoneType, not a numpy array"),
    "a masked array": (
        (np.ma.masked_array(zeros(2, 4)), zeros(4), 3),
        "`X`: a masked array is no tensor",
    ),
    "a dtype": (
        (zeros(2, 4, dtype="float64"), zeros(4), 3),
        "argument `X` of `main` has dtype float64, not float32",
    ),
    "foreign byte order": (
        (zeros(2, 4), zeros(4, dtype=">f4"), 3),
        "argument `Y` of `main` has dtype >f4, not float32",
    ),
    "a rank": ((zeros(2), zeros(4), 3), "argument `X` of `main` has 1 dimension, not 2"),
    "a constant": ((zeros(2, 5), zeros(4), 3), "dimension 1 of argument `X` of `main` is 5, not 4"),
    "an expression": (
        (zeros(2, 4), zeros(3), 3),
        "dimension 0 of argument `Y` of `main` is 3, not "
        "4 (`n * 2`; n = 2 from dimension 0 of `X`)",
    ),
    "strides": ((zeros(2, 4), zeros(8)[::2], 3), "stride 0 of argument `Y` of `main` is 2, not 1"),
    "a read-only array": (
        (zeros(2, 4), read_only(zeros(4)), 3),
        "argument `Y` of `main` is read-only, but is written to",
    ),
    "a float": (
        (zeros(2, 4), zeros(4), 3.5),
        "argument `k` is of type float, not a number of int32",
    ),
    "a large int": (
        (zeros(2, 4), zeros(4), 1 << 40),
        "argument `k` is 1099511627776, which is no int32",
    ),
    "several numbers": (
        (zeros(2, 4), zeros(4), np.array([3])),
        "argument `k` is of type ndarray, not a number of int32",
    ),
}


@every_executor
def test_what_fits_is_taken(load):
    assert load(RELAX).main(*FITTING) == Shape([2, 3, 1])
    y = zeros(4)
    assert load(KERNEL).main(zeros(2, 4), y, 3) is None
    assert y.tolist() == [3, 3, 0, 0]


CALLBACK = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(f: R.Callable((R.Tensor((2,), "int32"),), R.Tensor((2,), "int32"))):
        x = f(R.const([1, 2], "int32"))
        return R.add(x, x)
""")


@every_executor
def test_a_python_function_is_a_closure_whose_results_are_checked(load):
    model = load(CALLBACK)
    assert model.main(lambda x: x + x).tolist() == [4, 8]
    error = failure(lambda: model.main(lambda x: x[:1]))
    assert "`shape[0]` of the result of `<lambda>` is 1; must be 2 [RX0605]" in str(error)
    error = failure(lambda: model.main(lambda x: 1 // 0))
    assert "`<lambda>` raised ZeroDivisionError" in str(error)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_argument_is_named_with_the_path_into_it_and_why(fault):
    name, args, words = FAULTS[fault]
    told = []
    for load in EXECUTORS.values():
        model = load(RELAX)
        error = failure(lambda model=model: model[name](*args))
        told.append(str(error))
        if error.code != "RX0602":
            assert error.span.text.startswith(f"{PARAMETERS[name][error.argument]}: R.")
        assert model.main(*FITTING) == Shape([2, 3, 1])
    assert words in told[0]
    assert len(set(told)) == 1


@pytest.mark.parametrize("fault", KERNEL_FAULTS)
def test_a_wrong_argument_of_a_prim_func_is_named_in_the_same_words(fault):
    args, words = KERNEL_FAULTS[fault]
    told = [str(failure(lambda load=load: load(KERNEL).main(*args))) for load in EXECUTORS.values()]
    assert words in told[0]
    assert len(set(told)) == 1


@every_executor
def test_a_prim_func_writes_into_whatever_shares_its_memory(load):
    tensor = DeviceTensor(zeros(4), cpu(1))
    load(KERNEL).main(DeviceTensor(zeros(2, 4), cpu(1)), tensor, Prim(3, "int32"))
    assert tensor.numpy().tolist() == [3, 3, 0, 0]

    class Shares:
        """A tensor of another library."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    y = zeros(4)
    run = partial(load(KERNEL).main, zeros(4, 8)[::2, ::2], Shares(y), np.int32(4))
    if np.from_dlpack(Shares(y)).flags.writeable:
        run()
        assert y.tolist() == [4, 4, 0, 0]
    else:  # numpy before 2.3 takes what others share as read-only
        assert "argument `Y` of `main` is read-only, but is written to" in str(failure(run))
