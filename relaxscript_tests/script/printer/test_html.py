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
    assert all(rule.startswith(".relaxscript ") for rule in rules)


def test_a_style_by_its_name_has_no_second_one_for_the_dark():
    assert "prefers-color-scheme" not in html("x = 1", "friendly")


def test_nodes_show_themselves_in_notebooks():
    f = function([], result=StringImm("a"), ret=tensor())
    assert f._repr_html_() == hooks.html_of(f) == html(f.script())
