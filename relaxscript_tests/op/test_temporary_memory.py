"""What operators need beside operands and results: copies in the same type, none in a wider one.

Sums and means of float32 are made in float64, some elements at a time. The law is tried on the
example calls of `sampling.py`, with their tensors made so large that a copy stands out.
"""

from __future__ import annotations

import math
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import OperandError
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op import REGISTRY, Operator
from relaxscript_tests.op.operands import T
from relaxscript_tests.op.sampling import Sample, cases_of, fields_of_result, sample

SIZE = 1 << 18  # elements of the largest operand, about
PARTS = ("PIECE", "_PIECE", "_PART", "_CONVERTED")  # how much is worked on at a time
# How many copies in its own type of the largest tensor a call may hold: one, but where it finds
# places of elements, which are int64 as numpy's are, and sorts or compares these. Attention holds a
# score for each query and key.
COPIES = {
    "argsort": 4, "bucketize": 4, "gather_elements": 4, "grad.take_backward": 4,
    "median": 4, "nn.attention": 3, "nonzero": 4,
    "scatter_elements": 6, "searchsorted": 4, "sort": 4, "tensor_to_shape": 4, "topk": 4,
    "unique": 11,
}  # fmt: skip
OPERATORS = [  # the kernels of convolutions would be as large as their data: see `test_moments.py`
    operator for operator in REGISTRY.values() if not operator.script_name.startswith("nn.conv")
]


def tensors(case: Any) -> Iterator[T]:
    if isinstance(case, T):
        yield case
    elif isinstance(case, (list, tuple)):
        for part in case:
            yield from tensors(part)


def enlarged(case: Any, factor: int) -> Any:
    """The template with tensors that are `factor` times as long, but along axes of one element."""
    if isinstance(case, T):
        shape = tuple(size * factor if size > 1 else size for size in case.shape)
        return T(shape, case.dtype, case.below)
    if isinstance(case, (list, tuple)):
        return type(case)(enlarged(part, factor) for part in case)
    return case


def largest_factor(case: Any) -> int:
    """By how much a template can be enlarged; 0 where a tensor is empty."""
    shapes = [[size for size in tensor.shape if size != 1] for tensor in tensors(case)]
    sizes = [(math.prod(s), len(s)) for s in shapes if s]
    return min((int((SIZE / size) ** (1 / rank)) if size else 0 for size, rank in sizes), default=0)


def elements(info: StructInfo) -> int:
    dims = info.dims if isinstance(info, TensorStructInfo) else None
    return math.prod(int(dim) for dim in dims) if dims is not None else 0


def large_samples(operator: Operator) -> Iterator[Sample]:
    """Calls with large operands of float32, where those of an example may be large."""
    for case in cases_of(operator):
        factor = largest_factor(case)
        while factor > 1:
            try:
                found = sample(operator, enlarged(case, factor), "float32")
            except OperandError:
                break
            if found is None:
                break
            if sum(map(elements, fields_of_result(found.infer()))) <= 2 * SIZE:
                yield found
                break
            factor = factor * 2 // 3


def arrays(value: Any) -> list[int]:
    """The bytes of each array."""
    if isinstance(value, np.ndarray):
        return [value.nbytes]
    return [n for part in value for n in arrays(part)] if isinstance(value, (list, tuple)) else []


def temporary_memory(call: Sample) -> tuple[int, int]:
    """The most bytes that a call holds beside operands and results, and those of the largest."""
    tracemalloc.start()
    try:
        result = call.evaluate()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    largest = max(arrays([*call.values.values(), result]), default=0)
    return peak - sum(arrays(result)), largest


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in list(sys.modules.items()):
        for part in PARTS if name.startswith("relaxscript.op.") else ():
            size = getattr(module, part, None)
            if isinstance(size, int):
                monkeypatch.setattr(module, part, size // 16)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("operator", OPERATORS, ids=repr)
def test_no_tensor_is_copied_whole_in_a_wider_type(operator: Operator) -> None:
    copies = COPIES.get(operator.script_name, 1.25)
    for call in large_samples(operator):
        try:
            call.evaluate()  # whatever is made once is made
        except (IndexError, ValueError):
            continue  # places and sizes that were drawn for the small tensor
        needed, largest = temporary_memory(call)
        assert needed <= copies * largest + SIZE, call


@pytest.mark.slow
def test_most_operators_are_tried() -> None:
    tried = [operator for operator in OPERATORS if next(large_samples(operator), None)]
    assert len(tried) > 150
