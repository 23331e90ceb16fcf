"""Operators in mixed precision: what they compute with, and what they give."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.dtypes import DataType
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op import REGISTRY, Operator, PlainContext, Trait

from .sampling import samples

ALWAYS = [o for o in REGISTRY.values() if Trait.MIXED_ALWAYS in o.traits]


@pytest.mark.parametrize("operator", REGISTRY.values(), ids=repr)
def test_who_always_computes_with_fewer_bits_says_how_and_no_other(operator: Operator) -> None:
    assert (Trait.MIXED_ALWAYS in operator.traits) == ("mixed_precision" in operator.rules)
    assert not {Trait.MIXED_ALWAYS, Trait.MIXED_FOLLOW} <= operator.traits


@pytest.mark.parametrize("operator", ALWAYS, ids=repr)
def test_a_call_on_fewer_bits_gives_what_is_asked_for_or_the_dtype_of_its_operands(
    operator: Operator,
) -> None:
    wide, tried = DataType("float32"), 0
    for sample in samples(operator, ("float16",)):
        call = operator.rules["mixed_precision"](sample.call, wide)
        info = operator.infer(call, PlainContext())
        assert isinstance(info, TensorStructInfo)
        has_own = any(p.name == "out_dtype" for p in operator.parameters)
        assert info.dtype == (wide if has_own else DataType("float16"))
        values = [sample.values[arg] for arg in call.args]
        np.testing.assert_allclose(
            operator.evaluate(call, values).astype("float64"),
            sample.evaluate().astype("float64"),
            rtol=2e-3, atol=2e-3,
        )  # fmt: skip
        tried += 1
    assert tried
