"""Index maps: the indices, shapes and arrays that they give, and their inverses."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript import arith, tir
from relaxscript.errors import DiagnosticError
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.tir import IndexMap
from relaxscript_tests import examples

N, M = tir.Var("n", "int64"), tir.Var("m", "int64")


def written(exprs: Any) -> list[str]:
    return [arith.format_expr(e) for e in exprs]


def test_indices_are_mapped_and_simplified():
    index_map = IndexMap.from_func(lambda i, j: (j // 4, i, j % 4))
    k = tir.Var("k", "int64")
    assert written(index_map.map_indices([k, k * 4 + 1])) == ["k", "k", "1"]
    assert written(index_map.map_indices([2, 7])) == ["1", "2", "3"]
    known = arith.Analyzer()
    known.bind(k, tir.Range(0, 4))
    assert written(index_map.map_indices([0, k], known)) == ["0", "0", "k"]


def test_shapes_are_mapped():
    index_map = IndexMap.from_func(lambda i, j: (j // 4, i, j % 4))
    assert written(index_map.map_shape([N, 16])) == ["4", "n", "4"]
    assert written(index_map.map_shape([3, 10])) == ["3", "3", "4"]
    assert written(IndexMap.from_func(lambda i, j: i * 4 + j).map_shape([N, 4])) == ["n * 4"]


def test_arrays_are_mapped_and_padded():
    index_map = IndexMap.from_func(lambda i: (i // 4, i % 4))
    found = index_map.map_ndarray(np.arange(1, 7, dtype="int32"))
    assert found.tolist() == [[1, 2, 3, 4], [5, 6, 0, 0]]
    assert found.dtype == np.int32
    assert index_map.map_tensor([1.0]).tolist() == [[1.0]]
    with pytest.raises(IndexError, match="gives the index -5 along axis 0"):
        IndexMap.from_func(lambda i: i - 5).map_ndarray(np.zeros(6))


@pytest.mark.parametrize("method", ["map_indices", "map_shape", "inverse"])
def test_another_number_of_axes_is_refused(method: str):
    index_map = IndexMap.from_func(lambda i, j: (j, i))
    with pytest.raises(DiagnosticError, match="the index map takes 2 indices") as caught:
        getattr(index_map, method)([1])
    assert caught.value.diagnostics[0].code == "RX0204"


def test_what_no_index_map_does_has_no_shape():
    with pytest.raises(DiagnosticError, match="an index map adds, multiplies by numbers"):
        IndexMap.from_func(lambda i, j: i * j).map_shape([2, 3])


def test_separators_are_told_apart_from_indices():
    found, separators = IndexMap.from_func_with_separators(
        lambda i, j: [i // 4, IndexMap.AXIS_SEPARATOR, j, i % 4]
    )
    assert separators == [1]
    assert len(found.final_indices) == 3
    with pytest.raises(ValueError, match=r"from_func_with_separators` does"):
        IndexMap.from_func(lambda i: [i, IndexMap.AXIS_SEPARATOR])


def test_equivalent_maps_give_equal_indices():
    index_map = IndexMap.from_func(lambda i, j: (i * 8 + j) // 4)
    assert index_map.is_equivalent_to(IndexMap.from_func(lambda a, b: a * 2 + b // 4))
    assert not index_map.is_equivalent_to(IndexMap.from_func(lambda a, b: a * 2 + b // 2))
    assert not index_map.is_equivalent_to(IndexMap.from_func(lambda a: a))
    assert not index_map.is_equivalent_to(IndexMap.from_func(lambda a, b: (a, b)))
    low = arith.Analyzer()
    (i,) = IndexMap.from_func(lambda i: i % 4).initial_indices
    low.bind(i, tir.Range(0, 4))
    assert IndexMap([i], [i % 4], None).is_equivalent_to(IndexMap.from_func(lambda j: j), low)


@pytest.mark.parametrize(
    ("function", "shape", "expected"),
    [
        (lambda i, j: (j, i), [N, 4], ["axis1", "axis0"]),
        (lambda i: (i // 4, i % 4), [16], ["axis0 * 4 + axis1"]),
        (lambda i: (i // 4, i % 4), [N * 4], ["axis0 * 4 + axis1"]),
        (lambda i: (i // N, i % N), [N * M], ["n * axis0 + axis1"]),
        (lambda i, j: i * M + j, [N, M], ["axis0 // m", "axis0 % m"]),
        (lambda i: 15 - i, [16], ["15 - axis0"]),
        (lambda i: (i % 4, i // 4 % 2, i // 8), [24], ["axis2 * 8 + axis1 * 4 + axis0"]),
        (lambda i: (i // 4, i % 4), [tir.Range(4, 12)], ["axis0 * 4 + axis1"]),
        (lambda i, j: (i, j, 0), [1, 4], ["0", "axis1"]),
        (
            lambda i, j: ((i * 5 + j) // 4, (i * 5 + j) % 4), [4, 5],
            ["(axis0 * 4 + axis1) // 5", "(axis0 * 4 + axis1) % 5"],
        ),
    ],
)  # fmt: skip
def test_an_inverse_leads_back(function: Any, shape: list[Any], expected: list[str]):
    found = IndexMap.from_func(function).inverse(shape)
    assert written(found.final_indices) == expected


@pytest.mark.parametrize(
    ("function", "shape", "said", "label"),
    [
        (lambda i: i // 4, [16], "puts several elements at one place", "tells all `i` apart"),
        (lambda i, j: i, [16, 2], "puts several elements at one place", "tells all `j` apart"),
        (lambda i: (i, i), [16], "leaves places", "`i` occurs in two new indices"),
        (lambda i: (i // 4, i % 4), [14], "leaves places", r"padding where `.* >= 14`"),
        (lambda i: (i // 4, i % 4), [N], "leaves places", r"padding where `.* >= n`"),
        (lambda i: 2 * i, [16], "no inverse that is found", "2 is no step after 1 values"),
        (lambda i, j: i + j, [16, 4], "no inverse that is found", "1 is no step after 16 values"),
        (lambda i: (i // 4, i % 6), [16], "no inverse that is found", "cut at 4 and at 6"),
        (lambda i: i * i, [16], "no inverse that is found", "it has the index"),
        (lambda i, j: i // j, [16, 4], "no inverse that is found", "it has the index `i // j`"),
        (
            lambda i, j: ((i * 5 + j) // 4, (i * 5 + j) % 4, j), [4, 5],
            "no inverse that is found", "`j` occurs in a divided sum and elsewhere",
        ),
    ],
)  # fmt: skip
def test_a_map_without_an_inverse_says_why(function: Any, shape: Any, said: str, label: str):
    with pytest.raises(DiagnosticError, match=said) as caught:
        IndexMap.from_func(function).inverse(shape)
    (diagnostic,) = caught.value.diagnostics
    assert any(re.search(label, text) for _, text in diagnostic.labels), diagnostic.labels


def test_padding_has_a_condition():
    index_map = IndexMap.from_func(lambda i: (i // 4, i % 4))
    inverse, padding = index_map.non_surjective_inverse([14])
    assert written(inverse.final_indices) == ["axis0 * 4 + axis1"]
    assert arith.format_expr(padding) == "axis0 * 4 + axis1 >= 14"
    _, padding = index_map.non_surjective_inverse([16])
    assert structural_equal(padding, tir.IntImm("bool", 0))


def test_what_a_shape_has_beyond_the_largest_index_is_padding():
    index_map = IndexMap.from_func(lambda i: i // 3 * 3 + i % 3)
    assert [int(size) for size in index_map.map_shape([4])] == [6]
    _, padding = index_map.non_surjective_inverse([4])
    assert arith.format_expr(padding) == "axis0 >= 4"


def test_an_inverse_that_was_given_is_the_inverse():
    index_map = IndexMap.from_func(lambda i: i + i, inverse_index_map=lambda j: j // 2)
    assert index_map.inverse([16]) is index_map.inverse_index_map
    with pytest.raises(DiagnosticError, match="the inverse of this index map was given"):
        index_map.non_surjective_inverse([16])


def random_map(rng: random.Random) -> tuple[IndexMap, list[int]]:
    """A map that permutes, splits, joins and turns round axes, for a shape."""
    shape = [rng.choice([1, 2, 3, 4, 6]) for _ in range(rng.randint(1, 3))]
    own = [tir.Var(f"i{k}", "int64") for k in range(len(shape))]
    axes: list[tuple[Any, int]] = list(zip(own, shape))
    for _ in range(rng.randint(0, 4)):
        k = rng.randrange(len(axes))
        e, extent = axes[k]
        match rng.randrange(4):
            case 0:
                rng.shuffle(axes)
            case 1:
                by = rng.choice([2, 3, 4])
                axes[k : k + 1] = [(e // by, -(-extent // by)), (e % by, min(by, extent))]
            case 2 if k + 1 < len(axes):
                f, other = axes[k + 1]
                axes[k : k + 2] = [(e * other + f, extent * other)]
            case 3:
                axes[k] = (extent - 1 - e, extent)
    return IndexMap(own, [e for e, _ in axes], None), shape


def test_an_inverse_is_one_at_every_point():
    rng = random.Random(7)
    found = 0
    for _ in range(examples(400)):
        index_map, shape = random_map(rng)
        places = {
            tuple(index_map.map_indices(list(point))): point
            for point in itertools.product(*map(range, shape))
        }
        try:
            inverse, padding = index_map.non_surjective_inverse(shape)
        except DiagnosticError:
            continue
        found += 1
        assert len(places) == np.prod(shape)
        for place, point in places.items():
            assert written(inverse.map_indices(list(place))) == [str(k) for k in point]
        sizes = [int(size) for size in index_map.map_shape(shape)]
        for place in itertools.product(*map(range, sizes)):
            own = dict(zip(inverse.initial_indices, place))
            is_padding = arith.evaluate(tir.stmt_functor.substitute(padding, own))
            known = {tuple(int(k) for k in key) for key in places}
            assert bool(is_padding) == (place not in known), (index_map, shape, place)
    assert found > examples(400) // 2


def test_arrays_are_moved_as_the_operator_moves_them():
    rng = random.Random(11)
    for _ in range(examples(100)):
        index_map, shape = random_map(rng)
        x = np.arange(1, 1 + np.prod(shape)).reshape(shape)
        moved = index_map.map_ndarray(x)
        np.testing.assert_array_equal(moved, R.layout_transform.meaning(x, index_map))
        for point in np.ndindex(*shape):
            place = tuple(int(k) for k in index_map.map_indices(list(point)))
            assert moved[place] == x[point]
