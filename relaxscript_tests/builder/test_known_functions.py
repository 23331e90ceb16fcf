"""Functions that are in a module already are found, without a look at those of another kind."""

from __future__ import annotations

from relaxscript.builder import BlockBuilder, known_functions
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript_tests.growth import calls_of

MOD = """
@I.ir_module
class Mod:
    @T.prim_func(private=True)
    def twice(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
{lines}
        return x
"""


def module(count):
    return from_source(MOD.format(lines="\n".join(["        _ = R.exp(x)"] * count)))


def test_a_function_that_was_added_or_updated_is_found():
    bb = BlockBuilder(module(0))
    twice = bb.get()["twice"]
    assert bb.add_func(twice, "twice").name_hint == "twice"
    other = twice.with_attr("other", 1)
    added = bb.add_func(other, "twice")
    assert added.name_hint != "twice"
    assert bb.add_func(other, "twice") is added
    bb.update_func(added, twice.with_attr("other", 2))
    assert bb.add_func(twice.with_attr("other", 2), "twice") is added
    assert bb.add_func(other, "twice") is not added


def test_adding_a_prim_func_takes_the_same_work_whatever_else_the_module_has():
    calls = []
    for count in (1, 100):
        bb = BlockBuilder(module(count))
        twice = bb.get()["twice"]
        assert isinstance(twice, PrimFunc)
        calls.append(calls_of(lambda bb=bb, twice=twice: bb.add_func(twice, "twice")))
    assert calls[1] <= calls[0]


def test_a_function_whose_parameters_tell_it_apart_is_not_hashed(monkeypatch):
    hashed = []
    monkeypatch.setattr(known_functions, "structural_hash", lambda func: hashed.append(func) or 0)
    bb = BlockBuilder(module(1))
    wider = from_source(MOD.format(lines="").replace("(4,)", "(8,)"))["twice"]
    assert bb.add_func(wider, "twice").name_hint != "twice"
    assert hashed == []
    assert bb.add_func(bb.get()["twice"], "twice").name_hint == "twice"
    assert len(hashed) == 2
