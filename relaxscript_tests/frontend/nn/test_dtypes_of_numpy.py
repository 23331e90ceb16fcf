"""A dtype is taken as a string, as a scalar class of numpy and as a `numpy.dtype` everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import init, op
from relaxscript_tests.frontend.nn.computing import Computing, tensor_spec

X = np.ones((2, 3), "float32")
# What each function is called with, and its dtype.
CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "matmul": (lambda x, dtype: op.matmul(x, op.permute_dims(x), out_dtype=dtype), "float16"),
    "astype": (lambda x, dtype: op.astype(x, dtype), "float16"),
    "full": (lambda x, dtype: op.full((2,), 1, dtype), "int8"),
    "zeros": (lambda x, dtype: op.zeros((2,), dtype), "float16"),
    "ones": (lambda x, dtype: op.ones((2,), dtype), "float16"),
    "empty": (lambda x, dtype: op.empty((2,), dtype), "float16"),
    "arange": (lambda x, dtype: op.arange(3, dtype=dtype), "float16"),
    "cumsum": (lambda x, dtype: op.cumsum(x, 1, dtype), "float64"),
    "argsort": (lambda x, dtype: op.argsort(x, dtype=dtype), "int64"),
    "topk": (lambda x, dtype: op.topk(x, 2, dtype=dtype), "int64"),
    "multinomial_from_uniform": (
        lambda x, dtype: op.multinomial_from_uniform(x, x[:, :1], dtype=dtype), "int32",
    ),
    "Tensor.astype": (lambda x, dtype: x.astype(dtype), "float16"),
    "Tensor.from_scalar": (lambda x, dtype: nn.Tensor.from_scalar(2, dtype), "float16"),
}  # fmt: skip
MADE: dict[str, Callable[[Any], Any]] = {
    "Conv1D": lambda dtype: nn.Conv1D(2, 3, 1, dtype=dtype),
    "Conv2D": lambda dtype: nn.Conv2D(2, 3, 1, dtype=dtype),
    "Conv3D": lambda dtype: nn.Conv3D(2, 3, 1, dtype=dtype),
    "ConvTranspose1D": lambda dtype: nn.ConvTranspose1D(2, 3, 1, dtype=dtype),
    "Embedding": lambda dtype: nn.Embedding(2, 3, dtype=dtype),
    "Linear": lambda dtype: nn.Linear(2, 3, dtype=dtype, out_dtype=dtype),
    "MultiLinear": lambda dtype: nn.MultiLinear(2, [3], dtype=dtype, out_dtype=dtype),
    "LayerNorm": lambda dtype: nn.LayerNorm(2, dtype=dtype),
    "RMSNorm": lambda dtype: nn.RMSNorm(2, -1, dtype=dtype),
    "GroupNorm": lambda dtype: nn.GroupNorm(1, 2, dtype=dtype),
    "KVCache": lambda dtype: nn.KVCache(2, [3], dtype=dtype),
}
SPELLINGS = [str, np.dtype, lambda name: np.dtype(name).type]


def takes_a_dtype(callee: Any) -> bool:
    return not {"dtype", "out_dtype"}.isdisjoint(inspect.signature(callee).parameters)


def test_all_that_take_a_dtype_are_asked():
    assert {name for name in op.__all__ if takes_a_dtype(getattr(op, name))} <= {*CALLS}
    assert {name for name in nn.modules.__all__ if takes_a_dtype(getattr(nn, name))} == {*MADE}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_takes_a_dtype_of_numpy(name: str):
    call, dtype = CALLS[name]
    spec = {"forward": {"operands": [tensor_spec(X)]}}
    functions = [partial(call, dtype=spell(dtype)) for spell in SPELLINGS]
    scripts = [Computing(function).export_tvm(spec)[0].script() for function in functions]
    assert f'"{dtype}"' in scripts[0]
    assert len({*scripts}) == 1


@pytest.mark.parametrize("name", MADE)
def test_a_module_takes_a_dtype_of_numpy(name: str):
    for spell in SPELLINGS:
        made = MADE[name](spell("float16"))
        if isinstance(made, nn.Module):
            assert {parameter.dtype for parameter in made.parameters()} == {"float16"}
            made.to(spell("float64"))
            assert {parameter.dtype for parameter in made.parameters()} <= {"float64", "float16"}
        else:
            assert made.dtype == "float16"


@pytest.mark.parametrize("spell", SPELLINGS)
def test_specs_parameters_and_initial_values_take_a_dtype_of_numpy(spell: Callable[[str], Any]):
    assert nn.spec.Tensor((2,), spell("float16")).dtype == "float16"
    assert nn.Parameter((2,), spell("int8")).dtype == "int8"
    assert nn.Tensor.placeholder((2,), spell("int8")).dtype == "int8"
    assert init.ones()((2,), spell("float16")).dtype == "float16"
    nn.set_default_dtype(spell("float64"))
    try:
        assert nn.Parameter((2,)).dtype == "float64"
    finally:
        nn.set_default_dtype("float32")
