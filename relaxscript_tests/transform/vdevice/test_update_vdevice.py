"""Another device in the place of one that a module lists."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule, VDevice
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script import from_source
from relaxscript.transform import PassContext, UpdateVDevice, VerifyEach
from relaxscript_tests.transform.before_after import check

BEFORE = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

    @R.function(private=True)
    def g() -> R.Tensor((4,), "float32", "llvm:1"):
        z = R.to_vdevice(R.zeros((4,), "float32"), "llvm:1")
        return z

    @R.function
    def main(
        x: R.Tensor((4,), "float32", "llvm:1"), t: R.Tuple(R.Tensor(("n",), "float32", "llvm:0"))
    ):
        cls = M
        y = cls.g()
        w = R.match_cast(y, R.Tensor((4,), "float32", "llvm:1"))
        h = R.hint_on_device(w, R.device("cpu", 1))
        return (x, t, w, h)
"""


def test_a_device_is_replaced_wherever_it_is_used() -> None:
    after = BEFORE.replace('"llvm", 1)', '"cuda", 2, "local")').replace("llvm:1", "cuda:2:local")
    made = check(UpdateVDevice(VDevice("cuda", 2, "local"), 1), BEFORE, after)
    call = made["main"].body.blocks[0].bindings[0].value
    assert call.struct_info.vdevice.short == "cuda:2:local"


def test_what_mentions_a_function_knows_its_new_signature() -> None:
    before = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

    @R.function
    def f(x: R.Tensor((4,), "float32", "llvm:1")):
        return x

    @R.function
    def g():
        cls = M
        return (cls.f, cls.f)
"""
    after = before.replace('"llvm", 1', '"llvm", 2').replace("llvm:1", "llvm:2")
    with PassContext(instruments=[VerifyEach()]):
        made = check(UpdateVDevice(VDevice("llvm", 2), 1), before, after)
    known = made["g"].body.body.known_info
    assert structural_equal(known.fields[0], made.struct_info(made.get_global_var("f")))


def test_an_index_below_zero_counts_from_the_end() -> None:
    mod = from_source(BEFORE)
    new = VDevice("llvm -mcpu=znver4", 0)
    assert structural_equal(UpdateVDevice(new, -2)(mod), UpdateVDevice(new, 0)(mod))


def test_the_device_that_is_there_changes_nothing() -> None:
    check(UpdateVDevice(VDevice("cpu", 1), 1), BEFORE)


def test_hints_name_devices_of_the_run_time() -> None:
    made = UpdateVDevice(VDevice("cuda"), 1)(from_source(BEFORE))
    assert 'dst_vdevice=R.device("cpu", 1)' in made.script()


def test_the_module_that_is_given_stays_as_it_is() -> None:
    mod = from_source(BEFORE)
    UpdateVDevice(VDevice("cuda"), 0)(mod)
    assert structural_equal(mod, from_source(BEFORE))


@pytest.mark.parametrize("index", [2, -3])
def test_an_index_that_the_module_has_no_device_for(index: int) -> None:
    with pytest.raises(
        DiagnosticError, match=f"the module has no virtual device {index}"
    ) as caught:
        UpdateVDevice(VDevice("cuda"), index)(from_source(BEFORE))
    (found,) = caught.value.diagnostics
    assert (found.code, found.help) == ("RX0703", "it lists 2, counted from 0")


def test_a_module_that_lists_no_devices() -> None:
    with pytest.raises(DiagnosticError) as caught:
        UpdateVDevice(VDevice("cuda"), 0)(IRModule())
    assert caught.value.diagnostics[0].help == "it lists none"


def test_what_is_given_is_a_device_and_a_number() -> None:
    with pytest.raises(TypeError, match="`new_vdevice` of `UpdateVDevice` is a VDevice, not str"):
        UpdateVDevice("llvm", 0)
    with pytest.raises(TypeError, match="`index` of `UpdateVDevice` is an integer, not bool"):
        UpdateVDevice(VDevice("llvm"), True)
