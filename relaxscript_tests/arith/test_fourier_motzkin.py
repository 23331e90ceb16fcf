"""Elimination: contradictions that are there are found, others are not, and it stops."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.arith.fourier_motzkin import OutOfSteps, Steps, contradictory
from relaxscript.arith.polynomial import CONSTANT, Poly
from relaxscript_tests import examples

A, B, C = (0,), (1,), (2,)


def equal(p: Poly) -> list[Poly]:
    """That a polynomial is zero."""
    return [p, {m: -c for m, c in p.items()}]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{A: 1}, {A: -1, CONSTANT: -1}], True),
        ([{A: 1}, {A: -1}], False),
        # a <= b <= c < a
        ([{B: 1, A: -1}, {C: 1, B: -1}, {A: 1, C: -1, CONSTANT: -1}], True),
        # 2a == 2b + 1 has solutions, but none in integers.
        ([{A: 2, B: -2, CONSTANT: -1}, {A: -2, B: 2, CONSTANT: 1}], True),
        # a == 4b and a == 2c + 1
        (
            [{A: 1, B: -4}, {A: -1, B: 4}, {A: 1, C: -2, CONSTANT: -1}, {A: -1, C: 2, CONSTANT: 1}],
            True,
        ),
        # 1 <= 3a <= 2
        ([{A: 3, CONSTANT: -1}, {A: -3, CONSTANT: 2}], True),
        ([{CONSTANT: -1}], True),
        ([{CONSTANT: 1}], False),
        ([], False),
    ],
)
def test_integers_are_told_from_fractions(rows: list[Poly], expected: bool) -> None:
    assert contradictory(rows, Steps(1000)) is expected


def test_what_some_integers_fulfil_is_no_contradiction(rng: np.random.Generator) -> None:
    for _ in range(examples(5_000)):
        point = {m: int(rng.integers(-9, 10)) for m in (A, B, C)}
        rows: list[Poly] = []
        for _ in range(int(rng.integers(2, 9))):
            row = {m: int(rng.integers(-4, 5)) for m in point}
            value = sum(c * point[m] for m, c in row.items())
            row[CONSTANT] = -value + int(rng.choice((0, 0, 1, 3)))
            rows.append({m: c for m, c in row.items() if c})
        assert not contradictory(rows, Steps(100_000)), (rows, point)


def test_elimination_stops_when_there_are_no_more_steps() -> None:
    rows: list[Poly] = [
        {(i,): 2, (j,): -3, (k,): 5, CONSTANT: 1} for i in range(3) for j in (3, 4) for k in (5, 6)
    ]
    rows += [{m: -c for m, c in row.items()} | {CONSTANT: 9} for row in rows]
    with pytest.raises(OutOfSteps):
        contradictory(rows, Steps(20))
