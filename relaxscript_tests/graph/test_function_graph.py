"""`mod.graph()` and `func.graph()`."""

from __future__ import annotations

import os
import tempfile
import webbrowser

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule
from relaxscript_tests.graph.programs import module

BODY = '(x: R.Tensor((4,), "float32")):\n        return R.exp(x)'
MODULE = module(
    "    @T.prim_func\n    def kernel(x: T.Buffer((4,)), y: T.Buffer((4,))):\n"
    "        T.evaluate(0)\n"
    f'    outside = R.ExternFunc("my.f")\n    @R.function\n    def main{BODY}\n'
    f"    @R.function\n    def other{BODY.replace('exp', 'sin')}"
)


def refusal(call, *args, **named):
    with pytest.raises(DiagnosticError) as caught:
        call(*args, **named)
    assert [d.code for d in caught.value.diagnostics] in (["RX0703"], ["RX0707"])
    return str(caught.value)


def test_a_function_is_chosen_by_its_name_or_its_global_var():
    assert MODULE.graph().name == "main"
    assert "sin(x)" in str(MODULE.graph("other"))
    assert str(MODULE.graph(function=MODULE.get_global_var("other"))) == str(MODULE.graph("other"))


def test_a_function_alone_and_a_member_of_a_module_are_drawn():
    assert "exp(x)" in str(MODULE["main"].graph())
    assert str(MODULE.other.graph()) == str(MODULE.graph("other"))


def test_the_only_function_needs_no_name():
    assert module(f"    @R.function\n    def alone{BODY}").graph().name == "alone"


def test_an_unknown_name_is_refused_with_the_nearest():
    text = refusal(MODULE.graph, "otter")
    assert "the module has no function `otter`" in text
    assert "did you mean `other`?" in text


def test_where_no_name_is_near_all_are_told():
    assert "there are: main, other" in refusal(MODULE.graph, "zzz")
    assert "there are: none that could be drawn" in refusal(IRModule().graph)


def test_what_has_no_dataflow_is_refused_with_what_can_be_drawn():
    text = refusal(MODULE.graph, "kernel")
    assert "`kernel` is a PrimFunc: loops over buffers, which have no dataflow to draw" in text
    assert "functions of Relax are drawn; there are: main, other" in text
    assert "`kernel` is a PrimFunc" in refusal(MODULE["kernel"].graph)
    private = MODULE["kernel"].without_attr("global_symbol")
    assert "this is a PrimFunc" in refusal(private.graph)
    assert "`outside` is the PackedFunc `my.f`" in refusal(MODULE.graph, "outside")


@pytest.mark.parametrize("wrong", [0, -3, "all", 2.5])
def test_a_max_nodes_that_is_no_number_from_1_on_is_refused(wrong):
    assert "`max_nodes` is a number from 1 on, or None" in refusal(MODULE.graph, max_nodes=wrong)


def test_a_name_that_is_no_string_is_refused():
    assert "a function goes by its name or GlobalVar, not by" in refusal(MODULE.graph, 3)


def test_a_notebook_is_given_a_picture():
    graph = MODULE.graph()
    assert graph._repr_svg_() == graph.to_svg()
    assert graph.to_svg() in graph._repr_html_()


def test_a_page_is_written_where_it_is_wanted(tmp_path):
    path = tmp_path / "page.html"
    assert MODULE.graph().view(path) == str(path)
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_page_without_a_path_is_a_new_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, second = MODULE.graph().view(), MODULE.graph().view()
    assert first != second
    assert {os.path.dirname(first), os.path.dirname(second)} == {str(tmp_path)}


def test_a_browser_is_opened_only_when_asked(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = tmp_path / "a b.html"
    MODULE.graph().view(path)
    assert opened == []
    MODULE.graph().view(path, open_browser=True)
    assert opened == [path.as_uri()]


def test_a_page_that_cannot_be_written_is_refused_by_its_path(tmp_path):
    text = refusal(MODULE.graph().view, tmp_path / "no" / "page.html")
    assert "page.html` cannot be written: No such file or directory" in text
    assert "cannot be written: embedded null byte" in refusal(MODULE.graph().view, "a\0b")


def test_where_there_is_no_temporary_folder_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no"))
    text = refusal(MODULE.graph().view)
    assert "a temporary file cannot be written: No such file or directory" in text


def test_a_path_that_is_none_is_refused():
    assert "`path` is a string or a path, not int (3)" in refusal(MODULE.graph().view, 3)


def test_a_temporary_page_is_for_its_owner_only(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert os.stat(MODULE.graph().view()).st_mode & 0o077 == 0
