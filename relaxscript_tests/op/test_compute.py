"""Computes of operators: the PrimFuncs that they become mean what the operators mean.

A chain of links, each tested for every operator's samples, so that a failing one names the guilty
layer: meaning, evaluator of the compute, plain native code. The first two are as near to each other
as the operator's block says, the others are the same bit for bit.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.builder import BlockBuilder
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Constant, Expr, Function, Op, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import substitute, walk
from relaxscript.op import REGISTRY, Operator, PlainContext
from relaxscript.script import from_source
from relaxscript.transform import LegalizeOps
from relaxscript_tests import examples

from .nearness import assert_near, flat, same_numbers
from .sampling import DTYPES, FURTHER_DTYPES, Sample, samples

# So many samples of an operator are drawn at least: what differs between them is mostly the dtype.
FEWEST = 6
COMPUTED = [o for o in REGISTRY.values() if "compute" in o.rules]

# All laws of an operator run before those of the next: they share what is made of its samples.
every_computed = pytest.mark.parametrize("operator", COMPUTED, ids=repr, scope="module")


def legalised(sample: Sample) -> IRModule | None:
    """A module whose `main` is the call of a sample, legalised; None where a shape is not known."""
    builder = BlockBuilder()
    with builder.function("main", list(sample.params)):
        builder.emit_func_output(builder.emit(sample.call))
    made = LegalizeOps()(builder.finalize())
    main = made["main"]
    assert isinstance(main, Function)
    stays = any(isinstance(e, Op) and e.name == sample.operator.name for e in walk(main.body))
    return None if stays else made


def run(module: IRModule, sample: Sample, target: str) -> Any:
    """The value of `main`."""
    machine = rx.VirtualMachine(rx.build(module, target))
    return machine["main"](*sample.values.values())


@dataclass(frozen=True)
class Computed:
    """A sample that becomes loops, and the module that has them."""

    sample: Sample
    module: IRModule

    @functools.cached_property
    def evaluated(self) -> Any:
        """What the evaluator finds."""
        return run(self.module, self.sample, "reference")


@functools.lru_cache(maxsize=4)
def computed(
    operator: Operator, dtypes: Sequence[str] = DTYPES, fewest: int = FEWEST
) -> list[Computed]:
    """The samples that become loops; of many the share that the present effort draws."""
    every = list(samples(operator, dtypes))
    count = min(len(every), max(fewest, examples(len(every))))
    drawn = random.Random(operator.name).sample(every, count)
    modules = [(sample, legalised(sample)) for sample in drawn]
    return [Computed(sample, module) for sample, module in modules if module is not None]


@pytest.mark.parametrize("operator", REGISTRY.values(), ids=repr)
def test_an_operator_has_a_compute_or_says_why_not(operator: Operator) -> None:
    assert ("compute" in operator.rules) != ("compute" in operator.reasons)


@every_computed
def test_a_compute_means_what_the_operator_means(operator: Operator) -> None:
    further = [made for made in computed(operator, FURTHER_DTYPES, 3) if is_further(made.sample)]
    for made in [*computed(operator), *further]:
        assert_near(operator, made.sample, made.evaluated, made.sample.evaluate())
    assert computed(operator)


def is_further(sample: Sample) -> bool:
    """True for one with operands of `FURTHER_DTYPES`: where all are given, it is as with others."""
    return any(str(getattr(x, "dtype", "")) in FURTHER_DTYPES for x in sample.values.values())


@every_computed
def test_native_code_of_a_compute_gives_the_bits_of_the_evaluator(operator: Operator) -> None:
    for made in computed(operator):
        sample, evaluated = made.sample, made.evaluated
        native = run(made.module, sample, "llvm -opt-level=0")
        if operator.accuracy.ulp:
            assert_near(operator, sample, native, evaluated)
        else:
            for one, other in zip(flat(native), flat(evaluated), strict=True):
                assert (one.shape, one.dtype) == (other.shape, other.dtype), str(sample)
                assert same_numbers(one, other), f"{sample}: {one} for {other}"


def symbolic(sample: Sample) -> Sample | None:
    """A sample with a variable for each dimension above 1; None where numbers are needed."""
    sizes: dict[int, prim.Var] = {}

    def dim(size: prim.PrimExpr) -> prim.PrimExpr:
        value = int(size)  # type: ignore[call-overload]
        return size if value < 2 else sizes.setdefault(value, prim.Var(f"n{value}", prim.INT64))

    values: dict[Var, Any] = {}
    renamed: dict[Var, Var] = {}
    for var, value in sample.values.items():
        info = var.struct_info
        if isinstance(info, TensorStructInfo) and info.dims is not None:
            info = TensorStructInfo(tuple(map(dim, info.dims)), info.dtype)
        renamed[var] = Var(var.name, info)
        values[renamed[var]] = value
    made = Sample(sample.operator, substitute(sample.call, renamed), values, sample.callees)
    context = PlainContext()
    try:
        made.operator.infer(made.call, context)
    except OperandError:
        return None
    return made if sizes and not context.deferred_checks else None


@every_computed
def test_a_compute_of_symbolic_shapes_means_the_same(operator: Operator) -> None:
    for sample in filter(None, map(symbolic, samples(operator, ("float32", "int64")))):
        module = legalised(sample)
        if module is not None:
            assert_near(operator, sample, run(module, sample, "reference"), sample.evaluate())


def with_constants(sample: Sample) -> Sample | None:
    """A sample with a constant for each tensor of rank 0; None where there is none."""
    constants: dict[Var, Expr] = {
        var: Constant(np.asarray(value))
        for var, value in sample.values.items()
        if isinstance(var.struct_info, TensorStructInfo) and var.struct_info.ndim == 0
    }
    values = {var: value for var, value in sample.values.items() if var not in constants}
    call = substitute(sample.call, constants)
    return Sample(sample.operator, call, values, sample.callees) if constants else None


@every_computed
def test_a_compute_takes_constants_that_are_scalars(operator: Operator) -> None:
    for sample in filter(None, map(with_constants, samples(operator, ("float32", "int64")))):
        module = legalised(sample)
        if module is not None:
            assert_near(operator, sample, run(module, sample, "reference"), sample.evaluate())


@every_computed
def test_a_legalised_call_prints_and_reads_back(operator: Operator) -> None:
    for made in computed(operator)[:4]:
        assert any(isinstance(f, PrimFunc) for f in made.module.functions.values())
        assert_structural_equal(from_source(made.module.script(show_meta=True)), made.module)
