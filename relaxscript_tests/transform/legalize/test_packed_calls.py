"""Operators of which no loops can be written call packed functions that mean the same."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.builder import BlockBuilder
from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.op import REGISTRY, Operator
from relaxscript.script import from_source
from relaxscript.transform import LegalizeOps
from relaxscript_tests.op.sampling import Sample, samples

PACKED = [operator for operator in REGISTRY.values() if operator.packed is not None]

every_packed = pytest.mark.parametrize("operator", PACKED, ids=repr)


def legalised(sample: Sample) -> IRModule:
    builder = BlockBuilder()
    with builder.function("main", list(sample.params)):
        builder.emit_func_output(builder.emit(sample.call))
    return LegalizeOps(require_all=True)(builder.finalize())


def flat(value: Any) -> list[Any]:
    return [part for v in value for part in flat(v)] if isinstance(value, tuple) else [value]


@every_packed
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_the_packed_function_means_what_the_operator_means(operator: Operator, target: str) -> None:
    for sample in itertools.islice(samples(operator), 24):
        module = legalised(sample)
        assert f'"{operator.packed}"' in module.script()
        assert_structural_equal(from_source(module.script(show_meta=True)), module)
        machine = rx.VirtualMachine(rx.build(module, target))
        try:
            expected = sample.evaluate()
        except (IndexError, ValueError):
            with pytest.raises(VMError, match=operator.script_name):
                machine["main"](*sample.values.values())
            continue
        found = machine["main"](*sample.values.values())
        for one, other in zip(flat(found), flat(expected), strict=True):
            np.testing.assert_array_equal(one, other)


def test_some_operators_are_packed():
    assert {"unique", "nonzero"} <= {operator.script_name for operator in PACKED}


def test_a_packed_function_refuses_what_the_operator_refuses():
    module = from_source("""
@R.function
def main(x: R.Object):
    return R.call_pure_packed("relax.run.nonzero", x, sinfo_args=R.Object)
""")
    machine = rx.jit(rx.IRModule({"main": module}))
    with pytest.raises(VMError, match=r"R\.nonzero"):
        machine["main"](rx.runtime.ShapeTuple((2, 3)))
