"""StructInfo constructors, modules and hooks."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from relaxscript.errors import DiagnosticError, InternalError, Span
from relaxscript.ir import DummyGlobalInfo, GlobalVar, IRModule, Target, VDevice
from relaxscript.ir.hooks import Hook
from relaxscript.ir.relax import Attrs, Call, Function, ShapeExpr, Tuple, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
    empty_derive,
)


def test_dimensions_are_converted_and_counted():
    info = TensorStructInfo(("n", 4, "n"), "float32")
    assert info.ndim == 3
    assert info.dims[0] is info.dims[2]
    assert info.dims[1].value == 4
    assert isinstance(info.shape, ShapeExpr)


def test_a_shape_may_be_held_by_a_variable():
    s = Var("s", ShapeStructInfo(ndim=2))
    info = TensorStructInfo(s, "float32")
    assert (info.ndim, info.dims, info.shape) == (2, None, s)


def test_what_is_not_said_is_unknown():
    info = TensorStructInfo(dtype=None)
    assert (info.ndim, info.dtype, info.shape, info.dims) == (-1, "void", None, None)
    assert TensorStructInfo().dtype == "float32"


def test_rank_and_shape_must_agree():
    with pytest.raises(ValueError, match=r"ndim` is 3, but the shape has 2 dimensions"):
        TensorStructInfo((1, 2), "float32", ndim=3)
    with pytest.raises(ValueError, match=r"ndim` is 3, but the shape has 2 dimensions"):
        ShapeStructInfo((1, 2), ndim=3)


def test_a_scalar_has_a_data_type_or_a_value():
    assert PrimStructInfo(value=3).dtype == "int64"
    assert PrimStructInfo("float32").value is None
    with pytest.raises(TypeError, match="`PrimStructInfo` needs a dtype or a value"):
        PrimStructInfo(None)


def test_opaque_functions_have_no_parameters():
    info = FuncStructInfo.opaque_func()
    assert info.params is None
    assert callable(info.derive_func)
    assert not info.purity
    assert FuncStructInfo.opaque_func(ret=TupleStructInfo([])).derive_func is None
    span = Span("net.py", 3, 5, 3, 9)
    assert FuncStructInfo.opaque_func(span=span).span is span


@pytest.mark.parametrize("derive", [default_derive, empty_derive])
def test_the_derivations_of_the_specification_may_be_given_by_name(derive):
    info = FuncStructInfo.opaque_func(derive_func=derive.__name__)
    assert info.derive_func is derive
    assert FuncStructInfo.opaque_func(derive_func="another").derive_func == "another"


def function() -> Function:
    return Function([], Tuple([]), TupleStructInfo([]))


def test_a_module_finds_functions_by_name_and_by_variable():
    mod = IRModule({"f": function()})
    gv = mod.get_global_var("f")
    assert mod["f"] is mod[gv] is mod[GlobalVar("f")]
    assert gv in mod
    assert "f" in mod
    assert "g" not in mod
    assert len(mod) == 1
    assert list(mod) == [gv]


def test_a_missing_function_is_named_with_the_nearest():
    with pytest.raises(
        AttributeError, match="no function or attribute `mian`; did you mean `main`"
    ):
        _ = IRModule({"main": function()}).mian
    with pytest.raises(KeyError, match="no function `mian`; did you mean `main`"):
        _ = IRModule({"main": function()})["mian"]


def test_updating_a_clone_leaves_the_module_alone():
    mod = IRModule({"f": function()})
    other = mod.clone()
    other.update_func("g", function())
    other.update_func("f", function())
    del other["f"]
    assert [gv.name for gv in mod.get_global_vars()] == ["f"]
    assert [gv.name for gv in other.get_global_vars()] == ["g"]
    mod.update(other)
    assert [gv.name for gv, _ in mod.functions_items()] == ["f", "g"]


def test_module_attributes_make_copies():
    mod = IRModule({"f": function()})
    other = mod.with_attr("a", 1)
    assert (mod.get_attr("a"), other.get_attr("a")) == (None, 1)
    assert other.without_attr("a").get_attr("a") is None
    assert other.with_attrs({"b": 2}).get_attr("b") == 2


def test_a_module_can_be_made_of_one_function():
    named = function().with_attr("global_symbol", "f")
    assert [gv.name for gv in IRModule.from_expr(named)] == ["f"]
    assert [gv.name for gv in IRModule.from_expr(function())] == ["main"]


def test_a_function_alone_in_its_module_can_be_called_from_outside():
    assert IRModule.from_expr(function())["main"].attrs["global_symbol"] == "main"
    beside = IRModule.from_expr(
        function(), {"other": function().with_attr("global_symbol", "other")}
    )
    assert beside["main"].is_private


def test_functions_and_modules_without_attributes_can_be_asked_for_them():
    f, mod = function(), IRModule()
    assert "global_symbol" not in f.attrs
    assert f.attrs.get("k") is None
    assert f.replace(attrs=None).attrs == f.with_attr("k", 1).without_attr("k").attrs == Attrs()
    assert "k" not in mod.attrs
    assert "k" not in mod.with_attr("k", 1).without_attr("k").attrs


def test_a_global_variable_has_the_struct_info_of_its_function():
    f = function()
    mod = IRModule({"f": f})
    gv = mod.get_global_var("f")
    assert gv.struct_info == f.struct_info
    mod["f"] = f.replace(is_pure=False)
    assert not gv.struct_info.purity
    other = IRModule({gv: f})
    assert [v.struct_info.purity for v in other.get_global_vars()] == [True]
    assert mod.get_global_var("f").struct_info.purity is False


def test_a_global_variable_of_no_module_has_no_struct_info():
    mod = IRModule({"f": function()})
    gv = mod.get_global_var("f")
    del mod
    gc.collect()
    for var in (gv, GlobalVar("g")):
        with pytest.raises(DiagnosticError, match="the module has no function"):
            var.struct_info


def test_function_attributes_make_copies():
    f = function()
    g = f.with_attr("global_symbol", "g")
    assert f.is_private
    assert not g.is_private
    assert not g.without_attr("global_symbol").attrs
    assert g.with_attrs({"a": 1}).attrs.a == 1
    assert f.with_attr({"a": 1, "b": 2}).attrs.b == 2


def test_targets_and_virtual_devices_read_their_text():
    assert str(Target("llvm")) == "llvm"
    device = VDevice("llvm -mcpu=generic", 1)
    assert device.target.attrs["mcpu"] == "generic"
    assert str(device) == "llvm -mcpu=generic:1:global" or str(device) == "llvm:1:global"
    assert VDevice({"kind": "llvm", "opt": 2}).target.attrs.opt == 2
    mod = IRModule()
    mod.update_global_info("dummy", [DummyGlobalInfo()])
    assert len(mod.global_infos["dummy"]) == 1


def test_an_unfilled_hook_says_that_it_is_our_mistake():
    with pytest.raises(InternalError, match=r"the hook `h` \(does things\) was never filled"):
        Hook("h", "does things")()


def test_a_filled_hook_is_called():
    hook = Hook("h", "adds one")
    hook.fill(lambda x: x + 1)
    assert hook.is_filled
    assert hook(1) == 2


def test_a_hook_that_is_called_first_has_its_room_imported():
    hook = Hook("h", "adds one")
    hook.fill_when_called(lambda: hook.fill(lambda x: x + 1))
    assert not hook.is_filled
    assert hook(1) == 2
    assert hook.is_filled


def test_a_hook_that_its_room_leaves_unfilled_says_so():
    hook = Hook("h", "does things")
    hook.fill_when_called(lambda: None)
    with pytest.raises(InternalError, match="never filled"):
        hook()


HOOKS = """
import relaxscript
from relaxscript.ir import hooks
for name in hooks.unfilled():
    hook = getattr(hooks, name)
    try:
        hook()
    except Exception:  # no arguments were given
        pass
    assert hook.is_filled, name
print("relaxscript.op" in __import__("sys").modules)
"""


@pytest.mark.slow
def test_the_room_of_every_hook_is_imported_when_it_is_called():
    command = [sys.executable, "-W", "error", "-c", HOOKS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_an_object_is_anything():
    assert ObjectStructInfo() is not ObjectStructInfo()


def test_functions_are_renamed_where_they_are_bound_and_used():
    f = GlobalVar("f")
    x = Var("x", TensorStructInfo((2,), "float32"))
    callee = Function([x], x, x.struct_info, attrs={"global_symbol": "f"})
    y = Var("y", TensorStructInfo((2,), "float32"))
    caller = Function([y], Call(f, [y]), y.struct_info, attrs={"global_symbol": "main"})
    module = IRModule({f: callee, "main": caller})
    renamed = module.replace_global_vars({f: "h"})
    assert [var.name_hint for var in renamed] == ["h", "main"]
    assert renamed["main"].body.op is renamed.get_global_var("h")
    assert renamed["h"].attrs["global_symbol"] == "h"
    assert module["main"].body.op is f
    with pytest.raises(ValueError, match="two functions would be named `main`"):
        module.replace_global_vars({"f": "main"})
    with pytest.raises(KeyError, match="no function `q`"):
        module.replace_global_vars({"q": "r"})


def test_a_module_goes_by_the_names_of_the_spec_too():
    module = IRModule({}, global_infos={"vdevice": VDevice("llvm")})
    assert module.funcs is module.functions
    assert module.global_info["vdevice"][0].target.kind == "llvm"
    assert module.astext() == module.script(show_meta=True)


def test_attributes_are_added_to_those_of_a_function():
    x = Var("x", TensorStructInfo((2,), "float32"))
    f = Function([x], x, x.struct_info, attrs={"a": 1}).with_attrs({"b": 2})
    assert dict(f.attrs) == {"a": 1, "b": 2}


def test_literal_tuples_and_shapes_are_sequences():
    x = Var("x", TensorStructInfo((2,), "float32"))
    made = Tuple([x, x])
    assert (len(made), made[0], list(made)) == (2, x, [x, x])
    shape = ShapeExpr([2, "n"])
    assert shape[0].value == 2
    assert [type(d).__name__ for d in shape] == ["IntImm", "Var"]
    with pytest.raises(IndexError, match="out of range"):
        made[2]


def test_struct_infos_are_compared_by_structure():
    info = TensorStructInfo((2,), "float32")
    assert info.same_as(TensorStructInfo((2,), "float32"))
    assert not info.same_as(TensorStructInfo((3,), "float32"))
    assert not info.same_as("float32")


def test_an_item_that_a_tuple_or_a_shape_has_not_is_out_of_its_range():
    pair, shape = Tuple((Var("x"), Var("y"))), ShapeExpr([2, 3])
    assert (pair[-2].name_hint, shape[-1].value) == ("x", 3)
    for index in (2, -3):
        with pytest.raises(IndexError, match=f"Tuple index out of range: .* index {index}"):
            pair[index]
        with pytest.raises(IndexError, match=f"ShapeExpr index out of range: .* index {index}"):
            shape[index]
