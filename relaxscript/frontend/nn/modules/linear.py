"""Products with a matrix of weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.module import Module
from relaxscript.frontend.nn.parameter import Parameter
from relaxscript.frontend.nn.tensor import Tensor

__all__ = ["Linear", "MultiLinear"]


class Linear(Module):
    """`x @ weight.T + bias`; `weight` is `(out_features, in_features)`, as PyTorch has it.

    With `out_dtype` the product has that dtype, and so has the bias.
    """

    def __init__(
        self, in_features: int | str, out_features: int | str, bias: bool = True,
        dtype: str | None = None, out_dtype: str | None = None,
    ) -> None:  # fmt: skip
        self.in_features = in_features
        self.out_features = out_features
        self.out_dtype = out_dtype
        self.weight = Parameter((out_features, in_features), dtype)
        self.bias: Parameter | None = None
        if bias:
            self.bias = Parameter((out_features,), dtype if out_dtype is None else out_dtype)

    def forward(self, x: Tensor) -> Tensor:
        """The last axis of `x`, of `in_features`, becomes one of `out_features`."""
        return _product(self, x)

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of the parameters; the bias keeps that of the product."""
        _convert(self, dtype)


class MultiLinear(Module):
    """Several products of one tensor at once, such as queries, keys and values.

    `out_features` has the size of each; `weight` is `(sum(out_features), in_features)`.
    """

    def __init__(
        self, in_features: int | str, out_features: Sequence[int], bias: bool = True,
        dtype: str | None = None, out_dtype: str | None = None,
    ) -> None:  # fmt: skip
        total = sum(out_features)
        self.in_features = in_features
        self.out_features = list(out_features)
        self.out_dtype = out_dtype
        self.weight = Parameter((total, in_features), dtype)
        self.bias: Parameter | None = None
        if bias:
            self.bias = Parameter((total,), dtype if out_dtype is None else out_dtype)

    def forward(self, x: Tensor) -> Any:
        """A tuple of the products, each with its own size along the last axis."""
        ends = list(accumulate(self.out_features))
        return op.split(_product(self, x), ends[:-1], axis=-1)

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of the parameters; the bias keeps that of the products."""
        _convert(self, dtype)


def _product(module: Linear | MultiLinear, x: Tensor) -> Tensor:
    weight = op.permute_dims(module.weight)
    product = op.matmul(x, weight, out_dtype=module.out_dtype)
    return product if module.bias is None else product + module.bias


def _convert(module: Linear | MultiLinear, dtype: str | None) -> None:
    module.weight.to(dtype)
    if module.bias is not None and module.out_dtype is None:
        module.bias.to(dtype)
