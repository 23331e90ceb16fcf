"""What passes on products are asked on: programs in which they find something to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relaxscript import transform
from relaxscript.transform import Pass
from relaxscript_tests.transform.algebra.product_programs import products_module
from relaxscript_tests.transform.pass_case import Case

__all__ = ["PRODUCTS"]


def _on_products(make: Callable[[], Pass], name: str = "products") -> Case:
    return Case(name, lambda mod, inputs: make(), products_module)


PRODUCTS: Mapping[str, Sequence[Case]] = {
    "AdjustMatmulOrder": [_on_products(transform.AdjustMatmulOrder)],
    "CombineParallelMatmul": [
        _on_products(transform.CombineParallelMatmul),
        _on_products(
            lambda: transform.CombineParallelMatmul(
                lambda left, rights, biases, values: len(rights) == 2
            ),
            "of_two",
        ),
    ],
    "ExpandMatmulOfSum": [_on_products(transform.ExpandMatmulOfSum)],
    "FuseTransposeMatmul": [_on_products(transform.FuseTransposeMatmul)],
    "ReorderPermuteDimsAfterConcat": [_on_products(transform.ReorderPermuteDimsAfterConcat)],
    "ReorderTakeAfterMatmul": [_on_products(transform.ReorderTakeAfterMatmul)],
}
