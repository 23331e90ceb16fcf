"""Products by a matrix whose columns are stored as rows, by as many rows as there are."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.transform import (
    ApplyDefaultSchedule,
    AttachAttrLayoutFreeBuffers,
    BindParams,
    FuseTransposeMatmul,
)
from relaxscript.transform.default_schedule.apply_default_schedule import SCHEDULE
from relaxscript_tests.transform.default_schedule.fused_programs import only_prim_func
from relaxscript_tests.transform.default_schedule.test_product import assert_close, matrices


def module(x: tuple[object, ...], w: tuple[object, ...], dtype: str = "float32") -> IRModule:
    """A product by a matrix that is given transposed, as one PrimFunc."""
    axes = [*range(len(w) - 2), len(w) - 1, len(w) - 2]
    made = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor({x!r}, "{dtype}"), w: R.Tensor({w!r}, "{dtype}")):
        with R.dataflow():
            y = R.matmul(x, R.permute_dims(w, {axes}))
            R.output(y)
        return y
""")
    assert isinstance(made, IRModule)
    return FuseTransposeMatmul()(made)


def rule_of(mod: IRModule) -> str:
    """The rule by which the only PrimFunc of a module is arranged."""
    return str(only_prim_func(ApplyDefaultSchedule()(mod)).attrs[SCHEDULE])


@pytest.mark.parametrize(
    ("x", "w", "rule"),
    [
        ((11, 64), (32, 64), "rows"), ((12, 64), (32, 64), "transposed_product"),
        (("n", 64), (32, 64), "transposed_product"), ((64,), (32, 64), "rows"),
        ((2, 40, 64), (32, 64), "transposed_product"),
        (("b", 40, 64), ("b", 32, 64), "transposed_product"),
    ],
)  # fmt: skip
def test_many_rows_are_multiplied_by_tiles_and_few_one_by_one(x, w, rule):
    assert rule_of(module(x, w)) == rule


def test_a_constant_is_exchanged_before_the_run():
    (w,) = matrices((32, 64))
    mod = BindParams("main", {"w": w})(module(("n", 64), (32, 64)))
    mod = AttachAttrLayoutFreeBuffers()(mod)
    assert rule_of(mod) == "product"
    assert "meta_schedule_layout_rewrite_preproc" in ApplyDefaultSchedule()(mod).script()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [0, 1, 3, 11, 12, 13, 40])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sizes", [(5, 7), (32, 64), (33, 130), (200, 200), (2, 9)])
def test_each_element_is_near_the_product_for_any_number_of_rows(sizes, known, rows, dtype):
    columns, steps = sizes
    mod = module((rows if known else "n", steps), sizes, dtype)
    x, w = matrices((rows, steps), (columns, steps), dtype=dtype)
    by_constant = BindParams("main", {"w": w})(mod)
    for built, args in ((mod, (x, w)), (by_constant, (x,))):
        found = rx.VirtualMachine(rx.build(built, target="llvm"), rx.cpu())["main"](*args)
        assert_close(np.asarray(found), x, w.T)


@pytest.mark.parametrize(
    ("x", "w"),
    [((2, 13, 6), (2, 5, 6)), ((3, 2, 13, 6), (2, 5, 6)), ((13, 6), (2, 5, 6)),
     ((2, 13, 6), (1, 5, 6)), ((2, 13, 6), (5, 6))],
)  # fmt: skip
def test_batches_are_near_the_product_with_a_parameter_and_with_a_constant(x, w):
    mod = module(x, w)
    left, right = matrices(x, w)
    for built, args in (
        (mod, (left, right)), (BindParams("main", {"w": right})(mod), (left,)),
    ):  # fmt: skip
        found = rx.VirtualMachine(rx.build(built, target="llvm"), rx.cpu())["main"](*args)
        assert_close(np.asarray(found), left, np.swapaxes(right, -1, -2))


def test_what_follows_the_product_is_computed_with_it():
    mod = from_source("""
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 64), "float32"), w: R.Tensor((32, 64), "float32"),
        b: R.Tensor((32,), "float32"),
    ):
        with R.dataflow():
            y = R.nn.relu(R.add(R.matmul(x, R.permute_dims(w)), b))
            R.output(y)
        return y
""")
    x, w, b = matrices((20, 64), (32, 64), (1, 32))
    made = FuseTransposeMatmul()(mod)
    for built, args in (
        (made, (x, w, b[0])), (BindParams("main", {"w": w})(made), (x, b[0])),
    ):  # fmt: skip
        found = rx.VirtualMachine(rx.build(built, target="llvm"), rx.cpu())["main"](*args)
        assert_close(np.asarray(found), x, w.T, behind=lambda y: np.maximum(y + b, 0))
