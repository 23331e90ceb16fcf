"""Where the peers are: the interpreters of environments that have them.

An option or the variable `RELAXSCRIPT_BENCHMARK_PEERS` names them, `jax=/path/to/python` with
spaces between; what neither names is looked for in the environment of this process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple

VARIABLE = "RELAXSCRIPT_BENCHMARK_PEERS"

# What is imported, and which further packages a report names.
PEERS: dict[str, tuple[str, ...]] = {
    "numpy": ("numpy",),
    "onnxruntime": ("onnxruntime", "onnx"),
    "openvino": ("openvino", "onnx"),
    "jax": ("jax", "jaxlib"),
    "torch": ("torch",),
    "apache-tvm": ("tvm",),
    "numba": ("numba", "llvmlite"),
}

PROBE = """
import importlib.util, json, sys
print(json.dumps([n for n in sys.argv[1:] if importlib.util.find_spec(n) is None]))
"""


class Absence(NamedTuple):
    """Why a peer is not there."""

    reason: str


class BadOption(Exception):
    """An option that means nothing."""


def named(options: Iterable[str]) -> dict[str, str]:
    """`NAME=PYTHON` as a table."""
    found = {}
    for option in options:
        name, sign, python = option.partition("=")
        if not sign or not python or name not in PEERS:
            known = ", ".join(PEERS)
            raise BadOption(f"`{option}` is not NAME=PYTHON with a NAME of {known}")
        found[name] = python
    return found


def missing_in(python: str, modules: Iterable[str]) -> Absence | None:
    """Why an interpreter is none for a peer; None where it is one."""
    command = [python, "-c", PROBE, *modules]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except OSError as error:
        return Absence(f"its interpreter cannot be started ({error.strerror})")
    except subprocess.TimeoutExpired:
        return Absence("its interpreter does not answer")
    if done.returncode:
        return Absence(f"its interpreter ends with the status {done.returncode}")
    missing = json.loads(done.stdout)
    return Absence(f"{', '.join(missing)} not installed") if missing else None


def interpreters(
    options: Iterable[str], environment: Mapping[str, str]
) -> dict[str, str | Absence]:
    """For every peer its interpreter, or why there is none."""
    given = named(environment.get(VARIABLE, "").split()) | named(options)
    found: dict[str, str | Absence] = {}
    for peer, modules in PEERS.items():
        python = os.path.expanduser(given.get(peer, sys.executable))
        found[peer] = missing_in(python, modules if peer != "jax" else ("jax",)) or python
    return found
