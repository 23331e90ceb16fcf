"""Weights that are constants lie as products read them: the passes that bring this about."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Constant, GlobalVar, VarBinding
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.op.calls import call_tir
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import (
    ApplyDefaultSchedule,
    AttachAttrLayoutFreeBuffers,
    BindParams,
    DeadCodeElimination,
    FoldConstant,
    SplitLayoutRewritePreproc,
)
from relaxscript.transform.default_schedule import direct_product, product
from relaxscript.transform.default_schedule.processor import Processor
from relaxscript_tests.transform.default_schedule.fused_programs import FUSED

SMALL = Processor(8, 7)


def scheduled(mod: IRModule, processor: Processor = SMALL) -> IRModule:
    return ApplyDefaultSchedule(lambda func, _: product(func, processor))(mod)


@pytest.fixture(autouse=True)
def _nothing_is_small(monkeypatch):
    for name in ("NEAR", "NARROW", "LOW"):
        monkeypatch.setattr(direct_product, name, 0)


def layer(m: int | str = "m", k: int = 6, n: int = 9) -> tuple[IRModule, np.ndarray]:
    """A layer of a network with its weights as constants, its operators fused."""
    mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(({m!r}, {k}), "float32"), w: R.Tensor(({k}, {n}), "float32"),
        b: R.Tensor(({n},), "float32"),
    ):
        with R.dataflow():
            y = R.nn.relu(R.add(R.matmul(x, w), b))
            R.output(y)
        return y
""")
    generator = np.random.default_rng(7)
    w, b = (generator.standard_normal(s).astype("f4") for s in ((k, n), (n,)))
    return FUSED(BindParams("main", {"w": w, "b": b})(mod)), w


def prim_funcs(mod: IRModule) -> dict[str, PrimFunc]:
    return {g.name_hint: f for g, f in mod.functions.items() if isinstance(f, PrimFunc)}


def calls(mod: IRModule) -> list[Call]:
    bindings = (node for node in walk(mod["main"]) if isinstance(node, VarBinding))
    values = [b.value for b in bindings]
    return [v for v in values if isinstance(v, Call) and v.op == call_tir.op]


def test_a_function_says_which_of_its_parameters_are_constants():
    mod, _ = layer()
    made = AttachAttrLayoutFreeBuffers()(mod)
    (func,) = prim_funcs(made).values()
    assert [int(i) for i in func.attrs["layout_free_buffers"]] == [1, 2]
    assert_structural_equal(from_source(made.script(show_meta=True)), made)
    assert AttachAttrLayoutFreeBuffers()(made) is made


def test_a_function_without_constants_stays():
    mod = FUSED(
        from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            y = R.matmul(x, x)
            R.output(y)
        return y
""")
    )
    assert AttachAttrLayoutFreeBuffers()(mod) is mod


def test_names_of_constants_are_constants():
    mod = FUSED(
        from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            w = R.const([[1.0, 2.0], [3.0, 4.0]], "float32")
            v = w
            y = R.matmul(x, v)
            R.output(y)
        return y
""")
    )
    (func,) = prim_funcs(AttachAttrLayoutFreeBuffers()(mod)).values()
    assert [int(i) for i in func.attrs["layout_free_buffers"]] == [1]


def test_calls_with_constants_and_others_call_different_functions():
    mod = FUSED(
        from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            y = R.matmul(x, R.const([[1.0, 2.0], [3.0, 4.0]], "float32"))
            z = R.matmul(x, y)
            R.output(z)
        return z
""")
    )
    made = AttachAttrLayoutFreeBuffers()(mod)
    first, second = (call.args[0] for call in calls(made))
    assert isinstance(first, GlobalVar)
    assert "layout_free_buffers" in made[first].attrs
    assert "layout_free_buffers" not in made[second].attrs
    assert len(prim_funcs(made)) == 2


@pytest.mark.parametrize("m", ["m", 5])
@pytest.mark.parametrize("n", [8, 9])
def test_panels_of_weights_are_filled_by_a_function_of_their_own(m: int | str, n: int):
    mod, _ = layer(m, n=n)
    made = SplitLayoutRewritePreproc()(scheduled(AttachAttrLayoutFreeBuffers()(mod)))
    assert len(prim_funcs(made)) == 2
    packing, using = calls(made)
    assert packing.args[0].name_hint.endswith("_weight_prepack")
    assert [using.args[0].name_hint] == [*prim_funcs(mod)]
    assert_structural_equal(from_source(made.script(show_meta=True)), made)
    assert SplitLayoutRewritePreproc()(made) is made
    folded = DeadCodeElimination()(FoldConstant()(made))
    (only,) = calls(folded)
    assert only.args[0].name_hint == using.args[0].name_hint
    kept = [node.data.shape for node in walk(folded["main"]) if isinstance(node, Constant)]
    assert (-(-n // 4), 6, 4) in kept
    assert (6, n) not in kept
    assert len(prim_funcs(folded)) == 1


@pytest.mark.parametrize("m", ["m", 5])
@pytest.mark.parametrize("rows", [1, 3, 5])
def test_packed_weights_give_the_bits_of_those_that_are_not(m: int | str, rows: int):
    if m != "m":
        rows = 5
    mod, _ = layer(m)
    x = np.random.default_rng(rows).standard_normal((rows, 6)).astype("f4")
    attached = scheduled(AttachAttrLayoutFreeBuffers()(mod))
    steps = [attached, SplitLayoutRewritePreproc()(attached)]
    steps.append(DeadCodeElimination()(FoldConstant()(steps[-1])))
    first, *others = [run(step)("main", x) for step in steps for run in EXECUTORS.values()]
    assert all(other.tobytes() == first.tobytes() for other in others)
    np.testing.assert_allclose(first, EXECUTORS["interpreter"](mod)("main", x), 1e-5, 1e-6)


@pytest.mark.parametrize("processor", [SMALL, Processor(32, 16), Processor(64, 32)])
@pytest.mark.parametrize(("k", "n"), [(6, 64), (1025, 40), (5, 33)])
@pytest.mark.parametrize("rows", [1, 2, 4, 7])
def test_packed_products_are_right_at_all_edges(k: int, n: int, rows: int, processor: Processor):
    mod, _ = layer("m", k, n)
    x = np.random.default_rng(k + n).standard_normal((rows, k)).astype("f4")
    made = scheduled(AttachAttrLayoutFreeBuffers()(mod), processor)
    made = FoldConstant()(SplitLayoutRewritePreproc()(made))
    assert len(calls(made)) == 1
    found = EXECUTORS["llvm"](made)("main", x)
    np.testing.assert_allclose(found, EXECUTORS["interpreter"](mod)("main", x), 1e-4, 1e-4)


def test_few_rows_that_are_known_read_weights_where_they_lie():
    mod, _ = layer(2)
    made = scheduled(AttachAttrLayoutFreeBuffers()(mod))
    assert SplitLayoutRewritePreproc()(made) is made


def test_panels_that_would_be_much_larger_are_not_kept(monkeypatch):
    monkeypatch.setattr("relaxscript.transform.default_schedule.packed_product.MOST_BYTES", 0)
    mod, _ = layer("m", 6, 9)
    made = scheduled(AttachAttrLayoutFreeBuffers()(mod))
    assert SplitLayoutRewritePreproc()(made) is made


PROGRAM = """
@I.ir_module
class M:
    @T.prim_func(private=True, s_tir=False)
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
        T.func_attr({{"layout_free_buffers": {free}}})
        with T.allocate([4], "float32") as data:
            with T.decl_buffer((4,), data=data) as P:
                with T.block("P"):
                    T.reads(B[0:4])
                    T.writes(P[0:4])
                    T.block_attr({{"meta_schedule_layout_rewrite_preproc": {marked}}})
                    for i in range(4):
                        P[i] = B[3 - i]
                for i in range(4):
                    C[i] = A[i] * P[i]{more}

    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
        cls = M
        with R.dataflow():
            y = R.call_tir(cls.f, (x, w), out_sinfo=R.Tensor((4,), "float32"))
            R.output(y)
        return y
"""
SPLIT = {"free": "[1]", "marked": "True", "more": ""}


def test_a_block_that_says_so_is_split_off():
    mod = from_source(PROGRAM.format(**SPLIT))
    made = SplitLayoutRewritePreproc()(mod)
    assert sorted(prim_funcs(made)) == ["f", "f_weight_prepack"]
    x, w = np.arange(4, dtype="f4"), np.arange(1, 5, dtype="f4")
    for run in EXECUTORS.values():
        np.testing.assert_array_equal(run(made)("main", x, w), x * w[::-1])


def test_a_public_function_stays_beside_its_parts():
    text = PROGRAM.format(**SPLIT).replace("private=True, ", "")
    made = SplitLayoutRewritePreproc()(from_source(text))
    assert sorted(prim_funcs(made)) == ["f", "f_prepacked", "f_weight_prepack"]
    assert_structural_equal(from_source(made.script()), made)
    x, w = np.arange(4, dtype="f4"), np.arange(1, 5, dtype="f4")
    for run in EXECUTORS.values():
        np.testing.assert_array_equal(run(made)("main", x, w), x * w[::-1])


@pytest.mark.parametrize(
    "change",
    [{"free": "[0]"}, {"free": "[]"}, {"free": "[7]"}, {"marked": "False"}, {"more": " + B[i]"}],
)
def test_other_functions_are_not_split(change: dict[str, str]):
    mod = from_source(PROGRAM.format(**{**SPLIT, **change}))
    assert SplitLayoutRewritePreproc()(mod) is mod
