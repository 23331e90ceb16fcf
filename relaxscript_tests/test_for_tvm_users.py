"""The page for TVM users keeps its word: its programs print what it shows, its imports work."""

from __future__ import annotations

import contextlib
import io
import re
import runpy

import numpy as np
import pytest

import relaxscript
from relaxscript import IRModule, relax
from relaxscript.errors import Diagnostic
from relaxscript.script import relax as R
from relaxscript.script.ir_builder import IRBuilder
from relaxscript_tests.architecture import readable

PAGE = readable("tutorials/for_tvm_users.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
(IMPORTS, _), *PROGRAMS = BLOCK.findall(PAGE)
ROW = re.compile(r"^\| `([^|]*)`[^|`]*\| `((?:from|import) relaxscript[^`]*)` \|$", re.MULTILINE)


LINES = re.findall(
    r"^\| (`.*) \| (.*) \|$", PAGE.partition("## Lines that differ")[2], re.MULTILINE
)
CODE = re.compile(r"`([^`]*)`")


@pytest.mark.parametrize(("program", "shown"), PROGRAMS)
def test_a_program_prints_what_stands_below_it(program, shown, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(IMPORTS + program, "utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(path))
    assert printed.getvalue().rstrip() == shown.rstrip()


@pytest.mark.parametrize(("theirs", "ours"), ROW.findall(PAGE))
def test_an_import_of_the_tables_works_and_changes_what_the_table_says(theirs, ours):
    exec(ours, {})
    changed = theirs.replace("tvm", "relaxscript")
    # More than the word changes only where the word alone would not do.
    if changed != ours and theirs != "import tvm":
        with pytest.raises(ImportError, match="relaxscript"):
            exec(changed, {})


def test_the_tables_have_their_rows():
    assert len(ROW.findall(PAGE)) >= 12
    assert {CODE.findall(theirs)[0] for theirs, _ in LINES} == set(DIFFERS)


# ---------------------------------------------------------------- lines that are no imports


@relaxscript.ir_module
class Double:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return R.add(x, x)


def known(**more):
    """What a line of the tables may mention."""
    names = {"tvm": relaxscript, "relaxscript": relaxscript, "relax": relax, "np": np}
    return {**names, "Target": relaxscript.target.Target, **more}


def fails(code, error, message, **more):
    with pytest.raises(error, match=message):
        exec(code, known(**more))


def kind(theirs, ours, folder):
    target = relaxscript.target.Target("llvm")
    fails(theirs[0], AttributeError, "'str' object has no attribute 'name'", target=target)
    assert eval(ours[0], known(target=target)) is True


def host(theirs, ours, folder):
    fails(theirs[0], TypeError, "unexpected keyword argument 'host'")
    assert eval(ours[0], known()).kind == "llvm"


def schedule(theirs, ours, folder):
    te = relaxscript.te
    a = te.placeholder((4,), name="A")
    names = known(te=te, A=a, B=te.compute((4,), lambda i: a[i] + 1, name="B"))
    with pytest.raises(AttributeError, match="create_schedule` is not built yet"):
        eval(theirs[0], names)
    assert "for i in range(4)" in eval(ours[0], names).script()


def library(theirs, ours, folder):
    export, load = theirs
    fails(export, AttributeError, "export_library", ex=relax.build(Double))
    fails(load, AttributeError, "load_module")
    save, load = (code.replace("net.rx", str(folder / "net.rx")) for code in ours)
    exec(save, known(ex=relax.build(Double)))
    machine = relax.VirtualMachine(eval(load, known()), relaxscript.cpu())
    assert machine["main"](np.ones(2, "float32")).tolist() == [2, 2]


def arrays(theirs, ours, folder):
    wanted, array, method = ours
    plain = np.ones(2, "float32")
    assert not eval(theirs[0], known(x=plain))
    assert eval(wanted, known(x=plain)) is True
    assert eval(theirs[0], known(x=eval(array, known(x=plain)))) is True
    assert method == ".numpy()"
    assert not hasattr(plain, "numpy")


def frames(theirs, ours, folder):
    body = f"{theirs[0]}\n    R.func_name('f')\n    R.func_ret_value(R.shape([1]))\n"
    given, (instead,) = theirs[2].replace("tvm", "relaxscript"), ours
    with IRBuilder():
        fails(
            f"{given}\n{body}", (TypeError, AttributeError), "context manager|__enter__"
        )  # up to Python
    with IRBuilder() as builder:
        exec(f"{instead}\n{body}", {})
    assert str(builder.get().ret_struct_info) == "R.Shape([1])"


def formation(theirs, ours, folder):
    x, y = (relax.Var(name, R.Tensor((2,), "float32")) for name in "xy")
    main = relax.Function([y], x, x.struct_info, attrs={"global_symbol": "main"})
    names = known(mod=IRModule({"main": main}))
    assert eval(theirs[0], names) is False
    [found] = eval(ours[0], names)
    assert isinstance(found, Diagnostic)


DIFFERS = {
    'target.kind.name == "llvm"': kind,
    'Target("llvm", host="llvm")': host,
    "te.create_schedule(B.op)": schedule,
    'ex.export_library("net.so")': library,
    "isinstance(x, tvm.nd.NDArray)": arrays,
    "with R.function():": frames,
    "relax.analysis.well_formed(mod)": formation,
}


@pytest.mark.parametrize(("theirs", "ours"), LINES)
def test_a_line_that_differs_does_so_as_the_table_says(theirs, ours, tmp_path):
    codes = CODE.findall(theirs)
    DIFFERS[codes[0]](codes, CODE.findall(ours), tmp_path)


def test_the_first_page_leads_to_it():
    assert "(tutorials/for_tvm_users.md)" in readable("README.md")
