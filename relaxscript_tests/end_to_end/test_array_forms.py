"""Arrays in every form, as arguments and as what packed functions return: the values are the same.

A form changes the layout, the owner or the library of an array, never its elements.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.runtime import register_func
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import EXECUTORS

DTYPES = ["float32", "int64", "uint8", "bool", "float16", "bfloat16", "float8_e4m3fn"]
PROGRAM = """
@I.ir_module
class Forms:
    @T.prim_func
    def copied(a: T.Buffer(("n", "m"), "{dtype}"), b: T.Buffer(("n", "m"), "{dtype}")):
        n = T.int64()
        m = T.int64()
        for i, j in T.grid(n, m):
            b[i, j] = a[i, j]

    @T.prim_func
    def one(a: T.Buffer((), "{dtype}"), b: T.Buffer((), "{dtype}")):
        b[()] = a[()]

    @R.function
    def kernel(x: R.Tensor(("n", "m"), "{dtype}")):
        n = T.int64()
        m = T.int64()
        cls = Forms
        y = R.call_tir(cls.copied, (x,), R.Tensor((n, m), "{dtype}"))
        return y

    @R.function
    def operator(x: R.Tensor(("n", "m"), "{dtype}")):
        y = R.permute_dims(x)
        z = R.permute_dims(y)
        return z

    @R.function(pure=False)
    def result(x: R.Tensor(("n", "m"), "{dtype}")) -> R.Tensor(("n", "m"), "{dtype}"):
        n = T.int64()
        m = T.int64()
        cls = Forms
        y = R.call_packed("test.form", x, sinfo_args=R.Tensor((n, m), "{dtype}"))
        z = R.call_tir(cls.copied, (y,), R.Tensor((n, m), "{dtype}"))
        return z

    @R.function(pure=False)
    def inside(x: R.Tensor(("n", "m"), "{dtype}")) -> R.Tensor(("n", "m"), "{dtype}"):
        n = T.int64()
        m = T.int64()
        t = R.call_packed(
            "test.form_in_tuple", x, sinfo_args=R.Tuple(R.Tensor((n, m), "{dtype}"), R.Object)
        )
        y = t[0]
        return y

    @R.function(pure=False)
    def rank_0(x: R.Tensor((), "{dtype}")) -> R.Tensor((), "{dtype}"):
        cls = Forms
        y = R.call_packed("test.form", x, sinfo_args=R.Tensor((), "{dtype}"))
        z = R.call_tir(cls.one, (y,), R.Tensor((), "{dtype}"))
        return z
"""
WAYS = ["kernel", "operator", "result", "inside"]


class ByDLPack:
    """A tensor of another library that speaks DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class ByArray:
    """A tensor of another library that numpy converts."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Kind(np.ndarray):
    """A class of somebody's own."""


def read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array: Any) -> Any:
    memory = np.frombuffer(bytearray(b"x" + array.tobytes()), "u1")[1:]
    return memory.view(array.dtype).reshape(array.shape)


FORMS = {
    "as it is": lambda x: x,
    "nd.array": rx.nd.array,
    "transposed": lambda x: np.array(x.T, order="C").T,
    "strided": lambda x: np.repeat(np.atleast_1d(x), 2, axis=-1)[..., ::2].reshape(x.shape),
    "backwards": lambda x: np.flip(np.array(np.flip(x), order="C")),
    "read-only": read_only,
    "unaligned": unaligned,
    "a subclass": lambda x: x.view(Kind),
    "foreign byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "__dlpack__": ByDLPack,
    "__array__": ByArray,
}


@cache
def model_of(executor: str, dtype: str) -> Any:
    return EXECUTORS[executor](from_source(PROGRAM.format(dtype=dtype)))


def numbers(shape: tuple[int, ...], dtype: str) -> Any:
    size = int(np.prod(shape))
    return np.arange(size).reshape(shape).astype(getattr(ml_dtypes, dtype, dtype))


def applies(form: str, x: Any) -> bool:
    """Whether there is such a form of an array: numpy gives DLPack no extension of its types."""
    if form == "foreign byte order":
        return x.dtype.isbuiltin == 1 and x.dtype.itemsize > 1
    return form != "__dlpack__" or x.dtype.isbuiltin == 1


CASES = [
    (dtype, form, way)
    for dtype in DTYPES
    for form in FORMS
    for way in WAYS
    if applies(form, numbers((), dtype))
]


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (0, 3), (2, 0)])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_array_in_any_form_is_the_tensor_of_its_elements(executor, shape):
    for dtype, form, way in CASES:
        x, model = numbers(shape, dtype), model_of(executor, dtype)
        register_func("test.form", FORMS[form], override=True)
        register_func("test.form_in_tuple", lambda x, f=FORMS[form]: (f(x), None), override=True)
        given = FORMS[form](x) if way in ("kernel", "operator") else x
        result = model[way](given)
        told = (dtype, form, way)
        # An array of `nd` gives one back.
        assert type(result) is (type(given) if isinstance(given, rx.nd.NDArray) else np.ndarray), (
            told
        )
        assert (result.dtype, result.shape) == (x.dtype, shape), told
        np.testing.assert_array_equal(result, x, str(told))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_tensor_of_rank_0_in_any_form_is_its_element(executor, dtype):
    x = numbers((2,), dtype)[1:].reshape(())
    for form in (f for f in FORMS if applies(f, x)):
        register_func("test.form", FORMS[form], override=True)
        for given in (x, x[()], read_only(x)):
            result = model_of(executor, dtype).rank_0(given)
            assert (result.dtype, result.shape) == (x.dtype, ()), form
            assert result == x, form
    register_func("test.form", lambda x: x[()], override=True)
    assert model_of(executor, dtype).rank_0(x) == x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_a_program_returns_is_taken_by_dlpack_and_by_numpy(executor, dtype):
    x = numbers((2, 3), dtype)
    result = model_of(executor, dtype).kernel(x)
    assert np.asarray(result) is result
    np.testing.assert_array_equal(rx.nd.array(result), x)
    if applies("__dlpack__", x):
        shared = rx.nd.from_dlpack(ByDLPack(result))
        assert np.shares_memory(shared, result)
        np.testing.assert_array_equal(shared, x)


IN_PLACE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(x: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = x[i] * T.float32(2)

    @R.function
    def kernel(x: R.Tensor((4,), "float32")):
        y = R.call_tir_inplace(Module.twice, (x,), [0], out_sinfo=R.Tensor((4,), "float32"))
        return y

    @R.function(pure=False)
    def packed(x: R.Tensor((4,), "float32")):
        y = R.call_packed("test.twice", x, sinfo_args=R.Tensor((4,), "float32"))
        return y
"""


def twice(x: Any) -> Any:
    x *= 2
    return x


def refusal(call: Any, *args: Any) -> str | None:
    """What is said of a call that fails."""
    try:
        call(*args)
    except VMError as error:
        return str(error)
    return None


@pytest.mark.parametrize("way", ["kernel", "packed"])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_is_written_into_a_tensor_is_seen_or_refused(executor, way):
    register_func("test.twice", twice, override=True)
    model = EXECUTORS[executor](from_source(IN_PLACE))
    for form, make in FORMS.items():
        given = make(np.arange(4, dtype="float32"))
        said = refusal(model[way], given)
        if said is not None:
            assert form in ("read-only", "foreign byte order", "__dlpack__"), (form, said)
            assert "read-only" in said
        else:
            assert np.asarray(getattr(given, "array", given)).tolist() == [0, 2, 4, 6], form
