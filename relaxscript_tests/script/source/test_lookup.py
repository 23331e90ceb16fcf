"""Where definitions stand: whatever runs a text, its source is found, or the situation is named.

Every context is tried with a function and with a class, on the Python that runs the tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from relaxscript_tests.architecture import ROOT

IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T"

FUNCTION = """
@R.function
def found(x: R.Tensor((2, 3), "float32")):
    y = R.exp(x)
    return y

"""

CLASS = """
@I.ir_module
class found:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.exp(x)
        return y

"""

# Prints what stands at the call, which only the right text holds.
TELL = """
def tell(found):
    found = found if hasattr(found, "params") else found["main"]
    print("found", found.body.blocks[0].bindings[0].value.span.text)
"""

either = pytest.mark.parametrize("definition", [FUNCTION, CLASS], ids=["function", "class"])


def run(*arguments: str, given: str = "", folder: Path = ROOT) -> tuple[str, str]:
    """What a fresh Python says on its two outputs."""
    command = [sys.executable, *arguments]
    settings = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    with TemporaryDirectory() as home:  # a prompt leaves its history there
        done = subprocess.run(
            command, cwd=folder, input=given, capture_output=True, text=True, check=False,
            env={**settings, "HOME": home},
        )  # fmt: skip
    return done.stdout, done.stderr


def program(definition: str) -> str:
    return f"{IMPORTS}\n{TELL}\n{definition}\ntell(found)\n"


# ---------------------------------------------------------------- files


@pytest.mark.slow
@either
def test_in_a_file(definition, tmp_path):
    (tmp_path / "model.py").write_text(program(definition))
    assert run("model.py", folder=tmp_path) == ("found R.exp(x)\n", "")


@pytest.mark.slow
@either
def test_in_a_module_that_is_imported(definition, tmp_path):
    (tmp_path / "model.py").write_text(program(definition))
    assert run("-c", "import model", folder=tmp_path) == ("found R.exp(x)\n", "")


@pytest.mark.slow
@either
def test_in_an_archive(definition, tmp_path):
    with zipfile.ZipFile(tmp_path / "models.zip", "w") as archive:
        archive.writestr("inside/model.py", program(definition))
        archive.writestr("inside/__init__.py", "")
    code = "import sys; sys.path.insert(0, 'models.zip'); import inside.model"
    assert run("-c", code, folder=tmp_path) == ("found R.exp(x)\n", "")


@pytest.mark.slow
@either
def test_in_a_test_whose_assertions_pytest_rewrites(definition, tmp_path):
    body = textwrap.indent(f"{definition}\ntell(found)\nassert found is not None\n", "    ")
    text = f"{IMPORTS}\n{TELL}\ndef test_it():\n{body}"
    (tmp_path / "test_it.py").write_text(text)
    said, _ = run("-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", folder=tmp_path)
    assert "found R.exp(x)" in said
    assert "1 passed" in said


@pytest.mark.slow
def test_an_assert_of_a_prim_func_is_found_under_rewriting(tmp_path):
    text = f"""{IMPORTS}

def test_it():
    @T.prim_func
    def f(a: T.Buffer((4,), "float32"), n: T.int32):
        assert n > 0, "positive"
        a[0] = T.float32(1)

    assert "positive" in f.script()
"""
    (tmp_path / "test_it.py").write_text(text)
    said, _ = run("-m", "pytest", "-q", "-p", "no:cacheprovider", folder=tmp_path)
    assert "1 passed" in said


# ---------------------------------------------------------------- texts that are in no file


@pytest.mark.slow
@either
def test_in_a_command(definition):
    assert run("-c", program(definition)) == ("found R.exp(x)\n", "")


@pytest.mark.slow
@either
def test_in_a_command_written_together_with_other_options(definition):
    assert run("-Bc", program(definition)) == ("found R.exp(x)\n", "")


@pytest.mark.slow
@either
def test_in_a_script_on_the_standard_input_there_is_none(definition):
    said, complained = run("-", given=program(definition))
    assert said == ""
    assert (
        "the source of `found` cannot be found: Python reads this program from the standard "
        in (complained)
    )
    assert "relaxscript.from_source(text)" in complained


@pytest.mark.slow
@either
def test_at_the_prompt_it_is_found_where_python_keeps_it(definition):
    said, complained = run("-i", "-q", given=program(definition))
    if sys.version_info >= (3, 13):
        assert said == "found R.exp(x)\n"
    else:
        assert said == ""
        assert "`found` cannot be found: it was typed at Python's prompt" in complained
        assert "relaxscript.from_source(text)" in complained


@pytest.mark.slow
@either
def test_in_a_string_there_is_none(definition, tmp_path):
    (tmp_path / "program.py").write_text(f"text = {program(definition)!r}\nexec(text)\n")
    said, complained = run("program.py", folder=tmp_path)
    assert said == ""
    assert "cannot be found: it was executed from a string" in complained
    assert "relaxscript.from_source(text)" in complained


@pytest.mark.slow
@either
@pytest.mark.parametrize("change", [("R.exp", "R.sqrt"), ("(2, 3)", "(3, 2)"), ("y =", "yy =")])
def test_a_string_is_never_mistaken_for_the_command(definition, change):
    # The command holds another definition of that name on the very same lines.
    other = program(definition.replace(*change))
    header = f"text = {program(definition)!r}; exec(text); raise SystemExit"
    text = other.replace(IMPORTS, f"{IMPORTS}; {header}")
    said, complained = run("-c", text)
    assert said == ""
    assert "it is not in the command of `python -c`" in complained


@pytest.mark.slow
@either
def test_in_a_string_that_is_registered_with_linecache(definition):
    code = f"""
import linecache
text = {program(definition)!r}
linecache.cache["<cell>"] = (len(text), None, text.splitlines(True), "<cell>")
exec(compile(text, "<cell>", "exec"), {{}})
"""
    assert run("-c", code) == ("found R.exp(x)\n", "")


@pytest.mark.slow
@either
def test_in_a_string_of_a_module_whose_loader_knows_it(definition):
    code = f"""
class Loader:
    def get_source(self, name):
        return text
text = {program(definition)!r}
exec(compile(text, "<made>", "exec"), {{"__loader__": Loader(), "__name__": "made"}})
"""
    assert run("-c", code) == ("found R.exp(x)\n", "")


@pytest.mark.slow
def test_in_an_example_of_a_docstring(tmp_path):
    lines = [f">>> {IMPORTS}"]
    for definition in (TELL, FUNCTION, CLASS):
        first, *rest = definition.strip().splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in rest)]
        if definition != TELL:
            lines += [">>> tell(found)", "found R.exp(x)"]
    (tmp_path / "model.py").write_text('"""\n' + "\n".join(lines) + '\n"""\n')
    said, complained = run("-m", "doctest", "-v", "model.py", folder=tmp_path)
    assert "6 passed" in said, said + complained


# ---------------------------------------------------------------- notebooks

SHELL = """
import json, sys
from traitlets.config import Config
from IPython.core.interactiveshell import InteractiveShell
config = Config()
config.HistoryManager.hist_file = ":memory:"
config.InteractiveShell.colors = "NoColor"
shell = InteractiveShell.instance(config=config)
for cell in json.loads(sys.argv[1]):
    result = shell.run_cell(cell, store_history=True)
"""


def cells(*texts: str, folder: Path) -> str:
    """What a session of IPython prints that runs these cells."""
    (folder / "shell.py").write_text(SHELL)
    said, complained = run("shell.py", json.dumps(texts), folder=folder)
    return said + complained


@pytest.mark.slow
@either
def test_in_a_cell(definition, tmp_path):
    said = cells(f"{IMPORTS}\n{TELL}", f"{definition}\ntell(found)", folder=tmp_path)
    assert said == "found R.exp(x)\n"


@pytest.mark.slow
@either
@pytest.mark.parametrize("magic", ["%%time", "%%capture captured", "%%prun -q", "%%timeit -n1 -r1"])
def test_in_a_cell_under_a_magic(definition, magic, tmp_path):
    before = definition.replace("R.exp", "R.sqrt")
    said = cells(
        f"{IMPORTS}\n{TELL}", before, f"{magic}\n{definition}\ntell(found)\n",
        "captured.show()" if "capture" in magic else "pass", folder=tmp_path,
    )  # fmt: skip
    assert "found R.exp(x)\n" in said


@pytest.mark.slow
def test_a_mistake_in_a_cell_under_a_magic_is_shown_at_its_line(tmp_path):
    wrong = FUNCTION.replace("R.exp(x)", "R.exp(z)")
    said = cells(IMPORTS, f"%%time{wrong}", folder=tmp_path)
    # IPython shows it, and which name it gives a cell under a magic depends on its version.
    assert "Cell In[2], line 4" in said or "<In[2]>:4" in said
    assert "`z` is not defined" in said


@pytest.mark.slow
@either
def test_in_a_cell_of_marimo(definition, tmp_path):
    # A cell is compiled under the name of a file that is nowhere, and registered with linecache.
    code = f"""
import ast, linecache
text = {program(definition)!r}
name = "marimo_4711/__marimo__cell_Hbol_.py"
tree = compile(text, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
last = ast.Expression(tree.body.pop().value)
linecache.cache[name] = (len(text), None, [line + "\\n" for line in text.splitlines()], name)
flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
scope = {{"__name__": "__main__", "__file__": "notebook.py"}}
exec(compile(tree, name, "exec", flags, dont_inherit=True), scope)
eval(compile(last, name, "eval", flags, dont_inherit=True), scope)
"""
    assert run("-c", code) == ("found R.exp(x)\n", "")
