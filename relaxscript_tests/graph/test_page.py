"""The page with script, graph and diagnostics."""

from __future__ import annotations

import base64
import hashlib
import re
import warnings
from html.parser import HTMLParser

import pytest

from relaxscript.graph.page_parts import PAGE_SCRIPT
from relaxscript.ir.relax import BindingBlock, Call, Function, Op, SeqExpr, Var, VarBinding
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript_tests.graph.programs import HOSTILE, chain, module, named

VOID = {"meta"}
MODULE = module(
    '    @R.function\n    def main(x: R.Tensor(("n", 4), "float32")):\n'
    "        y = R.nn.softmax(x, axis=1)\n        return y"
)


class Elements(HTMLParser):
    """Reads a page; elements that are not closed in their order are a failure."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))


@pytest.fixture
def read(tmp_path):
    def page_of(graph):
        path = graph.view(tmp_path / "page.html")
        with open(path, encoding="utf-8") as file:
            return file.read()

    return page_of


def test_the_page_loads_nothing_and_runs_no_script_but_its_own(read):
    text = read(MODULE.graph())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    assert not re.search(r'(src|href)="(?!#)', text)
    assert not re.search(r"url\(|@import", text)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_texts_and_never_markup(read, name):
    usual = Elements(read(named("usual").graph()))
    found = Elements(read(named(name).graph()))
    assert [tag for tag, _ in found.found if tag in ("script", "style", "img", "iframe")] == [
        tag for tag, _ in usual.found if tag in ("script", "style", "img", "iframe")
    ]
    for _, attrs in found.found:
        assert not any(key.startswith("on") for key in attrs)


def test_lines_and_boxes_lead_to_each_other(read):
    found = Elements(read(MODULE.graph())).found
    ids = {attrs["id"]: attrs for _, attrs in found if "id" in attrs}
    (box,) = [a for _, a in found if (a.get("class") or "").startswith("node operator")]
    line = ids[box["href"].removeprefix("#")]
    assert line["data-item"] == box["data-item"]
    links = [a["href"] for _, a in found if a.get("class") == "place" and "href" in a]
    assert f"#n{box['data-item']}" in links
    assert all(link.removeprefix("#") in ids for link in links)


def test_what_the_script_of_the_page_looks_for_is_there(read):
    found = Elements(read(MODULE.graph())).found
    there = {key for _, attrs in found for key in attrs}
    assert {f"data-{name}" for name in re.findall(r"dataset\.(\w+)", PAGE_SCRIPT)} <= there
    classes = {name for _, attrs in found for name in (attrs.get("class") or "").split()}
    selectors = re.findall(r'querySelector(?:All)?\("([^"]*)"\)', PAGE_SCRIPT)
    wanted = set(re.findall(r"\.([\w-]+)", " ".join(selectors)))
    assert wanted - {"chosen"} <= classes


def test_lines_of_layers_that_are_not_shown_lead_to_the_one_that_is(read):
    page = Elements(read(chain(400).graph(max_nodes=50)))
    lines = [attrs for _, attrs in page.found if "data-number" in attrs]
    bound = [attrs["data-item"] for attrs in lines if "data-item" in attrs][3:-1]
    assert len(bound) >= 400
    assert len({*bound}) == 4


def test_the_script_is_there_with_numbers_and_all_its_text(read):
    page = Elements(read(MODULE.graph()))
    numbers = [data for tag, data in page.texts if tag == "a" and data.isdigit()]
    assert numbers == [str(i) for i in range(1, len(MODULE.script().split("\n")) + 1)]
    whole = "".join(data for _, data in page.texts)
    assert "softmax" in whole


def test_a_well_formed_program_has_no_diagnostics(read):
    assert "<p>no diagnostics</p>" in read(MODULE.graph())


def test_what_is_wrong_leads_to_its_line(read):
    x, y = (Var(name, TensorStructInfo((2,), "float32")) for name in "xy")
    bound = VarBinding(Var("z", x.struct_info), Call(Op.get("relax.add"), (x, y)))
    function = Function((x,), SeqExpr((BindingBlock((bound,)),), bound.var))
    text = read(function.graph())
    assert re.search(r'error RX03\d\d: .*`y`.* <a href="#L\d+">line \d+</a>', text)
    assert "mark-error" in text


def test_what_can_only_be_checked_at_run_time_is_a_warning(read):
    with pytest.warns(UserWarning, match="must be equal"):
        mod = module(
            '    @R.function\n    def main(x: R.Tensor(("n",), "float32"), '
            'y: R.Tensor(("m",), "float32")):\n        return R.add(x, y)'
        )
    assert re.search(r"warning RX\d+: ", read(mod.graph()))


def test_nobody_is_warned_by_a_page(tmp_path):
    with pytest.warns(UserWarning, match="must be equal"):
        mod = module(
            '    @R.function\n    def main(x: R.Tensor(("n",), "float32"), '
            'y: R.Tensor(("m",), "float32")):\n        return R.add(x, y)'
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mod.graph().view(tmp_path / "page.html")
    assert caught == []
