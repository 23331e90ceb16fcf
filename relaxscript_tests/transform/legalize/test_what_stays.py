"""Operators that become no loops, and how that is told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.script import from_source
from relaxscript.transform import LegalizeOps, zero_pipeline

MOD = from_source("""
@I.ir_module
class Stays:
    @T.prim_func(private=True)
    def twice(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32"), y: R.Tensor((4,), "float32")):
        cls = Stays
        a = R.exp(x)
        b = R.exp(a)
        c = R.ccl.allreduce(y)
        d = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((4,), "float32"))
        e = R.shape_of(x)
        f = R.hint_on_device(d, "cpu")
        return a, b, c, d, e, f
""")
REASONS = [
    (
        12, 13,
        "`relax.exp` is not legalised: the shape or dtype of a tensor, or the value of a scalar, "
        "is not known (and 1 more)",
    ),
    (
        14, 13,
        "`relax.ccl.allreduce` is not legalised: it has no compute, for workers exchange tensors, "
        "which the machine does",
    ),
]  # fmt: skip


def seen(diagnostics):
    return [(d.span.line, d.span.column, d.message) for d in diagnostics]


def test_what_stays_is_named_with_its_place_and_the_reason():
    with pytest.warns(RelaxWarning) as caught:
        made = LegalizeOps(enable_warning=True)(MOD)
    assert made is MOD
    assert seen(w.message.diagnostic for w in caught) == REASONS


def test_the_pipeline_before_lowering_says_it_where_it_is_told_to():
    with pytest.warns(RelaxWarning) as caught:
        zero_pipeline(enable_warning=True)(MOD)
    assert [w.message.diagnostic.message for w in caught] == [said for *_, said in REASONS]


def test_what_must_not_stay_is_a_mistake():
    with pytest.raises(DiagnosticError) as caught:
        LegalizeOps(require_all=True)(MOD)
    assert seen(caught.value.diagnostics) == REASONS
    assert {d.severity for d in caught.value.diagnostics} == {"error"}


def test_nothing_is_said_unless_it_is_asked_for():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LegalizeOps()(MOD) is MOD


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_operands_that_only_the_run_shows_to_go_together_are_a_reason():
    mod = from_source("""
@I.ir_module
class Doubtful:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor((2, 3), "float32")):
        z = R.add(x, y)
        return z
""")
    with pytest.raises(DiagnosticError, match="only the run shows whether its operands go togeth"):
        LegalizeOps(require_all=True)(mod)


def operators_left(mod, **options):
    """The operators of `main` that are no calls of PrimFuncs afterwards, in their order."""
    made = LegalizeOps(**options)(from_source(mod))
    calls = [b.value for block in made["main"].body.blocks for b in block.bindings]
    return [call.op.name for call in calls if call.op.name != "relax.call_tir"]


TAKES = """
@I.ir_module
class M:
    @R.function{pure}
    def main(x: R.Tensor((4,), "float32"), i: R.Tensor((2,), "int64")):
        a = R.exp(x)
        b = R.take(a, i)
        {call}
        return b
"""
CALL = 'c = R.call_packed("test.log", b, sinfo_args=R.Tensor((2,), "float32"))'


def test_what_may_fail_stays_in_a_function_that_cannot_be_run_again():
    impure, pure = TAKES.format(pure="(pure=False)", call=CALL), TAKES.format(pure="", call="c = b")
    assert operators_left(impure.replace(CALL, "")) == []
    made = LegalizeOps(keep_failures=True)(from_source(impure))
    assert "R.take(" in made["main"].script()
    assert "R.exp(" not in made["main"].script()
    made = LegalizeOps(keep_failures=True)(from_source(pure))
    assert "R.take(" not in made["main"].script()


@pytest.mark.parametrize(
    ("call", "dtype", "stays"),
    [
        ("R.sinh(x)", "float32", True), ("R.exp(x)", "float32", False),
        ("R.exp(x)", "float64", True), ("R.sort(x)", "float32", True),
        ("R.add(x, x)", "float64", False),
    ],
)  # fmt: skip
def test_what_numpy_computes_faster_stays_where_that_is_asked_for(call, dtype, stays):
    text = f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "{dtype}")):
        y = {call}
        return y
"""
    assert bool(operators_left(text, keep_faster=True)) is stays
    assert operators_left(text) == []


WITHIN = """
@I.ir_module
class M:
    @R.function(private=True)
    def within(x: R.Tensor((4,), "float32"), i: R.Tensor((2,), "int64")):
        b = R.take(x, i)
        return b

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), i: R.Tensor((2,), "int64")):
        cls = M
        {call}
        b = cls.within(x, i)
        return b
"""


def test_what_may_fail_stays_in_a_function_that_one_mentions_which_cannot_be_run_again():
    call = CALL.replace("b,", "x,").replace("(2,)", "(4,)")
    made = LegalizeOps(keep_failures=True)(from_source(WITHIN.format(call=call)))
    assert "R.take(" in made["within"].script()
    made = LegalizeOps(keep_failures=True)(from_source(WITHIN.format(call="c = x")))
    assert "R.take(" not in made["within"].script()


def test_an_operator_of_a_packed_function_stays_where_it_tells_of_its_operands_by_name():
    text = TAKES.replace("R.take(a, i)", "R.unique(a)")
    impure = text.format(
        pure="(pure=False)", call=CALL.replace('R.Tensor((2,), "float32")', "R.Object")
    )
    made = LegalizeOps(keep_failures=True)(from_source(impure))
    assert "R.unique(" in made["main"].script()
    made = LegalizeOps(keep_failures=True)(from_source(text.format(pure="", call="c = b")))
    assert "relax.run.unique" in made["main"].script()


def test_what_passes_dropped_keeps_no_run_from_being_repeated():
    from relaxscript.testing.compare import check_executors_agree

    unused = """
        @R.function
        def unused(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            z = R.call_pure_packed("test.log", y, sinfo_args=R.Tensor((4,), "float32"))
            return z
"""
    text = TAKES.format(pure="", call="c = b").replace("        a =", unused + "        a =")
    told = check_executors_agree(from_source(text), [np.ones(4, "float32"), np.array([0, 9])])
    assert told.code == "RX0606"
