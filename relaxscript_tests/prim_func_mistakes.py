"""Statements over the buffer `y` of four floats that no executor takes, by the words they get."""

from __future__ import annotations

from typing import Any

from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript.ir.tir_compute import ProducerLoad
from relaxscript_tests.prim_func_examples import axis, block
from relaxscript_tests.prim_funcs import load, loop, store

Y = tir.Buffer("y", (4,))
I = Var("i")  # noqa: E741


def unchecked_store(value: prim.PrimExpr, *indices: int) -> tir.BufferStore:
    """A store as a careless pass may make it."""
    return tir.BufferStore.make(Y, value, tuple(const(i) for i in indices), None)


def llvm(dtype: str, name: Any, *args: Any) -> tir.Stmt:
    """A statement that calls an intrinsic of LLVM."""
    return tir.Evaluate(T["call_llvm_intrin"](dtype, name, *args))


ONE, TWO = const(1.0), const(2)

REFUSED = {
    "the variable `n` is not defined here": store(Y, prim.Cast("float32", Var("n")), 0),
    "the buffer `t` is not defined here": store(Y, load(tir.Buffer("t", (1,)), 0), 0),
    "the buffer `u` is not defined": store(
        Y, load(tir.Buffer("u", (1,), data=Var("p", "handle")), 0), 0
    ),
    "a value of int32 is stored into `y`, which holds float32": unchecked_store(const(1), 0),
    "operands of `T.Add` are float32 and int32": store(Y, prim.Add.make(const(1.0), const(1)), 0),
    "operands of `T.LT` are int32 and int64": tir.Evaluate(
        prim.LT.make(const(1), const(1, "int64"))
    ),
    "there is no `T.Sub` of bool": tir.Evaluate(prim.Sub(const(True), const(True))),
    "float32 cannot be converted to handle": tir.Evaluate(prim.Cast("handle", const(1.0))),
    "buffer `y` has 1 dimension, not 2": unchecked_store(const(1.0), 0, 0),
    "an index of buffer `y` is float32, not an integer": store(Y, const(1.0), const(1.0)),
    "only the last index of buffer `x` may be a vector": tir.Evaluate(
        load(tir.Buffer("x", (2, 2)), prim.Ramp(const(0), const(1), 2), 0)
    ),
    "block `b` has 1 axis, but 0 values": tir.BlockRealize.make(
        (), const(True), block([axis(I, 4)], [const(0)], tir.Evaluate(const(0))).block
    ),
    "`i` is int32, but its value is float32": tir.LetStmt(I, const(1.0), tir.Evaluate(const(0))),
    "`ptx_mma` cannot be": tir.Evaluate(prim.Call("void", "tir.ptx_mma", ())),
    "`tir.nothing` cannot be": tir.Evaluate(prim.Call("void", "tir.nothing", ())),
    "`exp` takes 1 operand, not 2": tir.Evaluate(
        prim.Call("float32", "tir.exp", (const(1.0), const(1.0)))
    ),
    "`call_extern` takes a string as its `func_name`, not nothing": tir.Evaluate(
        prim.Call("int32", "tir.call_extern", ())
    ),
    "`call_extern` takes a string as its `func_name`, not int32": tir.Evaluate(
        prim.Call("int32", "tir.call_extern", (const(1),))
    ),
    "`tvm_call_packed` takes a string as its `func_name`, not int32": tir.Evaluate(
        prim.Call("int32", "tir.tvm_call_packed", (const(1), const(2)))
    ),
    "`exp` takes a floating-point number, not int32": tir.Evaluate(
        prim.Call("int32", "tir.exp", (const(1),))
    ),
    "operands of `T.pow` are float32 and int32": tir.Evaluate(
        prim.Call("float32", "tir.pow", (const(1.0), const(1)))
    ),
    "threads of a GPU": tir.AttrStmt(Y, "thread_extent", const(4), tir.Evaluate(const(0))),
    "`T.StringImm` gives no number": tir.LetStmt(
        Var("h", "handle"), prim.StringImm("x"), tir.Evaluate(const(0))
    ),
    "`T.Shuffle` takes constant indices": loop(
        I, 1, tir.Evaluate(prim.Shuffle((prim.Broadcast(const(1), 2),), (I,)))
    ),
    "`llvm.fmaa` is no intrinsic of LLVM": llvm("float32", "llvm.fmaa", ONE, ONE, ONE),
    "`llvm.x86.sse2.pause` is no intrinsic of LLVM": llvm("void", "llvm.x86.sse2.pause"),
    "called by their names, not by their numbers": llvm("float32", const(97), ONE),
    "`llvm_lookup_intrinsic_id` cannot be": tir.Evaluate(T["llvm_lookup_intrinsic_id"]("llvm.fma")),
    "`vscale` cannot be": tir.Evaluate(T["vscale"]()),
    "`llvm.fma` takes 3 operands, not 2": llvm("float32", "llvm.fma", ONE, ONE),
    "`llvm.ctpop` takes 1 operand, not 2": llvm("int32", "llvm.ctpop", TWO, TWO),
    "`llvm.sqrt` takes 1 operand, not 2": llvm("float32", "llvm.sqrt", const(2, "uint32"), ONE),
    "`llvm.sqrt` takes a floating-point number here, not int32": llvm("int32", "llvm.sqrt", TWO),
    "`llvm.bswap` takes an integer of at least 16 bits here, not int8": llvm(
        "int8", "llvm.bswap", const(1, "int8")
    ),
    "`llvm.ctlz` takes a literal bool here, not a value of bool": llvm(
        "int32", "llvm.ctlz", TWO, prim.LT(TWO, 3)
    ),
    "the operands of `llvm.pow` are float32 and float64": llvm(
        "float32", "llvm.pow", ONE, const(1.0, "float64")
    ),
    "the operands of `llvm.vector.reduce.fadd` are float64 and float32x2": llvm(
        "float64", "llvm.vector.reduce.fadd", const(1.0, "float64"), prim.Broadcast(ONE, 2)
    ),
    "`llvm.sqrt` gives float32 here, not float64": llvm("float64", "llvm.sqrt", ONE),
    "`llvm.lround` gives an integer, not float32": llvm("float32", "llvm.lround", ONE),
    "`llvm.assume` gives nothing (`void`), not int32": llvm("int32", "llvm.assume", TWO < 3),
    "`llvm.lround` does not give int32x2 of float32, which differ in lanes": llvm(
        "int32x2", "llvm.lround", ONE
    ),
    "`llvm.sqrt.f64` is called with other dtypes than it says": llvm(
        "float32", "llvm.sqrt.f64", ONE
    ),
    "`T.ProducerLoad` reads what a tensor expression produces": store(
        Y, ProducerLoad(Y, (const(0),)), 0
    ),
}
