"""Scripts in notebooks: classes and a style sheet, nothing else."""

from __future__ import annotations

import html as escapes
import re

from relaxscript.ir import hooks
from relaxscript.ir.relax import StringImm
from relaxscript.script.printer.html import html

from .programs import function, tensor


def test_the_text_is_coloured_by_classes_for_light_and_dark():
    shown = html('x = R.str("<b>")  # why')
    assert "@media (prefers-color-scheme: dark)" in shown
    assert '<span class="' in shown
    plain = re.sub(r"<style>.*?</style>|<[^>]*>", "", shown, flags=re.S)
    assert escapes.unescape(plain).strip() == 'x = R.str("<b>")  # why'


def test_nothing_is_loaded_or_run():
    shown = html("x = 1")
    assert not re.search(r"<script|https?:|url\(|@import|javascript", shown)


def test_every_rule_is_for_our_own_element():
    style = re.findall(r"<style>(.*)</style>", html("x = 1"), flags=re.S)[0]
    rules = [line for line in style.split("\n") if "{" in line and not line.startswith("@media")]
    assert rules
    assert all(".relaxscript " in rule.partition("{")[0] for rule in rules)


def test_the_theme_of_the_notebook_goes_before_that_of_the_system():
    shown = html("x = 1")
    for dark in ('[data-jp-theme-light="false"]', 'html[theme="dark"]', ".vscode-dark"):
        assert dark in shown
    for light in ('[data-jp-theme-light="true"]', 'html[theme="light"]', ".vscode-light"):
        assert light in shown


def test_the_text_has_a_colour_of_its_own_on_its_background():
    bases = re.findall(r"\.relaxscript \{ background: (#\w+); color: (#\w+);", html("x = 1"))
    assert {text for back, text in bases if back == "#f8f8f8"} == {"#1c2127"}
    assert {text for back, text in bases if back != "#f8f8f8"} == {"#e3e6ea"}


def test_a_style_by_its_name_has_no_second_one_for_the_dark():
    assert "prefers-color-scheme" not in html("x = 1", "friendly")


def test_a_style_by_its_name_changes_no_other_script_on_the_page():
    shown = html("x = 1", "friendly")
    assert '<pre class="relaxscript-friendly">' in shown
    assert not re.search(r"\.relaxscript[^-]", shown)


def test_blank_lines_and_odd_characters_are_kept():
    text = '\n\nx = "<&>\u2028\t\\""\n\n'
    plain = re.sub(r"<style>.*?</style>|<[^>]*>", "", html(text), flags=re.S)
    assert escapes.unescape(plain) == text


def test_nodes_show_themselves_in_notebooks():
    f = function([], result=StringImm("a"), ret=tensor())
    assert f._repr_html_() == hooks.html_of(f.script()) == html(f.script())
    assert f._repr_mimebundle_() == {"text/plain": f.script(), "text/html": html(f.script())}
    assert ">Tensor<" in f.ret_struct_info._repr_mimebundle_()["text/html"]
