"""A notebook that nbconvert has made a page of: what modules, tables and errors show in it."""

from __future__ import annotations

from collections.abc import Callable

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from relaxscript_tests.browser.watched_page import THEMES, contrast, watched

MODEL = """
import relaxscript as rx
from relaxscript.script import ir as I, relax as R

@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 10), "float32")):
        y = R.nn.softmax(R.matmul(x, w))
        return y
"""
CELLS = (
    MODEL.strip(),
    "Model",
    "Model['main'].struct_info",
    "rx.diff(Model, rx.transform.LegalizeOps()(Model))",
    "rx.jit(Model).explain(n=8)",
    "rx.from_source('@R.function\\ndef f(x: R.Tensor((2,))):\\n    return R.add(x, z)\\n')",
)
# What would be loaded: formulas, and the frames of interactive parts.
_NOTHING = {"mathjax_url": "", "require_js_url": "", "jquery_url": "", "widget_renderer_url": "",
            "html_manager_semver_range": "", "mermaid_js_url": ""}  # fmt: skip


@pytest.fixture(scope="module")
def rendered(tmp_path_factory) -> Callable[[str], str]:
    """The page of a notebook that was run, in a theme."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    notebook.cells[-1].metadata["tags"] = ["raises-exception"]
    NotebookClient(notebook, kernel_name="python3", timeout=300).execute()

    def render(theme: str) -> str:
        exporter = HTMLExporter(theme=theme)
        exporter.exclude_anchor_links = True
        for name, value in _NOTHING.items():
            if exporter.has_trait(name):
                setattr(exporter, name, value)
        body, _ = exporter.from_notebook_node(notebook)
        path = folder / f"{theme}.html"
        path.write_text(body, "utf-8")
        return path.as_uri()

    return render


@pytest.mark.parametrize("theme", THEMES)
def test_what_a_notebook_shows_can_be_read(theme, rendered, browser, picture):
    with watched(browser, theme) as seen:
        page = seen.open(rendered(theme))
        outputs = page.locator(".jp-OutputArea-output")
        assert outputs.count() >= len(CELLS) - 1
        text = page.locator("main").inner_text()
        assert "R.nn.softmax" in text
        assert "is not defined" in text
        assert contrast(page, ".jp-OutputArea-output pre") > 4.5
        picture(page)
