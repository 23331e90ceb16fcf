"""Compiled expressions give the bits that the evaluator gives, over all dtypes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.intrinsic import FLOATS as OF_FLOATS, INTRINSICS
from relaxscript.ir.prim import const
from relaxscript.ir.scalar_functions import DEVICE_FUNCTIONS, FUNCTIONS as T
from relaxscript_tests.prim_funcs import (
    FLOATS,
    INTEGERS,
    both,
    elementwise,
    interesting,
    load,
    loop,
    pairs,
    prim_func,
    store,
)
from relaxscript_tests.units import ulps

ARITHMETIC = [prim.Add, prim.Sub, prim.Mul, prim.Min, prim.Max]
DIVISIONS = [prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod]
COMPARISONS = [prim.EQ, prim.NE, prim.LT, prim.LE, prim.GT, prim.GE]
SPECIAL = (
    "if_then_else",
    "likely",
    "tvm_thread_invariant",
    "assume",
    "reinterpret",
    "ret",
    "ldexp",
)
EXACT = ("ceil", "floor", "round", "trunc", "nearbyint", "fabs", "sqrt", "copysign", "nextafter",
         "fmod", "isnan", "isinf", "isfinite")  # fmt: skip
ROWS = [
    row
    for row in INTRINSICS.values()
    if row.compiled and row.script_name not in {*SPECIAL, *DEVICE_FUNCTIONS}
]


def new(count, dtype):
    return np.zeros(count, DataType(dtype).numpy)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("kind", [*ARITHMETIC, *DIVISIONS])
def test_arithmetic(kind, dtype):
    a, b = pairs(dtype)
    if kind in DIVISIONS and dtype in INTEGERS:
        a, b = a[b != 0], b[b != 0]
    both(elementwise(len(a), [dtype, dtype], dtype, kind), [a, b, new(len(a), dtype)])


@pytest.mark.parametrize("kind", [prim.Add, prim.Mul, prim.Min, prim.Max])
def test_arithmetic_of_truth_values(kind):
    a, b = pairs("bool")
    both(elementwise(4, ["bool", "bool"], "bool", kind), [a, b, new(4, "bool")])


@pytest.mark.parametrize("kind", [prim.And, prim.Or])
def test_logic(kind):
    a, b = pairs("bool")
    func = elementwise(4, ["bool", "bool"], "bool", lambda p, q: prim.Not(kind(p, q)))
    both(func, [a, b, new(4, "bool")])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "bool"])
@pytest.mark.parametrize("kind", COMPARISONS)
def test_comparisons(kind, dtype):
    a, b = pairs(dtype)
    both(elementwise(len(a), [dtype, dtype], "bool", kind), [a, b, new(len(a), "bool")])


@pytest.mark.slow
@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS, "bool"])
@pytest.mark.parametrize("target", [*INTEGERS, *FLOATS, "bool"])
def test_conversions(source, target):
    values = interesting(source)
    func = elementwise(len(values), [source], target, lambda x: prim.Cast(target, x))
    both(func, [values, new(len(values), target)])


def test_a_double_is_rounded_to_half_precision_once():
    # A little above the middle between two halves; as a float it would be the middle.
    values = np.array(
        [1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-11 - 2.0**-40, 65519.999999], "float64"
    )
    values = np.concatenate([values, -values])
    out = both(
        elementwise(6, ["float64"], "float16", lambda x: prim.Cast("float16", x)),
        [values, new(6, "float16")],
    )
    np.testing.assert_array_equal(out[1], values.astype("float16"))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("kind", DIVISIONS)
@pytest.mark.parametrize("divisor", [1, 2, 3, 8, 100, -1, -3, -8])
def test_division_by_constants(kind, divisor, dtype):
    if divisor < 0 and dtype.startswith("u"):
        divisor = -divisor + 1
    values = interesting(dtype)
    func = elementwise(len(values), [dtype], dtype, lambda x: kind(x, const(divisor, dtype)))
    both(func, [values, new(len(values), dtype)])


@pytest.mark.parametrize("kind", DIVISIONS)
def test_division_of_loop_variables_by_what_is_never_negative(kind):
    i, j, y = prim.Var("i"), prim.Var("j"), tir.Buffer("y", (12, 5), "int32")
    body = loop(i, 12, loop(j, 5, store(y, kind(i * 7 - 30, j + 1), i, j)))
    both(prim_func([y], body), [np.zeros((12, 5), "int32")])


def operands(row, dtype):
    """Arrays for an intrinsic: all pairs where it takes two."""
    return [interesting(dtype)] if row.arity == 1 else list(pairs(dtype))


def result_of(row, dtype):
    return dtype if row.result == "operand" else row.result


def apply(row, dtype):
    result = result_of(row, dtype)
    return lambda *xs: prim.Call(result, row.name, xs)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
@pytest.mark.parametrize("row", [r for r in ROWS if r.takes != OF_FLOATS], ids=lambda r: r.name)
def test_intrinsics_of_integers(row, dtype):
    if not row.accepts(DataType(dtype)):
        return
    args, result = operands(row, dtype), result_of(row, dtype)
    func = elementwise(len(args[0]), [dtype] * row.arity, result, apply(row, dtype))
    both(func, [*args, new(len(args[0]), result)])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("row", [r for r in ROWS if r.script_name in EXACT], ids=lambda r: r.name)
def test_exact_intrinsics_of_floats(row, dtype):
    args, result = operands(row, dtype), result_of(row, dtype)
    func = elementwise(len(args[0]), [dtype] * row.arity, result, apply(row, dtype))
    both(func, [*args, new(len(args[0]), result)])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if r.accepts(DataType("float32")) and r.script_name not in EXACT],
    ids=lambda r: r.name,
)
def test_other_functions_of_floats_are_within_two_units(row, dtype):
    args = operands(row, dtype)
    func = elementwise(len(args[0]), [dtype] * row.arity, dtype, apply(row, dtype))
    expected, actual = new(len(args[0]), dtype), new(len(args[0]), dtype)
    evaluate(func, [*args, expected])
    compile_prim_func(func)(*args, actual)
    apart = ulps(actual, expected)
    worst = int(apart.argmax())
    assert apart.max() <= 2, f"{[a[worst] for a in args]}: {actual[worst]}, not {expected[worst]}"


@pytest.mark.parametrize("dtype", FLOATS)
def test_exponents_of_two(dtype):
    values = np.repeat(interesting(dtype), 5)
    exponents = np.tile(np.array([0, 1, -3, 200, -2000], "int32"), len(values) // 5)
    func = elementwise(len(values), [dtype, "int32"], dtype, T["ldexp"])
    both(func, [values, exponents, new(len(values), dtype)])


@pytest.mark.parametrize(
    ("source", "target"),
    [("float32", "int32"), ("int32", "float32"), ("float64", "uint64"), ("float16", "int16"),
     ("bfloat16", "uint16"), ("int16", "bfloat16"), ("uint8", "int8")],
)  # fmt: skip
def test_reinterpreted_bits(source, target):
    values = interesting(source)
    func = elementwise(len(values), [source], target, lambda x: T["reinterpret"](target, x))
    both(func, [values, new(len(values), target)])


def test_vectors_may_be_reinterpreted_as_shorter_ones():
    x, y = tir.Buffer("x", (4,), "int8"), tir.Buffer("y", (1,), "int32")
    whole = T["reinterpret"]("int32", load(x, prim.Ramp(const(0), const(1), 4)))
    args = both(
        prim_func([x, y], store(y, whole, 0)), [np.array([1, 2, 3, 4], "int8"), new(1, "int32")]
    )
    assert args[1][0] == 0x04030201


def test_truth_values_have_no_bits_to_reinterpret():
    x = tir.Buffer("x", (1,), "bool")
    call = prim.Call("bool", "tir.reinterpret", (load(x, 0),))
    with pytest.raises(DiagnosticError, match="bool has not the bits of bool"):
        compile_prim_func(prim_func([x], store(x, call, 0)))


def test_sums_and_products_are_never_fused():
    # x * x rounds; fused with the subtraction, what rounding left would show.
    values = np.linspace(1, 2, 1000, dtype="float32")
    func = elementwise(1000, ["float32"], "float32", lambda x: x * x - prim.Cast("float32", x * x))
    assert not both(func, [values, new(1000, "float32")])[1].any()
    func = elementwise(1000, ["float32"] * 3, "float32", lambda x, y, z: x * y + z)
    product = (values * values).astype("float32")
    assert not both(func, [values, values, -product, new(1000, "float32")])[3].any()


# ---------------------------------------------------------------- random expressions

NARROW = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
          "float64"]  # fmt: skip
LANES = {dtype: prim.Var(dtype, dtype) for dtype in NARROW}
COUNT = 24


@st.composite
def expressions(draw, dtype, depth=4):
    """An expression of a dtype over variables of all; it never divides an integer by zero."""
    kind = DataType(dtype)
    if depth == 0:
        if draw(st.booleans()):
            return LANES[dtype]
        number = draw(st.integers(0, 100))
        return const(float(number) / 4 if kind.is_float else number, dtype)
    inner = expressions(dtype, depth - 1)
    match draw(st.integers(0, 7)):
        case 0 | 1 | 2:
            return draw(st.sampled_from(ARITHMETIC))(draw(inner), draw(inner))
        case 3:
            divisor = draw(inner)
            if kind.is_integer:
                divisor = prim.Select(prim.EQ(divisor, const(0, dtype)), const(3, dtype), divisor)
            return draw(st.sampled_from(DIVISIONS))(draw(inner), divisor)
        case 4:
            source = draw(st.sampled_from(NARROW))
            return prim.Cast(dtype, draw(expressions(source, depth - 1)))
        case 5:
            return prim.Select(draw(conditions(depth - 1)), draw(inner), draw(inner))
        case 6:
            return T["if_then_else"](draw(conditions(depth - 1)), draw(inner), draw(inner))
    var = prim.Var("let", dtype)
    names = ("floor", "fabs", "sqrt") if kind.is_float else ("bitwise_not", "popcount")
    value = T[draw(st.sampled_from(names))](var)
    return prim.Let(var, draw(inner), value)


@st.composite
def conditions(draw, depth):
    dtype = draw(st.sampled_from(NARROW))
    inner = expressions(dtype, max(0, depth - 1))
    made = draw(st.sampled_from(COMPARISONS))(draw(inner), draw(inner))
    return prim.Not(made) if draw(st.booleans()) else made


@pytest.mark.slow
@given(st.data())
def test_random_expressions_give_the_same_bits(data):
    dtype = data.draw(st.sampled_from(NARROW))
    made = data.draw(expressions(dtype))
    sources = [tir.Buffer(d, (COUNT,), d) for d in NARROW]
    i, out = prim.Var("i", "int64"), tir.Buffer("out", (COUNT,), dtype)
    body: tir.Stmt = store(out, made, i)
    for source in sources:
        body = tir.LetStmt(LANES[source.dtype], load(source, i), body)
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    args = [random.choice(interesting(d), COUNT) for d in NARROW]
    level = data.draw(st.sampled_from([0, 2, 3]))
    both(prim_func([*sources, out], loop(i, COUNT, body)), [*args, new(COUNT, dtype)], level=level)


@pytest.mark.parametrize("places", [[3, 1, 0, 2], [0, 5, 2, 7], [6], [1, 1]])
def test_lanes_of_one_or_two_vectors_are_shuffled_at_once(places):
    sources = [tir.Buffer(name, (8,), "float32") for name in "ab"][: 1 + (max(places) > 3)]
    target = tir.Buffer("out", (len(places),), "float32")
    vectors = [load(s, prim.Ramp(const(2), const(1), 4)) for s in sources]
    found = prim.Shuffle(vectors, [const(k) for k in places])
    at = prim.Ramp(const(0), const(1), len(places)) if len(places) > 1 else const(0)
    func = prim_func([*sources, target], store(target, found, at))
    arrays = [np.arange(8, dtype="float32") + 8 * k for k in range(len(sources))]
    lanes = np.concatenate([array[2:6] for array in arrays])
    assert np.array_equal(both(func, [*arrays, new(len(places), "float32")])[-1], lanes[places])
    text = compile_prim_func(func).llvm_ir
    assert ("shufflevector" in text) == (len(places) > 1)
    assert ("extractelement" in text) == (len(places) == 1)
