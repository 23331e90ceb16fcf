"""Definitions that are typed at Python's own prompt, in a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from relaxscript_tests.architecture import ROOT

IMPORTS = "from relaxscript.script import ir as I, relax as R"
WRONG = "@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return R.add(x, y)\n"
MODULE = """\
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2,), 'float32')):
        return R.multiply(x, x)
"""
AGAIN = "@R.function\ndef f(x: R.Tensor((3,), 'float32')):\n    return R.add(x, x)\n"
TELL = "print('typed', M['main'].ret_struct_info, f.ret_struct_info)"
TOLD = 'typed R.Tensor((2,), "float32") R.Tensor((3,), "float32")'

# What a terminal is told to do, such as to move the cursor or to change the colour.
CODES = re.compile(r"\x1b\[[?\d;]*[A-Za-z]|\x1b[=>]")


def typed(lines: str, folder: str, *arguments: str, **settings: str) -> str:
    """What a terminal shows in which these lines are typed at the prompt of Python."""
    given = {"HOME": folder, "PYTHON_HISTORY": f"{folder}/history", "PYTHONPATH": str(ROOT)}
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdin=inner, stdout=inner, stderr=inner,
        env={**os.environ, **given, **settings},
    )  # fmt: skip
    os.close(inner)
    os.write(terminal, lines.encode())
    shown = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # how a terminal ends
            break
        if not more:
            break
        shown += more
    os.close(terminal)
    process.wait()
    return CODES.sub("", shown.decode())


def is_well(shown: str) -> bool:
    """Whether definitions were found, and a mistake was shown with its line."""
    assert TOLD in shown
    assert "DiagnosticError: `y` is not defined" in shown
    # The line is typed once, and shown once with a caret below it.
    assert len(re.findall(r"return R\.add\(x, y\)\s*\r\n {20}\^", shown)) == 1
    return True


BASIC = {"TERM": "dumb", "PYTHON_BASIC_REPL": "1"}


@pytest.mark.slow
def test_decorators_work_at_the_prompt_and_mistakes_show_their_line(tmp_path):
    # Where Python keeps no source of what is typed, before 3.13, the history of readline has it.
    lines = "\n".join([IMPORTS, WRONG, MODULE, AGAIN, TELL, "exit()", ""])
    assert is_well(typed(lines, str(tmp_path), **BASIC))


@pytest.mark.slow
def test_definitions_are_found_at_the_prompt_behind_a_program(tmp_path):
    (tmp_path / "begin.py").write_text(f"{IMPORTS}\n{MODULE}")
    lines = "\n".join([WRONG, AGAIN, TELL, "exit()", ""])
    assert is_well(typed(lines, str(tmp_path), "-i", str(tmp_path / "begin.py"), **BASIC))


@pytest.mark.slow
def test_definitions_are_found_where_they_are_pasted(tmp_path):
    # The prompt of 3.13 takes several lines as one; it indents what is typed, not what is pasted.
    if sys.version_info >= (3, 13):
        parts = [f"\x1b[200~{part}\n\x1b[201~\n" for part in (f"{IMPORTS}\n{WRONG}", MODULE, AGAIN)]
        lines = "".join([*parts, f"\x1b[200~{TELL}\x1b[201~\nexit()\n"])
    else:
        lines = "\n".join([IMPORTS, WRONG, MODULE, AGAIN, TELL, "exit()", ""])
    assert is_well(typed(lines, str(tmp_path), TERM="xterm"))
