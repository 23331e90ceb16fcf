"""Vector math is written into a module as functions, each once, and only those that are called."""

from __future__ import annotations

import re

import numpy as np

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import const
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript.semantics.vector_math import ATTRIBUTE
from relaxscript_tests.prim_funcs import both, elementwise, load, loop, prim_func, store

X, Y = (tir.Buffer(name, (32,)) for name in "xy")
ON = {ATTRIBUTE: True}


def run(first, lanes):
    return prim.Ramp(const(first, "int64"), const(1, "int64"), lanes)


def defined(kernel):
    return re.findall(r"^define internal .* @relaxscript\.([\w.]+)\(", kernel.llvm_ir, re.MULTILINE)


def test_a_function_is_written_once_for_each_width():
    vectors = [run(8 * (k % 2), 8) for k in range(5)]
    places = [*vectors, run(16, 4), const(20, "int64"), const(21, "int64")]
    body = tir.SeqStmt([store(Y, T["exp"](load(X, at)), at) for at in places])
    kernel = compile_prim_func(prim_func([X, Y], body, **ON))
    assert sorted(defined(kernel)) == ["exp.float32", "exp.float32x4", "exp.float32x8"]
    assert kernel.llvm_ir.count("call <8 x float> @relaxscript.exp.float32x8(") == 5


def test_a_function_within_a_function_is_called_in_order():
    func = elementwise(32, ["float32"], "float32", lambda x: T["exp2"](T["exp"](T["exp"](x))))
    func = func.with_attr(ATTRIBUTE, True)
    x = np.linspace(-2, 1, 32, dtype="float32")
    _, found = both(func, [x, np.zeros_like(x)])
    np.testing.assert_allclose(found, np.exp2(np.exp(np.exp(x))), 1e-5)


def test_few_calls_are_written_out_with_the_bits_of_functions():
    values = np.linspace(-9, 9, 32, dtype="float32")

    def exps(count):
        places = [run(8 * k % 32, 8) for k in range(count)]
        body = tir.SeqStmt([store(Y, T["exp"](load(X, at)), at) for at in places])
        kernel = compile_prim_func(prim_func([X, Y], body, **ON))
        out = np.zeros_like(values)
        kernel(values, out)
        return kernel, out

    (few, written), (many, called) = exps(4), exps(5)
    assert defined(few) == []
    assert defined(many) == ["exp.float32x8"]
    np.testing.assert_array_equal(written, called)


def test_elements_that_are_left_over_are_given_to_a_function():
    places = [run(0, 8), run(8, 4), const(20, "int64")]
    body = tir.SeqStmt([store(Y, T["exp"](load(X, at)), at) for at in places])
    func = prim_func([X, Y], body, **ON)
    assert sorted(defined(compile_prim_func(func))) == ["exp.float32", "exp.float32x4"]
    both(func, [np.linspace(-9, 9, 32, dtype="float32"), np.zeros(32, "float32")])


def test_lanes_that_go_another_way_are_asked_for_at_once():
    body = store(Y, T["sin"](load(X, run(0, 8))), run(0, 8))
    text = compile_prim_func(prim_func([X, Y], body, **ON)).llvm_ir
    assert text.count("call i1 @llvm.vector.reduce.or.v8i1(") == 1
    assert "extractelement" not in text


def test_intrinsics_of_llvm_are_those_of_vector_math():
    value = T["call_llvm_pure_intrin"]("float32x8", "llvm.exp", load(X, run(0, 8)))
    func = prim_func([X, Y], store(Y, value, run(0, 8)), **ON)
    assert defined(compile_prim_func(func)) == ["exp.float32x8"]
    both(func, [np.linspace(-9, 9, 32, dtype="float32"), np.zeros(32, "float32")])


def test_each_prim_func_of_a_module_has_its_own_attribute():
    i = prim.Var("i", "int64")

    def exp_of(**attrs):
        return prim_func([X, Y], loop(i, 32, store(Y, T["exp"](load(X, i)), i)), **attrs)

    module = IRModule({"ours": exp_of(global_symbol="ours", **ON)})
    call = tir.Evaluate(prim.Call("handle", module.get_global_var("ours"), [X.data, Y.data]))
    last = store(Y, T["exp"](load(X, 0)), 0)
    outer = prim_func([X, Y], tir.SeqStmt([call, last]))
    kernel = compile_prim_func(outer, module=module)
    assert kernel.llvm_ir.count("call float @expf(") == 1
    assert kernel.llvm_ir.count("call float @llvm.fma.f32(") > 5
    x = np.linspace(-3, 3, 32, dtype="float32")
    ours, theirs = np.zeros_like(x), np.zeros_like(x)
    kernel(x, ours)
    evaluate(outer, [x, theirs], module)
    np.testing.assert_array_equal(ours[1:], theirs[1:])


def test_an_attribute_that_is_false_is_none():
    func = elementwise(32, ["float32"], "float32", T["exp"]).with_attr(ATTRIBUTE, False)
    assert "@expf(" in compile_prim_func(func).llvm_ir


def test_vectors_of_equal_lanes_are_written_in_one_step():
    s = prim.Var("s", "float32")
    value = prim.Mul(prim.Broadcast(s, 8), prim.Broadcast(const(2.5), 8))
    func = prim_func([Y], store(Y, value, run(0, 8)), [s])
    text = compile_prim_func(func).llvm_ir
    assert text.count("insertelement <8 x float>") == 1
    assert "splat (float 0x4004000000000000)" in text
    _, found = both(func, [np.zeros(32, "float32"), 1.25])[::-1]
    np.testing.assert_array_equal(found[:8], 3.125)


def test_a_shift_by_a_known_number_of_places_is_one_instruction():
    places = tir.Buffer("places", (4,), "int32")

    def text(amount):
        value = T["shift_right"](T["shift_left"](load(places, 0), amount), amount)
        kernel = compile_prim_func(prim_func([places], store(places, value, 0)))
        return kernel.llvm_ir

    assert "select" not in text(3)
    assert "select" in text(load(places, 1))
    assert "select" in text(32)
