"""Which code computes sorts, running sums and samples on a processor."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.relax.backend import DispatchSampling, DispatchSortScan
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform import LegalizeOps, Sequential
from relaxscript_tests.transform.before_after import check

PROGRAM = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3, "n"), "float32")):
        with R.dataflow():
            y = {value}
            R.output(y)
        return y
"""
MULTINOMIAL = """
@I.ir_module
class M:
    @R.function
    def main(
        prob: R.Tensor((2, 3), "float32"),
        sample: R.Tensor((4, 1), "float32"),
        rows: R.Tensor((4, 1), "int64"),
    ):
        with R.dataflow():
            y = R.multinomial_from_uniform(prob, sample, rows, dtype="int32")
            z = R.cumsum(prob, axis=1)
            R.output(y, z)
        return (y, z)
"""
SCANS = ["R.cumsum(x, axis=1)", 'R.cumprod(x, axis=0, dtype="float64", exclusive=True)']
SORTS = ["R.sort(x, axis=1)", "R.argsort(x, axis=1, descending=True)", "R.topk(x, k=1, axis=0)"]


@pytest.mark.parametrize("value", SCANS)
def test_running_sums_and_products_become_the_loops_of_legalize_ops(value):
    program = from_source(PROGRAM.format(value=value))
    made = DispatchSortScan()(program)
    assert_same(made, LegalizeOps()(program))
    assert DispatchSortScan()(made) is made


@pytest.mark.parametrize("value", SORTS)
def test_sorts_stay_operators_which_numpy_runs(value):
    check(DispatchSortScan(), PROGRAM.format(value=value))


@pytest.mark.parametrize("value", ["R.exp(x)", "R.sum(x)", "R.nonzero(x)"])
@pytest.mark.parametrize("step", [DispatchSortScan(), DispatchSampling()], ids=repr)
def test_other_operators_stay(step, value):
    check(step, PROGRAM.format(value=value))


def test_samples_are_drawn_by_a_packed_function():
    check(
        DispatchSampling(), MULTINOMIAL,
        MULTINOMIAL.replace(
            'R.multinomial_from_uniform(prob, sample, rows, dtype="int32")',
            'R.call_pure_packed("relax.run.multinomial_from_uniform", prob, sample, rows, '
            'R.str("int32"), sinfo_args=R.Tensor((4, 1), "int32"))',
        ),
    )  # fmt: skip


@pytest.mark.parametrize("value", [*SCANS, *SORTS])
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_program_gives_the_same_afterwards(value, target, rng):
    program = from_source(PROGRAM.format(value=value))
    x = rng.standard_normal((3, 5)).astype("float32")
    results = []
    for mod in (program, DispatchSortScan()(program)):
        found = rx.VirtualMachine(rx.build(mod, target))["main"](x)
        results.append(found if isinstance(found, (tuple, list)) else [found])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), 1e-6)


def test_samples_are_the_same_afterwards(rng):
    program = from_source(MULTINOMIAL)
    prob = np.array([[0.2, 0.3, 0.5], [1, 0, 0]], "float32")
    sample, rows = rng.random((4, 1)).astype("float32"), np.array([[0], [1], [0], [0]])
    made = Sequential([DispatchSampling(), DispatchSortScan()])(program)
    expected, found = (
        rx.VirtualMachine(rx.build(mod))["main"](prob, sample, rows) for mod in (program, made)
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), 1e-6)
