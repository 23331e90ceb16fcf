"""Statements over the buffer `y` of four floats that no executor takes, by the words they get."""

from __future__ import annotations

from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript_tests.prim_func_examples import axis, block
from relaxscript_tests.prim_funcs import load, loop, store

Y = tir.Buffer("y", (4,))
I = Var("i")  # noqa: E741


def unchecked_store(value: prim.PrimExpr, *indices: int) -> tir.BufferStore:
    """A store as a careless pass may make it."""
    return tir.BufferStore.make(Y, value, tuple(const(i) for i in indices), None)


REFUSED = {
    "the variable `n` is not defined here": store(Y, prim.Cast("float32", Var("n")), 0),
    "the buffer `t` is not defined here": store(Y, load(tir.Buffer("t", (1,)), 0), 0),
    "the buffer `u` is not defined": store(
        Y, load(tir.Buffer("u", (1,), data=Var("p", "handle")), 0), 0
    ),
    "a value of int32 is stored into `y`, which holds float32": unchecked_store(const(1), 0),
    "operands of Add are float32 and int32": store(Y, prim.Add.make(const(1.0), const(1)), 0),
    "operands of LT are int32 and int64": tir.Evaluate(prim.LT.make(const(1), const(1, "int64"))),
    "there is no Sub of bool": tir.Evaluate(prim.Sub(const(True), const(True))),
    "float32 cannot be converted to handle": tir.Evaluate(prim.Cast("handle", const(1.0))),
    "buffer `y` has 1 dimensions, not 2": unchecked_store(const(1.0), 0, 0),
    "an index of buffer `y` is float32, not an integer": store(Y, const(1.0), const(1.0)),
    "only the last index of buffer `x` may be a vector": tir.Evaluate(
        load(tir.Buffer("x", (2, 2)), prim.Ramp(const(0), const(1), 2), 0)
    ),
    "block `b` has 1 axes, but 0 values": tir.BlockRealize.make(
        (), const(True), block([axis(I, 4)], [const(0)], tir.Evaluate(const(0))).block
    ),
    "`i` is int32, but its value is float32": tir.LetStmt(I, const(1.0), tir.Evaluate(const(0))),
    "`ptx_mma` cannot be": tir.Evaluate(prim.Call("void", "tir.ptx_mma", ())),
    "`tir.nothing` cannot be": tir.Evaluate(prim.Call("void", "tir.nothing", ())),
    "`exp` takes 1 operands, not 2": tir.Evaluate(
        prim.Call("float32", "tir.exp", (const(1.0), const(1.0)))
    ),
    "`exp` takes a floating-point number, not int32": tir.Evaluate(
        prim.Call("int32", "tir.exp", (const(1),))
    ),
    "operands of Call are float32 and int32": tir.Evaluate(
        prim.Call("float32", "tir.pow", (const(1.0), const(1)))
    ),
    "threads of a GPU": tir.AttrStmt(Y, "thread_extent", const(4), tir.Evaluate(const(0))),
    "a StringImm is not a number": tir.LetStmt(
        Var("h", "handle"), prim.StringImm("x"), tir.Evaluate(const(0))
    ),
    "a Shuffle takes constant indices": loop(
        I, 1, tir.Evaluate(prim.Shuffle((prim.Broadcast(const(1), 2),), (I,)))
    ),
}
