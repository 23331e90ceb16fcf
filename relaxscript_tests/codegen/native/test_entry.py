"""`if` in native functions: one branch or the other, with the memory of each."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from relaxscript.runtime.dispatch import VMClosure
from relaxscript_tests import examples
from relaxscript_tests.codegen.native.calls import described, is_native, model, outcome

HEAD = """
@I.ir_module
class Model:
    @T.prim_func
    def scale(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("scale"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(3)

    @T.prim_func
    def corner(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        y[0, 0] = x[0, 0]

    @T.prim_func
    def third(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            y[i, j] = x[2, j]

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", 4), "float32"), d: R.Prim("bool")):
        n = T.int64()
"""
T = 'R.Tensor((n, 4), "float32")'


def call(name: str, *args: str) -> str:
    return f"R.call_tir(Model.{name}, ({', '.join(args)},), out_sinfo={T})"


def reshaped(value: str, shape: str) -> str:
    info = f'R.Tensor(({shape}), "float32")'
    given = f'"vm.builtin.reshape", {value}, R.shape([{shape}]), sinfo_args={info}'
    return f"z: {info} = R.call_pure_packed({given})"


BODIES = {
    "a kernel in each branch": f"""
if c:
    y = {call("scale", "x")}
else:
    y = {call("corner", "x")}
return y
""",
    "several kernels and one": f"""
if c:
    a = {call("scale", "x")}
    b = {call("scale", "a")}
    y = {call("scale", "b")}
else:
    y = {call("corner", "x")}
z = {call("scale", "y")}
return (z, y)
""",
    "a number for the condition": f"""
if d:
    y = {call("scale", "x")}
else:
    y = x
z = {call("scale", "y")}
return z
""",
    "an argument or a new tensor": f"""
if c:
    y = {call("scale", "x")}
else:
    y = x
return (y, x, y)
""",
    "what was made before": f"""
a = {call("scale", "x")}
b = {call("corner", "x")}
if c:
    y = a
else:
    y = b
z = {call("scale", "y")}
return (z, a)
""",
    "a constant": f"""
k = R.const([[1.0, 2.0, 3.0, 4.0]], "float32")
a = {call("corner", "x")}
if c:
    y = R.const([[5.0, 2.0, 3.0, 4.0]], "float32")
else:
    y = k
z = R.call_tir(Model.scale, (y,), out_sinfo=R.Tensor((1, 4), "float32"))
return (z, a)
""",
    "branches in branches": f"""
a = {call("scale", "x")}
if c:
    if d:
        v = {call("scale", "a")}
    else:
        v = x
    w = {call("corner", "v")}
    y = w
else:
    b = {call("corner", "a")}
    if d:
        u = {call("scale", "b")}
    else:
        u = {call("third", "b")}
    y = u
return y
""",
    "nothing in a branch but what is there": f"""
a = {call("scale", "x")}
if c:
    y = a
else:
    y = a
z = {call("scale", "y")}
return (z, y)
""",
    "one after the other": f"""
if c:
    a = {call("scale", "x")}
else:
    a = x
if d:
    b = {call("corner", "a")}
else:
    b = a
if c:
    y = {call("scale", "b")}
else:
    y = {call("third", "b")}
return (y, b)
""",
    "a kernel that fails in a branch": f"""
a = {call("scale", "x")}
if c:
    b = {call("scale", "a")}
    y = {call("third", "b")}
else:
    y = {call("scale", "a")}
z = {call("scale", "y")}
return (z, a)
""",
    "a tuple of what is made": f"""
if c:
    p = {call("scale", "x")}
    q = {call("corner", "x")}
    y = (p, (q, R.shape([n, 3])), p)
else:
    p = {call("corner", "x")}
    q = {call("scale", "x")}
    y = (p, (q, R.shape([n, 3])), q)
z = {call("scale", "y[1][0]")}
return (z, y)
""",
    "a view of one tensor or another": f"""
a = {call("scale", "x")}
if c:
    y = a
else:
    y = {call("corner", "x")}
{reshaped("y", "n, 4")}
return {call("scale", "z")}
""",
    "memory that one branch fills": """
a = R.builtin.alloc_tensor(R.shape([n, 4]), R.dtype("float32"), R.prim_value(0))
if c:
    y = R.call_tir_inplace(Model.scale, (x, a), inplace_indices=[1], out_sinfo=INFO)
else:
    y = a
return R.call_tir(Model.scale, (y,), out_sinfo=INFO)
""".replace("INFO", T),
    "a result that nobody uses": f"""
if c:
    y = {call("scale", "x")}
else:
    y = x
z = {call("scale", "x")}
return z
""",
}


def build(body: str) -> Any:
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    return model(HEAD + lines)


@pytest.fixture(scope="module", params=BODIES.values(), ids=BODIES)
def vm(request: Any) -> Any:
    return build(request.param)


@pytest.mark.parametrize("rows", [1, 0, 2, 3, 300, 20_000])
def test_both_branches_give_what_the_machine_gives(vm: Any, rows: int) -> None:
    assert is_native(vm.main)
    x = np.arange(4 * rows, dtype="float32").reshape(rows, 4)
    for c in (np.array(True), np.array(False)):
        for d in (True, False):
            args = c, x, d
            assert outcome(vm.main, args) == outcome(vm.main.__self__, args)


def test_an_argument_that_a_branch_gives_is_the_array_itself() -> None:
    main = build(BODIES["an argument or a new tensor"]).main
    x = np.ones((3, 4), "float32")
    y, same, again = main(np.array(False), x, True)
    assert y is x
    assert same is x
    assert again is x
    y, same, again = main(np.array(True), x, True)
    assert y is again
    assert y is not x


def test_neither_branch_goes_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    main = build(BODIES["branches in branches"]).main
    monkeypatch.setattr(VMClosure, "__call__", None)
    x = np.ones((3, 4), "float32")
    assert all(main(np.array(c), x, d).shape == (3, 4) for c in (0 < 1, 0 > 1) for d in (c, not c))


def test_conditions_are_taken_and_refused_alike() -> None:
    main = build(BODIES["one after the other"]).main
    x = np.ones((3, 4), "float32")
    odd = (True, np.bool_(True), np.array([True]), np.array(1), np.array(1, "int8"), None, 1, "x")
    for c in (*odd, np.array(True)):
        for d in odd:
            assert outcome(main, (c, x, d)) == outcome(main.__self__, (c, x, d))


def test_branches_leak_nothing(vm: Any) -> None:
    cases = [
        (np.array(c), np.ones((rows, 4), "float32"), d)
        for c in (True, False) for d in (True, False) for rows in (1, 3, 5000)
    ]  # fmt: skip
    times = examples(500)

    def run() -> None:
        for args in cases:
            for _ in range(times):
                outcome(vm.main, args)
        gc.collect()

    run()
    blocks, counts = sys.getallocatedblocks(), [sys.getrefcount(args[1]) for args in cases]
    run()
    assert abs(sys.getallocatedblocks() - blocks) < times * len(cases) // 4
    assert [sys.getrefcount(args[1]) for args in cases] == counts


LEFT = {
    "a view beside a tensor that may be what it is of": f"""
a = {call("scale", "x")}
if c:
    y = a
else:
    y = {call("corner", "x")}
{reshaped("a", "4, n")}
return (y, z)
""",
    "a view of what may be an argument": f"""
if c:
    y = {call("scale", "x")}
else:
    y = x
{reshaped("y", "4, n")}
return z
""",
    "shapes that differ": f"""
if c:
    a = {call("scale", "x")}
    y: R.Tensor("float32", ndim=2) = R.concat([a, a])
else:
    y: R.Tensor("float32", ndim=2) = {call("scale", "x")}
return y
""",
    "a constant that is returned": f"""
a = {call("scale", "x")}
if c:
    y = R.const([[5.0, 2.0, 3.0, 4.0]], "float32")
else:
    y = R.const([[1.0, 2.0, 3.0, 4.0]], "float32")
return (y, a)
""",
    "numbers that differ": f"""
a = {call("scale", "x")}
if c:
    y: R.Prim("int64") = R.prim_value(1)
else:
    y: R.Prim("int64") = R.prim_value(2)
return (y, a)
""",
}


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_branches_that_are_not_alike_are_left_to_the_machine(body: str) -> None:
    vm = build(body)
    assert not is_native(vm.main)
    x = np.ones((3, 4), "float32")
    assert vm.main(np.array(True), x, True) is not None


IN_PLACE = """
@I.ir_module
class Model:
    @T.prim_func
    def bump(x: T.Buffer(("n", 4), "float32"), w: T.Buffer((4,), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            x[i, j] = x[i, j] + w[j]

    @T.prim_func
    def third(x: T.Buffer(("n", 4), "float32"), w: T.Buffer((4,), "float32")):
        n = T.int64()
        w[0] = T.float32(9)
        w[1] = x[2, 0]

    @T.prim_func
    def second(x: T.Buffer(("n", 4), "float32"), y: T.Buffer((4,), "float32")):
        n = T.int64()
        for j in range(4):
            y[j] = x[1, j]

    @R.function
    def several(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")):
        n = T.int64()
        a = R.call_tir(Model.second, (x,), out_sinfo=R.Tensor((4,), "float32"))
        y = R.call_tir_inplace(
            Model.bump, (x, a), out_sinfo=R.Tensor((n, 4), "float32"), inplace_indices=[0])
        b = R.call_tir_inplace(
            Model.third, (y, w), out_sinfo=R.Tensor((4,), "float32"), inplace_indices=[1])
        z = R.call_tir_inplace(
            Model.bump, (y, b), out_sinfo=R.Tensor((n, 4), "float32"), inplace_indices=[0])
        return (R.exp(z), z, b)

    @R.function
    def own(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")):
        n = T.int64()
        a = R.exp(x)
        y = R.call_tir_inplace(
            Model.bump, (a, w), out_sinfo=R.Tensor((n, 4), "float32"), inplace_indices=[0])
        return R.exp(y)

    @R.function
    def chosen(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32"), c: R.Prim("bool")):
        n = T.int64()
        if c:
            y = R.call_tir_inplace(
                Model.bump, (x, w), out_sinfo=R.Tensor((n, 4), "float32"), inplace_indices=[0])
        else:
            y = x
        return y

    @R.function
    def called(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")):
        return Model.several(x, w)
"""


def test_kernels_that_write_into_arguments_run_once_and_fail_as_in_the_machine() -> None:
    vm = model(IN_PLACE)
    assert [is_native(vm[name]) for name in ("several", "own")] == [True, True]
    # What fails is told by the place of a kernel among those of a function without branches.
    assert [is_native(vm[name]) for name in ("chosen", "called")] == [False, False]
    for name in ("several", "own"):
        for rows in (0, 1, 2, 3, 500):
            found = []
            for function in (vm[name], vm[name].__self__):
                x, w = np.full((rows, 4), 0.5, "float32"), np.ones(4, "float32")
                told = outcome(function, (x, w))
                found.append((told, x.tobytes(), w.tobytes()))
            assert found[0] == found[1]
    x, w = np.ones((2, 4), "float32"), np.ones(4, "float32")
    assert "from `several`" in outcome(vm.several, (x, w))
    assert (x[0, 0], w[0]) == (2, 9)
    x, w = np.ones((3, 4), "float32"), np.ones(4, "float32")
    _, y, v = vm.several(x, w)
    assert y is x
    assert v is w


def test_memory_that_is_lacking_is_told_before_arguments_are_written_into() -> None:
    vm = model("""
@I.ir_module
class Model:
    @T.prim_func
    def bump(x: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = x[i] + T.float32(1)

    @T.prim_func
    def grow(x: T.Buffer((4,), "float32"), y: T.Buffer((1 << 60,), "float32")):
        y[0] = x[0]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir_inplace(
            Model.bump, (x,), out_sinfo=R.Tensor((4,), "float32"), inplace_indices=[0])
        return R.call_tir(Model.grow, (y,), out_sinfo=R.Tensor((1 << 60,), "float32"))
""")
    assert is_native(vm.main)
    found = []
    for function in (vm.main, vm.main.__self__):
        x = np.ones(4, "float32")
        found.append((outcome(function, (x,)), x[0]))
    assert "cannot allocate" in found[0][0]
    assert found[0] == found[1]


def test_memory_that_is_lacking_in_a_branch_is_told_and_all_else_is_let_go_of() -> None:
    grow = """
    @T.prim_func
    def grow(
        x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n * 1152921504606846976",), "float32")
    ):
        n = T.int64()
        y[0] = x[0, 0]

    @T.prim_func
    def shrink(
        x: T.Buffer(("n * 1152921504606846976",), "float32"), y: T.Buffer(("n", 4), "float32")
    ):
        n = T.int64()
        for i, j in T.grid(n, 4):
            y[i, j] = x[i]
"""
    body = f"""
a = {call("corner", "x")}
if c:
    b = {call("corner", "a")}
    e = R.call_tir(Model.grow, (b,), out_sinfo=R.Tensor((n * 1152921504606846976,), "float32"))
    y = R.call_tir(Model.shrink, (e,), out_sinfo={T})
else:
    y = a
z = {call("corner", "y")}
return (z, a)
"""
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    vm = model(HEAD.replace("\n    @R.function", grow + "\n    @R.function", 1) + lines)
    assert is_native(vm.main)
    for rows in (1, 7, 5000):
        x = np.ones((rows, 4), "float32")
        for c in (True, False):
            args = np.array(c), x, True
            count = sys.getrefcount(x)
            told = outcome(vm.main, args)
            assert told == outcome(vm.main.__self__, args)
            assert ("cannot allocate" in told) if c else (told[0] is tuple)
            assert sys.getrefcount(x) == count


def test_functions_of_very_many_tensors_do_not_fill_the_stack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from relaxscript.codegen.native import entry

    body = BODIES["a tuple of what is made"]
    x = np.ones((3, 4), "float32")
    wanted = described(build(body).main(np.array(True), x, False))
    monkeypatch.setattr(entry, "MOST_WORDS", 8)
    vm = build(body)
    assert not is_native(vm.main)
    assert described(vm.main(np.array(True), x, False)) == wanted
