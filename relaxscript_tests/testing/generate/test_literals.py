"""Odd literals are literals of the dtype that was asked for."""

from __future__ import annotations

import pytest

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.testing.generate.choices import Seeded
from relaxscript.testing.generate.literals import KINDS, scalar_of


@pytest.mark.parametrize("dtype", KINDS)
def test_a_literal_has_the_data_type_that_was_asked_for(dtype: str):
    for seed in range(20):
        literal = scalar_of(Seeded(seed), DataType(dtype))
        assert isinstance(literal, prim.Immediate)
        assert literal.dtype == dtype


def test_without_one_it_has_any():
    assert len({scalar_of(Seeded(seed)).dtype for seed in range(100)}) == len(KINDS)
