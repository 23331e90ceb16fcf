"""Legalisations that are registered hold wherever operators are legalised."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import topi
from relaxscript.codegen.program_cache.program_key import build_key
from relaxscript.codegen.program_cache.rows import NotStorable
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import Target
from relaxscript.ir.relax import Op
from relaxscript.relax.transform.legalize_ops.common import register_legalize
from relaxscript.script import ir as I, relax as R
from relaxscript.transform import LegalizeOps


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return y


@pytest.fixture
def taken_back() -> Iterator[None]:
    yield
    Op.get("relax.exp").reset_attr("FLegalize")


@pytest.mark.usefixtures("taken_back")
def test_a_registered_legalisation_is_used_until_it_is_taken_back():
    ours = LegalizeOps()(Model).script()

    @register_legalize("relax.exp")
    def legalize(bb, call):
        return bb.call_te(topi.negative, call.args[0], primfunc_name_hint="minus")

    assert Op.get("relax.exp").get_attr("FLegalize") is legalize
    made = LegalizeOps()(Model)
    assert "R.call_tir(cls.minus, (x,)" in made.script()
    x = np.ones((2, 3), "float32")
    assert np.array_equal(rx.jit(made).main(x), -x)
    assert np.array_equal(rx.jit(Model).main(x), -x)
    Op.get("relax.exp").reset_attr("FLegalize")
    assert LegalizeOps()(Model).script() == ours


@pytest.mark.usefixtures("taken_back")
def test_the_map_of_a_pass_goes_before_what_is_registered():
    register_legalize("relax.exp", lambda bb, call: bb.call_te(topi.negative, call.args[0]))
    mine = {"relax.exp": lambda bb, call: bb.call_te(topi.abs, call.args[0])}
    text = LegalizeOps(mine)(Model).script()
    assert "T.fabs" in text or "T.if_then_else" in text or "T.Select" in text
    assert "T.float32(-1" not in text


@pytest.mark.usefixtures("taken_back")
def test_a_registered_legalisation_may_keep_the_call():
    register_legalize("relax.exp", lambda bb, call: call)
    assert LegalizeOps()(Model) is Model


@pytest.mark.usefixtures("taken_back")
def test_programs_with_legalisations_of_users_are_not_cached():
    register_legalize("relax.exp", lambda bb, call: call)
    with pytest.raises(NotStorable, match="a legalisation of the user"):
        build_key(Model, Target("llvm"), None, ())


def test_a_legalisation_of_an_operator_that_there_is_not_is_refused():
    with pytest.raises(DiagnosticError, match=r"there is no operator `relax\.expp`"):
        register_legalize("relax.expp", lambda bb, call: call)
