"""Guessed arguments: often enough taken by the operators they are meant for."""

from __future__ import annotations

import pytest

from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.relax import Expr, Var
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import REGISTRY, ArgumentError, PlainContext
from relaxscript.testing.generate.arguments import arguments_for
from relaxscript.testing.generate.choices import Seeded

TENSOR = TensorStructInfo((2, 3), "float32")
VALUES: list[Expr] = [
    *(Var("x", TensorStructInfo((2, 3), dtype)) for dtype in ("float32", "int32", "bool")),
    *(Var("x", TensorStructInfo((3,), dtype)) for dtype in ("float32", "int64", "int32")),
    *(Var("x", TensorStructInfo((2, 2, 1, 1, 1)[:rank], "float32")) for rank in (3, 4, 5)),
    Var("x", TensorStructInfo((1,), "int64")),
    Var("x", TensorStructInfo((), "int64")),
    Var("x", TensorStructInfo((), "bool")),
    Var("x", TensorStructInfo((1, 2, 3), "float32")),
    Var("x", TensorStructInfo((2,), "uint32")),
    Var("s", ShapeStructInfo((2, 3))),
    Var("s", ShapeStructInfo((2, 3, 4))),
    Var("t", TupleStructInfo([TENSOR, TENSOR])),
    Var("k", PrimStructInfo("int64")),
]
RELATED = (
    "relax.grad.nll_loss_backward", "relax.multinomial_from_uniform", "relax.nn.attention_var_len",
)  # fmt: skip
PLAIN = {
    name: operator
    for name, operator in REGISTRY.items()
    # Their operands have shapes that depend on each other, which chance hardly finds.
    if not name.startswith(("relax.vision.", *RELATED))
    and not any(
        p.kind in ("callee", "dtype", "sinfo", "text")
        or p.annotation == "VirtualDevice"
        or (p.annotation == "str" and p.is_required)
        for p in operator.parameters
    )
}


def accepted(operator, seed) -> bool:
    choices = Seeded(seed)
    given = arguments_for(choices, operator, VALUES, lambda: prim.IntImm(prim.INT64, 2))
    if given is None:
        return False
    try:
        operator.infer(operator.build((), given), PlainContext())
    except (OperandError, ArgumentError):
        return False
    return True


@pytest.mark.parametrize("name", PLAIN)
def test_every_plain_operator_takes_some_of_them(name):
    assert any(accepted(PLAIN[name], seed) for seed in range(4000))


def test_nothing_in_scope_means_no_arguments():
    assert arguments_for(Seeded(0), REGISTRY["relax.add"], [], lambda: prim.const(1)) is None
