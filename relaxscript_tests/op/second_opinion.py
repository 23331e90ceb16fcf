"""What torch and jax think of our operators: `python -m relaxscript_tests.op.second_opinion`.

Each operator that has a counterpart there is run on the same random operands, NaN, infinities and
both zeros among them. Results that are further apart than the bound of the dtype are mistakes
of ours until shown otherwise, and the program fails. The packages are the extra `oracles`;
`.ci/long` runs this.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

import relaxscript.op as R
from relaxscript.op import REGISTRY
from relaxscript_tests import examples
from relaxscript_tests.op.exact import FLOATS, INTEGERS, draw

__all__ = ["main"]

ROUNDS = 200
NARROW = ("float16", "bfloat16", "float32", "float64")
# How many times the distance between neighbouring values two results may be apart.
PLACES = {"float16": 4, "bfloat16": 4, "float32": 32, "float64": 256}
EPSILON = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}


def to_torch(array: Any) -> Any:
    """The same elements as a tensor of torch."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def from_torch(tensor: Any) -> Any:
    """The elements of a tensor of torch as numbers."""
    if isinstance(tensor, (tuple, list)):
        return [from_torch(item) for item in tensor]
    return tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()


Call = tuple[str, tuple[str, ...], int, Callable[..., Any], Callable[..., Any], Callable[..., Any]]


def _elementwise() -> Iterator[Call]:
    """Operators with the same meaning in all three; dtypes, number of operands."""
    for name in ("abs", "negative", "square"):
        yield name, (*NARROW, "int32", "int64"), 1, *_named(name)
    yield "sign", NARROW, 1, R.sign, None, jnp.sign  # torch has 0 for NaN
    for name in ("ceil", "floor", "trunc", "round", "sqrt", "exp", "sin", "cos", "tanh", "atan"):
        yield name, NARROW, 1, *_named(name)
    for name in ("isnan", "isinf", "isfinite"):
        yield name, NARROW, 1, *_named(name)
    for name in ("add", "subtract", "multiply", "maximum", "minimum"):
        yield name, (*NARROW, "int32", "int64", "uint8"), 2, *_named(name)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        other = {"equal": "eq", "not_equal": "ne"}.get(name)
        yield name, (*NARROW, "int32"), 2, *_named(name, other)
    yield "divide", NARROW, 2, R.divide, torch.divide, jnp.divide
    yield "mod", NARROW, 2, R.mod, None, jnp.fmod  # torch has NaN for what is divided by infinity
    yield "erf", NARROW[2:], 1, R.erf, torch.erf, jax.scipy.special.erf
    functional = torch.nn.functional
    yield "nn.relu", NARROW, 1, R.nn.relu, functional.relu, jax.nn.relu
    yield "sigmoid", NARROW, 1, R.sigmoid, torch.sigmoid, jax.nn.sigmoid


def _named(name: str, of_torch: str | None = None) -> tuple[Any, Any, Any]:
    """The functions of one name in all three; torch may have another."""
    return REGISTRY[f"relax.{name}"], getattr(torch, of_torch or name), getattr(jnp, name)


def _along_rows(function: Callable[..., Any], keyword: str) -> Callable[..., Any]:
    return lambda x: function(x, **{keyword: -1})


def _rows() -> Iterator[Call]:
    """Operators along the last axis of rows."""
    every = (*NARROW, "int32", "int64", "uint8")
    functional = torch.nn.functional
    yield "sort", every, 1, R.sort, lambda x: torch.sort(x, stable=True)[0], jnp.sort
    yield (
        "argsort", every, 1, R.argsort,
        lambda x: torch.argsort(x, stable=True), lambda x: jnp.argsort(x, stable=True),
    )  # fmt: skip
    yield (
        "topk", every, 1, lambda x: R.topk(x, k=3, ret_type="values"),
        lambda x: torch.topk(x, 3)[0], lambda x: jnp.flip(jnp.sort(x), -1)[..., :3],
    )  # fmt: skip
    for name in ("max", "min", "argmax", "argmin"):
        place = name.startswith("arg")  # torch does not say which of several it gives
        yield (
            name, NARROW if place else every, 1,
            _along_rows(REGISTRY[f"relax.{name}"], "axis"),
            None if place else _along_rows(getattr(torch, f"a{name}"), "dim"),
            _along_rows(getattr(jnp, name), "axis"),
        )  # fmt: skip
    yield (
        # jax rounds the differences to the largest element to the dtype before it takes powers.
        "nn.softmax", NARROW, 1, R.nn.softmax,
        lambda x: functional.softmax(x, -1),
        lambda x: jax.nn.softmax(x.astype(jnp.promote_types(x.dtype, "float32"))).astype(x.dtype),
    )  # fmt: skip
    yield (
        # Both lose small logarithms beside large operands.
        "nn.log_softmax", NARROW[2:], 1, lambda x: R.exp(R.nn.log_softmax(x)),
        lambda x: torch.exp(functional.log_softmax(x, -1)),
        lambda x: jnp.exp(jax.nn.log_softmax(x, -1)),
    )  # fmt: skip
    yield (
        "unique", ("float32", "float64", "int32"), 1, lambda x: R.unique(x.reshape(-1)), None,
        lambda x: jnp.unique(x.reshape(-1)),
    )  # fmt: skip


def disagreement(dtype: str, ours: Any, theirs: Any) -> str | None:
    """Why two results are not the same, or None."""
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape}"
    a, b = a.astype(np.float64), b.astype(np.float64)
    bound = PLACES.get(dtype, 0) * EPSILON.get(dtype, 0)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= bound * np.maximum(np.abs(a), np.abs(b)) + _least(dtype)
    wrong = ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not wrong.any():
        return None
    where = tuple(map(int, np.argwhere(wrong)[0])) if wrong.ndim else ()
    return f"{a[where]!r} and {b[where]!r} at {where}"


def _least(dtype: str) -> float:
    """The least normal number: jax takes smaller ones for 0."""
    normal = {"float16": -14, "bfloat16": -126, "float32": -126, "float64": -1022}.get(dtype)
    return 0.0 if normal is None else 2.0**normal


def _normal(array: Any) -> Any:
    """Operands without numbers that are not normal."""
    return np.where(np.abs(array) < _least(array.dtype.name), 0, array).astype(array.dtype)


def opinions(call: Call, dtype: str, operands: list[Any]) -> Iterator[tuple[str, str]]:
    """Who disagrees, and how."""
    _, _, _, ours, of_torch, of_jax = call
    found = ours(*operands)
    if of_torch is not None:
        theirs = from_torch(of_torch(*map(to_torch, operands)))
        told = disagreement(dtype, found, theirs)
        if told:
            yield "torch", told
    theirs = of_jax(*map(jnp.asarray, operands))
    told = disagreement(dtype, found, np.asarray(theirs))
    if told:
        yield "jax", told


def main() -> int:
    """Ask both of everything; 1 where one of them disagrees."""
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(0)
    asked: Counter[str] = Counter()
    wrong: Counter[tuple[str, str, str]] = Counter()
    shown: dict[tuple[str, str, str], str] = {}
    for along_rows, calls in ((False, _elementwise()), (True, _rows())):
        for call in calls:
            name, dtypes, count, *_ = call
            for dtype in dtypes:
                assert dtype in (*FLOATS, *INTEGERS)
                for _ in range(examples(ROUNDS)):
                    shape = (3, 7) if along_rows else (40,)
                    operands = [_normal(draw(rng, dtype, shape)) for _ in range(count)]
                    asked[name] += 1
                    for who, told in opinions(call, dtype, operands):
                        wrong[who, name, dtype] += 1
                        shown.setdefault((who, name, dtype), told)
    for key, number in sorted(wrong.items()):
        print(*key, f"{number} times:", shown[key])
    print(f"{sum(asked.values())} calls of {len(asked)} operators, {sum(wrong.values())} differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
