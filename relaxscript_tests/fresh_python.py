"""Questions to a fresh Python: what a statement imports, and what it changes for everybody."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

__all__ = ["changed_by", "imported_by"]

ROOT = Path(__file__).resolve().parents[1]

# Heavy or optional: taken in when a model is parsed, compiled, printed or compared, not before.
LATE = (
    "llvmlite", "astunparse", "pygments", "matplotlib", "sklearn", "IPython", "onnx", "onnxruntime",
    "torch", "jax", "tvm",
    "relaxscript.script.parser.module", "relaxscript.script.parser.from_source",
    "relaxscript.script.printer.module", "relaxscript.script.pages", "hashlib", "fractions",
    "numpy.ma", "relaxscript.dpl",
)  # fmt: skip

# Runs each statement of argv[1] and tells what it changed of the things that belong to everybody.
PROBE = """
import atexit, builtins, concurrent.futures.thread, gc, inspect, json, linecache, logging, os
import random, signal, sys, threading, traceback, warnings
import ml_dtypes, numpy, typing_extensions

def snapshot():
    return {
        "sys.excepthook": sys.excepthook,
        "sys.displayhook": sys.displayhook,
        "sys.unraisablehook": sys.unraisablehook,
        "sys.path": list(sys.path),
        "sys.meta_path": list(sys.meta_path),
        "sys.path_hooks": list(sys.path_hooks),
        "sys.getrecursionlimit": sys.getrecursionlimit(),
        "sys.gettrace": (sys.gettrace(), sys.getprofile()),
        "builtins": dict(vars(builtins)),
        "warnings.filters": list(warnings.filters),
        "warnings.showwarning": (warnings.showwarning, warnings.formatwarning),
        "signal": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "os.environ": dict(os.environ),
        "os.getcwd": os.getcwd(),
        "threading.excepthook": threading.excepthook,
        "threading.enumerate": threading.enumerate(),
        "inspect": (inspect.getfile, inspect.getsource, inspect.getsourcelines, inspect.findsource),
        "linecache": (linecache.getlines, linecache.checkcache, linecache.updatecache),
        "traceback": (traceback.print_exception, traceback.format_exception),
        "numpy.geterr": numpy.geterr(),
        "numpy.get_printoptions": numpy.get_printoptions(),
        "logging": (logging.root.level, list(logging.root.handlers), logging.getLoggerClass()),
        "random": random.getstate(),
        "gc": (gc.isenabled(), gc.get_threshold()),
        "atexit": atexit._ncallbacks(),
    }

answer = []
for statement in json.loads(sys.argv[1]):
    before = snapshot()
    exec(statement)
    after = snapshot()
    answer.append([name for name in before if before[name] != after[name]])
print(json.dumps(answer))
"""


def python(code: str, *arguments: str) -> list[list[str]]:
    """What a fresh Python prints as JSON."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: list[list[str]] = json.loads(done.stdout)
    return answer


def imported_by(statement: str) -> list[str]:
    """Which of the modules `LATE` a statement imports in a fresh Python."""
    code = f"{statement}\nimport sys, json\nprint(json.dumps([list(sys.modules)]))"
    return sorted(set(LATE) & set(python(code)[0]))


def changed_by(*statements: str) -> list[list[str]]:
    """What each statement, run in this order, changes of the things that belong to everybody."""
    return python(PROBE, json.dumps(statements))
