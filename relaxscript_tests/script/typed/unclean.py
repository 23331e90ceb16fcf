"""What type checkers do find: each line that says so is wrong, and nothing else is."""

from __future__ import annotations

from relaxscript.script import relax as R, tir as T

R.ad(1, 2)  # wrong: no such operator
R.add(1)  # wrong: an operand is missing
R.nn.softmax(1, axes=1)  # wrong: no such parameter
R.dim(3)  # wrong: a name is a text
R.dim("n").nothing  # wrong: no such attribute
R.function(3)  # wrong: no function
R.sum(1, axis=1, keepdims=True)
R.astype(1, R.f32)

n = T.dim("n")


@T.prim_func
def f(x: T.Buffer[T.f32, n, 4], y: T.Buffer[T.f32, n, 4], k: T.int64) -> None:
    for i, j in T.grid(n, 4):
        with T.block("f"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = T.exp(x[vi, vj]) + T.cast(k, T.f32)
            y[vi, "j"] = x[vi, vj]  # wrong: no index
            y[vi, vj] = "one"  # wrong: no scalar
            y[vi, vj] = x.shpae[0]  # wrong: no such attribute of a buffer
            y[vi, vj] = x + y  # wrong: buffers are no scalars
    for v in T.serail(4):  # wrong: no such loop
        T.evaluate(v)
    T.evaluate(T.axis.remapp("S", [k]))  # wrong: nothing of axes
    T.evaluate(T.cast(k))  # wrong: a dtype is missing
    T.evaluate(k.nothing)  # wrong: no such attribute of a scalar
    with T.serial(4):  # wrong: a loop is no scope
        T.evaluate(k)
