"""Writes `relaxscript/script/relax.pyi` and `tir.pyi`: what type checkers know of `R.` and `T.`

    python -m relaxscript_tests.script.stub

Operators are objects, whose signatures are theirs and not those of a class: the stub says them one
by one, with their docstrings, as the registry has them. That of `T` is in `tir_stub.py`.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from relaxscript.op import REGISTRY
from relaxscript.script import relax as R
from relaxscript.script.names import relax_devices, relax_distributed, relax_forms, relax_typed
from relaxscript.script.names.annotations import AnnotationForm
from relaxscript_tests.architecture import ROOT
from relaxscript_tests.script import tir_stub

__all__ = ["PATH", "STUBS", "written"]

PATH = ROOT / "relaxscript" / "script" / "relax.pyi"

HEAD = '''"""What checkers and editors know of `R.`; written by `relaxscript_tests/script/stub.py`.

They read `R.Tensor[R.f32, n, 4]` as `Annotated[Any, n, 4]`: any expression may be a dimension.
"""

# ruff: noqa: E501, RUF022

from builtins import tuple as _tuple
from collections.abc import Callable as Callable
from typing import Annotated as Annotated, Annotated as Tensor, Any as Any
from typing import TypeAlias as _TypeAlias, TypeVar as _TypeVar

from typing_extensions import TypeVarTuple as _TypeVarTuple, Unpack as _Unpack

from .parser.entry import function as function, relax_macro as _macro, rewriter as rewriter
'''

TYPES = """
__all__ = ALL

_T = _TypeVar("_T")
_Ts = _TypeVarTuple("_Ts")

DTensor: _TypeAlias = Any
Object: _TypeAlias = Any
Shape: _TypeAlias = Any
Prim = Annotated[_T, "scalar"]
# Operators give `Any`, which a function whose result is declared may return in its place.
Tuple: _TypeAlias = _tuple[_Unpack[_Ts]] | Any
func = function
macro = _macro
"""


def written() -> str:
    """The text of the stub."""
    parts = [HEAD]
    for home in (relax_devices, relax_distributed, relax_forms):
        listed = [name for name in home.__all__ if not isinstance(vars(home)[name], AnnotationForm)]
        names = ", ".join(f"{name} as {name}" for name in listed)
        parts.append(f"from .names.{home.__name__.rpartition('.')[2]} import {names}\n")
    parts.append("from .names.relax_typed import dim as dim\n")
    parts.append(with_docstrings(TYPES.replace("ALL", repr(list(R.__all__)))))
    for name in relax_typed.__all__:
        if name != "dim":
            said = f"The dtype {getattr(R, name)}."
            parts.append(f'{name}: _TypeAlias = Any\n"""{said}"""\n')
    rooms = [name for name in R.__all__ if isinstance(getattr(R, name), ModuleType)]
    known = "".join(parts)
    for name in sorted(R.__all__):
        value = getattr(R, name)
        if name in rooms:
            inner = [definition(n, getattr(value, n), True) for n in sorted(value.__all__)]
            body = docstring(value) + "".join(inner)
            parts.append(f"\nclass {name}:\n{indented(body)}")
        elif callable(value) and (f"{name} as {name}" not in known) and is_operator(value):
            parts.append(definition(name, value, False))
    return formatted("".join(parts))


def with_docstrings(text: str) -> str:
    """Assignments, each followed by what its name is: editors show that as well."""
    lines = text.splitlines(keepends=True)
    named = [(line, re.match(r"(\w+)(: _TypeAlias)? = Annotated|(\w+): _TypeAlias = ", line))
             for line in lines]  # fmt: skip
    return "".join(
        line if found is None else line + docstring(getattr(R, found[1] or found[3]))
        for line, found in named
    )


def is_operator(value: Any) -> bool:
    """Whether a value is an operator, or stands for several."""
    return value in REGISTRY.values() or type(value).__module__ == "relaxscript.opdef.composite"


def definition(name: str, value: Any, inside: bool) -> str:
    """A function as a stub has it."""
    parameters = []
    star = False
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            parameters.append(f"*{parameter.name}: Any")
            star = True
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parameters.append("*")
            star = True
        default = "" if parameter.default is parameter.empty else f" = {shown(parameter.default)}"
        parameters.append(f"{parameter.name}: Any{default}")
    head = "@staticmethod\n" if inside else ""
    return f"\n{head}def {name}({', '.join(parameters)}) -> Any:\n" + indented(docstring(value))


def shown(default: Any) -> str:
    """A default value, or `...` where it cannot be written as a literal."""
    plain = isinstance(default, (bool, int, float, str, type(None)))
    return repr(default) if plain and type(default).__module__ == "builtins" else "..."


def docstring(value: Any) -> str:
    text = getattr(value, "summary", None) or inspect.getdoc(value) or ""
    escaped = inspect.cleandoc(text).replace("\\", "\\\\")
    last = "\n" if "\n" in escaped else ""
    return f'"""{escaped}{last}"""\n'


def indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(True))


def formatted(text: str, path: Path = PATH) -> str:
    """A text in the form that the project's tools give it."""
    for command in (["check", "--select", "I", "--fix", "-q"], ["format"]):
        whole = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
        done = subprocess.run(whole, input=text, capture_output=True, text=True, check=True)
        text = done.stdout
    return text


# The text of each stub, by where it stands.
STUBS: dict[Path, Callable[[], str]] = {
    PATH: written,
    tir_stub.PATH: lambda: formatted(tir_stub.written(), tir_stub.PATH),
}

if __name__ == "__main__":
    for path, text in STUBS.items():
        path.write_text(text(), encoding="utf-8")
