"""Annotations that Python's parser saw as names are what was written, everywhere else."""

from __future__ import annotations

import textwrap

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import structural_equal
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.script.parser import abbreviated
from relaxscript.script.parser.repeated import RepeatedAnnotations
from relaxscript.script.parser.source import parse_text

INFO = 'R.Tensor((n, 4), "float32")'


def function(body: str, params: str = 'x: R.Tensor(("n", 4), "float32")') -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"@R.function\ndef main({params}):\n    n = T.int64()\n{lines}\n"


REPEATED = function(
    f"""
    a: {INFO} = R.exp(x)
    b: {INFO} = R.exp(a)
    c: {INFO} = R.exp(b)
    with R.dataflow():
        d: {INFO} = R.add(c, R.exp(b))
        e: {INFO} = R.add(d, b)
        R.output(e)
    f: {INFO} = R.exp(e)
    return f
    """
)


def mistakes(text: str) -> list[tuple[str, str, int, int]]:
    """Of every mistake in a text: what it says, and what it underlines where."""
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    return [(d.message, d.span.text, d.span.line, d.span.column) for d in caught.value.diagnostics]


def without_abbreviations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abbreviated, "_abbreviated", lambda text: text)


def dims_of(root: Node) -> list[PrimExpr]:
    return [node for node in walk(root) if isinstance(node, PrimExpr)]


def names_in(text: str) -> str:
    return abbreviated._abbreviated(text)


def test_from_the_third_on_an_annotation_is_one_name_for_python():
    short = names_in(REPEATED)
    assert short.count("__annotation") == 4
    assert short.count(INFO) == 2
    assert len(short) == len(REPEATED)


def test_the_first_ones_of_each_function_are_read_as_they_are():
    assert names_in(REPEATED + REPEATED).count(INFO) == 4


def test_everything_means_and_stands_where_it_does_without_abbreviations(monkeypatch):
    short = from_source(REPEATED)
    without_abbreviations(monkeypatch)
    plain = from_source(REPEATED)
    assert structural_equal(short, plain)
    spans = [
        [str(getattr(node, "span", None)) for node in walk(f) if isinstance(node, Node)]
        for f in (short, plain)
    ]
    assert spans[0] == spans[1]


def test_the_tree_is_not_kept_for_others():
    source, tree = abbreviated.parse_script("<text>", REPEATED)
    assert source.text == REPEATED
    assert parse_text("<text>", REPEATED)[1] is not tree


def test_what_is_not_known_from_before_is_read_where_it_stands(monkeypatch):
    known = from_source(REPEATED)
    monkeypatch.setattr(RepeatedAnnotations, "find", lambda self, node: None)
    anew = from_source(REPEATED)
    assert structural_equal(known, anew)
    without_abbreviations(monkeypatch)
    plain = from_source(REPEATED)
    assert [str(dim.span) for dim in dims_of(anew)] == [str(dim.span) for dim in dims_of(plain)]


MISTAKEN = {
    "a value that does not fit": function(
        f"""
        a: {INFO} = R.exp(x)
        b: {INFO} = R.exp(a)
        c: {INFO} = R.sum(b)
        return c
        """
    ),
    "an annotation that is wrong each time": function(
        """
        a: R.Tensor((k, 4), "float32") = R.exp(x)
        b: R.Tensor((k, 4), "float32") = R.exp(x)
        c: R.Tensor((k, 4), "float32") = R.exp(x)
        return c
        """
    ),
    "a call that is no annotation": function(
        """
        a: R.exp(x) = R.exp(x)
        b: R.exp(x) = R.exp(x)
        c: R.exp(x) = R.exp(x)
        return c
        """
    ),
    "what Python cannot read": function(
        f"""
        a: {INFO}) = R.exp(x)
        b: {INFO}) = R.exp(a)
        c: {INFO}) = R.exp(a)
        return c
        """
    ),
    "a mistake of syntax elsewhere": REPEATED.replace("return f", "return f)"),
    "default values of parameters": """@R.function
def main(
    x: R.Tensor((4,), "float32") = 1,
    y: R.Tensor((4,), "float32") = 1,
    z: R.Tensor((k,), "float32") = 1,
    u: R.Tensor((4,), "float32") = 1,
    v: R.Tensor((k,), "float32") = 1,
    w: R.Tensor((k,), "float32") = 1,
):
    return x
""",
    "scalars of a PrimFunc": """@T.prim_func
def main(n: T.int32):
    a: R.Tensor((4,), "float32") = n
    b: R.Tensor((4,), "float32") = n
    c: R.Tensor((4,), "float32") = n
    T.evaluate(c)
""",
    "members of a class": """@I.ir_module
class Module:
    a: R.Tensor((4,), "float32") = 1
    b: R.Tensor((4,), "float32") = 1
    c: R.Tensor((4,), "float32") = 1
""",
}


@pytest.mark.parametrize("text", MISTAKEN.values(), ids=MISTAKEN)
def test_mistakes_are_those_of_the_text_as_it_was_written(text, monkeypatch):
    short = mistakes(text)
    without_abbreviations(monkeypatch)
    assert short == mistakes(text)
    assert not any("__annotation" in said + written for said, written, *_ in short)


def test_nothing_inside_of_long_texts_is_abbreviated():
    lines = "\n".join([f"    a: {INFO} = 1"] * 3)
    text = f'@R.function(pure=False)\ndef main():\n    R.print(format="""\n{lines}\n""")\n'
    assert names_in(text) == text
    assert from_source(text + "    return R.tuple()\n").script().count(INFO) == 3


def test_a_name_of_the_users_is_no_abbreviation():
    name = "__annotation".ljust(len(INFO), "_")
    text = REPEATED.replace("R.exp(b)", f"R.exp({name})").replace("b:", f"{name}:")
    text = text.replace("(d, b)", f"(d, {name})")
    assert names_in(text) == text
    assert structural_equal(from_source(text), from_source(REPEATED))
