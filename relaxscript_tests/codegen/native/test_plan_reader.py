"""Which functions are calls of kernels only, and how such functions run as one call."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.native.entry import MOST_ON_STACK
from relaxscript.codegen.native.plan import Given, Made, PlannedCall
from relaxscript.codegen.native.plan_reader import ModuleKernels, entry_plan
from relaxscript.relax import get_pipeline
from relaxscript.script import from_source
from relaxscript_tests import examples
from relaxscript_tests.codegen.native.calls import is_native, outcome

HEAD = """
@I.ir_module
class Model:
    @T.prim_func
    def scale(
        x: T.Buffer(("n", 4), "float32"), w: T.Buffer((4,), "float32"),
        y: T.Buffer(("n", 4), "float32"),
    ):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("scale"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * w[vj]

    @T.prim_func
    def corner(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        y[0, 0] = x[0, 0]

    @T.prim_func
    def shift(x: T.Buffer(("m",), "float32"), by: T.int64, y: T.Buffer(("m",), "float32")):
        m = T.int64()
        for i in range(m):
            with T.block("shift"):
                vi = T.axis.spatial(m, i)
                y[vi] = x[vi] + T.cast(by, "float32")

    @T.prim_func
    def pick(x: T.Buffer(("n", 4), "float32"), y: T.Buffer((), "float32")):
        n = T.int64()
        y[()] = x[2, 0]
"""
TENSOR = 'R.Tensor((n, 4), "float32")'


def script(body: str, params: str = f'x: {TENSOR.replace("n,", chr(34) + "n" + chr(34) + ",")}',
           head: str = "@R.function") -> str:  # fmt: skip
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    return f"{HEAD}\n    {head}\n    def main({params}):\n        n = T.int64()\n{lines}"


W = 'R.const([1.0, 2.0, 3.0, 4.0], "float32")'
CALLS = {
    "two kernels": f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.call_tir(Model.scale, (y, {W}), out_sinfo={TENSOR})
return z
""",
    "a result used twice and returned": f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.call_tir(Model.scale, (y, {W}), out_sinfo={TENSOR})
v = R.call_tir(Model.scale, (y, {W}), out_sinfo={TENSOR})
return ((z, y), v, x)
""",
    "elements that a kernel leaves": f"""
y = R.call_tir(Model.corner, (x,), out_sinfo={TENSOR})
z = R.call_tir(Model.scale, (y, {W}), out_sinfo={TENSOR})
return z
""",
    "a result that nobody uses": f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
return z
""",
    "a number": """
y = R.reshape(x, R.shape([n * 4]))
z = R.call_tir(Model.shift, (y,), out_sinfo=R.Tensor((n * 4,), "float32"), tir_vars=R.shape([n]))
return z
""",
    "a kernel that fails for few rows": f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.call_tir(Model.pick, (y,), out_sinfo=R.Tensor((), "float32"))
return z
""",
}


def build(body: str, **named: str) -> Any:
    """A machine for a function, with reshapes written as views."""
    module = from_source(script(body, **named))
    lowered = rx.transform.RewriteDataflowReshape()(rx.transform.ConvertToDataflow()(module))
    return rx.jit(lowered)


@pytest.mark.parametrize("body", CALLS.values(), ids=CALLS)
def test_a_function_of_several_kernels_is_one_call(body: str) -> None:
    vm = build(body)
    assert is_native(vm.main)
    for rows in (0, 1, 3, 1000, 20_000):
        args = (np.arange(4 * rows, dtype="float32").reshape(rows, 4),)
        assert outcome(vm.main, args) == outcome(vm.main.__self__, args)


LOWERED_VIEW = """
@I.ir_module
class Model:
    @T.prim_func
    def copy(x: T.Buffer(("m",), "float32"), y: T.Buffer(("m",), "float32")):
        m = T.int64()
        for i in range(m):
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        flat: R.Tensor((n * 4,), "float32") = R.call_pure_packed(
            "vm.builtin.reshape", x, R.shape([n * 4]), sinfo_args=R.Tensor((n * 4,), "float32"))
        y = R.call_tir(Model.copy, (flat,), out_sinfo=R.Tensor((n * 4,), "float32"))
        z = R.reshape(y, R.shape([n * 2, 2]))
        v: R.Tensor((4, n), "float32") = R.call_pure_packed(
            "vm.builtin.reshape", z, R.shape([4, n]), sinfo_args=R.Tensor((4, n), "float32"))
        return (v,)
"""


@pytest.mark.parametrize("rows", [0, 1, 3, 20_000])
def test_views_are_of_the_elements_of_what_they_are_views_of(rows: int) -> None:
    vm = rx.jit(from_source(LOWERED_VIEW))
    assert is_native(vm.main)
    args = (np.arange(4 * rows, dtype="float32").reshape(rows, 4),)
    assert outcome(vm.main, args) == outcome(vm.main.__self__, args)
    (view,) = vm.main(*args)
    assert not np.shares_memory(view, args[0])
    assert view.flags.writeable


CHECKED = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), t: R.Tensor(("k", "j"), "float32"), s: R.Shape(ndim=2)
    ):
        n = T.int64()
        m = T.int64()
        l = T.int64()
        y = R.exp(x)
        v = R.match_cast(t, R.Tensor((m, m * 2), "float32"))
        w = R.match_cast(s, R.Shape([n, l]))
        z = R.add(v, R.const(1.0, "float32"))
        return (R.exp(z), y, R.shape([m + 1, l]))

    @R.function
    def result(
        x: R.Tensor(("n", 4), "float32"), t: R.Tensor(("k", 4), "float32")
    ) -> R.Tensor(("k", 4), "float32"):
        return R.exp(x)
"""


def test_checks_of_values_are_made_and_fail_as_in_the_machine() -> None:
    with pytest.warns(match="checked when"):
        vm = rx.jit(from_source(CHECKED))
    assert is_native(vm.main)
    assert is_native(vm.result)
    x = np.ones((3, 4), "float32")
    for m, j in ((2, 4), (2, 5), (0, 0), (3, 6), (4, 2)):
        for shape in ((3, 7), (2, 7), (3, 0), (3,)):
            args = x, np.ones((m, j), "float32"), shape
            assert outcome(vm.main, args) == outcome(vm.main.__self__, args)
    for rows in (3, 2):
        args = x, np.ones((rows, 4), "float32")
        assert outcome(vm.result, args) == outcome(vm.result.__self__, args)


CALLED = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool"), w: R.Tensor((4,), "float32")
    ):
        n = T.int64()
        a = Model.twice(x, (w, R.shape([n])))
        if c:
            b = Model.layer(a[0], w)
        else:
            b = Model.layer(x, w)
        return (b, a)

    @R.function(private=True)
    def twice(
        t: R.Tensor(("rows", "cols"), "float32"),
        u: R.Tuple(R.Tensor(("cols",), "float32"), R.Shape(["rows"])),
    ):
        rows = T.int64()
        cols = T.int64()
        y = Model.layer(t, u[0])
        return (Model.layer(y, u[0]), R.shape([rows, cols + 1]))

    @R.function
    def layer(t: R.Tensor(("m", "k"), "float32"), w: R.Tensor(("k",), "float32")):
        y = R.multiply(R.exp(t), w)
        return R.nn.softmax(y)

    @R.function
    def down(k: R.Tensor((), "int64"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        if k > R.const(0, "int64"):
            y: R.Tensor((4,), "float32") = Model.down(k - R.const(1, "int64"), R.exp(x))
        else:
            y: R.Tensor((4,), "float32") = x
        return y
"""


def test_functions_that_are_called_are_part_of_the_call() -> None:
    vm = rx.jit(from_source(CALLED))
    assert [is_native(vm[name]) for name in ("main", "layer", "down")] == [True, True, False]
    for rows in (0, 1, 3, 1000):
        for c in (True, False):
            args = np.ones((rows, 4), "float32"), np.array(c), np.arange(4, dtype="float32")
            assert outcome(vm.main, args) == outcome(vm.main.__self__, args)
    assert np.allclose(vm.down(np.array(2), np.zeros(4, "float32")), np.exp(np.exp(0.0)), rtol=1e-5)


def test_a_function_that_is_called_fails_as_in_the_machine() -> None:
    text = """
@I.ir_module
class Model:
    @T.prim_func
    def pick(x: T.Buffer(("n", 4), "float32"), y: T.Buffer((), "float32")):
        n = T.int64()
        y[()] = x[2, 0]

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), t: R.Tensor(("k", 4), "float32")):
        y = R.exp(x)
        return Model.inner(y, t)

    @R.function(private=True)
    def inner(x: R.Tensor(("m", 4), "float32"), t: R.Tensor(("m", 4), "float32")):
        y = R.call_tir(Model.pick, (R.add(x, t),), out_sinfo=R.Tensor((), "float32"))
        return y
"""
    with pytest.warns(match="checked when"):
        vm = rx.jit(from_source(text))
    assert is_native(vm.main)
    for rows, others in ((3, 3), (2, 2), (3, 2), (2, 3), (0, 0)):
        args = np.ones((rows, 4), "float32"), np.ones((others, 4), "float32")
        assert outcome(vm.main, args) == outcome(vm.main.__self__, args)


def test_many_functions_that_call_each_other_are_not_all_written_out() -> None:
    depth = 40
    rows = [
        f"""
    @R.function
    def f{i}(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return {f"Model.f{i + 1}(y)" if i < depth else "y"}
"""
        for i in range(depth + 1)
    ]
    vm = rx.jit(from_source("@I.ir_module\nclass Model:\n" + "".join(rows)))
    assert not is_native(vm.f0)
    assert is_native(vm.f20)
    x = np.full(4, -1000, "float32")
    for name in ("f0", "f20", "f40"):
        assert outcome(vm[name], (x,)) == outcome(getattr(vm[name], "__self__", vm[name]), (x,))


LEFT = {
    "a packed function": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.call_packed("no.such", y, sinfo_args={TENSOR})
return z
""", {"head": "@R.function(pure=False)"}),
    "a check of what is known too little of": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.match_cast(y, R.Tensor("float32", ndim=2))
return z
""", {}),
    "an operator by its meaning": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.exp(y)
return z
""", {}),
    "nothing but its argument": ("return x", {}),
    "a constant that is returned": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
return (y, {W})
""", {}),
    "a tensor of which little is known": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
return (y, v)
""", {"params": 'x: R.Tensor(("n", 4), "float32"), v: R.Tensor("float32", ndim=2)'}),
    "a view beside what it is of": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.reshape(y, R.shape([n * 4]))
return (y, z)
""", {}),
    "a view of an argument that is returned": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
z = R.reshape(x, R.shape([n * 4]))
return (y, z)
""", {}),
    "a scalar that is returned in a dtype that Python has not": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
return (y, k)
""", {"params": 'x: R.Tensor(("n", 4), "float32"), k: R.Prim("int32")'}),
    "a scalar of a float of 16 bits": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
return y
""", {"params": 'x: R.Tensor(("n", 4), "float32"), k: R.Prim("float16")'}),
    "a shape of unknown rank": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
return y
""", {"params": 'x: R.Tensor(("n", 4), "float32"), s: R.Shape'}),
    "a scalar that is the result of a computation in floats": (f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo={TENSOR})
return (y, R.prim_value(1.5))
""", {}),
}  # fmt: skip


@pytest.mark.parametrize(("body", "named"), LEFT.values(), ids=LEFT)
def test_other_functions_are_left_to_the_machine(body: str, named: dict[str, str]) -> None:
    target = "llvm -opt-level=0"  # which makes no kernels of operators
    assert not rx.build(from_source(script(body, **named)), target).entries


@pytest.mark.parametrize("pipeline", ["default", "default_build"])
def test_a_plan_says_what_is_called_on_what(pipeline: str) -> None:
    module = from_source(script(CALLS["two kernels"]))
    lowered = get_pipeline(pipeline)(module)
    kernels = rx.build(module, relax_pipeline="default_build").entries["main"].call.kernels
    plan = entry_plan("main", lowered["main"], ModuleKernels(lowered, {"scale": kernels[0]}))
    assert plan is not None
    first, second = plan.calls
    assert isinstance(first, PlannedCall)
    assert (first.operands[0], first.operands[2]) == (Given(0), Made(0))
    assert (second.operands[0], second.operands[2]) == (Made(0), Made(1))
    assert first.written == first.filled == {Made(0)}
    assert plan.returned == Made(1)


def test_tensors_between_kernels_are_on_the_stack_up_to_a_bound() -> None:
    body = f"""
y = R.call_tir(Model.scale, (x, {W}), out_sinfo=R.Tensor((ROWS, 4), "float32"))
z = R.call_tir(Model.corner, (y,), out_sinfo=R.Tensor((ROWS, 4), "float32"))
v = R.call_tir(Model.scale, (z, {W}), out_sinfo=R.Tensor((ROWS, 4), "float32"))
return v
"""
    for rows in (1, MOST_ON_STACK // 32, MOST_ON_STACK // 16, MOST_ON_STACK // 16 + 1):
        params = f'x: R.Tensor(({rows}, 4), "float32")'
        vm = rx.jit(from_source(script(body.replace("ROWS", str(rows)), params)))
        assert is_native(vm.main)
        args = (np.arange(4 * rows, dtype="float32").reshape(rows, 4),)
        for _ in range(2):
            assert outcome(vm.main, args) == outcome(vm.main.__self__, args)


@pytest.mark.parametrize("body", CALLS.values(), ids=CALLS)
def test_calls_of_several_kernels_leak_nothing(body: str) -> None:
    vm = build(body)
    sizes = [np.ones((rows, 4), "float32") for rows in (1, 3, 5000)]

    def run(times: int) -> None:
        for x in sizes:
            for _ in range(times):
                outcome(vm.main, (x,))
        gc.collect()

    run(10)
    blocks, times = sys.getallocatedblocks(), examples(2000)
    run(times)
    # Python itself takes and gives some; one for every second call would be a leak.
    assert abs(sys.getallocatedblocks() - blocks) < times * len(sizes) // 2


def test_memory_that_is_lacking_between_kernels_is_told_as_the_machine_tells_it() -> None:
    body = """
y = R.call_tir(Model.corner, (x,), out_sinfo=R.Tensor((n, 4), "float32"))
z = R.call_tir(Model.grow, (y,), out_sinfo=R.Tensor((n * 1152921504606846976,), "float32"))
return z
"""
    grow = """
    @T.prim_func
    def grow(
        x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n * 1152921504606846976",), "float32")
    ):
        n = T.int64()
        y[0] = x[0, 0]
"""
    vm = rx.jit(from_source(script(body).replace("    @R.function", grow + "\n    @R.function")))
    assert is_native(vm.main)
    for rows in (1, 2, 7, 100):
        args = (np.ones((rows, 4), "float32"),)
        text = outcome(vm.main, args)
        assert "cannot allocate" in text
        assert text == outcome(vm.main.__self__, args)


def test_functions_of_operators_are_one_call_when_they_are_loops() -> None:
    text = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 3), "float32")):
        n = T.int64()
        with R.dataflow():
            h = R.nn.relu(R.matmul(x, w))
            y = R.nn.softmax(h)
            R.output(y)
        return y
"""
    zero = get_pipeline("zero")(from_source(text))
    vm = rx.jit(rx.transform.ApplyDefaultSchedule()(zero))
    assert is_native(vm.main)
    for rows in (0, 1, 5):
        args = np.ones((rows, 8), "float32"), np.eye(8, 3, dtype="float32")
        assert outcome(vm.main, args) == outcome(vm.main.__self__, args)


KERNELS = """
@I.ir_module
class Kernels:
    @T.prim_func
    def double(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            y[i, j] = x[i, j] + x[i, j]

    @T.prim_func
    def third(x: T.Buffer(("n",), "float32"), y: T.Buffer((1,), "float32")):
        n = T.int64()
        y[0] = T.float32(1)
        y[0] = x[3]

    @T.prim_func
    def scaled(x: T.Buffer((4,), "float32"), by: T.float32, y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] * by
"""


def test_prim_funcs_that_are_called_alone_are_native() -> None:
    vm = rx.jit(from_source(KERNELS))
    assert [is_native(vm[name]) for name in ("double", "third", "scaled")] == [True, True, False]
    x, y = np.ones((3, 4), "float32"), np.zeros((3, 4), "float32")
    assert vm.double(x, y) is None
    assert vm.double.__self__(x, y) is None
    assert np.array_equal(y, x + x)


def test_arguments_of_prim_funcs_are_taken_and_refused_alike() -> None:
    vm = rx.jit(from_source(KERNELS))
    x, fixed = np.ones((3, 4), "float32"), np.ones((3, 4), "float32")
    fixed.flags.writeable = False
    strided = np.ones((3, 8), "float32")
    for y in (fixed, strided[:, ::2], strided, x, x.T, [1], None, np.ones((2, 4), "float32")):
        for args in ((x, y), (y, x.copy()), (x,), (x, x.copy(), y)):
            assert outcome(vm.double, args) == outcome(vm.double.__self__, args)


def test_what_was_written_before_a_failure_stays_and_is_written_once() -> None:
    vm = rx.jit(from_source(KERNELS))
    found = []
    for function in (vm.third, vm.third.__self__):
        y = np.zeros(1, "float32")
        text = outcome(function, (np.ones(2, "float32"), y))
        assert "[RX0614]" in text
        found.append((text, y[0]))
    assert found[0] == found[1]
    assert found[0][1] == 1
