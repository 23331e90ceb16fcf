"""Backends, which make PrimFuncs run: each kind of target is one registered object.

register_backend(Backend("mine", lambda functions, module, target: {...}))
rx.build(module, "mine")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, Span, did_you_mean, nearest
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim_checks import shorten
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.vdevice import Target
from relaxscript.runtime.forks import lock_across_forks

from .vm import Kernel

__all__ = ["BACKENDS", "Backend", "backend_for", "register_backend", "unknown_name"]

__tracebackhide__ = is_user_error

# Options that name another computer or its parts; code is always made for the one that runs it.
_ELSEWHERE = frozenset({"mcpu", "mtriple", "mattr", "num-cores", "device", "keys", "jit", "mabi"})

_SWITCHES = ("check", "zero-memory", "profile")

_Kernels = Callable[[Mapping[str, PrimFunc], IRModule, Target], dict[str, Kernel]]
_Entries = Callable[[IRModule, Mapping[str, Kernel]], Mapping[str, Any]]


def _no_entries(module: IRModule, kernels: Mapping[str, Kernel]) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Backend:
    """A kind of target: `kernels` gives a callable for each of the PrimFuncs of a module.

    A callable is given the arguments of its PrimFunc, and writes into the arrays among them. Of a
    lowered module and these kernels, `entries` makes `Executable.entries`.
    """

    kind: str
    kernels: _Kernels
    entries: _Entries = _no_entries


BACKENDS: dict[str, Backend] = {}
_registering = lock_across_forks()


def register_backend(backend: Backend) -> Backend:
    """Have `build` take targets of a kind; raises `DiagnosticError` (RX0703) for one it takes."""
    with _registering:
        if backend.kind in BACKENDS:
            message = f'the target "{backend.kind}" is there already'
            raise DiagnosticError(Diagnostic("RX0703", message, None))
        BACKENDS[backend.kind] = backend
    return backend


def backend_for(target: Target) -> Backend:
    """The backend of a target; raises `DiagnosticError` (RX0703) for an unknown kind."""
    if target.kind not in BACKENDS:
        raise unknown_name("target", target.kind, list(BACKENDS))
    return BACKENDS[target.kind]


def unknown_name(
    noun: str, name: str, known: Sequence[str], span: Span | None = None
) -> DiagnosticError:
    """The error for a name that is none of those that are `known`."""
    near = nearest(name, list(known))
    help = did_you_mean(near, f"there are {', '.join(known)}", '"')
    return DiagnosticError(Diagnostic("RX0703", f'there is no {noun} "{name}"', span, help=help))


# -- native code -----------------------------------------------------------------------------------


def _compile_kernels(
    functions: Mapping[str, PrimFunc], module: IRModule, target: Target
) -> dict[str, Kernel]:
    options = _llvm_options(target)
    if not functions:
        return {}
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError as error:
        message = f"the target llvm needs llvmlite, which cannot be imported ({error})"
        help = 'install llvmlite, or use target="reference"'
        raise DiagnosticError(Diagnostic("RX0702", message, None, help=help)) from error
    from .llvm import compile_prim_funcs

    return {**compile_prim_funcs(functions, options, module)}


def _native_entries(module: IRModule, kernels: Mapping[str, Kernel]) -> Mapping[str, Any]:
    """The entries of functions that are one call of a kernel: without kernels there are none."""
    if not kernels:
        return {}
    from .native import native_entries

    return native_entries(module, kernels)


def _llvm_options(target: Target) -> dict[str, Any]:
    """The options of the code generator that a target names."""
    options: dict[str, Any] = {}
    for name, value in target.attrs.items():
        if name == "opt-level":
            options["level"] = _level(value)
        elif name in _SWITCHES:
            options[name.replace("-", "_")] = _switch(name, value)
        elif name not in _ELSEWHERE:
            known = ["opt-level", *_SWITCHES, *sorted(_ELSEWHERE)]
            raise unknown_name("option of the target", name, known)
    return options


def _level(value: Any) -> int:
    """The level of optimisation by LLVM; a wrong one is refused without PrimFuncs, too."""
    for level in range(4):
        if value in (level, str(level)) and not isinstance(value, bool):
            return level
    raise _no_such("opt-level", "0, 1, 2 or 3", value, 2)


def _switch(name: str, value: Any) -> bool:
    """An option that is 0 or 1."""
    if value in (0, 1, "0", "1"):
        return bool(int(value))
    raise _no_such(name, "0 or 1", value, 0)


def _no_such(name: str, wanted: str, value: Any, example: int) -> DiagnosticError:
    message = f'the option "{name}" of the target is {wanted}, not {shorten(value)}'
    help = f'write "llvm -{name}={example}"'
    return DiagnosticError(Diagnostic("RX0703", message, None, help=help))


register_backend(Backend("llvm", _compile_kernels, _native_entries))
