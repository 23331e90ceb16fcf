"""Products with a matrix of weights."""

from __future__ import annotations

from relaxscript.frontend.nn import op
from relaxscript.frontend.nn.module import Module
from relaxscript.frontend.nn.tensor import Parameter, Tensor

__all__ = ["Linear"]


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
        weight = op.permute_dims(self.weight)
        product = op.matmul(x, weight, out_dtype=self.out_dtype)
        return product if self.bias is None else product + self.bias

    def to(self, dtype: str | None = None) -> None:
        """Change the dtype of the parameters; the bias keeps that of the product."""
        self.weight.to(dtype)
        if self.bias is not None and self.out_dtype is None:
            self.bias.to(dtype)
