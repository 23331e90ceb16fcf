"""Tensors that are permuted alike are joined first."""

from __future__ import annotations

import pytest

from relaxscript.transform import ReorderPermuteDimsAfterConcat
from relaxscript_tests.transform.algebra.before_after_products import check_block


def test_what_is_permuted_alike_is_joined_before():
    check_block(
        ReorderPermuteDimsAfterConcat(), "x: 2x16; z: 3x16",
        """
        a = R.permute_dims(x)
        b = R.permute_dims(z)
        y = R.concat((a, b), axis=1)
        """,
        """
        lv = R.concat((x, z), axis=0)
        y = R.permute_dims(lv)
        """,
    )  # fmt: skip


def test_axes_count_from_the_end_as_well_and_are_alike_however_they_are_written():
    check_block(
        ReorderPermuteDimsAfterConcat(), "x: nx16; z: 3x16",
        """
        a = R.permute_dims(x)
        b = R.permute_dims(z, axes=[-1, 0])
        y = R.concat((a, b), axis=-1)
        """,
        """
        lv = R.concat((x, z), axis=0)
        y = R.permute_dims(lv, axes=[1, 0])
        """,
    )  # fmt: skip


def test_what_is_permuted_twice_is_joined_before_both():
    check_block(
        ReorderPermuteDimsAfterConcat(), "x: 2x3x4; z: 2x3x5",
        """
        a = R.permute_dims(x, axes=[0, 2, 1])
        b = R.permute_dims(z, axes=[0, 2, 1])
        c = R.permute_dims(a, axes=[1, 0, 2])
        d = R.permute_dims(b, axes=[1, 0, 2])
        y = R.concat((c, d), axis=0)
        """,
        """
        lv = R.concat((x, z), axis=2)
        lv1 = R.permute_dims(lv, axes=[0, 2, 1])
        y = R.permute_dims(lv1, axes=[1, 0, 2])
        """,
    )  # fmt: skip


def test_a_tuple_that_is_bound_before_is_seen():
    check_block(
        ReorderPermuteDimsAfterConcat(), "x: 2x16; z: 3x16",
        """
        a = R.permute_dims(x)
        b = R.permute_dims(z)
        t = (a, b)
        y = R.concat(t, axis=1)
        """,
        """
        lv = R.concat((x, z), axis=0)
        y = R.permute_dims(lv)
        """,
    )  # fmt: skip


def test_what_is_permuted_for_others_as_well_stays_for_these():
    check_block(
        ReorderPermuteDimsAfterConcat(), "x: 2x16; z: 3x16",
        """
        a = R.permute_dims(x)
        b = R.permute_dims(z)
        y = R.concat((a, b), axis=1)
        """,
        """
        a = R.permute_dims(x)
        lv = R.concat((x, z), axis=0)
        y = R.permute_dims(lv)
        """,
        "a, y",
    )  # fmt: skip


@pytest.mark.parametrize(
    "body",
    ["a = R.permute_dims(x, axes=[0, 2, 1])\nb = R.permute_dims(x, axes=[1, 2, 0])\n"
     "y = R.concat((a, b), axis=1)",
     "a = R.permute_dims(x)\ny = R.concat((a,), axis=1)",
     "a = R.permute_dims(x)\ny = R.concat((a, x), axis=1)"],
)  # fmt: skip
def test_what_is_permuted_otherwise_alone_or_not_at_all_stays(body):
    check_block(ReorderPermuteDimsAfterConcat(), "x: 2x2x2", body, None)


def test_what_a_run_has_to_check_stays():
    body = "a = R.permute_dims(x)\nb = R.permute_dims(z)\ny = R.concat((a, b), axis=1)"
    with pytest.warns(match="axis 0"):
        check_block(ReorderPermuteDimsAfterConcat(), "x: 2xn; z: 3xm", body, None)
