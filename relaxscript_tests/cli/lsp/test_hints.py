"""What is shown behind the names of bindings."""

from __future__ import annotations

from relaxscript.cli.lsp.hints import as_lsp_hint, hints_in
from relaxscript_tests.cli.lsp.texts import DIGITS, IMPORTS, analysed, document


def hints(text, first=1, last=10**6):
    return [(h.line, h.column, str(h.info)) for h in hints_in(analysed(text), first, last)]


def program(*lines: str) -> str:
    head = '@R.function\ndef f(x: R.Tensor(("n", 4), "float32")):\n'
    return IMPORTS + head + "".join(f"    {line}\n" for line in lines)


def test_bindings_without_an_annotation_have_hints():
    text = program(
        "y = R.add(x, x)", 'z: R.Tensor(("n", 4), "float32") = y', "a, b = R.split(z, 2, axis=1)",
        "return a",
    )  # fmt: skip
    assert hints(text) == [
        (4, 6, 'R.Tensor((n, 4), "float32")'),
        (6, 6, 'R.Tensor((n, 2), "float32")'),
        (6, 9, 'R.Tensor((n, 2), "float32")'),
    ]


def test_only_the_lines_that_are_asked_for_are_looked_at():
    text = program("y = R.exp(x)", "z = R.exp(y)", "t = R.exp(z)", "return t")
    assert [line for line, _, _ in hints(text, 5, 5)] == [5]


def test_values_of_python_and_prim_funcs_have_none():
    assert hints(program("n = T.int64()", "k = 2 * n", "return x")) == []
    assert [line for line, _, _ in hints(DIGITS)] == [22, 23]


def test_what_is_bound_in_a_loop_has_one_where_it_is_always_the_same():
    same = program("y = x", "for i in [1, 2]:", "    y = R.exp(y)", "return y")
    differs = program("y = x", "for i in [1, 2]:", "    y = R.concat([y, y])", "return y")
    assert [line for line, _, _ in hints(same)] == [4, 6]
    assert [line for line, _, _ in hints(differs)] == [4]


def test_what_is_unknown_has_none():
    assert hints(program("y = R.exp(nowhere)", "z = R.exp(y)", "t = R.exp(x)", "return t")) == [
        (6, 6, 'R.Tensor((n, 4), "float32")')
    ]


def test_to_accept_a_hint_writes_the_annotation():
    text = program("y = R.add(x, x)", "return y")
    [hint] = hints_in(analysed(text), 1, 9)
    shown = as_lsp_hint(document(text), hint, writable=True)
    assert shown.label == ': R.Tensor((n, 4), "float32")'
    line, column = shown.text_edits[0].range.start.line, shown.text_edits[0].range.start.character
    lines = text.split("\n")
    lines[line] = lines[line][:column] + shown.text_edits[0].new_text + lines[line][column:]
    found = analysed("\n".join(lines).replace("(n, 4)", '("n", 4)'))
    assert (found.diagnostics, hints("\n".join(lines))) == ((), [])
    assert as_lsp_hint(document(text), hint, writable=False).text_edits is None


def test_a_long_hint_is_cut_and_whole_beside_it():
    text = program("y = (x, x, x)", "return y")
    [hint] = hints_in(analysed(text), 1, 9)
    shown = as_lsp_hint(document(text), hint, writable=True)
    assert len(shown.label) == 60
    assert shown.tooltip.count("R.Tensor") == 3
