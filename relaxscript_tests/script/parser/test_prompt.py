"""Definitions that are typed at Python's own prompt, in a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from relaxscript_tests.architecture import ROOT

LINES = """\
from relaxscript.script import ir as I, relax as R
@R.function
def f(x: R.Tensor((2,), 'float32')):
    return R.add(x, y)

@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2,), 'float32')):
        return R.multiply(x, x)

@R.function
def f(x: R.Tensor((3,), 'float32')):
    return R.add(x, x)

print('typed', M['main'].ret_struct_info, f.ret_struct_info)
exit()
"""


def typed(lines: str, folder: str) -> str:
    """What a terminal shows in which these lines are typed at the prompt of Python."""
    settings = {"TERM": "dumb", "HOME": folder, "PYTHON_BASIC_REPL": "1", "PYTHONPATH": str(ROOT)}
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable], stdin=inner, stdout=inner, stderr=inner, env={**os.environ, **settings}
    )
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
    return shown.decode()


@pytest.mark.slow
def test_decorators_work_at_the_prompt_and_mistakes_show_their_line(tmp_path):
    shown = typed(LINES, str(tmp_path))
    assert 'typed R.Tensor((2,), "float32") R.Tensor((3,), "float32")' in shown
    assert "DiagnosticError: `y` is not defined" in shown
    assert shown.count("return R.add(x, y)\r\n                    ^") == 1
