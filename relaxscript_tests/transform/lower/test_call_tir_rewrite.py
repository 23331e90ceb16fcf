"""Destination-passing calls written out: what comes out, and that it runs as before."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as op
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.ir import relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import BindingBlock, Function, GlobalVar, SeqExpr, Var, VarBinding
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import walk
from relaxscript.runtime import DeviceTensor, Shape, cpu, register_func, remove_global_func
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, assert_same, check_outcomes, outcome
from relaxscript.transform import CallTIRRewrite

KERNELS = """
    @T.prim_func
    def double(x: T.Buffer(("n", "m"), "float32"), y: T.Buffer(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        for i, j in T.grid(n, m):
            y[i, j] = x[i, j] + x[i, j]

    @T.prim_func
    def both(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"),
             z: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)
            z[i] = x[i] + T.float32(2)

    @T.prim_func
    def first(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(2):
            y[i] = x[i]

    @T.prim_func
    def plus(k: T.int64, x: T.Buffer((), "float32"), l: T.int32, y: T.Buffer((), "float32")):
        y[()] = x[()] + T.Cast("float32", k) * T.float32(10) + T.Cast("float32", l)

    @T.prim_func
    def add_to(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"),
               old: T.Buffer((4,), "float32")):
        for i in range(4):
            old[i] = x[i]
            x[i] = x[i] + y[i]

    @T.prim_func
    def bump(x: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = x[i] + T.float32(1)
"""

F4 = 'R.Tensor((4,), "float32")'
NEW4 = 'R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0))'
NEW0 = NEW4.replace("[4]", "[]")
FORCED = 'R.func_attr({"relax.force_pure": True})'
X = np.arange(4, dtype="float32")


def module(header: str, *lines: str, infos: str = "") -> IRModule:
    """The kernels and a function `main` that begins with `cls = M`."""
    body = "\n        ".join(["cls = M", *lines])
    main = f"    @R.function\n    def {header}:\n        {body}\n"
    return from_source(f"@I.ir_module\nclass M:{infos}{KERNELS}\n{main}")


def on_devices(header: str, *lines: str) -> IRModule:
    """The same, of a module that lists two devices."""
    devices = '{"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]}'
    return module(header, *lines, infos=f"\n    I.module_global_infos({devices})")


def written_out(header: str, *lines: str) -> IRModule:
    """The same, of a function that is trusted to be pure."""
    return module(header, FORCED, *lines)


def runs(mod: IRModule, *args: object) -> object:
    """What all executors give before and after the pass."""
    after = CallTIRRewrite()(mod)
    results = [
        outcome(lambda run=run: run("main", *[np.copy(a) if a is X else a for a in args]))
        for tried in (mod, after)
        for run in [load(tried) for load in EXECUTORS.values()]
    ]
    for index, result in enumerate(results):
        check_outcomes(f"run {index}", result, "the first run", results[0])
    return results[0]


def calls(mod: IRModule) -> set[str]:
    """The operators that `main` calls."""
    return {
        n.op.name for n in walk(mod["main"]) if isinstance(n, relax.Call) and hasattr(n.op, "name")
    }


# -- PrimFuncs -------------------------------------------------------------------------------------


def test_a_result_is_allocated_and_given_to_the_function():
    header = 'main(x: R.Tensor(("n", 3), "float32"))'
    info = 'R.Tensor((n, 3), "float32")'
    before = module(
        header, "n = T.int64()", f"y = R.call_tir(cls.double, (x,), out_sinfo={info})", "return y"
    )
    after = written_out(
        header,
        "n = T.int64()",
        'a = R.builtin.alloc_tensor(R.shape([n, 3]), R.dtype("float32"), R.prim_value(0))',
        "cls.double(x, a)",
        f"y: {info} = a",
        "return y",
    )
    assert_same(CallTIRRewrite()(before), after)
    x = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(runs(before, x), 2 * x)


def test_variables_stay_the_same_objects():
    before = module(
        f"main(x: {F4})", f"y = R.call_tir(cls.first, (x,), out_sinfo={F4})", "return y"
    )
    after = CallTIRRewrite()(before)
    assert after["main"].params[0] is before["main"].params[0]
    assert after["main"].body.body is before["main"].body.body


def test_several_results_become_a_tuple():
    before = module(
        f"main(x: {F4})", f"y = R.call_tir(cls.both, (x,), out_sinfo=[{F4}, {F4}])", "return y"
    )
    after = written_out(
        f"main(x: {F4})",
        f"a = {NEW4}",
        f"b = {NEW4}",
        "cls.both(x, a, b)",
        f"y: R.Tuple({F4}, {F4}) = (a, b)",
        "return y",
    )
    assert_same(CallTIRRewrite()(before), after)
    first, second = runs(before, X)
    assert (first[0], second[0]) == (1, 2)


def test_what_a_kernel_does_not_write_is_zero():
    mod = module(f"main(x: {F4})", f"y = R.call_tir(cls.first, (x,), out_sinfo={F4})", "return y")
    np.testing.assert_array_equal(runs(mod, X + 1), [1, 2, 0, 0])


def test_integers_stand_where_the_function_has_its_scalars():
    header = 'main(x: R.Tensor((), "float32"), s: R.Shape(["n"]), k: R.Prim("int64"))'
    info = 'R.Tensor((), "float32")'
    before = module(
        header,
        "n = T.int64()",
        f"y = R.call_tir(cls.plus, (x, k), out_sinfo={info}, tir_vars=R.shape([7]))",
        f"z = R.call_tir(cls.plus, (y,), out_sinfo={info}, tir_vars=R.shape([n + 1, 3]))",
        "return z",
    )
    after = written_out(
        header,
        "n = T.int64()",
        f"a = {NEW0}",
        "cls.plus(k, x, R.prim_value(T.int32(7)), a)",
        f"y: {info} = a",
        f"b = {NEW0}",
        "v = R.prim_value(n + 1)",
        "cls.plus(v, y, R.prim_value(T.int32(3)), b)",
        f"z: {info} = b",
        "return z",
    )
    assert_same(CallTIRRewrite()(before), after)
    assert runs(before, np.array(0.5, "float32"), Shape([4]), 2) == 80.5


def test_a_shape_held_by_a_variable_is_matched():
    source = KERNELS.replace("l: T.int32", "l: T.int64")
    info = 'R.Tensor((), "float32")'
    text = (
        f"@I.ir_module\nclass M:{source}\n    @R.function\n"
        f"    def main(x: {info}, s: R.Shape(ndim=2)):\n        cls = M\n        "
    )
    call = f"y = R.call_tir(cls.plus, (x,), out_sinfo={info}, tir_vars=s)\n        return y\n"
    lines = [
        FORCED,
        "p = T.int64()",
        "q = T.int64()",
        "t = R.match_cast(s, R.Shape([p, q]))",
        f"a = {NEW0}",
        "v = R.prim_value(p)",
        "w = R.prim_value(q)",
        "cls.plus(v, x, w, a)",
        f"y: {info} = a",
        "return y",
    ]
    before, after = from_source(text + call), from_source(text + "\n        ".join(lines) + "\n")
    assert_same(CallTIRRewrite()(before), after)
    assert runs(before, np.array(1, "float32"), Shape([2, 3])) == 24


@pytest.mark.parametrize(
    ("shape", "values"), [("R.Shape", "s"), ('R.Shape(["n"])', "R.shape([1, n])")]
)
def test_what_only_the_kernel_can_check_stays_a_call_of_it(shape, values):
    info = 'R.Tensor((), "float32")'
    mod = module(
        f"main(x: {info}, s: {shape})",
        *(["n = T.int64()"] if "n" in values.split(",")[-1] else []),
        f"y = R.call_tir(cls.plus, (x,), out_sinfo={info}, tir_vars={values})",
        "return y",
    )
    made = CallTIRRewrite()(mod)
    assert "relax.call_tir_inplace" in calls(made)
    assert CallTIRRewrite()(made) is made
    error = runs(mod, np.array(1, "float32"), Shape([2**40]))
    assert isinstance(error, VMError)
    assert error.code in ("RX0601", "RX0602")


def test_a_number_that_its_parameter_cannot_hold_is_left_to_the_kernel():
    source = KERNELS.replace("k: T.int64, x", "x").replace('T.Cast("float32", k)', "T.float32(1)")
    info = 'R.Tensor((), "float32")'
    mod = from_source(
        f"@I.ir_module\nclass M:{source}\n    @R.function\n    def main(x: {info}):\n"
        f"        cls = M\n        y = R.call_tir(cls.plus, (x, R.prim_value(1.5)), {info})\n"
        "        return y\n"
    )
    assert "relax.call_tir_inplace" in calls(CallTIRRewrite()(mod))


def test_a_tuple_variable_gives_its_fields():
    header = f"main(t: R.Tuple({F4}))"
    before = module(header, f"y = R.call_tir(cls.first, t, out_sinfo={F4})", "return y")
    after = written_out(
        header, "x = t[0]", f"a = {NEW4}", "cls.first(x, a)", f"y: {F4} = a", "return y"
    )
    assert_same(CallTIRRewrite()(before), after)
    np.testing.assert_array_equal(runs(before, (X,)), [0, 1, 0, 0])


def test_branches_and_local_functions_are_rewritten():
    before = module(
        f'main(x: {F4}, c: R.Tensor((), "bool"))',
        "@R.function",
        f"def inner(a: {F4}) -> {F4}:",
        f"    b = R.call_tir(cls.first, (a,), out_sinfo={F4})",
        "    return b",
        "if c:",
        f"    y = R.call_tir(cls.first, (x,), out_sinfo={F4})",
        "else:",
        "    y = inner(x)",
        "return y",
    )
    assert not calls(CallTIRRewrite()(before)) & {"relax.call_tir"}
    np.testing.assert_array_equal(runs(before, X, np.array(False)), [0, 1, 0, 0])


# -- in place --------------------------------------------------------------------------------------


def test_an_argument_that_is_written_in_place_is_the_result():
    before = module(
        f"main(x: {F4}, y: {F4})",
        "z = R.call_tir_inplace(cls.add_to, (x, y), inplace_indices=[0, -1],"
        f" out_sinfo=[{F4}, {F4}])",
        "return z",
    )
    after = written_out(
        f"main(x: {F4}, y: {F4})",
        f"a = {NEW4}",
        "cls.add_to(x, y, a)",
        f"z: R.Tuple({F4}, {F4}) = (x, a)",
        "return z",
    )
    assert_same(CallTIRRewrite()(before), after)
    summed, old = runs(before, X, X)
    np.testing.assert_array_equal(summed, 2 * X)
    np.testing.assert_array_equal(old, X)


def test_an_argument_that_is_not_known_to_fit_its_result_is_checked():
    call = f"z = R.call_tir_inplace(cls.bump, (x,), inplace_indices=[0], out_sinfo={F4})"
    before = module("main(x: R.Tensor)", call, "return z")
    after = written_out(
        "main(x: R.Tensor)",
        f"x_1 = {checked('x', '`args[0]`, which is written in place,')}",
        "cls.bump(x_1)",
        f"z: {F4} = x_1",
        "return z",
    )
    assert_same(CallTIRRewrite()(before), after)
    assert runs(before, np.zeros(3, "float32")).code == "RX0605"


def test_a_call_of_what_is_no_prim_func_is_refused():
    x = Var("x", TensorStructInfo((4,), "float32"))
    call = op.call_tir(GlobalVar("nothing"), (x,), TensorStructInfo((4,), "float32"))
    function = Function([x], SeqExpr([BindingBlock([VarBinding(Var("y", None), call)])], x), None)
    with pytest.raises(DiagnosticError, match="the module has no function `nothing`"):
        CallTIRRewrite()(IRModule({"main": function}))


# -- packed functions ------------------------------------------------------------------------------


def checked(value, words):
    """A check of a value that messages call `words`."""
    given = f'({value}, R.str("{words}"))'
    return f'R.call_builtin_with_ctx("vm.builtin.match_cast", {given}, sinfo_args={F4})'


@pytest.fixture
def doubling():
    """A packed function that writes twice `x` into `out`, and returns what does not matter."""
    name = "test.double_into"
    register_func(name, lambda x, out: np.add(x, x, out=out))
    yield name
    remove_global_func(name)


def test_a_packed_function_is_called_on_what_was_allocated(doubling):
    before = module(
        f"main(x: {F4})", f'y = R.call_dps_packed("{doubling}", (x,), out_sinfo={F4})', "return y"
    )
    after = written_out(
        f"main(x: {F4})",
        f"a = {NEW4}",
        f'_ = R.call_packed("{doubling}", x, a, sinfo_args=R.Object)',
        f"y = {checked('a', f'the result of `{doubling}`')}",
        "return y",
    )
    assert_same(CallTIRRewrite()(before), after)
    np.testing.assert_array_equal(runs(before, X), 2 * X)


def test_a_function_value_is_invoked_on_what_was_allocated(doubling):
    header = f"main(f: R.Callable, t: R.Tuple({F4}))"
    before = module(header, f"y = R.call_dps_packed(f, t, out_sinfo={F4})", "return y")
    after = written_out(
        header,
        f"a = {NEW4}",
        "x = t[0]",
        "_ = R.invoke_closure(f, (x, a), sinfo_args=R.Object)",
        f"y = {checked('a', 'the result of `f`')}",
        "return y",
    )
    assert_same(CallTIRRewrite()(before), after)
    np.testing.assert_array_equal(runs(before, lambda x, out: np.add(x, x, out=out), (X,)), 2 * X)


# -- devices ---------------------------------------------------------------------------------------


THERE = 'R.Tensor((4,), "float32", vdevice="llvm:1")'
HERE = 'R.Tensor((4,), "float32", vdevice="llvm:0")'


def test_a_result_on_another_device_is_moved_there_before_the_call():
    before = on_devices(
        f"main(x: {THERE})", f"y = R.call_tir(cls.first, (x,), out_sinfo={THERE})", "return y"
    )
    after = on_devices(
        f"main(x: {THERE})",
        FORCED,
        f"a = {NEW4}",
        'b = R.to_vdevice(a, dst_vdevice="llvm:1")',
        "cls.first(x, b)",
        f"y: {THERE} = b",
        "return y",
    )
    assert_same(CallTIRRewrite()(before), after)
    assert runs(before, DeviceTensor(X, cpu(1))).device == cpu(1)


def test_a_result_on_the_host_is_not_moved():
    mod = on_devices(
        f"main(x: {F4})", f"y = R.call_tir(cls.first, (x,), out_sinfo={HERE})", "return y"
    )
    assert "relax.to_vdevice" not in calls(CallTIRRewrite()(mod))
    np.testing.assert_array_equal(runs(mod, X), [0, 1, 0, 0])


@pytest.mark.parametrize("load", EXECUTORS.values(), ids=EXECUTORS)
def test_a_direct_call_refuses_tensors_on_several_devices_as_call_tir_does(load):
    mod = module(f"main(x: {F4})", f"y = R.call_tir(cls.first, (x,), out_sinfo={F4})", "return y")
    said = [
        outcome(lambda made=made: load(made)("main", DeviceTensor(X, cpu(1)))).diagnostic.message
        for made in (mod, CallTIRRewrite()(mod))
    ]
    assert said[0] == said[1]
    assert "cpu:1" in said[0]


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "given", [np.zeros((2, 4), "float32"), np.zeros((3, 5), "float32"), np.zeros((3, 4), "int8"), X]
)
def test_an_argument_that_does_not_fit_is_refused_in_the_same_words_and_place(executor, given):
    mod = module(
        'main(x: R.Tensor, s: R.Shape(["n"]))',
        "n = T.int64()",
        'y = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n, 4), "float32"))',
        "return y",
    )
    load, args = EXECUTORS[executor], (given, Shape([3]))
    before, after = (
        outcome(lambda m=m: load(m)("main", *args)) for m in (mod, CallTIRRewrite()(mod))
    )
    assert isinstance(before, VMError)
    assert str(after) == str(before)
