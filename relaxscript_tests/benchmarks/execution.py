"""Running compiled programs, as multiples of the same work written by hand in numpy.

The smallest things show what a call costs: a function that gives its argument back, a signature,
one operator, one kernel, a hundred of either. The digits network shows what is left of that in a
model, with one image and with 449. Both sides of a ratio take turns in one process; the yardstick
is `np.add` of 64 floats.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import relaxscript as rx
from relaxscript.script import from_source

from .timing import in_turns

SMALL = """
@I.ir_module
class Small:
    @R.function
    def same(x: R.Tensor((64,), "float32")):
        return x

    @R.function
    def total(x: R.Tensor((64,), "float32"), y: R.Tensor((64,), "float32")):
        return R.add(x, y)

    @R.function
    def signature(
        a: R.Tensor(("n", "m"), "float32"), b: R.Tensor(("m", "k"), "float32"),
        c: R.Tensor(("n", "k"), "float32"), d: R.Tensor(("n",), "float32"),
        e: R.Tensor(("n + m",), "float32"),
    ):
        return a

    @T.prim_func
    def increment(x: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32")):
        for i in range(64):
            y[i] = x[i] + T.float32(1)

    @R.function
    def kernel(x: R.Tensor((64,), "float32")):
        return R.call_tir(Small.increment, (x,), out_sinfo=R.Tensor((64,), "float32"))
"""

RELU = """
    @T.prim_func
    def relu(x: T.Buffer(("n", 64), "float32"), y: T.Buffer(("n", 64), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 64):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.max(x[vi, vj], T.float32(0))
"""

DIGITS = f"""
@I.ir_module
class Digits:
{RELU}
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 64), "float32"),
             v: R.Tensor((64, 10), "float32")):
        n = T.int64()
        cls = Digits
        with R.dataflow():
            h = R.matmul(x, w)
            a = R.call_tir(cls.relu, (h,), out_sinfo=R.Tensor((n, 64), "float32"))
            gv = R.nn.softmax(a @ v)
            R.output(gv)
        return gv
"""


def chain(count: int) -> str:
    """A module whose `main` calls a kernel `count` times."""
    lines = ["@I.ir_module", "class Chain:", RELU, "    @R.function"]
    lines += ['    def main(x0: R.Tensor(("n", 64), "float32")):', "        n = T.int64()"]
    lines += ["        cls = Chain"]
    info = 'out_sinfo=R.Tensor((n, 64), "float32")'
    lines += [f"        x{i + 1} = R.call_tir(cls.relu, (x{i},), {info})" for i in range(count)]
    return "\n".join([*lines, f"        return x{count}", ""])


def operators(count: int) -> str:
    """A module whose `main` adds `count` times."""
    lines = ["@I.ir_module", "class Operators:", "    @R.function"]
    lines += ['    def main(x0: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):']
    lines += [f"        x{i + 1} = R.add(x{i}, y)" for i in range(count)]
    return "\n".join([*lines, f"        return x{count}", ""])


def many(call: Callable[[], object], times: int) -> Callable[[], object]:
    """One measured run: `times` calls."""

    def run() -> None:
        for _ in range(times):
            call()

    return run


def compared(ours: Callable[[], object], theirs: Callable[[], object], times: int) -> list[float]:
    """Microseconds of a call of each."""
    taken = in_turns({"ours": many(ours, times), "theirs": many(theirs, times)}, runs=15)
    return [taken[name] / times * 1e6 for name in ("ours", "theirs")]


def report(name: str, ours: float, theirs: float) -> None:
    print(f"{name:<34}{ours:9.2f} us = {ours / theirs:5.2f} x numpy's {theirs:.2f} us")


def small_figures() -> None:
    model = rx.jit(from_source(SMALL))
    x = np.ones(64, "float32")
    same, total = model["same"], model["total"]
    report("a call that gives back x (np.add)", *compared(lambda: same(x), lambda: x + x, 20_000))
    report("R.add of 64 floats", *compared(lambda: total(x, x), lambda: x + x, 20_000))
    kernel, signature = model["kernel"], model["signature"]
    report("a kernel on 64 floats (np.add)", *compared(lambda: kernel(x), lambda: x + x, 20_000))
    shapes = ((2, 3), (3, 4), (2, 4), (2,), (5,))
    five = [np.ones(shape, "float32") for shape in shapes]
    figures = compared(lambda: signature(*five), lambda: x + x, 20_000)
    report("five arguments, three symbols", *figures)


def chain_figures() -> None:
    main = rx.jit(from_source(chain(100)))["main"]
    x = np.ones((1, 64), "float32")

    def by_hand() -> None:
        y = x
        for _ in range(100):
            y = np.maximum(y, np.float32(0))

    report("a chain of 100 kernels", *compared(lambda: main(x), by_hand, 200))


def operator_figures() -> None:
    x, y = np.ones(64, "float32"), np.full(64, 0.5, "float32")

    def by_hand() -> None:
        z = x
        for _ in range(100):
            z = np.add(z, y)

    main = rx.jit(from_source(operators(100)))["main"]
    report("a chain of 100 operators", *compared(lambda: main(x, y), by_hand, 500))
    longer = rx.jit(from_source(operators(1000)))["main"]
    short, long = compared(lambda: main(x, y), lambda: longer(x, y), 100)
    print(f"{'1,000 operators':<34}{long:9.2f} us = {long / short:5.2f} x 100 operators")


def memory_figures() -> None:
    import resource  # not on Windows

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    model = rx.jit(from_source(SMALL))
    x, total, kernel = np.ones(64, "float32"), model["total"], model["kernel"]
    for name, call in (("R.add", lambda: total(x, x)), ("a kernel", lambda: kernel(x))):
        many(call, 1000)()
        before = peak()
        many(call, 100_000)()
        print(f"{'100,000 calls, ' + name:<34}{peak() - before:9.0f} KiB more memory")


def digits_figures() -> None:
    main = rx.jit(from_source(DIGITS))["main"]
    random = np.random.default_rng(0)
    w, v = (random.normal(size=(64, size)).astype("float32") for size in (64, 10))

    def by_hand(x: np.ndarray) -> np.ndarray:
        scores = np.maximum(x @ w, 0) @ v
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    def figures(batch: int) -> list[float]:
        x = random.normal(size=(batch, 64)).astype("float32")
        return compared(lambda: main(x, w, v), lambda: by_hand(x), 20_000 // (batch + 9))

    for batch in (1, 449):
        report(f"digits, batch {batch}", *figures(batch))


def main() -> None:
    small_figures()
    chain_figures()
    operator_figures()
    memory_figures()
    digits_figures()


if __name__ == "__main__":
    main()
