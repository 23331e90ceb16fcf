"""What is said of the expression at the cursor, which stands behind the mark."""

from __future__ import annotations

import pytest

from relaxscript.cli.lsp.words import page_of, signature_of
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.cli.lsp.texts import DIGITS, MARK, hover

FUNCTION = """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 8), "float16")) -> R.Tensor:
    n = T.int64()
    with R.dataflow():
        h = R.nn.relu(R.matmul(x, w.astype("float32")))
        k, (l, m) = R.split(h, 2, axis=1), (h, n)
        p: R.Tensor((n, 8)) = h
        R.output(h, p)
    b = x.shape[1]
    t = R.match_cast(h, R.Tensor((n, 8), "float32"))
    for step in [1, 2]:
        t = t * R.const(step, "float32")
    return t
"""


def at(text: str, where: str) -> str:
    """A text with the mark inside, in the place that it has in `where`, a part of the text."""
    plain = where.replace(MARK, "")
    assert text.count(plain) == 1, plain
    return text.replace(plain, where)


def code(found: str | None) -> str:
    """The first block of code in what is said."""
    assert found is not None
    return found.split("```")[1].removeprefix("python\n").strip()


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("main(‸x: R.Tensor", 'x: R.Tensor((n, 4), "float32")'),
        ("matmul(‸x, w", 'x: R.Tensor((n, 4), "float32")'),
        ("‸h = R.nn", 'h: R.Tensor((n, 8), "float32")'),
        ("R.matmul(x,‸ w.", 'R.matmul(x, w.astype("float32")): R.Tensor((n, 8), "float32")'),
        ("‸k, (l", "k: R.Tuple("),
        ("(‸l, m)", 'l: R.Tensor((n, 8), "float32")'),
        ("(l, ‸m) =", "m: T.int64"),
        ("h, 2, axis‸=1)", "R.split(h, 2, axis=1): R.Tuple("),
        ("‸p: R.", "p: R.Tensor((n, 8))"),
        ("R.Tensor((n,‸ 8)) = h", "R.Tensor((n, 8))"),
        ('(("n‸", 4)', "n: T.int64"),
        ("‸n = T.int64", "n: T.int64"),
        ("‸t = R.match_cast", 't: R.Tensor((n, 8), "float32")'),
        ("R.match_cast(h, R‸", None),
        ("‸step in", None),
        ("return ‸t", 't: R.Tensor((n, 8), "float32")'),
        ("def ma‸in(", 'def main(\n    x: R.Tensor((n, 4), "float32"),\n    w'),
        ('R.const(step,‸ "f', 'R.const(step, "float32"): R.Tensor((), "float32")'),
    ],
)
def test_an_expression_is_shown_with_its_struct_info(where, expected):
    found = hover(at(FUNCTION, where))
    if expected is None:
        assert found is None or R.__doc__.splitlines()[0] in found or "step" in found
    else:
        assert code(found).startswith(expected)


def test_an_operator_is_shown_with_its_call_and_its_page():
    found = hover(at(FUNCTION, "R.mat‸mul(x"))
    assert code(found) == 'R.matmul(x, w.astype("float32")): R.Tensor((n, 8), "float32")'
    assert "```python\nR.matmul(x1, x2, out_dtype=None)\n```" in found
    assert "The matrix product of the last two axes" in found
    assert "Gradient:" in found


def test_a_method_is_the_operator():
    found = hover(at(FUNCTION, "w.as‸type"))
    assert code(found) == 'w.astype("float32"): R.Tensor((4, 8), "float32")'
    assert "R.astype(x, dtype)" in found


def test_a_function_of_the_module_is_shown_by_its_first_line_and_docstring():
    text = DIGITS.replace("return z", "return cls.m‸ain(x, w)").replace(
        '(64, 10), "float32")):', '(64, 10), "float32")) -> R.Tensor((“n”, 10), "float32"):'
    ).replace("“", '"').replace("”", '"')  # fmt: skip
    found = hover(text)
    assert code(found) == (
        'def main(\n    x: R.Tensor((n, 64), "float32"),\n'
        '    w: R.Tensor((64, 10), "float32"),\n) -> R.Tensor((n, 10), "float32")'
    )
    assert found.endswith("The probabilities of digits.")


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("T.max(‸x[vi", 'x: T.Buffer((n, 64), "float32")'),
        ("‸y[vi", 'y: T.Buffer((n, 64), "float32")'),
        ("y[‸vi", "vi: T.int64"),
        ("T.max(x[vi,‸ vj]", "x[vi, vj]: T.float32"),
        ("relu(‸x: T", 'x: T.Buffer((n, 64), "float32")'),
        ("for ‸i, j", "i: T.int64"),
        ("WID‸TH), ", "WIDTH = 64"),
    ],
)
def test_prim_funcs_and_captured_values_are_shown_as_well(where, expected):
    assert code(hover(at(DIGITS, where))) == expected


def test_statements_of_t_are_shown_with_their_docstring():
    found = hover(at(DIGITS, "T.gr‸id(n"))
    assert code(found) == "T.grid(*extents)"
    assert "Nested serial loops" in found


def test_in_a_function_with_a_mistake_all_else_is_known():
    text = FUNCTION.replace("b = x.shape[1]", "b = R.add(x, nowhere)\n    c = R.exp(h)")
    assert code(hover(at(text, "‸c = R"))) == 'c: R.Tensor((n, 8), "float32")'
    assert hover(at(text, "‸b = R")) is None
    assert hover(at(text, "no‸where")) is None


def test_outside_of_scripts_nothing_is_said():
    assert hover(at(DIGITS, "WID‸TH =")) is None
    assert hover(at(DIGITS, "import i‸r as")) is None


def test_letters_beyond_the_basic_plane_move_nothing():
    text = FUNCTION.replace("h", "𝛼").replace("wit𝛼", "with").replace("s𝛼ape", "shape")
    text = text.replace("matc𝛼", "match")
    assert code(hover(at(text, "‸𝛼 = R"))) == '𝛼: R.Tensor((n, 8), "float32")'
    assert code(hover(at(text, "2, axis‸=1"))).startswith("R.split(𝛼, 2, axis=1): ")


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [
        (R.add, "R.add", "R.add(x1, x2)"),
        (R.Tensor, "R.Tensor", "R.Tensor(shape=None, dtype=None, vdevice=None, ndim=-1)"),
        (T.max, "T.max", "T.max(a, b, *more)"),
        (I.vdevice, "I.vdevice", None),
        (R, "R", "R"),
    ],
)
def test_a_signature_has_no_types(value, name, expected):
    found = signature_of(value, name)
    assert found == expected if expected else found.startswith(name + "(")


def test_marks_of_markdown_in_a_script_do_not_end_a_block():
    text = FUNCTION.replace("R.const(step", "R.const(len('```')")
    assert hover(at(text, "R.const(len('```'),‸ ")).splitlines()[::2] == ["````python", "````"]


def test_every_public_name_has_a_page():
    for space, letter in ((R, "R"), (T, "T"), (I, "I")):
        for name in space.__all__:
            value = getattr(space, name)
            if callable(value):
                assert page_of(value, f"{letter}.{name}").startswith("```python\n")
