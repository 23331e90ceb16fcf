"""Products of one tensor with several are one product."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import CombineParallelMatmul
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.algebra.before_after_products import check_block, script
from relaxscript_tests.transform.before_after import check

PARAMS = "x: 2x16; a: 16x4; b: 16x8; c: 4; d: 8"
TWO = """
    p = R.matmul(x, a)
    q = R.matmul(x, b)
"""


def joined(axis: int, rank: int | None = None, first: int = 4, dtype: str = "float32") -> str:
    """Two products as one, whose axis of columns is the last of some."""
    return f"""
        lv = R.concat((a, b), axis={axis})
        lv1 = R.matmul(x, lv, out_dtype="{dtype}")
        lv2 = R.split(lv1, indices_or_sections=[{first}], axis={axis if rank is None else rank - 1})
        p = lv2[0]
        q = lv2[1]
    """


def test_two_products_are_one():
    check_block(CombineParallelMatmul(), PARAMS, TWO, joined(1), "p, q")


def test_more_products_are_one_in_their_order():
    check_block(
        CombineParallelMatmul(), "x: 2x16; a: 16x4; b: 16x8; c: 16x8",
        TWO + "\nr = R.matmul(x, c)",
        """
        lv = R.concat((a, b, c), axis=1)
        lv1 = R.matmul(x, lv, out_dtype="float32")
        lv2 = R.split(lv1, indices_or_sections=[4, 12], axis=1)
        p = lv2[0]
        q = lv2[1]
        r = lv2[2]
        """,
        "p, q, r",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("params", "axis", "rank"),
    [("x: nx16; a: 16x4; b: 16x8", 1, 2), ("x: 16; a: 16x4; b: 16x8", 1, 1),
     ("x: 2x3x16; a: 2x16x4; b: 2x16x8", 2, 3), ("x: 3x16; a: nx16x4; b: nx16x8", 2, 3),
     ("x: 2x16 of int8; a: 16x4 of int8; b: 16x8 of int8", 1, 2),
     ("x: 2x16; a: 16x4; b: 16xm", 1, 2)],
)  # fmt: skip
def test_vectors_batches_symbolic_sizes_and_integers_are_combined_too(params, axis, rank):
    dtype = "int8" if "int8" in params else "float32"
    after = joined(axis, rank, dtype=dtype)
    check_block(CombineParallelMatmul(), params, TWO, after, "p, q")


def test_columns_of_symbolic_number_are_the_last():
    check_block(
        CombineParallelMatmul(), "x: 2x16; a: 16xm; b: 16x8", TWO,
        """
        lv = R.concat((b, a), axis=1)
        lv1 = R.matmul(x, lv, out_dtype="float32")
        lv2 = R.split(lv1, indices_or_sections=[8], axis=1)
        p = lv2[1]
        q = lv2[0]
        """,
        "p, q",
    )  # fmt: skip


def test_what_is_added_and_applied_to_each_is_so_once():
    check_block(
        CombineParallelMatmul(), PARAMS,
        TWO + """
        s = R.add(p, c)
        t = R.add(d, q)
        u = R.nn.relu(s)
        v = R.nn.relu(t)
        """,
        """
        lv = R.concat((a, b), axis=1)
        lv1 = R.matmul(x, lv, out_dtype="float32")
        lv2 = R.concat((c, d), axis=0)
        lv3 = R.add(lv1, lv2)
        lv4 = R.nn.relu(lv3)
        lv5 = R.split(lv4, indices_or_sections=[4], axis=1)
        u = lv5[0]
        v = lv5[1]
        """,
        "u, v",
    )  # fmt: skip


def test_each_part_is_taken_where_the_result_was_computed():
    check_block(
        CombineParallelMatmul(), PARAMS,
        """
        p = R.matmul(x, a)
        s = R.add(p, c)
        q = R.matmul(x, b)
        """,
        joined(1).replace("q = lv2[1]", "s = R.add(p, c)\nq = lv2[1]"),
        "s, q",
    )  # fmt: skip


def test_sums_are_computed_where_the_first_of_them_was():
    check_block(
        CombineParallelMatmul(), PARAMS,
        """
        p = R.matmul(x, a)
        q = R.matmul(x, b)
        r = R.nn.relu(c)
        s = R.add(p, r)
        t = R.add(q, d)
        """,
        """
        r = R.nn.relu(c)
        lv = R.concat((a, b), axis=1)
        lv1 = R.matmul(x, lv, out_dtype="float32")
        lv2 = R.concat((r, d), axis=0)
        lv3 = R.add(lv1, lv2)
        lv4 = R.split(lv3, indices_or_sections=[4], axis=1)
        s = lv4[0]
        t = lv4[1]
        """,
        "s, t",
    )  # fmt: skip


def test_what_is_added_to_one_only_or_applied_to_one_only_is_so_behind():
    check_block(
        CombineParallelMatmul(), PARAMS,
        TWO + "\ns = R.add(p, c)\nv = R.nn.gelu(q)",
        joined(1) + "\ns = R.add(p, c)\nv = R.nn.gelu(q)",
        "s, v",
    )  # fmt: skip


def test_a_product_that_others_use_is_there_as_well():
    check_block(
        CombineParallelMatmul(), PARAMS,
        TWO + "\ns = R.add(p, c)\nt = R.add(q, d)",
        joined(1) + "\ns = R.add(p, c)\nt = R.add(q, d)",
        "p, s, t",
    )  # fmt: skip


def test_weights_that_are_computed_later_are_computed_before():
    check_block(
        CombineParallelMatmul(), "x: 2x16; a: 16x4; w: 8x16",
        """
        p = R.matmul(x, a)
        r = R.nn.relu(p)
        b = R.permute_dims(w)
        q = R.matmul(x, b)
        """,
        """
        b = R.permute_dims(w)
        lv = R.concat((a, b), axis=1)
        lv1 = R.matmul(x, lv, out_dtype="float32")
        lv2 = R.split(lv1, indices_or_sections=[4], axis=1)
        p = lv2[0]
        r = R.nn.relu(p)
        q = lv2[1]
        """,
        "q, r",
    )  # fmt: skip


def test_two_tensors_that_are_multiplied_with_the_same_share_what_is_joined():
    made = check_block(
        CombineParallelMatmul(), "x: 2x16; z: 3x16; a: 16x4; b: 16x8",
        TWO + "\nr = R.matmul(z, a)\ns = R.matmul(z, b)",
        joined(1) + """
        lv3 = R.matmul(z, lv, out_dtype="float32")
        lv4 = R.split(lv3, indices_or_sections=[4], axis=1)
        r = lv4[0]
        s = lv4[1]
        """,
        "p, q, r, s",
    )  # fmt: skip
    assert CombineParallelMatmul()(made) is made


@pytest.mark.parametrize(
    ("params", "body"),
    [("x: 2x16; a: 16x4; b: 16x8", "p = R.matmul(x, a)\nq = R.add(p, p)"),
     ("x: 16x16; a: 16x16", "p = R.matmul(x, a)\nq = R.matmul(x, p)"),
     ("x: 2x16; a: 16; b: 16", TWO), ("x: 2x3x16; a: 2x16x4; b: 16x8", TWO),
     ("x: 2x3x16; a: 1x16x4; b: 2x16x8", TWO),
     ("x: 2x3x16; a: 1x16x4; b: 2x16x8; c: 2x16x4", TWO + "\nr = R.matmul(x, c)"),
     ("x: 2x16; a: 16xm; b: 16xk", TWO),
     ("x: 2x16; a: 16x4", "p = R.matmul(x, a)\nq = R.matmul(x, a)")],
    ids=["one", "dependent", "vectors", "ranks", "batches", "other batches", "sizes", "same"],
)  # fmt: skip
def test_what_does_not_go_together_stays(params, body):
    check_block(CombineParallelMatmul(), params, body, None, "p, q")


def test_what_a_run_has_to_check_stays():
    with pytest.warns(match="rows"):
        check_block(CombineParallelMatmul(), "x: 2xn; a: mx4; b: mx8", TWO, None, "p, q")


def test_outside_of_dataflow_blocks_products_stay():
    check(CombineParallelMatmul(), script(PARAMS, TWO, "p, q", dataflow=False))


def test_a_check_is_told_what_is_multiplied_and_added_and_may_forbid_it():
    told = []

    def check_no(left, rights, biases, values):
        told.append((left, rights, biases, values))
        return False

    text = script(PARAMS, TWO + "\ns = R.add(p, c)\nt = R.add(q, d)", "s, t")
    mod = from_source(text)
    assert CombineParallelMatmul(check_no)(mod) is mod
    ((left, rights, biases, values),) = told
    x, a, b, c, d = mod["main"].params
    assert (left, list(rights), list(biases)) == (x, [a, b], [c, d])
    assert [var.name_hint for var in values] == ["p", "q", "s", "t"]


def test_what_a_check_raises_says_whose_it_is():
    def check_ill(left, rights, biases, values):
        raise KeyError("missing")

    with pytest.raises(KeyError, match="missing") as raised:
        CombineParallelMatmul(check_ill)(from_source(script(PARAMS, TWO, "p, q")))
    assert "`check` failed on the products of `x`" in str(
        getattr(raised.value, "__notes__", raised.value)
    )


def test_a_check_is_a_function():
    with pytest.raises(DiagnosticError, match="`check` of `CombineParallelMatmul` is a function"):
        CombineParallelMatmul(check=True)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_each_product_has_its_own_columns(executor):
    mod = from_source(script("x: nx16; a: 16x4; b: 16xm; c: 4; d: 8", TWO, "p, q"))
    rng = np.random.default_rng(3)
    x, a, b = (rng.normal(size=s).astype("float32") for s in ((3, 16), (16, 4), (16, 5)))
    c, d = np.zeros(4, "float32"), np.zeros(8, "float32")
    p, q = EXECUTORS[executor](CombineParallelMatmul()(mod))("main", x, a, b, c, d)
    np.testing.assert_allclose(p, x @ a, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(q, x @ b, rtol=1e-4, atol=1e-4)


def test_many_layers_are_combined_in_linear_time():
    def prepare(count):
        lines = []
        for k in range(count):
            x = "x" if k == 0 else f"r{k - 1}"
            lines += [f"p{k} = R.matmul({x}, a)", f"q{k} = R.matmul({x}, b)"]
            lines += [f"r{k} = R.add(p{k}, q{k})"]
        mod = from_source(script("x: 2x8; a: 8x8; b: 8x8", "\n".join(lines), f"r{count - 1}"))
        return lambda: CombineParallelMatmul()(mod)

    assert growth(prepare, 20) < 10
