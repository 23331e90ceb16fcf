"""Tensors on virtual devices: what is found out, what is written, and that it runs there."""

from __future__ import annotations

import cProfile
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.relax import ExternFunc
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import substitute, walk
from relaxscript.runtime import DeviceTensor
from relaxscript.runtime.values import Shape, cpu, to_device
from relaxscript.script import from_source
from relaxscript.testing import diagnostics_of
from relaxscript.testing.compare import EXECUTORS, assert_allclose_tree, assert_same, outcome
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import (
    LambdaLift,
    LowerToOneWorker,
    RealizeVDevice,
    default_build_pipeline,
)
from relaxscript_tests import examples
from relaxscript_tests.transform.before_after import check

HEAD = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

    @T.prim_func
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + x[i]
"""
F4 = 'R.Tensor((4,), "float32")'
ON0 = 'R.Tensor((4,), "float32", "llvm:0")'
ON1 = 'R.Tensor((4,), "float32", "llvm:1")'
X = np.arange(4, dtype="float32")


def program(header: str, *lines: str, more: str = "") -> str:
    """A module with a function `main` that begins with `cls = M`."""
    body = "\n        ".join(["cls = M", *lines])
    return f"{HEAD}\n    @R.function\n    def {header}:\n        {body}\n{more}"


def on(device: int, array: np.ndarray[Any, Any]) -> Any:
    return to_device(array, cpu(device))


def runs_alike(mod: IRModule, *args: Any) -> Any:
    """What all executors give for the realized module, lowered or not."""
    made = RealizeVDevice()(mod)
    results = [load(made)("main", *args) for load in EXECUTORS.values()]
    results += [
        load(mod)("main", *args) for name, load in EXECUTORS.items() if name != "interpreter"
    ]
    results.append(EXECUTORS["llvm"](default_build_pipeline()(mod))("main", *args))
    for result in results[1:]:
        assert_allclose_tree(result, results[0])
    return results[0]


# ---------------------------------------------------------------- what is written


def test_devices_flow_both_ways_and_hints_become_moves() -> None:
    check(
        RealizeVDevice(),
        program(
            f"main(x: {F4}, y: {ON1})",
            "a = R.add(x, R.const(1, 'float32'))",
            "b = R.multiply(a, y)",
            'c = R.hint_on_device(b, R.device("cpu", 0))',
            "return c",
        ),
        program(
            f"main(x: {ON1}, y: {ON1}) -> {ON0}",
            'k = R.to_vdevice(R.const(1, "float32"), "llvm:1")',
            "a = R.add(x, k)",
            "b = R.multiply(a, y)",
            'c = R.to_vdevice(b, "llvm:0")',
            "return c",
        ),
    )


def test_a_hint_at_the_device_where_the_tensor_is_goes_away() -> None:
    check(
        RealizeVDevice(),
        program(f"main(x: {ON1})", 'y = R.hint_on_device(x, R.device("cpu", 1))', "return y"),
        program(f"main(x: {ON1})", "y = x", "return y"),
    )


def test_a_tensor_that_may_be_anywhere_is_moved_where_a_hint_wants_it() -> None:
    check(
        RealizeVDevice(),
        program(f"main(x: {F4})", 'y = R.hint_on_device(x, R.device("cpu", 1))', "return y"),
        program(f"main(x: {F4})", 'y = R.to_vdevice(x, "llvm:1")', "return y"),
    )


def test_a_hint_names_the_memory_scope_as_well() -> None:
    before = program(
        'main(x: R.Tensor((4,), "float32", "llvm:0"))',
        'y = R.hint_on_device(x, R.device("cpu"), "local")',
        'z = R.hint_on_device(x, R.device("cpu"), "global")',
        "return (y, z)",
    ).replace('I.vdevice("llvm", 1)', 'I.vdevice("llvm -mcpu=znver4", 0, "local")')
    made = RealizeVDevice()(from_source(before))
    infos = made["main"].ret_struct_info.fields
    assert [info.vdevice.short for info in infos] == ["llvm -mcpu=znver4:0:local", "llvm:0"]


def test_what_an_operator_makes_of_no_tensor_is_moved_to_where_it_is_wanted() -> None:
    check(
        RealizeVDevice(),
        program(
            f"main(x: {ON0})", 'z = R.zeros((4,), "float32")', "y = R.add(x, z)", "return y"
        ),
        program(
            f"main(x: {ON0})", 'a = R.zeros((4,), "float32")', 'z = R.to_vdevice(a, "llvm:0")',
            "y = R.add(x, z)", "return y",
        ),
    )  # fmt: skip


def test_constants_stay_where_they_are_made() -> None:
    check(RealizeVDevice(), program(f"main(x: {ON0})", "return R.add(x, R.const(1, 'float32'))"))


def test_results_of_prim_funcs_are_where_their_arguments_are() -> None:
    check(
        RealizeVDevice(),
        program(f"main(x: {ON1})", f"y = R.call_tir(cls.double, (x,), out_sinfo={F4})", "return y"),
        program(
            f"main(x: {ON1})", f"y = R.call_tir(cls.double, (x,), out_sinfo={ON1})", "return y"
        ),
    )


def test_a_prim_func_that_is_called_directly_writes_where_its_arguments_are() -> None:
    mod = from_source(
        program(
            f"main(x: {ON1})", 'z = R.zeros((4,), "float32")', "cls.double(x, z)", "return z"
        ).replace("@R.function", "@R.function(pure=False)")
    )
    assert runs_alike(mod, on(1, X)).numpy().tolist() == [0, 2, 4, 6]


def test_closures_say_as_much_lifted_as_inside() -> None:
    mod = from_source(
        program(
            f"main(x: {F4}, y: {ON1})",
            "@R.function",
            f"def inner(a: {F4}) -> {F4}:",
            "    b = R.add(a, y)",
            "    c = R.add(b, R.const(1, 'float32'))",
            "    return c",
            "z = inner(x)",
            "return z",
        )
    )
    made = RealizeVDevice()(mod)
    lifted = LambdaLift()(made)
    assert RealizeVDevice()(lifted) is lifted
    assert made["main"].params[0].struct_info.vdevice.short == "llvm:1"
    assert runs_alike(mod, on(1, X), on(1, X)).numpy().tolist() == [1, 3, 5, 7]


def test_constants_among_arguments_results_and_branches_are_moved() -> None:
    mod = from_source(
        program(
            f'main(x: {ON1}, c: R.Tensor((), "bool"))',
            "if c:",
            "    r = R.const([1, 2, 3, 4], 'float32')",
            "else:",
            "    r = cls.f(x, (R.const([5, 6, 7, 8], 'float32'), x))",
            "y = R.add(r, x)",
            "return (y, R.const([0, 0, 0, 1], 'float32'))",
            more=f"\n    @R.function(private=True)\n"
            f"    def f(a: {ON1}, t: R.Tuple({ON1}, {ON1})) -> {ON1}:\n        return t[0]\n",
        ).replace('"bool"))', f'"bool")) -> R.Tuple({ON1}, {ON1})')
    )
    for truth, first in ((True, [1, 3, 5, 7]), (False, [5, 7, 9, 11])):
        y, k = runs_alike(mod, on(1, X), np.array(truth))
        assert (y.device, k.device) == (cpu(1), cpu(1))
        assert y.numpy().tolist() == first
        assert k.numpy().tolist() == [0, 0, 0, 1]


def test_recursive_functions_settle() -> None:
    step = """
    @R.function(private=True)
    def {0}(x: {2}, n: R.Tensor((), "int64")) -> {2}:
        cls = M
        if R.greater(n, R.const(0, "int64")):
            m = R.subtract(n, R.const(1, "int64"))
            y = R.add(x, x)
            r = cls.{1}(y, m)
        else:
            r = x
        return r
"""
    text = program(
        f'main(x: {F4}, n: R.Tensor((), "int64", "llvm:0")) -> {ON1}',
        "y = cls.even(x, n)", "return y",
        more=step.format("even", "odd", F4) + step.format("odd", "even", F4),
    ).replace('n: R.Tensor((), "int64")', 'n: R.Tensor((), "int64", "llvm:0")')  # fmt: skip
    mod = from_source(text)
    made = RealizeVDevice()(mod)
    assert made["odd"].params[0].struct_info.vdevice.short == "llvm:1"
    assert runs_alike(mod, on(1, X), np.array(3)).numpy().tolist() == [0, 8, 16, 24]


def chain(length: int) -> IRModule:
    """A function that calls the next, and so on; only the first says where its result is."""
    functions = [
        f"    @R.function(private=True)\n    def f{i}(x: {F4}) -> {F4}:\n"
        f"        cls = M\n        y = cls.f{i + 1}(x)\n        z = R.add(y, x)\n"
        "        return z\n"
        for i in range(length)
    ]
    last = f"    @R.function(private=True)\n    def f{length}(x: {F4}) -> {F4}:\n        return x\n"
    first = program(f"main(x: {F4}) -> {ON1}", "y = cls.f0(x)", "return y")
    return from_source("\n".join([first, *functions, last]))


def test_devices_flow_through_a_chain_of_functions_at_a_cost_that_is_its_length() -> None:
    calls = []
    for length in (40, 80):
        mod = chain(length)
        profile = cProfile.Profile()
        made = profile.runcall(RealizeVDevice(), mod)
        assert made[f"f{length}"].params[0].struct_info.vdevice.short == "llvm:1"
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[1] < 2.2 * calls[0]


def test_a_lowered_module_needs_nothing_more() -> None:
    mod = from_source(
        program(
            f"main(x: {F4}) -> {ON1}",
            f"y = R.call_tir(cls.double, (x,), out_sinfo={F4})",
            "z = R.add(y, R.const(1, 'float32'))",
            "return z",
        )
    )
    lowered = default_build_pipeline()(mod)
    assert RealizeVDevice()(lowered) is lowered
    assert runs_alike(mod, on(1, X)).numpy().tolist() == [1, 3, 5, 7]


# ---------------------------------------------------------------- programs made by hand


def by_hand() -> IRModule:
    x, y = (
        rx.Var(name, TensorStructInfo((4,), "float32", device))
        for name, device in (("x", None), ("y", VDevice("llvm", 1)))
    )
    bb = rx.BlockBuilder()
    with bb.function("main", [x, y]):
        z = bb.emit(rx.op.add(x, x))
        w = bb.emit(rx.op.add(z, y))
        bb.emit_func_output(w)
    mod = bb.finalize()
    mod.update_global_info("vdevice", [VDevice("cpu", 0), VDevice("cpu", 1)])
    return mod


def test_a_program_made_by_hand_is_realized_as_one_that_was_read() -> None:
    made = RealizeVDevice()(by_hand())
    assert made["main"].params[0].struct_info.vdevice.short == "llvm:1"


def test_mistakes_in_a_program_made_by_hand_are_shown_in_its_printed_text() -> None:
    mod = by_hand()
    result = mod["main"].replace(
        ret_struct_info=TensorStructInfo((4,), "float32", VDevice("llvm", 0))
    )
    mod["main"] = result
    with pytest.raises(DiagnosticError) as caught:
        RealizeVDevice()(mod)
    (found,) = caught.value.diagnostics
    assert found.code == "RX0210"
    lines = mod.script().split("\n")
    uses = [lines[s.line - 1][s.column - 1 : s.end_column - 1] for s, _ in found.labels]
    assert uses == ["gv1", "R.add(gv, y)", 'R.Tensor((4,), "float32", vdevice="llvm:0")']


def test_a_hint_at_a_device_that_the_module_has_not_is_refused() -> None:
    text = program(f"main(x: {ON0})", 'y = R.hint_on_device(x, R.device("cuda", 1))', "return y")
    with pytest.raises(
        DiagnosticError, match="the module has no virtual device `cuda:1`"
    ) as caught:
        RealizeVDevice()(from_source(text))
    (found,) = caught.value.diagnostics
    assert (found.code, found.help) == ("RX0324", "the module has `llvm:0`, `llvm:1`")


# ---------------------------------------------------------------- running


def test_a_value_on_another_device_than_is_said_is_refused_where_it_is_used() -> None:
    mod = from_source(program(f"main(x: {ON1})", "y = R.add(x, x)", "return y"))
    for load in EXECUTORS.values():
        refused = outcome(lambda load=load: load(mod)("main", X))
        assert isinstance(refused, VMError)
        said = "`x` is on cpu:0; must be on cpu:1"
        assert refused.diagnostic.message == said


# ---------------------------------------------------------------- random programs


def placed(info: StructInfo, device: VDevice) -> StructInfo:
    match info:
        case TensorStructInfo():
            return info.replace(vdevice=device)
        case TupleStructInfo(fields):
            return info.replace(fields=tuple(placed(field, device) for field in fields))
    return info


def all_on(mod: IRModule, device: VDevice) -> IRModule:
    """The module with the parameters of all its functions said to be on a device."""
    made = mod.clone()
    made.update_global_info("vdevice", [VDevice("llvm"), VDevice("llvm", 1)])
    for var, function in mod.relax_functions().items():
        params = {p: p.replace(struct_info=placed(p.struct_info, device)) for p in function.params}
        moved = {old: new for old, new in params.items() if new is not old}
        made[var] = substitute(function, moved)
    return made


def is_closed(mod: IRModule) -> bool:
    """Whether no function takes part of which no device can be known.

    Packed functions give tensors on the host; a PrimFunc that is a value is called as a closure.
    """
    nodes = [node for f in mod.relax_functions().values() for node in walk(f)]
    return not any(isinstance(node, (ExternFunc, FuncStructInfo)) for node in nodes)


def moved(value: Any, device: int) -> Any:
    match value:
        case np.ndarray() | DeviceTensor():
            return to_device(value, cpu(device))
        case tuple() if not isinstance(value, Shape):
            return tuple(moved(item, device) for item in value)
    return value


def realized_if_known(mod: IRModule) -> IRModule | None:
    """The realized module; None where operators on constants alone say nothing of devices."""
    found = diagnostics_of(lambda: RealizeVDevice()(mod))
    assert {diagnostic.code for diagnostic in found} <= {"RX0211"}
    return None if found else RealizeVDevice()(mod)


# What is left to run time is warned of where it is read.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
@pytest.mark.parametrize("device", [0, 1])
def test_random_programs_give_the_same_on_every_device(device: int) -> None:
    ran = 0
    for seed in count():
        if ran == examples(30):
            break
        # A distributed tensor is on the devices of its mesh until one worker has all of it.
        mod = LowerToOneWorker()(random_module(seed))
        if device and not is_closed(mod):
            continue
        made = realized_if_known(all_on(mod, VDevice("llvm", device)))
        if made is None:
            continue
        assert RealizeVDevice()(made) is made
        assert_same(from_source(made.script(show_meta=True)), made)
        check_results(mod, made, device, seed)
        ran += 1


def check_results(mod: IRModule, made: IRModule, device: int, seed: int) -> None:
    """The executors give for `made`, with all on a device, what `mod` gives on the host."""
    new_tree = partial(inputs_for, mod["main"], seed)  # some are written into
    expected = outcome(lambda: EXECUTORS["interpreter"](mod)("main", *new_tree()))
    for load in EXECUTORS.values():
        given = [moved(value, device) for value in new_tree()]
        actual = outcome(lambda load=load, given=given: load(made)("main", *given))
        if isinstance(expected, VMError):
            assert isinstance(actual, VMError), seed
        else:
            assert_allclose_tree(moved(actual, 0), expected)
