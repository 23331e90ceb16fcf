"""Scripts in notebooks: the whole text, coloured and folded, for light and dark."""

from __future__ import annotations

import re

import pytest

from relaxscript.errors.markup import legible
from relaxscript.ir import hooks
from relaxscript.ir.relax import StringImm
from relaxscript.script import from_source
from relaxscript.script.printer.html import HINTED_LINES, code_html, html, script_html
from relaxscript.script.printer.module import Printer
from relaxscript_tests.growth import growth
from relaxscript_tests.markup import HOSTILE, Markup

from .programs import function, tensor

MODULE = """
@I.ir_module
class M:
    @T.prim_func
    def twice(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + x[i]

    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 5), "float32")):
        h = R.matmul(x, w)
        return h
"""


def long_module(bindings: int):
    lines = "".join(f"        v{i + 1} = R.add(v{i}, v{i})\n" for i in range(bindings))
    return from_source(
        "@I.ir_module\nclass M:\n    @R.function\n"
        f'    def main(v0: R.Tensor(("n", 3), "float32")):\n{lines}        return v{bindings}\n'
    )


@pytest.mark.parametrize("text", [
    'x = R.str("<b>")  # why',
    '\n\nx = "<&>\t\\""\n\n',
    "@I.ir_module\nclass M:\n    @R.function\n    def f(\n        x,\n    ):\n        return x",
    "1 x: R.Tensor  # no Python\n  ^^",
    'def f():\n    """Text\n\n    a"""\n    # why\n    @a\n    def g():\n        pass\n\n\ny = 1',
    "", "x\x00y", "def f(): return 1", "a\rb",
])  # fmt: skip
def test_the_text_is_there_as_it_stands(text: str):
    assert Markup(html(text)).text == legible(text)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_becomes_markup(text: str):
    for style in (None, "light", "friendly"):
        assert Markup(html(f'x = "{text}"  # {text}', style)).text == legible(
            f'x = "{text}"  # {text}'
        )


def test_pieces_are_coloured_by_what_they_are():
    found = dict(re.findall(r'<span class="(\w+)">([^<]*)</span>', code_html(
        '@I.ir_module\nclass M:\n    x: R.Tensor((2,)) = R.nn.relu(y.shape)  # "no"'
    )))  # fmt: skip
    assert found == {
        "note": "@I.ir_module", "keyword": "class", "kind": "R.Tensor", "number": "2",
        "name": "R.nn.relu", "gutter": "# &quot;no&quot;",
    }  # fmt: skip


def test_nothing_is_loaded_or_run():
    assert not re.search(r"<script|https?:|url\(|@import|javascript", html("x = 1"))


def test_light_and_dark_are_ours_and_other_styles_those_of_pygments():
    assert html("x = 1", "dark").startswith('<div class="relaxscript dark">')
    shown = html("x = 1", "friendly")
    assert '<pre class="relaxscript-friendly">' in shown
    # It changes no other script on the page, and has no second one for the dark.
    assert not re.search(r"\.relaxscript[^-]", shown)
    assert "prefers-color-scheme" not in shown


def test_functions_fold_below_their_signatures():
    shown = Markup(from_source(MODULE)._repr_html_())
    assert shown.folds == [True, True]
    assert shown.text == from_source(MODULE).script()
    summaries = re.findall(
        r"<summary[^>]*>(.*?)</summary>", from_source(MODULE)._repr_html_(), re.S
    )
    assert [Markup(s).text.split("\n")[0].strip() for s in summaries] == [
        "@T.prim_func", "@R.function",
    ]  # fmt: skip


def test_indentation_is_where_tools_leave_it_alone():
    # Those that write HTML again, nbconvert among them, keep blanks in `<pre>` only.
    outside = re.sub(
        r"<pre>.*?</pre>|<style>.*?</style>", "", from_source(MODULE)._repr_html_(), flags=re.S
    )
    assert "  " not in outside


def test_long_functions_are_folded_and_the_last_ones_are_opened_first():
    assert Markup(long_module(100)._repr_html_()).folds == [False]
    one = (
        "    @R.function\n    def f{}(x: R.Object):\n" + "        y = x\n" * 38 + "        return y"
    )
    many = "@I.ir_module\nclass M:\n" + "\n".join(one.format(i) for i in range(9))
    folds = Markup(html(many)).folds
    assert folds == [False] * 4 + [True] * 5


def test_a_long_script_is_whole_and_has_no_hints():
    mod = long_module(HINTED_LINES)
    shown = Markup(mod._repr_html_())
    assert shown.text == mod.script()
    assert shown.hints == {}


@pytest.mark.slow
def test_what_a_notebook_shows_takes_work_by_the_line():
    assert growth(lambda size: long_module(size)._repr_html_, 40) < 9  # with hints
    assert growth(lambda size: long_module(size)._repr_html_, HINTED_LINES) < 9


def test_the_same_module_gives_the_same_text():
    one, other = from_source(MODULE), from_source(MODULE)
    assert one._repr_html_() == one._repr_html_() == other._repr_html_()


def test_nodes_show_themselves_in_notebooks():
    f = function([], result=StringImm("a"), ret=tensor())
    printer = Printer()
    printer.print(f)
    assert f._repr_html_() == hooks.html_of(f) == script_html(printer)
    assert f._repr_mimebundle_() == {"text/plain": f.script(), "text/html": f._repr_html_()}
    assert ">R.Tensor<" in f.ret_struct_info._repr_mimebundle_()["text/html"]
