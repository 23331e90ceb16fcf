"""Every name of `T.` in a small program: printed, read back, and run where a CPU can.

`PROGRAMS` are statements over the buffers of `HEAD`; what runs is evaluated and compiled, and both
must write the same. `DEVICE` are calls that only other devices have: they are read and printed, and
refused by their names when they are compiled.
"""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim
from relaxscript.ir.device_intrinsics import device_intrinsics
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.walk import walk
from relaxscript.runtime import register_func
from relaxscript.script import from_source, tir as T
from relaxscript.script.names.relax_typed import DTYPES as SHORT
from relaxscript_tests.prim_funcs import both


@register_func("tests.tir.names", override=True)
def _packed(array, number, text):
    """What the programs below call."""
    return array.shape[0] + number + len(text)


HEAD = """@T.prim_func
def f(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), I: T.Buffer((16,), "int32"),
      J: T.Buffer((16,), "int32"), D: T.Buffer((16,), "float64"), k: T.int32):
"""


def parsed(text: str):
    """A PrimFunc of some statements."""
    return from_source(HEAD + "".join(f"    {line}\n" for line in text.splitlines()))


def round_trip(func):
    """What is printed is read back as the same, and printed again as the same text."""
    text = func.script()
    again = from_source(text)
    assert_structural_equal(again, func)
    assert again.script() == text
    return text


def arguments():
    rng = np.random.default_rng(5)
    return [
        rng.uniform(-2, 2, 16).astype("float32"), np.zeros(16, "float32"),
        rng.integers(-100, 100, 16).astype("int32"), np.zeros(16, "int32"),
        rng.uniform(-2, 2, 16), 3,
    ]  # fmt: skip


def runs(func):
    """Both executors write the same bits, and something."""
    before, after = arguments(), both(func, arguments())
    return [a for a, b in zip(after[:5], before[:5]) if not np.array_equal(a, b, equal_nan=True)]


# ---------------------------------------------------------------- scalars and statements

FLOAT_FUNCTIONS = """ceil fabs floor nearbyint round rsqrt sqrt trunc abs""".split()
INEXACT = """acos acosh asin asinh atan atanh cos cosh erf exp exp10 exp2 log log10 log1p log2
sigmoid sin sinh tan tanh""".split()

PROGRAMS = {
    **{name: f"B[k] = T.{name}(A[k]) + T.float32(7)" for name in FLOAT_FUNCTIONS},
    **{name: f"B[k] = T.{name}(T.abs(A[k]) * T.float32(0.25) + T.float32(1))"
       for name in INEXACT},
    **{name: f"J[k] = T.cast(T.{name}(A[k]), 'int32') + 7"
       for name in ("isfinite", "isinf", "isnan")},
    **{name: f"B[k] = T.{name}(A[k], A[k + 1])"
       for name in ("atan2", "copysign", "fmod", "hypot", "nextafter", "min", "max")},
    **{name: f"J[k] = T.{name}(I[k], I[k + 1]) + 1000"
       for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "ceildiv", "floordiv", "floormod",
                    "truncdiv", "truncmod")},
    **{name: f"J[k] = T.{name}(I[k], 2) + 1000" for name in ("shift_left", "shift_right")},
    **{name: f"J[k] = T.{name}(I[k]) + 7" for name in ("bitwise_not", "clz", "popcount")},
    "pow": "B[k] = T.pow(T.abs(A[k]), 2)\nJ[k] = T.pow(I[k], 3)",
    "ldexp": "B[k] = T.ldexp(A[k], I[k] % 5)",
    "if_then_else": "B[k] = T.if_then_else(k < 16, A[k], A[k + 100])",
    "likely": "if T.likely(k < 16):\n    B[k] = A[k]",
    "assume": "T.evaluate(T.assume(k < 16))\nB[k] = A[k]",
    "tvm_thread_invariant": "if T.tvm_thread_invariant(k < 16):\n    B[k] = A[k]",
    "ignore_loop_partition": "if T.ignore_loop_partition(k < 16):\n    B[k] = A[k]",
    "infinity": "B[0] = T.infinity('float32')",
    "max_value": "J[0] = T.max_value('int32')\nB[0] = T.max_value('float32')",
    "min_value": "J[0] = T.min_value('int32')\nB[0] = T.min_value('float32')",
    "reinterpret": "J[0] = T.reinterpret('int32', A[k])\n"
                   "B[0] = T.reinterpret(I[k], dtype='float32')",
    "undef": "J[0] = T.undef() * 0 + 1",
    "vectorlow": "B[0:4] = T.vectorlow('float32x4', A[0:8])",
    "vectorhigh": "B[0:4] = T.vectorhigh('float32x4', A[0:8])",
    "vectorcombine": "B[0:8] = T.vectorcombine('float32x8', A[0:4], A[8:12])",
    "dp4a": "J[0] = T.dp4a(T.reinterpret('int8x4', I[0]), T.reinterpret('int8x4', I[1]), I[2])",
    "q_multiply_shift": "for i in range(16):\n"
                        "    J[i] = T.q_multiply_shift(I[i], 1395864371, 31, i - 8)",
    "q_multiply_shift_per_axis":
        "J[k] = T.q_multiply_shift_per_axis(I[k], 1395864371, 2, 5, 31, True, False)",
    "get_active_lane_mask":
        "B.vstore([T.Ramp(0, 1, 8)], A[0:8], predicate=T.get_active_lane_mask('boolx8', k, 7))",
    "ret": "B[0] = A[0]\nif k > 2:\n    T.evaluate(T.ret(k))\nB[1] = A[1]",
    "call_extern": "B[k] = T.call_extern('float32', 'fminf', A[k], A[k + 1])",
    "call_pure_extern": "B[k] = T.call_pure_extern('float32', 'fminf', A[k], A[k + 1])",
    "address_of": "T.evaluate(T.call_extern('handle', 'memcpy', T.address_of(B), "
                  "T.address_of(A[2]), T.uint64(16)))",
    "isnullptr": "J[0] = T.if_then_else(T.isnullptr(A.data), 1, 2)",
    "call_packed": "J[0] = T.call_packed('tests.tir.names', A, k, 'text')",
    "call_cpacked": "J[0] = T.call_cpacked('tests.tir.names', A, k, 'text')",
    "tvm_call_packed": "J[0] = T.tvm_call_packed('tests.tir.names', A, k, 'text')",
    "tvm_call_cpacked": "J[0] = T.tvm_call_cpacked('tests.tir.names', A, k, 'text')",
    "call_intrin": "B[k] = T.call_intrin('float32', 'tir.sqrt', T.abs(A[k]))",
    "call_llvm_intrin": "J[k] = T.call_llvm_intrin('int32', 'llvm.bswap', I[k])",
    "call_llvm_pure_intrin": "B[k] = T.call_llvm_pure_intrin('float32', 'llvm.fma', T.uint32(3), "
                             "A[k], A[k + 1], A[k + 2])",
    "Cast": "J[k] = T.Cast('int32', A[k] * T.float32(100))",
    "cast": "J[k] = T.cast(A[k] * T.float32(100), 'int32')",
    "Select": "B[k] = T.Select(A[k] < T.float32(0), T.float32(1), A[k])",
    "Let": "x = T.float32()\nB[k] = T.Let(x * x, where={x: A[k]})",
    "let": "x = T.float32()\nB[k] = T.let(x, A[k], x * x)",
    "Ramp": "B[T.Ramp(0, 2, 8)] = A[T.Ramp(1, 1, 8)]",
    "ramp": "B[T.ramp(0, 2, 8)] = A[T.ramp(1, 1, 8)]",
    "Broadcast": "B[0:4] = T.Broadcast(A[k], 4)",
    "broadcast": "B[0:4] = T.broadcast(A[k], 4)",
    "Shuffle": "B[0:4] = T.Shuffle([A[0:4], A[4:8]], [7, 0, 3, 4])",
    "BufferLoad": "B[k] = T.BufferLoad(A, [k + 1])",
    "Call": "B[k] = T.Call('float32', 'tir.fabs', [A[k]])",
    "IntImm": "J[k] = T.IntImm('int32', 4)",
    "FloatImm": "B[k] = T.FloatImm('float32', 0.5)",
    "StringImm": "assert k < 16, T.StringImm('too large')\nB[k] = A[k]",
    **{name: f"J[k] = T.{name}(I[k], I[k + 1]) + 1000"
       for name in ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max")},
    **{name: f"J[k] = T.cast(T.{name}(I[k], I[k + 1]), 'int32') + 7"
       for name in ("EQ", "NE", "LT", "LE", "GT", "GE")},
    **{name: f"J[k] = T.cast(T.{name}(I[k] < 5, A[k] > T.float32(0)), 'int32') + 7"
       for name in ("And", "Or")},
    "Not": "J[k] = T.cast(T.Not(I[k] < 5), 'int32') + 7",
    # ---- statements
    "serial": "for i in T.serial(2, 8):\n    B[i] = A[i]",
    "parallel": "for i in T.parallel(16, annotations={'grain': 4}):\n    B[i] = A[i]",
    "vectorized": "for i in T.vectorized(16):\n    B[i] = A[i]",
    "thread_binding": "for i in T.thread_binding(16, thread='threadIdx.x'):\n    B[i] = A[i]",
    "unroll": "for i in T.unroll(4):\n    B[i] = A[i]",
    "grid": "for i, j in T.grid(4, 4):\n    B[i * 4 + j] = A[j * 4 + i]",
    "block": "for i in range(16):\n    with T.block('b'):\n        vi = T.axis.spatial(16, i)\n"
             "        B[vi] = A[vi]",
    "axis": "for i, j in T.grid(4, 4):\n    with T.block('b'):\n"
            "        vi, vj = T.axis.remap('SR', [i, j])\n        with T.init():\n"
            "            B[vi] = T.float32(0)\n        B[vi] = B[vi] + A[vi * 4 + vj]",
    "init": "for i in range(16):\n    with T.block('b'):\n        vi = T.axis.reduce(16, i)\n"
            "        with T.init():\n            B[0] = T.float32(0)\n        B[0] += A[vi]",
    "where": "for i in range(20):\n    with T.block('b'):\n        vi = T.axis.S(16, i)\n"
             "        T.where(i < 16)\n        B[vi] = A[vi]",
    "reads": "with T.block('b'):\n    T.reads(A[0:16])\n    T.writes(B[0:16])\n    B[k] = A[k]",
    "writes": "with T.block('b'):\n    T.writes(B[k])\n    B[k] = A[k]",
    "block_attr": "with T.block('b'):\n    T.block_attr({'note': 1})\n    B[k] = A[k]",
    "func_attr": "T.func_attr({'tir.noalias': True})\nB[k] = A[k]",
    "alloc_buffer": "C = T.alloc_buffer((16,))\nC[k] = A[k]\nB[k] = C[k]",
    "decl_buffer": "C = T.decl_buffer((4, 4), data=A.data)\nB[k] = C[k, k]",
    "buffer": "C = T.buffer((4, 4), data=A.data)\nB[k] = C[k, k]",
    "buffer_decl": "C = T.buffer_decl((4, 4), data=A.data)\nB[k] = C[k, k]",
    "Buffer": "C = T.Buffer((4, 4), data=A.data)\nB[k] = C[k, k]",
    "allocate": "p = T.allocate([16], 'float32', 'global')\n"
                "C = T.decl_buffer((16,), data=p)\nC[k] = A[k]\nB[k] = C[k]",
    "allocate_const": "p = T.allocate_const([1.5, 2.5], 'float32', [2])\n"
                      "C = T.decl_buffer((2,), data=p)\nB[k] = C[1]",
    "match_buffer": "with T.block('b'):\n    C = T.match_buffer(A[4:8], (4,))\n    B[k] = C[k]",
    "buffer_store": "T.buffer_store(B, A[k], [k])",
    "LetStmt": "with T.LetStmt(A[k] * T.float32(2)) as x:\n    B[k] = x",
    "attr": "with T.attr('default', 'note', 1):\n    B[k] = A[k]",
    "Assert": "with T.Assert(k < 16, 'too large'):\n    B[k] = A[k]",
    "sblock": "for i in range(16):\n    with T.sblock('b'):\n        vi = T.axis.spatial(16, i)\n"
              "        B[vi] = A[vi]",
    "sblock_attr": "with T.sblock('b'):\n    T.sblock_attr({'note': 1})\n    B[k] = A[k]",
    "sblock_alloc_buffer": "C = T.sblock_alloc_buffer((16,))\nC[k] = A[k]\nB[k] = C[k]",
    "bind": "x = T.bind(A[k] * T.float32(2))\nB[k] = x",
    "Bind": "x = T.Bind(A[k] * T.float32(2))\nB[k] = x",
    "While": "with T.While(J[0] < 5):\n    J[0] = J[0] + 1",
    "If": "with T.If(k < 16):\n    with T.Then():\n        B[0] = A[0]\n"
          "    with T.Else():\n        B[1] = A[1]",
    "evaluate": "T.evaluate(k)\nB[k] = A[k]",
    "meta_var": "x = T.meta_var(k + 1)\nB[x] = A[x]",
    "prefetch": "T.prefetch(A, [T.Range(0, 8)])\nB[k] = A[k]",
    "int64": "x = T.int64(k)\nB[x] = A[x]",
    "Ptr": "B[k] = A[k]",
    "target": "T.func_attr({'target': T.target('llvm')})\nB[k] = A[k]",
    "index_map": "T.func_attr({'layout': T.index_map(lambda i: (i // 4, i % 4))})\nB[k] = A[k]",
    "realize": "with T.realize(B[0:16], 'global'):\n    B[k] = A[k]",
    "Reduce": "r = T.int32()\nB[k] = T.Reduce(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "
              "[A[r]], [T.iter_var(r, T.Range(0, 16), 'CommReduce', '')], True, 0)",
    "IterVar": "r = T.int32()\nB[k] = T.Reduce(T.comm_reducer(lambda x, y: T.max(x, y), "
               "[T.float32(0)]), [A[r]], [T.IterVar(T.Range(0, 16), r, 'CommReduce')], r < 9, 0)",
    "CallEffectKind": "J[0] = T.CallEffectKind.UpdateState",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_name_means_on_a_cpu_what_it_says(name):
    func = parsed(PROGRAMS[name])
    round_trip(func)
    if name not in INEXACT:
        assert runs(func)
        return
    ours, theirs = arguments(), arguments()
    evaluate(func, ours)
    compile_prim_func(func)(*theirs)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)
    assert ours[1].any()


# ---------------------------------------------------------------- what is read and printed only

READ_ONLY = {
    "launch_thread": "with T.launch_thread('threadIdx.x', 16) as tx:\n    B[tx] = A[tx]",
    "env_thread": "tx = T.env_thread('threadIdx.x')\n"
                  "with T.launch_thread(tx, 16):\n    B[tx] = A[tx]",
    "ProducerLoad": "B[k] = T.ProducerLoad(A, [k])",
}  # fmt: skip


@pytest.mark.parametrize("name", READ_ONLY)
def test_what_only_other_devices_run_is_read_and_refused_by_name(name):
    func = parsed(READ_ONLY[name])
    round_trip(func)
    with pytest.raises(DiagnosticError, match="RX0505"):
        compile_prim_func(func)


def test_a_reducer_is_a_node_of_a_hint():
    func = parsed(
        "with T.attr(T.comm_reducer(lambda a, b, x, y: (a + x, T.max(b, y)), "
        "[T.float32(0), T.float32(1)]), 'reduce_scope', T.reinterpret('handle', T.uint64(0))):\n"
        "    B[k] = A[k]"
    )
    assert "lambda a, b, x, y: (a + x, T.max(b, y))" in round_trip(func)


def operand_of(parameter: str, texts: frozenset[str]) -> str:
    return '"m8n8k4"' if parameter in texts else "k"


DEVICE = {
    line.name: [operand_of(p, line.texts) for p in line.parameters]
    for line in device_intrinsics()
    if not line.compiled
}
TYPED = {line.name for line in device_intrinsics() if line.result == "given"}


def device_call(name: str, operands: list[str]) -> str:
    typed = ['"int32"'] if name in TYPED else []
    args = [*operands, *typed] if name == "tvm_struct_get" else [*typed, *operands]
    return f"T.evaluate(T.{name}({', '.join(args)}))"


@pytest.mark.parametrize("name", DEVICE)
def test_an_intrinsic_of_hardware_is_a_call_of_its_own_name(name):
    func = parsed(device_call(name, DEVICE[name]))
    (call,) = [n for n in walk(func.body) if isinstance(n, prim.Call)]
    assert call.op == f"tir.{name}"
    assert f"T.{name}(" in round_trip(func)


@pytest.mark.parametrize("name", DEVICE)
def test_an_intrinsic_of_hardware_is_refused_by_name_when_it_is_compiled(name):
    func = parsed(device_call(name, DEVICE[name]))
    with pytest.raises(DiagnosticError, match=re.escape(f"`{name}`")) as caught:
        compile_prim_func(func)
    assert caught.value.diagnostics[0].code == "RX0505"


FIXED = [line for line in device_intrinsics() if not line.rest]


@pytest.mark.parametrize("line", FIXED, ids=[line.name for line in FIXED])
def test_the_number_of_operands_is_checked(line):
    operands = [operand_of(p, line.texts) for p in line.parameters]
    with pytest.raises(DiagnosticError, match="RX0103"):
        parsed(device_call(line.name, [*operands, "k"]))
    needed = operands[: len(operands) - len(line.defaults)]
    if needed:
        with pytest.raises(DiagnosticError, match="RX0103"):
            parsed(device_call(line.name, needed[:-1]))


# ---------------------------------------------------------------- dtypes

DTYPES = [n for n in T.__all__ if type(getattr(T, n)).__name__ == "ScalarType" and n != "void"]


@pytest.mark.parametrize("name", DTYPES)
def test_a_data_type_converts_and_declares(name):
    dtype = getattr(T, name).dtype
    func = parsed(f"x: T.{name} = T.{name}(1)\nT.evaluate(x)\ny = T.{name}(k)\nT.evaluate(y)")
    round_trip(func)
    lets = [n.var for n in walk(func.body) if type(n).__name__ == "LetStmt"]
    assert [v.dtype for v in lets] == [dtype, dtype]
    both(func, arguments())


ELEMENTS = ["bool", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "float16",
            "float32", "float64",
            *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTS)
def test_buffers_of_a_data_type_are_read_and_written(name):
    func = from_source(
        f"""@T.prim_func
def f(X: T.Buffer((8,), "{name}"), Y: T.Buffer((8,), "{name}")):
    for i in range(8):
        Y[i] = T.{name}(T.float32(X[7 - i]))
"""
    )
    round_trip(func)
    values = np.arange(8).astype(prim.DataType(name).numpy)
    _, written = both(func, [values, np.zeros_like(values)])
    assert (written == values[::-1]).all()


# ---------------------------------------------------------------- no name is forgotten

# Names that are meant by others' programs, or that do nothing by themselves.
ELSEWHERE = {
    "prim_func", "handle", "void", "Range", "Then", "Else", "Var", "SizeVar", "ptr", "buffer_var",
    "var", "CommReducer", "comm_reducer", "iter_var", "call_packed", "call_cpacked", "macro", "dim",
    *SHORT,
}  # fmt: skip


def test_every_name_stands_in_a_program():
    shown = {*PROGRAMS, *READ_ONLY, *DEVICE, *DTYPES, *ELSEWHERE}
    assert set(T.__all__) - shown == set()


def test_every_intrinsic_has_a_function_that_says_its_parameters():
    for row in INTRINSICS.values():
        found = inspect.signature(FUNCTIONS[row.script_name]).parameters
        assert set(row.parameters) <= set(found)
