from __future__ import annotations

import linecache

import pytest

from relaxscript.errors import DiagnosticError, Span
from relaxscript.script import from_source, relax as R

WRONG = "R.Shape((2.5,))"


def blamed(text: str) -> Span:
    """The place that is blamed in a user's text, in which a call of ours is wrong."""
    filename = f"<user {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    with pytest.raises(DiagnosticError) as caught:
        exec(compile(text, filename, "exec"), {"R": R})
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert found.span.filename == filename
    return found.span


@pytest.mark.parametrize(
    "text",
    [
        WRONG,
        f"if True:\n    x = {WRONG}  # a remark",
        f"x = [len('a'), {WRONG}, len('b')]",
        f"print(len('größe'), {WRONG})",
        f"def f():\n    return str({WRONG})\n\nstr(f())",
        f"{WRONG}.values.index(2)",
        f"with open({WRONG}) as file: pass",
    ],
)
def test_the_call_that_is_wrong_is_blamed_among_all_of_its_line(text):
    assert blamed(text).text == WRONG


def test_a_call_with_calls_in_it_is_blamed_whole():
    text = "R.Shape((len('ab'), 2.5, len('c')))"
    assert blamed(f"str(0); x = str({text})").text == text


def test_a_call_over_several_lines_is_blamed_whole():
    assert blamed("x = R.Shape(\n    (2.5,)\n)\n").text == "R.Shape(\n    (2.5,)\n)"


@pytest.mark.parametrize(
    "text",
    [
        "@str\n@R.function\n@id\nclass A: pass",
        "@str\n@R.function\n@id\ndef f(x: str(1) = str(2)): pass",
        "def f():\n    @R.function\n    class A: pass\n\nf()",
    ],
)
def test_a_decorator_is_blamed_where_it_is_written(text):
    assert blamed(text).text == "R.function"


def test_a_call_in_a_comprehension_is_blamed_at_its_line():
    span = blamed("\n\nx = [R.Shape((i,)) for i in (2, float('2.5'))]\n")
    assert (span.line, span.end_line) == (3, 3)
    assert "R.Shape((i,))" in span.text


def test_without_the_text_of_the_caller_only_its_line_is_known():
    with pytest.raises(DiagnosticError) as caught:
        exec(compile(f"\n\n{WRONG}", "<no text>", "exec"), {"R": R})
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert (span.filename, span.line) == ("<no text>", 3)


def test_code_that_is_generated_while_we_run_is_nobody_elses():
    text = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice(I.vdevice)]})
"""
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    assert [label.span.filename for d in caught.value.diagnostics for label in d.labels] == []
