"""The same short session wherever people try things: define, err, look, run.

Python's own prompts are in `script/parser/test_prompt.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from relaxscript_tests.architecture import ROOT
from relaxscript_tests.ipython_shell import run_cells
from relaxscript_tests.markup import Markup

IMPORTS = """\
import numpy as np
import relaxscript as rx
from relaxscript.script import ir as I, relax as R
"""
MODULE = """\
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32")):
        y = R.nn.relu(x)
        return y
"""
WRONG = """\
@R.function
def f(x: R.Tensor((2,), "float32")):
    return R.add(x, z)
"""
RUN = 'rx.jit(M).main(np.array([[-1, 2]], "float32"))'
RESULT = "array([[0., 2.]], dtype=float32)"
ANNOTATED = 'y: R.Tensor((n, 2), "float32") = R.nn.relu(x)'


@pytest.mark.slow
def test_in_ipython(tmp_path):
    module, timed, looked, wrong, result = run_cells(
        [IMPORTS + MODULE, f"%%time\n{MODULE}", "M", WRONG, RUN], tmp_path
    )
    assert module == ("", True)
    assert timed.succeeded
    assert "Wall time" in timed.printed
    assert ANNOTATED in looked.printed
    assert not wrong.succeeded
    assert wrong.printed.startswith(
        "error[RX0101]: `z` is not defined\n --> Cell In[4], line 3\n  |\n3 |     return R.add("
    )
    assert result == (f"Out[5]: {RESULT}\n", True)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory) -> list[list[dict[str, Any]]]:
    """The outputs of each cell of a notebook that was run from the top to the bottom."""
    folder = tmp_path_factory.mktemp("ipython")
    cells = [
        f"%load_ext relaxscript\n{IMPORTS}", f"%%time\n{MODULE}", "M", RUN, WRONG,
        f"%%relax\n{MODULE}", f"%%relax\n{WRONG}", "M.show()", "rx.nd.array([1, 2])",
    ]  # fmt: skip
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder))
        patch.setenv("PYTHONPATH", str(ROOT))
        nbclient.NotebookClient(book, allow_errors=True, kernel_name="python3").execute()
    return [cell.outputs for cell in book.cells]


@pytest.mark.slow
def test_in_jupyter_a_module_is_shown_with_the_cell_that_it_is_from(notebook):
    _, timed, looked, result, *_ = notebook
    assert [output["output_type"] for output in timed] == ["stream"]
    (shown,) = [output["data"] for output in looked]
    assert ANNOTATED in shown["text/plain"]
    page = Markup(shown["text/html"])
    assert page.text == shown["text/plain"]
    # The magic is on the first line of the cell.
    assert page.hints["y"] == (
        'y: R.Tensor((n, 2), "float32")\nCell In[2], line 6: y = R.nn.relu(x)'
    )
    assert result[0]["data"]["text/plain"] == RESULT


@pytest.mark.slow
def test_in_jupyter_a_mistake_is_shown_at_its_line_with_a_magic_too(notebook):
    for cell, line in ((4, 3), (6, 4)):
        pictures, error = notebook[cell]
        text = pictures["data"]["text/plain"]
        assert f" --> Cell In[{cell + 1}], line {line}\n" in text
        assert Markup(pictures["data"]["text/html"]).text == text
        assert error["traceback"] == ["DiagnosticError: `z` is not defined"]


@pytest.mark.slow
def test_in_jupyter_the_magic_and_show_give_the_rich_form(notebook):
    for cell in (5, 7):
        (shown,) = [output["data"] for output in notebook[cell]]
        assert Markup(shown["text/html"]).text == shown["text/plain"]
        assert ANNOTATED in shown["text/plain"]
    assert "2 · int64 · cpu:0" in Markup(notebook[8][0]["data"]["text/html"]).text


def python(folder: Path, *arguments: str) -> str:
    """What a fresh Python prints; the process must end well."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT), "HOME": str(folder), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_in_doctest(tmp_path):
    def example(text: str) -> str:
        first, *rest = text.splitlines()
        return "\n".join([f">>> {first}", *(f"... {line}" for line in rest)])

    lines = [
        *(example(line) for line in IMPORTS.splitlines()), example(MODULE), example(RUN), RESULT,
        example("print(M['main'].ret_struct_info)"), 'R.Tensor((n, 2), "float32")',
        example(WRONG), "Traceback (most recent call last):", "    ...",
        "relaxscript.errors.DiagnosticError: `z` is not defined",
    ]  # fmt: skip
    (tmp_path / "model.py").write_text('r"""\n' + "\n".join(lines) + '\n"""\n')
    # What Python shows last of it, which doctest takes for the message, depends on its version.
    said = python(tmp_path, "-m", "doctest", "-v", "-o", "IGNORE_EXCEPTION_DETAIL", "model.py")
    assert "7 passed" in said


TESTS = f"""
{IMPORTS}
import pytest

{MODULE}
@pytest.fixture(params=["llvm", "reference"])
def model(request):
    return rx.VirtualMachine(rx.build(M, target=request.param))

@pytest.mark.parametrize("rows", [1, 3])
def test_it_runs(model, rows):
    x = np.full((rows, 2), -1, "float32")
    assert not model["main"](x).any()

def test_a_mistake_is_refused():
    with pytest.raises(rx.DiagnosticError, match="`z` is not defined") as caught:
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return R.add(x, z)
    assert caught.value.text.strip() == "return R.add(x, z)"
"""


@pytest.mark.slow
def test_in_pytest(tmp_path):
    (tmp_path / "test_model.py").write_text(TESTS)
    said = python(tmp_path, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider")
    assert "5 passed" in said
