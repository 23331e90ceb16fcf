from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript_tests.prim_func_mistakes import Y, llvm
from relaxscript_tests.prim_funcs import both, elementwise, load, prim_func, store

PURE = T["call_llvm_pure_intrin"]


def computed(dtype, make, *arrays):
    """What both executors give for arrays of one dtype."""
    func = elementwise(len(arrays[0]), [str(a.dtype) for a in arrays], dtype, make)
    return both(func, [*arrays, np.zeros(len(arrays[0]), dtype)])[-1].tolist()


F32 = np.array([2.25, 9.0], "float32")


@pytest.mark.parametrize("name", ["llvm.sqrt", "llvm.sqrt.f32"])
def test_a_name_may_say_the_data_types(name):
    assert computed("float32", lambda x: PURE("float32", name, x), F32) == [1.5, 3.0]


def test_a_name_may_say_the_first_data_types_only():
    made = computed("float32", lambda x: PURE("float32", "llvm.powi.f32", x, const(2)), F32)
    assert made == [5.0625, 81.0]


def test_the_number_of_operands_may_stand_behind_the_name():
    counted = computed(
        "float32", lambda x: PURE("float32", "llvm.fma", const(3, "uint32"), x, x, x), F32
    )
    assert counted == [7.3125, 90.0]


def test_a_literal_operand_is_not_taken_for_the_number_of_operands():
    made = PURE("uint32", "llvm.umax", const(2, "uint32"), const(1, "uint32"))
    assert computed("uint32", lambda x: made, np.zeros(1, "uint32")) == [2]


def test_an_intrinsic_may_be_looked_up_where_it_is_called():
    name = T["llvm_lookup_intrinsic_id"]("llvm.sqrt")
    assert computed("float32", lambda x: PURE("float32", name, x), F32) == [1.5, 3.0]


def test_an_operand_is_computed_once():
    x, y = tir.Buffer("x", (1,)), tir.Buffer("y", (1,))
    smaller = PURE("float32", "llvm.minnum", T["sqrt"](load(x, 0)), const(1.0))
    func = prim_func([x, y], store(y, smaller, 0))
    assert compile_prim_func(func).llvm_ir.count("call float @llvm.sqrt") == 1
    assert both(func, [np.array([0.25], "float32"), np.zeros(1, "float32")])[1].tolist() == [0.5]


def test_a_call_without_operands_names_nothing():
    call = tir.Evaluate(prim.Call("void", "tir.call_llvm_intrin", ()))
    with pytest.raises(DiagnosticError, match="called by their names"):
        evaluate(prim_func([], call), [])


@pytest.mark.parametrize(
    ("call", "help"),
    [
        (llvm("float32", "llvm.fmaa", const(1.0)), "did you mean `llvm.fma`?"),
        (llvm("int32", "llvm.ctpop.i64", const(1)), "its name is `llvm.ctpop.i32` here"),
        (llvm("int32", const(9), const(1)), 'write the name: `T.call_llvm_pure_intrin("float32", '
         '"llvm.fma", a, b, c)`'),
        (tir.Evaluate(T["vscale"]()), "vectors of this CPU have a fixed number of lanes: "
         "`A[i:i + 4]`"),
        (llvm("void", "llvm.nvvm.barrier0"), None),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_write(call, help):
    for run in (lambda f: evaluate(f, [np.zeros(4, "float32")]), compile_prim_func):
        with pytest.raises(DiagnosticError) as caught:
            run(prim_func([Y], call))
        assert caught.value.diagnostics[0].help == help


def test_hints_have_no_effect():
    pointer = T["address_of"](load(Y, 0))
    hints = [
        llvm("void", "llvm.prefetch", pointer, const(0), const(3), const(1)),
        llvm("void", "llvm.prefetch.p0", pointer, const(0), const(3), const(1)),
        llvm("void", "llvm.assume", prim.LT(load(Y, 1), const(0.0))),
        llvm("void", "llvm.donothing"),
        llvm("void", "llvm.sideeffect"),
    ]
    written = both(
        prim_func([Y], tir.SeqStmt([*hints, store(Y, const(2.0), 3)])), [np.ones(4, "float32")]
    )
    assert written[0].tolist() == [1, 1, 1, 2]


def test_powers_with_large_exponents_know_whether_these_are_odd():
    base, exponent = np.array([-1.0, -1.0], "float32"), np.array([2**24 + 1, 2**24 + 2], "int32")
    made = computed("float32", lambda x, n: PURE("float32", "llvm.powi", x, n), base, exponent)
    assert made == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("dtype", "a", "b", "c", "expected"),
    [
        # The product alone is rounded to the negative of what is added.
        ("float64", 1 + 2.0**-30, 1 + 2.0**-30, -(1 + 2.0**-29), 2.0**-60),
        ("float32", 1 + 2.0**-12, 1 + 2.0**-12, -(1 + 2.0**-11), 2.0**-24),
        # A little above the middle of two numbers, by less than a double knows.
        ("bfloat16", 1 + 2.0**-4, 1 + 2.0**-4, 2.0**-100, 1.1328125),
        ("float32", 1.5 * 2.0**127, 2.0, -float("inf"), -float("inf")),
        ("float64", 2.0**1023, 2.0, -(2.0**1023), 2.0**1023),
        ("float64", 2.0**1023, -4.0, 0.0, -float("inf")),
    ],
)
def test_a_fused_product_and_sum_is_rounded_once(dtype, a, b, c, expected):
    arrays = [np.array([x], prim.DataType(dtype).numpy) for x in (a, b, c)]
    func = elementwise(1, [dtype] * 3, dtype, lambda *xs: PURE(dtype, "llvm.fma", *xs))
    assert float(both(func, [*arrays, np.zeros_like(arrays[0])])[-1][0]) == expected


def test_a_product_and_a_sum_are_rounded_twice_by_fmuladd():
    x = np.array([1 + 2.0**-12], "float32")
    less = np.array([-(1 + 2.0**-11)], "float32")
    made = computed("float32", lambda a, c: PURE("float32", "llvm.fmuladd", a, a, c), x, less)
    assert made == [0.0]


def test_what_llvm_calls_poison_is_a_value():
    zero, least = np.zeros(1, "int16"), np.array([-(2**15)], "int16")
    on = const(True)
    assert computed("int16", lambda x: PURE("int16", "llvm.ctlz", x, on), zero) == [16]
    assert computed("int16", lambda x: PURE("int16", "llvm.cttz", x, on), zero) == [16]
    assert computed("int16", lambda x: PURE("int16", "llvm.abs", x, on), least) == [-(2**15)]
    wide = np.array([300], "int16")
    made = computed("int16", lambda n: PURE("int16", "llvm.sshl.sat", const(-1, "int16"), n), wide)
    assert made == [-(2**15)]


def test_variables_may_be_operands_as_they_are():
    n = Var("n", "int32")
    func = prim_func([], tir.Evaluate(T["ret"](PURE("int32", "llvm.ctpop", n))), [n])
    assert evaluate(func, [7]) == compile_prim_func(func)(7) == 3


@pytest.mark.parametrize("lanes", [2, 3, 7, 300])
def test_vectors_of_any_number_of_lanes_are_reduced(lanes):
    x, y = tir.Buffer("x", (lanes,), "int32"), tir.Buffer("y", (3,), "int32")
    vector = load(x, prim.Ramp(const(0), const(1), lanes))
    names = ("add", "smax", "xor")
    stores = [store(y, PURE("int32", f"llvm.vector.reduce.{n}", vector), k)
              for k, n in enumerate(names)]  # fmt: skip
    given = np.random.default_rng(lanes).integers(-99, 99, lanes).astype("int32")
    made = both(prim_func([x, y], tir.SeqStmt(stores)), [given, np.zeros(3, "int32")])[1]
    assert made.tolist() == [given.sum(), given.max(), np.bitwise_xor.reduce(given)]
