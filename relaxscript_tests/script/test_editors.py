"""Editors and type checkers: annotations without complaint, completion, hover."""

from __future__ import annotations

import ast
import inspect
import json
import pydoc
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.architecture import ROOT
from relaxscript_tests.cli.lsp.editor import Editor
from relaxscript_tests.script import stub

TYPED = ROOT / "relaxscript_tests" / "script" / "typed"
CLEAN = {name: str(TYPED / f"{name}.py") for name in ("annotated", "prim_funcs", "passes")}
UNCLEAN = str(TYPED / "unclean.py")
NAMESPACES = {
    "I": I, "R": R, "T": T, "R.nn": R.nn, "R.inspect": R.inspect, "T.axis": T.axis,
}  # fmt: skip
LIMIT = 300  # seconds for one run of a checker, many times what it takes


def run(*command: str, folder: Path = ROOT) -> str:
    """What a tool prints; it finds the package in the repository."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True,
        timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return done.stdout


# A run of a checker reads the package, which takes much longer than the files: so all have one.


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """The lines of each file of which mypy complains in its strictest mode."""
    cache = tmp_path_factory.mktemp("mypy")
    paths = [*CLEAN.values(), UNCLEAN]
    said = run("mypy", "--strict", "--follow-imports=silent", f"--cache-dir={cache}", *paths)
    assert f"(checked {len(paths)} source files)" in said
    errors = [line.split(":") for line in said.splitlines() if ": error:" in line]
    assert {Path(path).stem for path, *_ in errors} <= {Path(path).stem for path in paths}
    return {
        path: [int(number) for found, number, *_ in errors if Path(found).stem == Path(path).stem]
        for path in paths
    }


@pytest.fixture(scope="module")
def pyright() -> dict[str, list[int]]:
    """The lines of each file of which pyright complains."""
    paths = [*CLEAN.values(), UNCLEAN]
    said = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, *paths))
    assert said["summary"]["filesAnalyzed"] == len(paths)
    found: dict[str, list[int]] = {path: [] for path in paths}
    for diagnostic in said["generalDiagnostics"]:
        found[diagnostic["file"]].append(diagnostic["range"]["start"]["line"] + 1)
    return found


def wrong_lines() -> list[int]:
    """The lines of the unclean file that say so."""
    lines = Path(UNCLEAN).read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if "# wrong" in line]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLEAN)
def test_mypy_has_nothing_against_annotations(name, mypy):
    assert mypy[CLEAN[name]] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CLEAN)
def test_pyright_has_nothing_against_annotations(name, pyright):
    assert pyright[CLEAN[name]] == []


@pytest.mark.slow
def test_strict_pyright_has_nothing_against_annotations(tmp_path):
    for name, path in CLEAN.items():
        text = Path(path).read_text("utf-8")
        (tmp_path / f"strict_{name}.py").write_text(f"# pyright: strict\n{text}", "utf-8")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    said = json.loads(run("pyright", "--outputjson", "-p", str(tmp_path), folder=tmp_path))
    assert said["summary"]["filesAnalyzed"] == len(CLEAN)
    assert [d["message"] for d in said["generalDiagnostics"]] == []


@pytest.mark.parametrize("name", CLEAN)
def test_ruff_has_nothing_against_annotations(name):
    rules = ("--isolated", "--line-length=100", "--select=E,F,W,B,UP")
    assert run("ruff", "check", *rules, CLEAN[name]) == "All checks passed!\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("annotated", 'double(x: R.Tensor(("n", 4), "float32"))'),
        ("prim_funcs", 'matmul(\n    x: T.Buffer(("n", 64), "float32"),\n'),
    ],
)
def test_the_annotated_files_are_programs_that_run(name, shown):
    code = f"import runpy; print(runpy.run_path({CLEAN[name]!r})['parsed']().script())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert shown in done.stdout, done.stderr


@pytest.mark.slow
def test_mypy_knows_names_and_signatures(mypy):
    assert sorted({*mypy[UNCLEAN]}) == wrong_lines()


@pytest.mark.slow
def test_pyright_knows_names_and_signatures(pyright):
    assert sorted({*pyright[UNCLEAN]}) == wrong_lines()


@pytest.mark.slow
def test_every_public_name_is_known_to_type_checkers(tmp_path):
    lines = ["from relaxscript.script import ir as I, relax as R, tir as T"]
    for written, namespace in NAMESPACES.items():
        lines += [f"{written}.{name}" for name in namespace.__all__]
    path = tmp_path / "names.py"
    path.write_text("\n".join(lines) + "\n")
    settings = {"include": ["names.py"], "extraPaths": [str(ROOT)], "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    said = json.loads(run("pyright", "--outputjson", "-p", str(tmp_path), folder=tmp_path))
    assert [d["message"] for d in said["generalDiagnostics"]] == []


# What pyright shows of names: the beginning of a signature, and of the docstring.
SHOWN = {
    "R.matmul": ("def matmul(", "The matrix product of the last two axes"),
    "R.nn.relu": ("def relu(data: Any)", "`max(x, 0)`"),
    "R.call_tir": ("def call_tir(", "Call a PrimFunc of the module"),
    "R.match_cast": ("def match_cast(", "Check a value at run time"),
    "R.linear": ("def linear(", "`data @ weight.T + bias`"),
    "R.Shape": ("Shape", "A shape: `R.Shape([n, 4])`"),
    "R.Tuple": ("Tuple", "A tuple: `R.Tuple("),
    "R.f32": ("f32", "The dtype float32."),
    "T.grid": ("def grid(*extents: Any)", "Nested serial loops"),
    "T.axis.spatial": ("def spatial(", "An axis whose values"),
    "T.float32": ("class float32(", "Scalars of type float32."),
    "I.ir_module": ("def ir_module(", "Decorate a class"),
}


@pytest.mark.slow
def test_an_editor_without_our_server_shows_signatures_and_docstrings(tmp_path):
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    lines = ["from relaxscript.script import ir as I, relax as R, tir as T", *SHOWN]
    uri = (tmp_path / "names.py").as_uri()
    command = (sys.executable, "-m", "pyright.langserver", "--stdio")
    text = {
        "uri": uri,
        "languageId": "python",
        "version": 1,
        "text": "\n".join([*lines, "R.nn.re"]),
    }
    with Editor(tmp_path, command) as editor:
        editor.tell("textDocument/didOpen", {"textDocument": text})
        for line, (name, (signature, said)) in enumerate(SHOWN.items(), 1):
            shown = editor.ask_at("hover", uri, line, len(name) - 1)["contents"]["value"]
            assert signature in shown
            assert said in shown.replace("\\", "")
        offered = editor.ask_at("completion", uri, len(lines), len("R.nn.re"))["items"]
        [relu] = [item for item in offered if item["label"] == "relu"]
        resolved = editor.ask("completionItem/resolve", relu)
        assert "def relu(data: Any) -> Any" in resolved["documentation"]["value"]


@pytest.mark.parametrize("namespace", [R, T], ids=["R", "T"])
def test_the_stub_says_what_the_namespace_has(namespace):
    # If this fails: python -m relaxscript_tests.script.stub
    path = Path(namespace.__file__).with_suffix(".pyi")
    text = path.read_text("utf-8")
    assert text == stub.STUBS[path]()
    defined = set()
    for node in ast.parse(text).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                defined.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                defined.add(name)
            case ast.ImportFrom(names=names):
                defined |= {alias.asname for alias in names}
    assert set(namespace.__all__) <= defined


@pytest.mark.parametrize("written", NAMESPACES)
def test_every_public_name_has_a_docstring_and_what_is_called_a_signature(written):
    namespace = NAMESPACES[written]
    assert set(namespace.__all__) <= set(dir(namespace))
    for name in namespace.__all__:
        value = getattr(namespace, name)
        assert inspect.getdoc(value), name
        if callable(value) and not isinstance(value, ModuleType):
            inspect.signature(value)


def test_signatures_and_docstrings_are_those_of_the_thing():
    assert str(inspect.signature(R.nn.softmax)) == "(data, axis=-1)"
    assert list(inspect.signature(R.Tensor).parameters) == ["shape", "dtype", "vdevice", "ndim"]
    assert "R.nn.softmax(data, axis=-1)" in pydoc.render_doc(R.nn.softmax, renderer=pydoc.plaintext)
    assert "`R.Tensor[R.f32, n, 4]`" in R.Tensor.__doc__
    assert "`R.Annotated[R.Shape, n, 4]`" in R.Shape.__doc__
    assert "`R.Shape((n, 4))`" in R.Annotated.__doc__
    assert list(inspect.signature(T.Buffer).parameters)[:2] == ["shape", "dtype"]
    assert "`x: T.Buffer[T.f32, 64, n]`" in T.Buffer.__doc__
    assert "`class Digits(I.Module):`" in I.Module.__doc__
    assert type(R.add).__doc__.startswith("A built-in operator of Relax.")
