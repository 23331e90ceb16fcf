"""Passes of users that fail: the module stays as it was, and the error names pass and function."""

from __future__ import annotations

import pytest

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import VDevice
from relaxscript.script import from_source
from relaxscript.tir.transform import prim_func_pass
from relaxscript.transform import (
    LegalizeOps,
    Normalize,
    Sequential,
    UpdateVDevice,
    dataflowblock_pass,
    function_pass,
    module_pass,
)
from relaxscript_tests.transform.models import Model


def notes_of(step, mod=Model, error=KeyError):
    with pytest.raises(error) as caught:
        step(mod)
    assert type(caught.value) is error
    return caught.value.__notes__


@function_pass(opt_level=0)
def picky(func, mod, ctx):
    if not func.is_private:
        return func
    raise KeyError(3)


def test_an_error_in_a_function_pass_keeps_its_type_and_names_pass_and_function():
    assert notes_of(picky) == ["the pass `picky` failed on the function `twice`"]


def test_an_error_in_a_block_or_a_prim_func_names_the_function():
    @dataflowblock_pass(opt_level=0)
    def block(found, mod, ctx):
        raise KeyError

    @prim_func_pass(opt_level=0)
    def loops(func, mod, ctx):
        raise KeyError

    assert notes_of(block) == ["the pass `block` failed on the function `main`"]
    (note,) = notes_of(loops, LegalizeOps()(Model))
    assert note.startswith("the pass `loops` failed on the function `")


def test_an_error_in_a_module_pass_names_the_pass():
    @module_pass(opt_level=0, name="Mine")
    def fails(mod, ctx):
        raise KeyError

    assert notes_of(fails) == ["the pass `Mine` failed"]


def test_the_innermost_pass_is_named_and_no_sequence():
    assert notes_of(Sequential([Normalize(), picky])) == [
        "the pass `picky` failed on the function `twice`"
    ]


def test_a_mistake_that_a_pass_of_a_user_makes_in_a_program_names_the_pass_too():
    @function_pass(opt_level=0)
    def wrong(func, mod, ctx):
        raise DiagnosticError(Diagnostic("RX0203", "these do not fit", None))

    with pytest.raises(DiagnosticError) as caught:
        wrong(Model)
    assert caught.value.__notes__[-1] == "the pass `wrong` failed on the function `main`"


def test_a_mistake_in_a_program_is_said_without_the_pass_of_ours_that_found_it():
    with pytest.raises(DiagnosticError, match="the module has no virtual device 0") as caught:
        UpdateVDevice(VDevice("llvm", 1), 0)(Model)
    assert not any("the pass" in note for note in getattr(caught.value, "__notes__", []))


def test_a_pass_that_fails_leaves_the_module_as_it_was():
    @module_pass(opt_level=0)
    def half_done(mod, ctx):
        mod["main"] = mod["main"].with_attr("seen", True)
        del mod["twice"]
        mod["new"] = Model["twice"]
        mod.update_global_info("vdevice", [VDevice("llvm", 1)])
        raise KeyError

    mod = Model.clone()
    functions, text = dict(mod.functions), mod.script()
    assert notes_of(half_done, mod) == ["the pass `half_done` failed"]
    assert list(mod.functions.items()) == list(functions.items())
    assert mod.script() == text
    assert "new" not in mod


def test_a_module_that_a_failing_pass_left_alone_is_not_touched():
    mod = from_source(Model.script())
    before = mod.functions
    notes_of(picky, mod)
    assert mod.functions is before
