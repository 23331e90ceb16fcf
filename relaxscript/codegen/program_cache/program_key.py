"""The key of a build: a hash of all that its program depends on.

The module counts with its constants, and the arrays that are bound to parameters. So do all
settings, the versions of what computes, and the processor. Places and names count, since messages
have them; the file's name and the line where the module begins do not.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from relaxscript.errors.settings import is_strict
from relaxscript.ir import hooks
from relaxscript.ir.constant_array import constant_array, in_c_order
from relaxscript.ir.module import IRModule, Target
from relaxscript.opdef.operator import REGISTRY
from relaxscript.opdef.user_operators import is_user_operator
from relaxscript.runtime.arrays import NDArray
from relaxscript.runtime.object_cache import LARGEST
from relaxscript.transform.default_schedule.processor import this_processor
from relaxscript.transform.legalize.registered import registered_legalizations
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pipeline import OUR_PIPELINES, PIPELINE_MAP

from .package_state import state_of
from .rows import PACKAGE, Array, Arrays, NotStorable, Rows, SourceLines

__all__ = ["ProgramKey", "build_key"]

# Told when this is loaded: what becomes of the files later is not what runs.
PACKAGE_STATE = state_of(
    os.path.dirname(os.path.abspath(os.path.dirname(os.path.dirname(__file__))))
)
# A program of more weights does not fit into a file once they are arranged, and need not be hashed.
MOST_BYTES = LARGEST


class ProgramKey:
    """The key, and what a program that is found under it takes from the build itself."""

    def __init__(
        self, digest: str, places: SourceLines, arrays: Arrays, params: Mapping[str, Array]
    ) -> None:
        self.digest = digest
        self.places = places
        self.arrays = arrays
        self.params = params  # as they are now, whatever the caller writes into his arrays later

    def array(self, number: int) -> Array:
        """The array that a program tells by its number, as programs run on it."""
        return in_c_order(self.arrays.arrays[number])


def build_key(
    module: IRModule, target: Target, params: Mapping[str, Any] | None, settings: tuple[str, ...]
) -> ProgramKey:
    """The key of a build; raises `NotStorable` where its program depends on this process."""
    places, arrays = SourceLines(), Arrays(MOST_BYTES)
    rows = Rows(places, arrays)
    if module.external_mods:
        raise NotStorable("functions that code generators made")
    made_of = [
        module.__name__,
        rows.value(module.attrs),
        rows.value(module.global_infos),
        rows.value(target),
        *[(var.name_hint, rows.value(function)) for var, function in module.functions.items()],
    ]
    _require_ours(rows)
    kept = {name: _weight(value) for name, value in (params or {}).items()}
    bound = [(name, arrays.number(value)) for name, value in kept.items()]
    surroundings = _passes(rows), is_strict(), _versions(), _processor()
    told = (settings, made_of, bound, surroundings, rows.rows, arrays.digests)
    try:
        text = marshal.dumps(told, 2)  # equal values give equal bytes, up to version 2
    except ValueError as error:
        raise NotStorable(str(error)) from error
    places.complete = True
    return ProgramKey(hashlib.sha256(text).hexdigest(), places, arrays, kept)


def _weight(value: Any) -> Array:
    """A weight as it is now; raises `NotStorable` for what becomes an array only later."""
    if type(value) in (np.ndarray, NDArray):
        with suppress(TypeError, ValueError):  # of a dtype that tensors have not
            array: Array = value
            return constant_array(array)
    raise NotStorable("weights that are no arrays of numpy")


def _passes(rows: Rows) -> tuple[Any, ...]:
    """The settings of passes."""
    context = PassContext.current()
    if context.instruments or context.evaluate is not hooks.evaluate:
        raise NotStorable("instruments of passes")
    names = tuple(context.required_pass), tuple(context.disabled_pass)
    return context.opt_level, *names, rows.value(context.config)


def _require_ours(rows: Rows) -> None:
    """Refuse modules that use operators of users, and processes with rules or passes of users."""
    for row in rows.rows:
        if row[0] == "ir.relax.Op" and is_user_operator(row[1]):
            raise NotStorable("an operator of the user")
    if registered_legalizations():
        raise NotStorable("a legalisation of the user")
    written: list[Any] = [PIPELINE_MAP[name] for name in OUR_PIPELINES]
    for name, operator in REGISTRY.items():
        if not is_user_operator(name):
            written += operator.rules.values()
    homes = {
        getattr(one.func if isinstance(one, partial) else one, "__module__", None)
        for one in written
    }
    if any((home or "numpy").partition(".")[0] not in (PACKAGE, "numpy") for home in homes):
        raise NotStorable("a rule or pipeline of the user")


def _versions() -> tuple[str, ...]:
    names = ("numpy", "ml_dtypes")
    kind = "with counts of references" if hasattr(sys, "gettotalrefcount") else ""
    return sys.version, kind, *(str(import_module(name).__version__) for name in names)


def _processor() -> list[tuple[str, str]]:
    """The package, and the computer for which code is made."""
    try:
        from relaxscript.codegen.llvm.engine import engine_dependencies
    except ImportError as error:
        raise NotStorable("without llvmlite") from error
    if PACKAGE_STATE is None:
        raise NotStorable("a package whose files cannot be told")
    facts = [(name, str(value)) for name, value in sorted(engine_dependencies().items())]
    return [("package", PACKAGE_STATE), ("processor", str(this_processor())), *facts]
