"""Tensors of tensor expressions in notebooks: what they are computed of, and how."""

from __future__ import annotations

import pytest

from relaxscript import te, tir
from relaxscript_tests.markup import Markup

N = tir.Var("n", "int64")
A = te.placeholder((4, N), name="A")
K = te.reduce_axis((0, N), "k")


def rows(tensor):
    """The cells of the table, without its header."""
    lines = Markup(tensor._repr_html_()).text.split()
    assert lines[0] == tensor.name
    text = Markup(tensor._repr_html_()).text.split("elements\n", 1)[1]
    cells = text.strip("\n").split("\n")
    return [tuple(cells[i : i + 4]) for i in range(0, len(cells), 4)]


def test_all_that_a_tensor_is_computed_of_stands_before_it():
    twice = te.compute((4, N), lambda i, j: A[i, j] * 2.0, name="B")
    total = te.compute((4,), lambda i: te.sum(twice[i, K] + A[i, K], axis=K), name="C")
    assert rows(total) == [
        ("A", "(4, n)", "float32", "given"),
        ("B[i, j]", "(4, n)", "float32", "A[i, j] * 2.0"),
        ("C[i]", "(4,)", "float32", "sum of B[i, k] + A[i, k] over k < n"),
    ]


@pytest.mark.parametrize(
    ("reduce", "said"),
    [(te.max, "maximum of A[i, k] over k < n"), (te.min, "minimum of A[i, k] over k < n")],
)
def test_reductions_are_words(reduce, said):
    made = te.compute((4,), lambda i: reduce(A[i, K], axis=K), name="C")
    assert rows(made)[-1][-1] == said


def test_a_reduction_says_where_it_begins_and_what_it_leaves_out():
    k = te.reduce_axis((1, N), "k")
    made = te.compute((4,), lambda i: te.sum(A[i, k], axis=k, where=k > 2), name="C")
    assert rows(made)[-1][-1] == "sum of A[i, k] over k from 1, n - 1 values where k > 2"


def test_another_rule_of_combining_is_shown_as_it_is():
    rule = te.comm_reducer(lambda x, y: x * y + 1.0, lambda dtype: tir.const(0, dtype), "odd")
    made = te.compute((4,), lambda i: rule(A[i, K], axis=K), name="C")
    assert rows(made)[-1][-1] == "A[i, k] combined by x * y + 1.0 over k < n"


def test_outputs_of_statements_say_what_these_read():
    made = te.extern((4, N), [A], lambda ins, outs: tir.call_packed("f", ins[0], outs[0]), name="E")
    assert rows(made)[-1][-1] == "written by statements that read A"


def test_a_long_chain_is_folded():
    made = A
    for number in range(60):
        made = te.compute((4, N), lambda i, j, x=made: x[i, j] + 1.0, name=f"B{number}")
    assert Markup(made._repr_html_()).folds == [False]
