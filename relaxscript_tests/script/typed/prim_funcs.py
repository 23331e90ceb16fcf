"""PrimFuncs that type checkers and linters have nothing to say against."""

import relaxscript as rx
from relaxscript.script import ir as I, relax as R, tir as T

n = T.dim("n")
m = T.dim("m")
width = 4


@T.prim_func
def matmul(x: T.Buffer[T.f32, n, 64], w: T.Buffer[T.f32, 64, m], y: T.Buffer[T.f32, n, m]) -> None:
    T.func_attr({"tir.noalias": True})
    for i, j, k in T.grid(n, m, 64):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(x[vi, vk], w[vk, vj])
            T.writes(y[vi, vj])
            with T.init():
                y[vi, vj] = T.float32(0)
            y[vi, vj] += x[vi, vk] * w[vk, vj]


@T.prim_func(private=True)
def softplus(
    a: T.handle, scale: T.float32, count: T.int64, flags: T.Buffer[T.bool, (n, width)]
) -> None:
    x = T.match_buffer(a, (n, width), T.f32)
    kept = T.alloc_buffer((n, width), "float32", scope="global")
    for i in T.serial(n):
        for j in T.vectorized(width):
            kept[i, j] = T.log(T.exp(x[i, j] * scale) + T.float32(1))
    for i in T.parallel(x.shape[0]):
        with T.block("copy"):
            vi = T.axis.spatial(n, i)
            if vi < count and vi != 3:
                x[vi, 0] = T.if_then_else(flags[vi, 0], kept[vi, 0], T.max_value(T.f32))
            else:
                x[vi, 0] = T.max(kept[vi, width - 1], T.cast(vi, T.f32)) - 1.0


@T.prim_func
def memory(x: T.Buffer[T.i32, 8], total: T.Buffer[T.i32, ()]) -> None:
    lane = T.int32()
    with T.allocate((8,), "int32") as address:
        held = T.decl_buffer((8,), "int32", data=address)
        for i in T.unroll(8):
            half = x[i] // 2
            held[i] = T.Let(lane * lane, where={lane: half})
        with T.LetStmt(held[0] + held[7]) as edge:
            total[()] = edge
    T.evaluate(T.call_packed("done", x.data))


@I.ir_module
class Digits(I.Module):
    @T.prim_func
    def relu(x: T.Buffer[T.f32, n, 4], y: T.Buffer[T.f32, n, 4]) -> None:
        for i, j in T.grid(n, 4):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.max(x[vi, vj], 0.0)

    @T.prim_func
    def fill(value: T.float32, y: T.Buffer[T.f32, n, 4]) -> None:
        for i, j in T.grid(n, 4):
            y[i, j] = value

    @R.function
    def main(x: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f32, n, 4]:
        cls = Digits
        y = R.call_tir(cls.relu, (x,), R.Tensor[R.f32, n, 4])
        return y


def texts() -> list[str]:
    """What scripts are used for: their methods are known to checkers."""
    return [matmul.script(show_meta=True), str(softplus), str(memory.body)]


def parsed() -> rx.tir.PrimFunc:
    """A PrimFunc from a text."""
    function = rx.from_source(texts()[0])
    assert isinstance(function, rx.tir.PrimFunc)
    return function
