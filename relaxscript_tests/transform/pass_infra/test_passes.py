"""What a pass is, the ways to make one, and rows of passes."""

from __future__ import annotations

import gc

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.instrument import pass_instrument
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import DataflowBlock, Function
from relaxscript.transform import (
    DataflowBlockPass,
    DeadCodeElimination,
    FunctionPass,
    LegalizeOps,
    ModulePass,
    Normalize,
    PassContext,
    PassInfo,
    Sequential,
    ToNonDataflow,
    dataflowblock_pass,
    function_pass,
    module_pass,
)
from relaxscript.transform.pass_infra.passes import find_pass
from relaxscript_tests.transform.models import Model


@module_pass(opt_level=1, name="Renamed")
def renamed(mod, ctx):
    """Says who was here."""
    return mod.with_attr("seen", (mod.get_attr("seen") or "") + "renamed ")


@function_pass(opt_level=0)
def marked(func, mod, ctx):
    return func if func.attrs and "mark" in func.attrs else func.with_attr("mark", len(mod))


def test_a_function_becomes_a_pass_that_says_who_it_is():
    assert isinstance(renamed, ModulePass)
    assert renamed.info == PassInfo(1, "Renamed")
    assert renamed.__doc__ == "Says who was here."
    assert marked.info == PassInfo(0, "marked")
    assert repr(marked) == "<pass marked>"


def test_a_function_pass_sees_each_relax_function():
    made = marked(Model)
    assert [f.attrs["mark"] for f in made.relax_functions().values()] == [2, 2]
    assert "mark" not in Model["main"].attrs


def test_a_pass_that_changes_nothing_gives_the_same_module():
    once = marked(Model)
    assert marked(once) is once
    assert Normalize()(Model) is Model


def test_a_class_becomes_a_class_of_passes_with_its_own_arguments():
    @module_pass(opt_level=2)
    class Tag:
        def __init__(self, tag):
            self.tag = tag

        def transform_module(self, mod, ctx):
            return mod.with_attr("tag", self.tag)

    assert isinstance(Tag("a"), ModulePass)
    assert Tag("a").info == PassInfo(2, "Tag")
    assert Tag("a")(Model).get_attr("tag") == "a"


def test_a_dataflow_block_pass_sees_each_block():
    seen = []

    @dataflowblock_pass(opt_level=0)
    def look(block, mod, ctx):
        seen.append(len(block.bindings))
        return block

    assert isinstance(look, DataflowBlockPass)
    assert look(Model) is Model
    assert seen == [2]


def test_a_dataflow_block_pass_replaces_blocks():
    @dataflowblock_pass(opt_level=0)
    def again(block, mod, ctx):
        return DataflowBlock(block.bindings)

    made = again(Model)
    assert made is not Model
    assert made["main"].body.blocks[0] is not Model["main"].body.blocks[0]


def test_a_subclass_is_a_pass():
    class Twice(FunctionPass):
        opt_level = 3

        def transform_function(self, func, mod, ctx):
            seen.append(ctx)
            return func.with_attr("twice", True)

    seen = []
    assert Twice().info == PassInfo(3, "Twice")
    with PassContext(opt_level=3) as entered:
        assert Twice()(Model)["main"].attrs["twice"]
    assert seen == [entered] * len(Model.functions)


def test_a_sequential_runs_its_passes_in_order():
    @module_pass(opt_level=0)
    def last(mod, ctx):
        return mod.with_attr("seen", (mod.get_attr("seen") or "") + "last")

    made = Sequential([renamed, last], name="both")
    assert made.info.name == "both"
    assert made(Model).get_attr("seen") == "renamed last"
    assert Sequential()(Model) is Model


def test_a_sequential_declares_what_its_passes_declare():
    row = Sequential([Normalize(), Sequential([LegalizeOps(), DeadCodeElimination()])])
    assert (row.adds_functions, row.removes_functions) == (True, True)
    assert row.changes_failures
    assert not row.changes_signatures
    assert row.fails_as == (("RX0606", "RX0614"),)
    assert Sequential().fails_as == ()


def test_passes_that_are_required_run_before():
    @function_pass(opt_level=0, required=["ToNonDataflow"])
    def check(func, mod, ctx):
        assert not any(isinstance(block, DataflowBlock) for block in func.body.blocks)
        return func

    assert check.info.required == ("ToNonDataflow",)
    assert isinstance(check(Model), IRModule)
    assert isinstance(Model["main"].body.blocks[0], DataflowBlock)


def test_a_required_pass_that_does_not_exist_is_an_error():
    wrong = module_pass(lambda mod, ctx: mod, required=["relax.transform.ToNonDataflo"])
    with pytest.raises(DiagnosticError, match="RX0703") as caught:
        wrong(Model)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == 'there is no pass "relax.transform.ToNonDataflo"'
    assert diagnostic.help == 'did you mean "ToNonDataflow"?'


@pytest.mark.parametrize(
    ("decorator", "noun"),
    [
        (module_pass, "an IRModule"),
        (function_pass, "a Function"),
        (dataflowblock_pass, "a DataflowBlock"),
    ],
)
def test_a_pass_that_gives_something_else_is_an_error(decorator, noun):
    @decorator(opt_level=0)
    def forgets(*args):
        pass

    with pytest.raises(DiagnosticError) as raised:
        forgets(Model)
    found = raised.value.diagnostics[0]
    where = ", for `main`" if decorator is function_pass else ""
    assert found.message == f"the pass `forgets` gave NoneType, not {noun}{where}"
    assert found.help.startswith(f"return {noun} on every path, ")
    assert (found.span is None) == (decorator is module_pass)


def test_a_function_that_takes_other_arguments_is_no_pass():
    text = r"the function `twice` of a pass takes \(func, mod, ctx\), not \(func\)"
    with pytest.raises(TypeError, match=text):

        @function_pass(opt_level=0)
        def twice(func):
            return func

    with pytest.raises(TypeError, match=r"takes \(mod, ctx\), not \(mod, \*, ctx\)"):
        module_pass(lambda mod, *, ctx: mod)
    assert module_pass(lambda *args: args[0])(Model) is Model


def test_a_pass_takes_a_module():
    with pytest.raises(TypeError, match="a pass takes an IRModule, not Function"):
        Normalize()(Model["main"])
    with pytest.raises(TypeError, match="a Sequential is made of passes, not of 3"):
        Sequential([Normalize(), 3])
    with pytest.raises(TypeError, match=r"of names: write `Normalize\(\)` for 'relax.Normalize'"):
        Sequential(["relax.Normalize"])
    with pytest.raises(TypeError, match=r"of names: write `Normalize\(\)` for 'Normalise'"):
        Sequential(["Normalise"])
    with pytest.raises(TypeError, match=r"of classes: write `Normalize\(\)`"):
        Sequential([Normalize])


def test_what_no_pass_can_be_made_from_is_an_error():
    with pytest.raises(TypeError, match="a pass is made from a function or a class, not from 3"):
        module_pass(3)
    with pytest.raises(TypeError, match="`Empty` of a pass has no method `transform_module`"):

        @module_pass(opt_level=0)
        class Empty:
            pass


def test_abstract_classes_of_passes_cannot_be_used():
    with pytest.raises(TypeError, match="abstract"):
        FunctionPass()


def test_a_pass_leaves_prim_funcs_alone():
    assert all(isinstance(f, Function) for f in ToNonDataflow()(Model).functions.values())


@pytest.mark.parametrize("name", ["tir.Simplify", "tir.transform.Simplify", "Simplify"])
def test_a_pass_over_prim_funcs_is_found_by_its_name(name):
    assert find_pass(name).info.name == "tir.Simplify"


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("tir.Simplfy", 'did you mean "tir.Simplify"?'),
        ("Simplfy", 'did you mean "tir.Simplify"?'),
        ("tir.FuseOps", 'did you mean "FuseOps"?'),
        ("tir.transform.ConvertSSa", 'did you mean "tir.ConvertSSA"?'),
    ],
)
def test_the_nearest_pass_over_prim_funcs_is_offered(name, help):
    with pytest.raises(DiagnosticError, match=f'there is no pass "{name}"') as caught:
        find_pass(name)
    assert caught.value.diagnostics[0].help == help


def test_a_pass_over_prim_funcs_that_is_made_with_arguments_is_made_in_python():
    with pytest.raises(DiagnosticError, match="the pass `BindTarget` is made with arguments"):
        find_pass("tir.BindTarget")


@pytest.mark.parametrize("disabled", ["tir.Simplify", "tir.transform.Simplify", "Simplify"])
def test_a_pass_over_prim_funcs_is_disabled_by_its_name(disabled):
    row = Sequential([find_pass("tir.Simplify")])
    ran = []

    @pass_instrument
    class Names:
        def run_before_pass(self, mod, info):
            ran.append(info.name)

    with PassContext(disabled_pass=[disabled], instruments=[Names()]):
        row(Model)
    assert ran == ["sequential"]


def test_an_info_says_none_where_nothing_is_required():
    assert PassInfo(0, "a", None) == PassInfo(0, "a") == PassInfo(0, "a", [])
    assert PassInfo(0, "a", ["Normalize"]).required == ("Normalize",)


def test_the_collector_rests_while_our_passes_run_and_runs_in_those_of_users(monkeypatch):
    seen = []

    def note(self, mod, ctx):
        seen.append(gc.isenabled())
        return mod

    monkeypatch.setattr(Normalize, "transform_module", note)
    mod = IRModule({})
    Sequential([Normalize(), module_pass(lambda mod, ctx: note(None, mod, ctx), opt_level=0)])(mod)
    assert (seen, gc.isenabled()) == ([False, True], True)
