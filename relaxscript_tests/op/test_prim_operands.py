"""Binary operators on scalars alone, which give a scalar."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, RelaxWarning
from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import PrimStructInfo
from relaxscript.op import REGISTRY, Operator
from relaxscript.runtime.values import make_prim, prim_dtype, prim_value
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor

from .inference import infer, prim_var, refused, result, tensor

BINARY = [
    found
    for found in REGISTRY.values()
    if [p.wants for p in found.parameters] == ["scalar", "scalar"]
]
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
NUMBERS = {
    "int8": (-7, 3, -128, 127), "int64": (-7, 3, 2**62), "uint8": (0, 3, 255),
    "float16": (0.5, -3.0, 60000.0), "float32": (0.1, -2.5), "float64": (0.1, 1e308),
    "bfloat16": (0.5, -3.0), "bool": (True, False),
}  # fmt: skip

every_binary = pytest.mark.parametrize("operator", BINARY, ids=repr)


def accepted(operator: Operator, dtype: str) -> bool:
    """Whether the operator takes tensors of the dtype."""
    try:
        infer(operator, tensor(2, dtype=dtype), tensor(2, dtype=dtype))
    except OperandError:
        return False
    return True


def test_the_binary_operators_are_those_of_arithmetic_bits_logic_and_comparison() -> None:
    assert len(BINARY) == 26


@every_binary
@pytest.mark.parametrize("dtype", NUMBERS)
def test_prim_values_alone_are_taken_as_tensors_are(operator: Operator, dtype: str) -> None:
    operands = prim_var(dtype), prim_var(dtype)
    if not accepted(operator, dtype):
        error = refused(operator, *operands)
        assert (error.code, error.fact) == ("RX0202", f"is a scalar of {dtype}")
        return
    found = infer(operator, *operands)
    assert isinstance(found, PrimStructInfo)
    assert found.value is None
    assert found.dtype == ("bool" if operator.__name__ in COMPARISONS else dtype)


@every_binary
@pytest.mark.parametrize("dtype", NUMBERS)
def test_prim_values_alone_have_the_meaning_of_tensors(operator: Operator, dtype: str) -> None:
    if not accepted(operator, dtype):
        return
    call = operator.build((prim_var(dtype), prim_var(dtype)))
    info = infer(operator, *call.args)
    for a in NUMBERS[dtype]:
        for b in NUMBERS[dtype]:
            found = operator.evaluate(call, (make_prim(a, dtype), make_prim(b, dtype)))
            arrays = (np.array(number, DataType(dtype).numpy) for number in (a, b))
            wanted = operator.meaning(*arrays)
            assert prim_dtype(found) == info.dtype == wanted.dtype.name  # type: ignore[attr-defined]
            assert np.array_equal(prim_value(found), wanted.item(), equal_nan=True)


def test_a_prim_value_beside_a_tensor_is_one_of_rank_0() -> None:
    assert result(R.add, tensor(2), prim_var("float32")) == "(2,) float32"
    assert result(R.less, prim_var("float32"), tensor(dtype="float32")) == "() bool"


def test_data_types_of_prim_values_must_agree_but_where_they_are_compared() -> None:
    error = refused(R.add, prim_var("int64"), prim_var("int32"))
    assert (error.operand, error.fact) == ("x2", "is a scalar of int32")
    assert error.facts["x1"] == "is a scalar of int64"
    assert error.help == 'declare it as `R.Prim("int64")`'
    known = relax.Var("p", PrimStructInfo(value=prim.Var("n", "int64")))
    assert refused(R.add, prim_var("int32"), known).help == (
        'write `R.prim_value(T.cast(n, "int32"))`'
    )
    assert infer(R.less, prim_var("int64"), prim_var("int32")) == PrimStructInfo("bool")


PROGRAM = """
@I.ir_module
class M:
    @R.function
    def main(p: R.Prim("int64"), q: R.Prim("int64"), x: R.Tensor((3,), "float32")):
        s = p + q
        b = p < q
        if b:
            z = s * p
        else:
            z = R.floor_mod(s, q)
        return z, R.equal(p, q), R.maximum(p, q)
"""


@every_executor
def test_every_executor_computes_prim_values(load: Any) -> None:
    module = from_source(PROGRAM)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        run = load(module).main
    x = np.zeros(3, np.float32)
    for p, q in ((3, 5), (7, 4), (-3, 2), (2, 2)):
        wanted = ((p + q) * p if p < q else (p + q) % q, p == q, max(p, q))
        found = run(p, q, x)
        assert found == wanted
        assert [type(item) for item in found] == [int, bool, int]


def test_what_is_computed_of_prim_values_prints_and_reads_back() -> None:
    script = from_source(PROGRAM).script()
    assert 's: R.Prim("int64") = R.add(p, q)' in script
    assert 'b: R.Prim("bool") = R.less(p, q)' in script
    assert from_source(script).script() == script
