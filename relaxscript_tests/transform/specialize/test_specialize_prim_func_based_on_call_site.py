"""Buffers of PrimFuncs are in the memory of the tensors that calls give them."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.ir.module import VDevice
from relaxscript.script import from_source
from relaxscript.transform import (
    LegalizeOps,
    Sequential,
    SpecializePrimFuncBasedOnCallSite,
    UpdateVDevice,
)
from relaxscript_tests.transform.before_after import check

STEP = SpecializePrimFuncBasedOnCallSite()
HEAD = """
@I.ir_module
class M:
    I.module_global_infos(
        {"vdevice": [I.vdevice("llvm", 0, "l2"), I.vdevice("llvm", 0, "global")]}
    )

    @T.prim_func(private=True)
"""
PLAIN = """
    def exp(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
"""
SCOPED = """
    def exp(p: T.handle, q: T.handle):
        x = T.match_buffer(p, (4,), scope="l2")
        y = T.match_buffer(q, (4,), scope="l2")
"""
LOOPS = """
        for i in range(4):
            with T.block("exp"):
                v = T.axis.spatial(4, i)
                y[v] = T.exp(x[v])
"""
L2, GLOBAL, ANY = (f'R.Tensor((4,), "float32"{on})' for on in (', "llvm:0:l2"', ', "llvm:1"', ""))


def program(params: str, *calls: tuple[str, str], func: str = PLAIN) -> str:
    lines = [f"    @R.function\n    def main({params}):"]
    for index, (arg, out) in enumerate(calls):
        lines.append(f"        z{index} = R.call_tir(M.exp, ({arg},), out_sinfo={out})")
    lines.append(f"        return ({''.join(f'z{i}, ' for i in range(len(calls)))})")
    return HEAD + func.strip("\n") + LOOPS + "\n" + "\n".join(lines) + "\n"


def test_inputs_and_results_have_the_scope_of_their_device():
    check(
        STEP, program(f"x: {L2}", ("x", L2)),
        program(f"x: {L2}", ("x", L2), func=SCOPED),
    )  # fmt: skip


def test_a_scope_that_changes_back_is_changed_back():
    check(
        STEP, program(f"x: {GLOBAL}", ("x", GLOBAL), func=SCOPED),
        program(f"x: {GLOBAL}", ("x", GLOBAL)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("params", "calls"),
    [
        (f"x: {ANY}", [("x", ANY)]),
        (f"x: {L2}, y: {GLOBAL}", [("x", L2), ("y", GLOBAL)]),
        (f"x: {GLOBAL}", [("x", GLOBAL)]),
        (f"x: {L2}", []),
    ],
    ids=["no_device", "two_scopes", "same", "no_call"],
)
def test_what_calls_do_not_agree_about_stays(params, calls):
    check(STEP, program(params, *calls))


def test_a_module_without_devices_stays():
    mod = from_source(program(f"x: {ANY}", ("x", ANY)).replace(
        HEAD, "@I.ir_module\nclass M:\n    @T.prim_func(private=True)\n"
    ))  # fmt: skip
    assert STEP(mod) is mod


def test_what_is_written_in_place_has_no_buffer_of_its_own():
    text = program(f"x: {L2}, w: {L2}", ("x", L2)).replace(
        f"R.call_tir(M.exp, (x,), out_sinfo={L2})",
        f"R.call_tir_inplace(M.exp, (x, w), inplace_indices=[1], out_sinfo={L2})",
    )
    check(STEP, text, text.replace(PLAIN.strip("\n"), SCOPED.strip("\n")))


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_program_gives_the_same_in_another_scope(target):
    text = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})

    @R.function
    def main(x: R.Tensor((4,), "float32", "llvm:0")):
        y = R.add(x, x)
        return y
"""
    steps = Sequential([LegalizeOps(), UpdateVDevice(VDevice("llvm", 0, "l2"), 0), STEP])
    made = steps(from_source(text))
    assert 'scope="l2"' in made.script()
    x = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(rx.VirtualMachine(rx.build(made, target))["main"](x), x + x)
