"""C functions as packed functions: machine code of a shared library, called from programs.

The library is compiled from C where this computer has a compiler, and always from LLVM's text.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from relaxscript.codegen.llvm.engine import compile_text
from relaxscript.runtime import DLTensor, PackedFunc, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure

FLOATS = ctypes.POINTER(ctypes.c_float)
TENSOR = ctypes.POINTER(DLTensor)
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "scale": (None, [FLOATS, ctypes.c_int64, ctypes.c_double, FLOATS]),
    "total": (ctypes.c_double, [FLOATS, ctypes.c_int64]),
    "last": (ctypes.c_double, [TENSOR]),
}
IN_C = """
#include <stdint.h>
typedef struct {
    void *data; struct { int32_t type, id; } device; int32_t ndim;
    struct { uint8_t code, bits; uint16_t lanes; } dtype;
    int64_t *shape, *strides; uint64_t byte_offset;
} DLTensor;
void scale(const float *x, int64_t n, double k, float *out) {
    for (int64_t i = 0; i < n; i++) out[i] = (float)(x[i] * k);
}
double total(const float *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
}
double last(const DLTensor *x) {
    const float *place = x->data;
    for (int axis = 0; axis < x->ndim; axis++) place += (x->shape[axis] - 1) * x->strides[axis];
    return *place;
}
"""
IN_LLVM = {
    "scale": """
define void @scale(ptr %x, i64 %n, double %k, ptr %out) {
begin:
  br label %test
test:
  %i = phi i64 [0, %begin], [%next, %body]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %from = getelementptr float, ptr %x, i64 %i
  %read = load float, ptr %from
  %wide = fpext float %read to double
  %scaled = fmul double %wide, %k
  %narrow = fptrunc double %scaled to float
  %to = getelementptr float, ptr %out, i64 %i
  store float %narrow, ptr %to
  %next = add i64 %i, 1
  br label %test
end:
  ret void
}""",
    "total": """
define double @total(ptr %x, i64 %n) {
begin:
  br label %test
test:
  %i = phi i64 [0, %begin], [%next, %body]
  %sum = phi double [0.0, %begin], [%added, %body]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %from = getelementptr float, ptr %x, i64 %i
  %read = load float, ptr %from
  %wide = fpext float %read to double
  %added = fadd double %sum, %wide
  %next = add i64 %i, 1
  br label %test
end:
  ret double %sum
}""",
    "last": """
define double @last(ptr %x) {
begin:
  %data = load ptr, ptr %x
  %where = getelementptr i8, ptr %x, i64 16
  %count = load i32, ptr %where
  %ndim = sext i32 %count to i64
  %first = getelementptr i8, ptr %x, i64 24
  %shape = load ptr, ptr %first
  %second = getelementptr i8, ptr %x, i64 32
  %strides = load ptr, ptr %second
  br label %test
test:
  %axis = phi i64 [0, %begin], [%next, %body]
  %place = phi ptr [%data, %begin], [%moved, %body]
  %more = icmp slt i64 %axis, %ndim
  br i1 %more, label %body, label %end
body:
  %size.at = getelementptr i64, ptr %shape, i64 %axis
  %size = load i64, ptr %size.at
  %step.at = getelementptr i64, ptr %strides, i64 %axis
  %step = load i64, ptr %step.at
  %steps = sub i64 %size, 1
  %distance = mul i64 %steps, %step
  %moved = getelementptr float, ptr %place, i64 %distance
  %next = add i64 %axis, 1
  br label %test
end:
  %value = load float, ptr %place
  %wide = fpext float %value to double
  ret double %wide
}""",
}


def by_llvm(folder: Any) -> dict[str, Any]:
    """The functions as machine code, and that code, which must live as long."""
    codes = {name: compile_text(text, name, {}, 2) for name, text in IN_LLVM.items()}
    found = {}
    for name, code in codes.items():
        result, kinds = SIGNATURES[name]
        found[name] = ctypes.CFUNCTYPE(result, *kinds)(code.address)
    return {**found, "": codes}


def by_compiler(folder: Any) -> dict[str, Any]:
    """The functions of a shared library, declared as a user declares them."""
    (folder / "functions.c").write_text(IN_C)
    library = folder / "functions.so"
    command = [COMPILER, "-O2", "-shared", "-fPIC", "-o", library, folder / "functions.c"]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(library))
    for name, (result, kinds) in SIGNATURES.items():
        getattr(loaded, name).restype = result
        getattr(loaded, name).argtypes = kinds
    return {name: getattr(loaded, name) for name in SIGNATURES}


COMPILER = shutil.which("cc")
MAKERS = [by_llvm, *([by_compiler] if COMPILER else [])]


@pytest.fixture(params=MAKERS, scope="module", name="functions")
def _functions(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("library"))


@pytest.fixture(autouse=True)
def _registered(functions):
    for name in SIGNATURES:
        function = PackedFunc.from_ctypes(f"c.{name}", functions[name])
        register_func(f"c.{name}", function, override=True)


@I.ir_module
class Calls:
    @R.function
    def scaled(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        y = R.call_dps_packed(
            "c.scale",
            (x, R.prim_value(n * m), R.prim_value(T.float64(2.5))),
            out_sinfo=R.Tensor((n, m), "float32"),
        )
        return y

    @R.function(pure=False)
    def total(x: R.Tensor(("n",), "float32")) -> R.Prim("float64"):
        n = T.int64()
        t = R.call_packed("c.total", x, R.prim_value(n), sinfo_args=R.Prim("float64"))
        return t

    @R.function(pure=False)
    def last(x: R.Tensor("float32")) -> R.Prim("float64"):
        t = R.call_packed("c.last", x, sinfo_args=R.Prim("float64"))
        return t

    @R.function(pure=False)
    def wrong(x: R.Tensor(("n",), "float64")) -> R.Prim("float64"):
        n = T.int64()
        t = R.call_packed("c.total", x, R.prim_value(n), sinfo_args=R.Prim("float64"))
        return t

    @R.function(pure=False)
    def short(x: R.Tensor(("n",), "float32")) -> R.Prim("float64"):
        t = R.call_packed("c.total", x, sinfo_args=R.Prim("float64"))
        return t


LAYOUTS = {
    "compact": lambda x: x,
    "strided": lambda x: np.repeat(x, 2, axis=0)[::2],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "unaligned": lambda x: np.frombuffer(b"x" + x.tobytes(), "u1")[1:].view("f4").reshape(x.shape),
    "foreign byte order": lambda x: x.astype(">f4"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@every_executor
def test_a_c_function_gets_pointers_sizes_and_numbers(load, layout):
    x = np.arange(6, dtype="float32").reshape(2, 3)
    given = LAYOUTS[layout](x)
    np.testing.assert_array_equal(load(Calls).scaled(given), x * 2.5)
    np.testing.assert_array_equal(given, x)


@pytest.mark.parametrize("layout", LAYOUTS)
@every_executor
def test_a_c_function_gets_tensors_of_dlpack(load, layout):
    x = np.arange(6, dtype="float32").reshape(2, 3)
    assert load(Calls).last(LAYOUTS[layout](x)) == 5.0


@every_executor
def test_a_c_function_gets_empty_tensors_and_those_of_rank_0(load):
    model = load(Calls)
    assert model.scaled(np.zeros((0, 3), "float32")).shape == (0, 3)
    assert model.total(np.zeros(0, "float32")) == 0.0
    assert model.last(np.array(7, "float32")) == 7.0


@every_executor
def test_what_a_c_function_returns_is_its_result(load):
    assert load(Calls).total(np.arange(5, dtype="float32")) == 10.0


@every_executor
def test_memory_of_another_type_is_refused_before_c_reads_it(load):
    error = failure(lambda: load(Calls).wrong(np.ones(2)))
    assert error.code == "RX0610"
    assert "`c.total` takes a pointer to c_float, got a tensor of shape (2,) and" in str(error)
    assert error.span.text.startswith('R.call_packed("c.total", x')


@every_executor
def test_a_wrong_number_of_operands_is_the_error_of_ctypes(load):
    error = failure(lambda: load(Calls).short(np.ones(2, "float32")))
    assert error.code == "RX0604"
    assert "`c.total` raised TypeError" in str(error)
