"""ApplyPassToFunction: some functions are transformed, and the others stay as they are."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import transform as tvm_transform
from relaxscript.ir.instrument import PassTimingInstrument
from relaxscript.ir.relax import ExternFunc
from relaxscript.ir.tir import PrimFunc
from relaxscript.transform import (
    ApplyPassToFunction,
    DeadCodeElimination,
    FuseTIR,
    LegalizeOps,
    PassContext,
    function_pass,
    module_pass,
)
from relaxscript_tests.transform.models import Model


@function_pass(opt_level=0)
def marked(func, mod, ctx):
    return func.with_attr("mark", True)


def marks(mod):
    return [v.name_hint for v, f in mod.relax_functions().items() if "mark" in (f.attrs or {})]


@pytest.mark.parametrize(
    ("regex", "chosen"),
    [("main", ["main"]), ("mai", []), ("m.*|t.*", ["main", "twice"]), (".*ce", ["twice"])],
)
def test_functions_are_chosen_by_their_whole_names(regex, chosen):
    made = ApplyPassToFunction(marked, regex)(Model)
    assert marks(made) == chosen
    assert all(made[n] is Model[n] for n in ("main", "twice") if n not in chosen)


def test_where_nothing_changes_the_module_is_the_same():
    assert ApplyPassToFunction(marked, "none")(Model) is Model
    assert ApplyPassToFunction(DeadCodeElimination(), "main")(Model) is Model


def test_functions_that_the_pass_adds_are_added():
    made = ApplyPassToFunction(LegalizeOps(), "main")(Model)
    assert any(isinstance(f, PrimFunc) for f in made.functions.values())
    assert made["twice"] is Model["twice"]


def test_a_private_function_stays_and_stays_private():
    made = ApplyPassToFunction(DeadCodeElimination(), "twice")(Model)
    assert made["twice"] is Model["twice"]
    assert ApplyPassToFunction(marked, "twice")(Model)["twice"].is_private


def test_the_pass_sees_the_others_as_functions_from_elsewhere_with_their_types():
    seen = {}

    @module_pass(opt_level=0)
    def look(mod, ctx):
        seen.update({v.name_hint: (f, mod.struct_info(v)) for v, f in mod.functions.items()})
        return mod

    assert ApplyPassToFunction(look, "main")(Model) is Model
    assert isinstance(seen["twice"][0], ExternFunc)
    assert str(seen["twice"][1]) == str(Model.struct_info("twice"))


def test_instruments_are_told_of_the_pass_as_a_whole():
    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        ApplyPassToFunction(marked, "main")(Model)
        lines = timing.render().split("\n")
    assert [line.split(":")[0] for line in lines] == ["Total time", "ApplyPassToFunction"]


def test_it_declares_what_its_pass_declares():
    made = ApplyPassToFunction(DeadCodeElimination(), "main")
    assert made.removes_functions
    assert made.changes_failures
    assert not made.adds_functions


def test_no_match_is_refused_where_that_is_wanted():
    step = ApplyPassToFunction(marked, "mian", error_if_no_function_matches_regex=True)
    with pytest.raises(DiagnosticError, match="RX0703") as caught:
        step(Model)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == 'no function of the module is named as "mian" says'
    assert diagnostic.help == "there are: main, twice"


def test_what_is_no_pass_and_no_regular_expression_is_refused():
    with pytest.raises(TypeError, match=r"is a Pass, not the class `FuseTIR`"):
        ApplyPassToFunction(FuseTIR, "main")
    with pytest.raises(DiagnosticError, match="RX0703") as caught:
        ApplyPassToFunction(marked, "(")
    assert caught.value.diagnostics[0].message.startswith('"(" is no regular expression: ')


def test_it_is_where_users_of_tvm_look():
    assert tvm_transform.ApplyPassToFunction is ApplyPassToFunction
