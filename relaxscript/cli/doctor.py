"""`relaxscript doctor`: what this installation consists of, and whether it works.

    relaxscript  0.1.0
    Python       3.11.9 (CPython) on Linux x86_64
    numpy        2.2.1, BLAS scipy-openblas 0.3.28
    llvmlite     0.45.0, LLVM 20.1.8, for x86_64-unknown-linux-gnu, znver4
    threads      8
    ...
    editors           find the package
    one folder up     Python imports the package
    extra tutorials   complete
    extra benchmarks  onnxruntime is missing: pip install "relaxscript[benchmarks]"

    a small model on the reference interpreter        works
    a small model on the virtual machine, reference   works
    a small model on the virtual machine, llvm        works

Which packages are needed is read from the installed metadata, so it is said in one place.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relaxscript import script
from relaxscript.compiler import build
from relaxscript.interpreter import Interpreter
from relaxscript.ir.module import IRModule
from relaxscript.runtime import VirtualMachine
from relaxscript.version import __version__

__all__ = ["doctor"]

REQUIREMENT = re.compile(
    r'(?P<name>[\w.-]+)(\[.*?\])?\s*(?P<bounds>[^;]*)(;.*extra\s*==\s*["\'](?P<extra>[^"\']+))?'
)

MODEL = """
@I.ir_module
class Small:
    @T.prim_func
    def relu(x: T.Buffer(("n", 3), "float32"), y: T.Buffer(("n", 3), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 3):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.max(x[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32")):
        n = T.int64()
        cls = Small
        with R.dataflow():
            y = R.call_tir(cls.relu, (x @ w,), out_sinfo=R.Tensor((n, 3), "float32"))
            R.output(y)
        return y
"""


PACKAGE = Path(script.__file__).parents[1]

# What another Python finds: by all that it has for finding packages, and by its path alone, which
# is what editors and type checkers follow.
FIND = """
import json, sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
found = find_spec("relaxscript"), PathFinder.find_spec("relaxscript", sys.path[1:])
print(json.dumps([spec and spec.origin for spec in found]))
"""


class Finding(NamedTuple):
    """One line of the report; `well` is False for what should be mended."""

    what: str
    says: str
    well: bool = True


def doctor() -> int:
    """Print what is installed and whether a small model runs on each executor; 1 when not."""
    findings = [*installation(), *visibility(), *extras(), *trials()]
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.what:{width}}  {finding.says}")
    if all(finding.well for finding in findings):
        print("\nall is well")
        return 0
    print("\nnot all is well: see above what is missing or fails")
    return 1


# ---- what is there


class Need(NamedTuple):
    """A package that is required, by the extra of this name or always."""

    name: str
    bounds: str
    extra: str | None


def installation() -> list[Finding]:
    """Versions, the machine, and every package that is always needed."""
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    system = f"{platform.system()} {platform.machine()}"
    special = {"numpy": numpy_says, "llvmlite": llvm_says}
    found = [Finding("relaxscript", __version__), Finding("Python", f"{python} on {system}")]
    for need in needs():
        if need.extra is None:
            problem = problem_of(need)
            says = problem or special.get(need.name, metadata.version)(need.name)
            found.append(Finding(need.name, says, not problem))
    return [*found, Finding("threads", str(threads()))]


def needs() -> list[Need]:
    """The requirements of the installed metadata; without it, the two packages we look into."""
    try:
        lines = metadata.requires("relaxscript") or []
    except metadata.PackageNotFoundError:
        lines = ["numpy", "llvmlite"]
    matches = [REQUIREMENT.match(line) for line in lines]
    return [Need(m["name"], m["bounds"].strip(" ()"), m["extra"]) for m in matches if m]


def problem_of(need: Need) -> str | None:
    """The reason why a need is not met, else None. Of the bounds, the lowest version counts."""
    try:
        there = metadata.version(need.name)
    except metadata.PackageNotFoundError:
        return "is missing"
    lowest = re.search(r">=\s*([\d.]+)", need.bounds)
    if lowest and numbers(there) < numbers(lowest[1]):
        return f"{there} is older than {lowest[1]}"
    return None


def numbers(text: str) -> tuple[int, ...]:
    """The leading numbers of a version, without zeros at their end."""
    found = re.match(r"\d+(\.\d+)*", text)
    parts = [int(part) for part in found[0].split(".")] if found else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def numpy_says(name: str) -> str:
    configuration: Any = np.show_config(mode="dicts")
    blas = configuration.get("Build Dependencies", {}).get("blas", {})
    library = f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()
    return f"{np.__version__}, BLAS {library}"


def llvm_says(name: str) -> str:
    from llvmlite import __version__, binding

    llvm = ".".join(map(str, binding.llvm_version_info))
    target = f"{binding.get_process_triple()}, {binding.get_host_cpu_name()}"
    return f"{__version__}, LLVM {llvm}, for {target}"


def threads() -> int:
    """The number of threads that this process may run at a time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def visibility(package: Path = PACKAGE) -> list[Finding]:
    """True if editors find a package, and Python does in the folder that holds its clone.

    There the clone itself, which has the package's name, may be taken for it.
    """
    clone = package.parent
    asked = [sys.executable, "-c", FIND]
    try:
        answer = subprocess.run(asked, cwd=clone.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return [Finding("one folder up", f"Python cannot be asked: {error}", False)]
    imported, on_path = json.loads(answer.stdout)
    ours = str(package / "__init__.py")
    again = f"pip install -e {clone}  (again, in this environment)"
    editors = Finding("editors", "find the package")
    if on_path != ours:
        says = f"do not find the package, which is not on Python's path: {again}"
        editors = editors._replace(says=says, well=False)
    above = Finding("one folder up", "Python imports the package")
    if imported != ours:
        taken = imported or f"the folder {clone}"
        says = f"in {clone.parent} Python takes {taken} for the package: {again}"
        above = above._replace(says=says, well=False)
    return [editors, above]


def extras() -> list[Finding]:
    """For each extra, whether its packages are there; none is needed to run models."""
    return [Finding(f"extra {name}", extra_says(name)) for name in extra_names(needs())]


def extra_names(all_needs: Iterable[Need]) -> list[str]:
    return list(dict.fromkeys(need.extra for need in all_needs if need.extra is not None))


def extra_says(name: str) -> str:
    problems = [
        f"{need.name} {problem}"
        for need in needs()
        if need.extra == name and need.name != "relaxscript" and (problem := problem_of(need))
    ]
    if not problems:
        return "complete"
    return f'{", ".join(problems)}: pip install "relaxscript[{name}]"'


# ---- whether it works


def trials() -> list[Finding]:
    """A small model on every executor."""
    executors: dict[str, Callable[[IRModule], Any]] = {
        "reference interpreter": Interpreter,
        "virtual machine, reference": lambda mod: VirtualMachine(build(mod, target="reference")),
        "virtual machine, llvm": lambda mod: VirtualMachine(build(mod, target="llvm")),
    }
    return [trial(f"a small model on the {name}", run) for name, run in executors.items()]


def trial(what: str, executor: Callable[[IRModule], Any]) -> Finding:
    """True if an executor computes what numpy does; whatever it raises is part of the report."""
    x = np.arange(8, dtype="float32").reshape(2, 4) - 4
    w = np.arange(12, dtype="float32").reshape(4, 3) % 5 - 1
    try:
        result = executor(script.from_source(MODEL))["main"](x, w)
    except Exception as error:
        return Finding(what, f"fails with {type(error).__name__}: {error}", False)
    if not np.array_equal(result, np.maximum(x @ w, 0)):
        return Finding(what, "computes something else than numpy", False)
    return Finding(what, "works")
