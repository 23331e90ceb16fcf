"""apache-tvm's answers to the questions of `compiler.py`; most of them are C++."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .compiler import Names, Question

tvm = import_module("tvm")
relax = import_module("tvm.relax")
ffi = import_module("tvm_ffi")
script = import_module("tvm.script")

NAMES = Names(
    relax,
    relax.TensorType,
    lambda: tvm.tirx.Var("n", "int64"),
    ffi.structural_hash,
    ffi.structural_equal,
    script.from_source,
)


def program(question: Any, variant: str) -> Question:
    return Question(NAMES, question)
