"""Which pass of a pipeline breaks a program."""

from __future__ import annotations

import pytest

from relaxscript.ir.instrument import PassInstrument
from relaxscript.testing import bisect
from relaxscript.transform import (
    LegalizeOps,
    Normalize,
    PassContext,
    Sequential,
    ToNonDataflow,
    function_pass,
    get_pipeline,
)
from relaxscript_tests.transform.models import Model


@function_pass(opt_level=0)
def wrong(func, mod, ctx):
    return func.with_attr("wrong", True)


def right(mod):
    return not any("wrong" in (f.attrs or {}) for f in mod.functions.values())


def test_the_first_pass_after_which_a_check_fails_is_found():
    inner = Sequential([ToNonDataflow(), wrong])
    found = bisect(Sequential([Normalize(), inner, LegalizeOps()]), Model, right)
    assert found.name == "wrong"
    assert right(found.before)
    assert not right(found.after)
    assert found.error is None
    assert str(found).startswith("the check fails after the pass `wrong`\n@@ -")
    assert '+        R.func_attr({"wrong": True})' in str(found)
    assert repr(found) == str(found)


def test_a_check_that_raises_fails():
    def check(mod):
        assert right(mod), "it is wrong"

    found = bisect(Sequential([wrong]), Model, check)
    assert isinstance(found.error, AssertionError)
    assert str(found).startswith("the check fails after the pass `wrong`: AssertionError: it is ")


def test_a_check_may_run_passes_of_its_own():
    def check(mod):
        return right(get_pipeline("default")(mod))

    found = bisect(Sequential([ToNonDataflow(), wrong, LegalizeOps()]), Model, check)
    assert found.name == "wrong"
    assert found.error is None


def test_instruments_see_the_passes_of_the_pipeline_and_not_those_of_the_check():
    seen = []

    class Names(PassInstrument):
        def run_after_pass(self, mod, info):
            seen.append(info.name)

    def check(mod):
        Normalize()(mod)
        return True

    with PassContext(instruments=[Names()]):
        assert bisect(Sequential([ToNonDataflow(), LegalizeOps()]), Model, check) is None
    assert seen == ["ToNonDataflow", "LegalizeOps", "sequential"]


def test_where_no_check_fails_there_is_nothing():
    assert bisect(get_pipeline("default"), Model, right) is None


def test_a_check_that_gives_nothing_does_not_fail():
    assert bisect(Sequential([wrong]), Model, lambda mod: None) is None


def test_a_check_that_fails_from_the_start_is_refused():
    with pytest.raises(ValueError, match="the check fails before the first pass"):
        bisect(Sequential([wrong]), wrong(Model), right)


def test_passes_run_in_the_context_at_hand():
    with PassContext(disabled_pass=["wrong"]):
        assert bisect(Sequential([wrong]), Model, right) is None
