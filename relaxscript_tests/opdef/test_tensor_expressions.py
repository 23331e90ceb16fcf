"""Tensor expressions are imported with the first compute."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relaxscript.opdef.tensor_expressions import OnDemand


def prints(program: str) -> str:
    """What a program prints in a Python of its own."""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout


LOADED = "print('relaxscript.te' in sys.modules)\n"


def test_importing_the_package_and_typing_a_program_imports_no_tensor_expressions() -> None:
    program = """
import sys
import relaxscript
from relaxscript.script import from_source

function = from_source('''
@R.function
def main(x: R.Tensor(("n", 3, 32, 32), "float32"), w: R.Tensor((8, 3, 3, 3), "float32")):
    y = R.nn.relu(R.nn.conv2d(x, w, padding=1))
    return R.nn.max_pool2d(R.sum(y, axis=1, keepdims=True), 2)
''')
function.script()
"""
    assert prints(program + LOADED) == "False\n"


def test_legalizing_imports_them() -> None:
    program = """
import sys
from relaxscript.script import from_source
from relaxscript.transform import LegalizeOps

mod = from_source('''
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.exp(x)
''')
LegalizeOps()(mod)
"""
    assert prints(program + LOADED) == "True\n"


def test_threads_that_ask_at_once_get_the_same_names() -> None:
    program = """
import sys, threading
from relaxscript.opdef.tensor_expressions import te, topi

assert "relaxscript.te" not in sys.modules
found, start = [], threading.Barrier(8)

def ask():
    start.wait()
    found.append((topi.matmul, te.Tensor, topi.nn.conv2d))

threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found), len(set(found)))
"""
    assert prints(program) == "8 1\n"


def test_a_module_is_asked_once_for_a_name() -> None:
    module = OnDemand("string")
    assert module.digits == "0123456789"
    assert vars(module)["digits"] is module.digits


def test_a_name_that_the_module_lacks_is_said_with_the_module() -> None:
    with pytest.raises(AttributeError, match="module 'string' has no attribute 'numbers'"):
        OnDemand("string").numbers


def test_questions_of_python_itself_import_nothing() -> None:
    with pytest.raises(AttributeError, match="__wrapped__"):
        OnDemand("no.such.module").__wrapped__
