"""Running tensors of tensor expressions, on arrays for what they are computed from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import relaxscript as rx
from relaxscript import te
from relaxscript.arith import evaluate
from relaxscript.ir.prim import Var
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.walk import substitute
from relaxscript.script import from_source


def computed(made: te.Tensor, given: Mapping[te.Tensor, Any], target: str = "reference") -> Any:
    """The elements of a tensor; its PrimFunc prints and reads back."""
    function = te.create_prim_func([*given, made])
    assert_structural_equal(from_source(function.script()), function)
    sizes = {
        dim: int(size)
        for tensor, array in given.items()
        for dim, size in zip(tensor.shape, array.shape)
        if isinstance(dim, Var)
    }
    consts = {var: te.const(size, var.dtype) for var, size in sizes.items()}
    shape = tuple(evaluate(substitute(dim, consts)) for dim in made.shape)
    result = np.full(shape, 77, made.dtype.numpy)
    machine = rx.VirtualMachine(rx.build(rx.IRModule({"main": function}), target))
    machine["main"](*given.values(), result)
    return result


def normal(rng: np.random.Generator, *shape: int, dtype: str = "float32") -> Any:
    """Random numbers around 0."""
    return rng.standard_normal(shape).astype(dtype)
