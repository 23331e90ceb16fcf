"""Damaged programs: as many as asked for, different ones, most of them near the original."""

from __future__ import annotations

import ast

from relaxscript.testing.mutations import mutations

PROGRAM = """
@R.function
def f(x: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    with R.dataflow():
        y = R.add(x, x)
        z = R.sum(y, axis=[1])
        R.output(z)
    return z
"""


def test_a_seed_stands_for_the_same_mutations():
    assert list(mutations(PROGRAM, 3)) == list(mutations(PROGRAM, 3))
    assert list(mutations(PROGRAM, 3)) != list(mutations(PROGRAM, 4))


def test_as_many_as_asked_for():
    assert len(list(mutations(PROGRAM, 0, 7))) == 7


def test_they_differ_from_the_program_and_from_one_another():
    found = [text for seed in range(20) for text in mutations(PROGRAM, seed)]
    assert len(set(found)) > 0.8 * len(found)
    assert found.count(PROGRAM) < 0.1 * len(found)


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def test_a_good_part_is_still_python():
    found = [text for seed in range(20) for text in mutations(PROGRAM, seed)]
    assert 0.2 < sum(map(parses, found)) / len(found) < 0.9


def test_any_text_can_be_damaged():
    for text in ("", "\n", "x", "é = (", "'''", "\tif x:\n  y"):
        assert len(list(mutations(text, 1))) == 20
