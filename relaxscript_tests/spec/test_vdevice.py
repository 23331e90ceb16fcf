"""Propagating virtual devices: what is known of one tensor is known of all on the same device."""

from __future__ import annotations

import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule
from relaxscript.ir.relax import Function, Var
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import variables
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript.testing import rejected

from .rules import accepts, rejects

HEAD = """
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

    @R.function
    def main"""
T = 'R.Tensor((4,), "float32")'
T0 = 'R.Tensor((4,), "float32", "llvm:0")'
T1 = 'R.Tensor((4,), "float32", "llvm:1")'


def realized(program: str) -> IRModule:
    """The module of a program, which begins with the parameters of `main`, realized."""
    return rx.transform.RealizeVDevice()(from_source(HEAD + program))


def where(info: StructInfo | None) -> object:
    """The devices of a value, arranged as it is."""
    match info:
        case TensorStructInfo(vdevice=device):
            return None if device is None else device.short
        case TupleStructInfo(fields):
            return [where(field) for field in fields]
        case FuncStructInfo(params=params, ret=ret):
            return [where(p) for p in params or ()], where(ret)
    return None


def devices(mod: IRModule, name: str = "main") -> dict[str, object]:
    """The devices of the variables of a function, by their names, and of its result."""
    function = mod[name]
    assert isinstance(function, Function)
    found = {v.name_hint: where(v.struct_info) for v in variables(function) if isinstance(v, Var)}
    return found | {"return": where(function.ret_struct_info)}


def error_of(program: str) -> str:
    with pytest.raises(DiagnosticError) as caught:
        realized(program)
    (found,) = caught.value.diagnostics
    return f"{found.code} {found.message}"


# ---------------------------------------------------------------- update_struct_info


@accepts("vdevice update tensor")
def test_a_tensor_of_which_no_device_is_said_gets_the_one_that_follows() -> None:
    mod = realized(f"(x: {T}, y: {T1}):\n        z = R.add(x, y)\n        return z\n")
    assert devices(mod)["x"] == "llvm:1"
    x = mod["main"].params[0].struct_info
    assert [d.value for d in x.dims] == [4]
    assert (x.dtype, x.ndim) == ("float32", 1)


@rejects("vdevice update tensor")
@rejected
def test_a_tensor_cannot_be_on_two_devices():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(
            x: R.Tensor((4,), "float32"),
            y: R.Tensor((4,), "float32", "llvm:0"),
            #  ----------------------------------- label: is on llvm:0
            z: R.Tensor((4,), "float32", "llvm:1"),
            #  ----------------------------------- label: is on llvm:1
        ):
            a = R.add(x, y)
            b = R.add(x, z)
            #   ^^^^^^^^^^^ error: RX0210 `R.add` cannot take tensors on llvm:0 and on llvm:1
            #   ----------- label: cannot be on llvm:0 and on llvm:1
            #               help: copy one of them to the other device: `R.to_vdevice(x, "llvm:1")`
            return (a, b)

    rx.transform.RealizeVDevice()(Module)


@accepts("vdevice update tuple")
def test_the_device_of_an_operand_that_is_a_tuple_is_that_of_all_its_fields() -> None:
    mod = realized(
        f"(x: {T}, t: R.Tuple({T}, {T})) -> {T1.replace('4', '12')}:\n"
        "        u = (x, t[0], t[1])\n        c = R.concat(u)\n        return c\n"
    )
    found = devices(mod)
    assert found["t"] == ["llvm:1", "llvm:1"]
    assert found["u"] == ["llvm:1", "llvm:1", "llvm:1"]


@rejects("vdevice update tuple")
def test_no_field_of_such_a_tuple_can_be_on_another_device() -> None:
    program = (
        f"(x: {T}, y: {T0}) -> {T1.replace('4', '8')}:\n"
        "        t: R.Tuple(R.Tensor, R.Tensor) = (x, y)\n"
        "        c = R.concat(t)\n"
        '        d = R.match_cast(c, R.Tensor((8,), "float32"))\n'
        "        return d\n"
    )
    assert error_of(program) == "RX0210 `d` cannot be on llvm:0 and on llvm:1"


FUNCTIONS = """
        @R.function
        def f(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            b = R.add(a, a)
            return b
"""


@accepts("vdevice update function")
def test_a_function_returns_what_is_on_the_device_where_its_result_is_used() -> None:
    mod = realized(
        f"(x: {T}, y: {T1}):{FUNCTIONS}\n"
        "        g = f\n        z = g(x)\n        w = R.add(z, y)\n        return w\n"
    )
    found = devices(mod)
    assert found["f"] == found["g"] == (["llvm:1"], "llvm:1")
    assert (found["a"], found["b"], found["x"]) == ("llvm:1", "llvm:1", "llvm:1")


@accepts("vdevice update function")
def test_nothing_is_known_of_what_a_packed_function_takes() -> None:
    mod = realized(
        f"(x: {T}, y: {T1}):\n"
        f'        z = R.call_pure_packed("f", x, sinfo_args={T})\n'
        "        w = R.add(z, y)\n        return w\n"
    )
    found = devices(mod)
    assert (found["x"], found["z"]) == (None, "llvm:1")


@rejects("vdevice update function")
def test_a_function_cannot_return_what_is_on_another_device_than_its_result() -> None:
    program = (
        f"(x: {T0}, y: {T1}):{FUNCTIONS}\n"
        f"        u: {T0} = f(x)\n        z: {T1} = f(x)\n        return (u, z)\n"
    )
    assert error_of(program).startswith("RX0210")


@accepts("vdevice update other")
def test_what_is_no_tensor_stays_as_it_is() -> None:
    mod = realized(
        f"(x: {T}, s: R.Shape([4]), o: R.Object, y: {T1}):\n"
        "        z = R.add(R.reshape(x, s), y)\n        return (z, o)\n"
    )
    assert devices(mod)["return"] == ["llvm:1", None]
    before = from_source(f"{HEAD}(s: R.Shape([4]), o: R.Object):\n        return (s, o)\n")
    assert rx.transform.RealizeVDevice()(before) is before


# ---------------------------------------------------------------- backward


@accepts("vdevice backward 1")
def test_the_body_of_a_function_is_where_its_declared_result_is() -> None:
    mod = realized(f"(x: {T}) -> {T1}:\n        y = R.add(x, x)\n        return y\n")
    assert devices(mod) == {"x": "llvm:1", "y": "llvm:1", "return": "llvm:1"}


@accepts("vdevice backward 1")
def test_what_is_found_out_is_nothing_to_warn_of() -> None:
    with rx.config(strict=True):
        mod = realized(
            f"(x: {T}, y: {T}) -> {T1}:\n        z: {T1} = R.add(x, y)\n        return z\n"
        )
    assert set(devices(mod).values()) == {"llvm:1"}


@rejects("vdevice backward 1")
@rejected
def test_a_body_on_another_device_than_the_declared_result():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function(private=True)
        def f(x: R.Tensor((4,), "float32", "llvm:0")) -> R.Tensor((4,), "float32"):
            #    ----------------------------------- label: is on llvm:0
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32", "llvm:1"):
            #                                     ----------------------------------- label: is on
            #                                   | llvm:1
            y = Module.f(x)
            return y
            #      ^ error: RX0210 `y` cannot be on llvm:0 and on llvm:1
            #      - label: cannot be on llvm:0 and on llvm:1
            #         help: copy one of them to the other device: `R.to_vdevice(x, "llvm:1")`

    rx.transform.RealizeVDevice()(Module)


@accepts("vdevice backward 2")
def test_operands_are_where_the_result_of_the_call_is() -> None:
    mod = realized(f"(x: {T}, y: {T}) -> {T0}:\n        z = R.add(x, y)\n        return z\n")
    found = devices(mod)
    assert (found["x"], found["y"]) == ("llvm:0", "llvm:0")


@accepts("vdevice backward 2")
def test_arguments_are_where_the_parameters_of_the_function_are() -> None:
    mod = realized(
        f"(x: {T}, y: {T}):\n        z = Module.f(x, y)\n        return z\n\n"
        f"    @R.function(private=True)\n    def f(a: {T0}, b: {T1}) -> {T1}:\n        return b\n"
    )
    assert devices(mod) == {"x": "llvm:0", "y": "llvm:1", "z": "llvm:1", "return": "llvm:1"}


@rejects("vdevice backward 2")
def test_an_argument_cannot_be_elsewhere_than_the_parameter() -> None:
    program = (
        f"(x: {T}, y: {T0}):\n        w = R.add(x, y)\n        z = Module.f(x)\n"
        "        return (w, z)\n\n"
        f"    @R.function(private=True)\n    def f(a: {T1}):\n        return a\n"
    )
    assert error_of(program) == "RX0210 `R.add` cannot take tensors on llvm:1 and on llvm:0"


@accepts("vdevice backward 2")
def test_what_is_moved_may_be_anywhere() -> None:
    mod = realized(
        f'(x: {T}, y: {T0}):\n        a = R.to_vdevice(x, "llvm:1")\n'
        '        b = R.to_vdevice(y, "llvm:1")\n        c = R.add(a, b)\n        return c\n'
    )
    found = devices(mod)
    assert (found["x"], found["y"], found["c"]) == (None, "llvm:0", "llvm:1")


@accepts("vdevice backward 3")
def test_the_result_of_a_sequence_is_where_the_sequence_is() -> None:
    mod = realized(
        f'(x: {T}, y: {T}, c: R.Tensor((), "bool")) -> {T1}:\n'
        "        if c:\n            a = R.add(x, x)\n            r = a\n"
        "        else:\n            b = R.add(y, y)\n            r = b\n        return r\n"
    )
    found = devices(mod)
    assert [found[name] for name in "abxyr"] == ["llvm:1"] * 5


@accepts("vdevice backward 3.1")
def test_a_variable_is_where_its_value_is_and_the_other_way_round() -> None:
    mod = realized(
        f"(x: {T}, y: {T1}):\n        a = x\n        b: {T0} = a\n"
        f"        c: {T} = y\n        d = (b, c)\n        return d\n"
    )
    found = devices(mod)
    assert (found["x"], found["a"], found["c"]) == ("llvm:0", "llvm:0", "llvm:1")
    assert found["d"] == ["llvm:0", "llvm:1"]


@rejects("vdevice backward 3.1")
def test_a_variable_cannot_be_elsewhere_than_its_value() -> None:
    program = f"(x: {T}):\n        a: {T0} = x\n        b: {T1} = x\n        return (a, b)\n"
    assert error_of(program) == "RX0210 `b` cannot be on llvm:0 and on llvm:1"


@accepts("vdevice backward 3.2")
def test_a_match_cast_says_where_variable_and_value_are() -> None:
    mod = realized(
        '(x: R.Tensor("float32", ndim=1), y: R.Tensor("float32", ndim=1)):\n'
        f"        a = R.match_cast(x, {T1})\n"
        f"        b = R.match_cast(y, {T})\n        c: {T0} = b\n        return (a, c)\n"
    )
    found = devices(mod)
    assert (found["x"], found["y"], found["b"]) == ("llvm:1", "llvm:0", "llvm:0")
    casts = mod["main"].body.blocks[0].bindings
    assert [where(cast.struct_info) for cast in casts[:2]] == ["llvm:1", "llvm:0"]


@rejects("vdevice backward 3.2")
def test_a_match_cast_cannot_say_another_device_than_that_of_the_value() -> None:
    program = (
        f"(x: {T}):\n        a = R.match_cast(x, {T0})\n        b = R.match_cast(x, {T1})\n"
        "        return (a, b)\n"
    )
    assert error_of(program) == "RX0210 `b` cannot be on llvm:0 and on llvm:1"


@accepts("vdevice backward 4")
def test_devices_reach_into_tuples_their_items_and_branches() -> None:
    mod = realized(
        f'(x: {T}, y: {T1}, c: R.Tensor((), "bool")):\n'
        "        t = (x, (x,))\n        u = t[1]\n        a = u[0]\n        z = R.add(a, y)\n"
        "        return z\n"
    )
    found = devices(mod)
    assert (found["t"], found["u"]) == (["llvm:1", ["llvm:1"]], ["llvm:1"])
    assert (found["x"], found["a"]) == ("llvm:1", "llvm:1")


# ---------------------------------------------------------------- forward, and what stays undefined


@accepts("vdevice forward")
def test_results_are_where_operands_turned_out_to_be() -> None:
    mod = realized(
        f"(x: {T}, y: {T1}):\n        a = R.add(x, x)\n        b = R.split(a, 2)\n"
        "        c = R.add(x, y)\n        return (b, c)\n"
    )
    found = devices(mod)
    assert (found["a"], found["b"]) == ("llvm:1", ["llvm:1", "llvm:1"])
    assert found["return"] == [["llvm:1", "llvm:1"], "llvm:1"]


@accepts("vdevice forward")
def test_the_result_of_a_call_follows_what_is_found_out_of_the_function() -> None:
    mod = realized(
        "():\n        y = Module.f()\n        z = R.add(y, y)\n        return z\n\n"
        f"    @R.function(private=True)\n    def f() -> {T}:\n"
        '        a = R.to_vdevice(R.zeros((4,), "float32"), "llvm:1")\n        return a\n'
    )
    assert devices(mod) == {"y": "llvm:1", "z": "llvm:1", "return": "llvm:1"}


@rejects("vdevice forward")
@rejected
def test_operands_that_are_known_to_be_on_two_devices():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:0")):
            #       ----------------------------------- label: `x` is on llvm:0 here
            y = R.to_vdevice(x, "llvm:1")
            # < label: `y` is on llvm:1 here
            z = R.add(x, y)
            #            ^ error: RX0203 the operands are on different devices
            #            - label: is on llvm:1
            #         - label: is on llvm:0
            #               help: put the operands on one device
            return z


@accepts("vdevice undefined")
def test_one_device_is_enough_where_all_tensors_belong_together() -> None:
    mod = realized(
        f"(x: {T}):\n        a = R.add(x, x)\n        b = R.multiply(a, x)\n"
        f"        c: {T0} = b\n        return c\n"
    )
    assert set(devices(mod).values()) == {"llvm:0"}


@accepts("vdevice undefined")
def test_a_module_that_lists_no_device_needs_none() -> None:
    before = from_source(
        "@I.ir_module\nclass Module:\n    @R.function\n"
        f"    def main(x: {T}):\n        y = R.add(x, x)\n        return y\n"
    )
    assert rx.transform.RealizeVDevice()(before) is before
    rx.build(before)


@rejects("vdevice undefined")
@rejected
def test_operands_of_which_no_device_is_known():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
            a = R.add(x, x)
            #         ^ error: RX0211 it is not known on which virtual device `R.add` runs
            #         - label: nothing says where `x` is
            #            help: say it where the tensor comes from: `R.Tensor(..., vdevice="llvm:0")`
            b = R.multiply(a, x)
            c = R.negative(y)
            #              ^ error: RX0211 it is not known on which virtual device `R.negative` runs
            #              - label: nothing says where `y` is
            #            help: say it where the tensor comes from: `R.Tensor(..., vdevice="llvm:0")`
            return (b, c)

    rx.build(Module)


@rejects("vdevice undefined")
@rejected
def test_an_argument_of_a_prim_func_of_which_no_device_is_known():
    from relaxscript.script import tir as T

    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @T.prim_func
        def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i]

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = R.call_tir(Module.copy, (x,), out_sinfo=R.Tensor((4,), "float32"))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0211
            #              | it is not known on which virtual device `R.call_tir` runs
            #   ------------------------------------------------------------------ label:
            #              | nothing says where `x` is
            #            help: say it where the tensor comes from: `R.Tensor(..., vdevice="llvm:0")`
            return y

    rx.build(Module)
