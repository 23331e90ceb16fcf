"""Indices drawn by probabilities. Source: TVM `relax.multinomial_from_uniform`."""

from __future__ import annotations

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DType, Tensor
from relaxscript.opdef.shapes import (
    common_dtype,
    common_vdevice,
    dims_of,
    number,
    require_dtype,
    require_equal,
    require_inside,
    require_result_dtype,
    same_dim,
    tensor_of,
)

__all__ = ["multinomial_from_uniform"]


@op(alike=("prob", "uniform_sample"))
def multinomial_from_uniform(
    prob: Tensor,
    uniform_sample: Tensor,
    sample_indices: Tensor,
    dtype: DType = "int64",  # type: ignore[assignment]
) -> Tensor:
    """For each sample an index, drawn by the probabilities in a row of `prob`.

    It is the first at which the sum of the probabilities up to it is above the sample. That is a
    number from 0 to below 1; where no sum is above it, the last index is taken. `uniform_sample`
    and `sample_indices`, the rows that are drawn from, have the shape (samples, 1). Sums are made
    in float64. Raises `IndexError` for a row that is not there. `R.random.uniform` gives such
    samples.
    """
    rows = sample_indices[:, 0].astype(np.int64)
    if rows.size and not (rows.min() >= 0 and rows.max() < len(prob)):
        raise IndexError(f"a row is not among the {len(prob)} of `prob`")
    found = np.empty(uniform_sample.shape, dtype.numpy)
    last = prob.shape[1] - 1
    for row in np.unique(rows):
        sums = np.cumsum(prob[row], dtype=np.float64)
        drawn = rows == row
        places = np.searchsorted(sums, uniform_sample[drawn, 0].astype(np.float64), "right")
        found[drawn, 0] = np.minimum(places, last)
    return found


@multinomial_from_uniform.infer_rule
def _(
    context: InferContext,
    prob: TensorStructInfo,
    uniform_sample: TensorStructInfo,
    sample_indices: TensorStructInfo,
    dtype: DataType,
) -> StructInfo:
    operands = {
        "prob": prob, "uniform_sample": uniform_sample, "sample_indices": sample_indices,
    }  # fmt: skip
    common_dtype({"prob": prob, "uniform_sample": uniform_sample})
    require_dtype("prob", prob.dtype, "float")
    require_dtype("uniform_sample", uniform_sample.dtype, "float")
    require_dtype("sample_indices", sample_indices.dtype, "integer")
    require_result_dtype("dtype", dtype, "integer")
    vdevice = common_vdevice(operands)
    for name, info in operands.items():
        dims = dims_of(info)
        if (info.ndim if dims is None else len(dims)) not in (-1, 2):
            wanted = "a row of probabilities for each distribution"
            message = wanted if name == "prob" else "there is a row of one number for each sample"
            raise OperandError(name, shape_fact(info, dims), message=message)
        if name != "prob" and dims is not None:
            _require_one(context, name, dims[1])
    chances, samples, rows = map(dims_of, operands.values())
    if chances is not None:
        message = "nothing is drawn from no probabilities"
        error = OperandError("prob", f"has {dim_text(chances[1])} columns", message=message)
        text = f"`prob` has {dim_text(chances[1])} columns, and {message}"
        require_inside(context, number(1), chances[1], error, text)
    if samples is not None and rows is not None and not same_dim(samples[0], rows[0]):
        fact = f"has {dim_text(rows[0])} rows"
        also = {"uniform_sample": f"has {dim_text(samples[0])}"}
        error = OperandError("sample_indices", fact, also=also)
        text = f"`sample_indices` {fact} for {dim_text(samples[0])} samples"
        require_equal(context, samples[0], rows[0], error, text)
    known = samples or rows
    return tensor_of(known and (known[0], number(1)), dtype, vdevice, 2)


def _require_one(context: InferContext, name: str, columns: PrimExpr) -> None:
    fact = f"has {dim_text(columns)} columns"
    error = OperandError(name, fact, message="there is one number for each sample")
    require_equal(context, number(1), columns, error, f"`{name}` {fact}, not 1")


multinomial_from_uniform.lacks("gradient", "its results are integers")
multinomial_from_uniform.lacks(
    "compute", "which row is drawn from depends on the values", packed=True
)
