"""The programs of the pages of diagnostics: each is what its page says it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from relaxscript.cli.autofix import look
from relaxscript.cli.report import errors_of
from relaxscript.errors import CODES, Source, page_of
from relaxscript.runtime import list_global_func_names
from relaxscript_tests.architecture import ROOT
from tutorials.site.diagnostics import NO_PROGRAMS
from tutorials.site.example_programs import codes_in, told_by, whole_program

every_code = pytest.mark.parametrize("code", sorted({*CODES} - NO_PROGRAMS))

RUN_ALL = """
import json, sys
from relaxscript.errors import page_of
from tutorials.site.example_programs import told_by, whole_program
codes = sys.argv[1:]
print(json.dumps({code: told_by(whole_program(page_of(code).right)) for code in codes}))
"""


@pytest.mark.slow
@every_code
def test_the_wrong_program_of_a_page_is_told_its_code_and_no_other(code):
    before, folder = list_global_func_names(), Path.cwd()
    assert codes_in(told_by(whole_program(page_of(code).wrong))) == {code}
    assert (list_global_func_names(), Path.cwd()) == (before, folder)


@pytest.mark.slow
def test_the_mended_program_of_a_page_runs_and_is_told_nothing(tmp_path):
    # In a process of their own: an operator that is defined stays.
    codes = sorted({*CODES} - NO_PROGRAMS)
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *codes], capture_output=True, text=True, cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "RELAXSCRIPT_CACHE": "off"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {code: said for code, said in json.loads(done.stdout).items() if said} == {}


@every_code
def test_the_mended_program_of_a_page_passes_the_check(code):
    source = Source("model.py", whole_program(page_of(code).right))
    assert errors_of(look([source], None).found) == []


def test_a_program_imports_the_names_that_it_uses_and_no_others():
    program = "@R.function\ndef f(x: R.Tensor((n,))):\n    return np.abs(x)\n"
    imports = "import numpy as np\nfrom relaxscript.script import relax as R\n\n"
    assert whole_program(program) == imports + program
    assert whole_program("rx.load(relax, tir)").startswith(
        "import relaxscript as rx\nfrom relaxscript import relax, tir\n\n"
    )
    assert whole_program("x = 1") == "x = 1"
    assert whole_program("pip install numpy") == "pip install numpy"


def test_a_program_is_told_what_it_raises_else_its_warnings_else_what_it_prints():
    assert told_by("print(3)") == "3"
    assert codes_in(told_by(whole_program("rx.load('nowhere')"))) == {"RX0701"}
    assert codes_in(told_by("x = (")) == {"RX0113"}
    assert codes_in("warning[RX0207]: a\n\nerror[RX0203]: b\nsays error[RX0101]") == {
        "RX0207", "RX0203",
    }  # fmt: skip
    with pytest.raises(ZeroDivisionError):
        told_by("1 / 0")
