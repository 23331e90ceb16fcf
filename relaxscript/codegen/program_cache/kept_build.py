"""Builds whose programs may be on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import cached_property
from typing import Any

from relaxscript.errors import InternalError, noted_warnings
from relaxscript.ir.module import IRModule, Target
from relaxscript.runtime import Executable
from relaxscript.runtime.object_cache import PROGRAM, object_cache

from .program_key import ProgramKey, build_key
from .rows import NotStorable

__all__ = ["KeptBuild", "find_kept_build"]

_log = logging.getLogger(__name__)
Built = tuple[Executable, Mapping[str, Any]]
Build = Callable[[IRModule, Mapping[str, Any] | None], Built]
# The errors of a program that was not written by this very code, when it is read, and of a module
# that no script could say, when it is written: a build tells what is wrong with it.
_SENSELESS = (
    ArithmeticError, AttributeError, ImportError, InternalError, LookupError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip


class KeptBuild:
    """A build whose program may be on disk.

    `build` makes the program of a module and of arrays for its parameters, with the kernels of its
    PrimFuncs. What only a build can tell of a stored program, it tells when somebody asks.
    """

    def __init__(
        self,
        key: ProgramKey,
        module: IRModule,
        build: Build,
        origin: tuple[IRModule, Target] | None,
    ) -> None:
        self.key = key
        self._module = module.clone()  # which the user may change
        self._build = build
        self._origin = origin
        self._context = copy_context()  # with settings of passes, for example

    @cached_property
    def _built(self) -> Built:
        return self._context.copy().run(self._build, self._module, self.key.params)

    def program(self, module: IRModule, params: Mapping[str, Any] | None) -> Executable:
        """The program: that on disk, or else the one that is built now, and kept."""
        found = self._load()
        if found is None:
            with noted_warnings() as warned:
                found, kernels = self._build(module, params)
            if not warned:
                self._store(found, kernels)
        return found

    def _load(self) -> Executable | None:
        cache = object_cache()
        content = cache.load(self.key.digest, PROGRAM)
        if content is None:
            return None
        from .stored_program import read_program

        try:
            found = read_program(content, self.key, lambda name: self._built[1][name].source)
        except _SENSELESS:
            _log.debug("a stored program cannot be read", exc_info=True)
            found = None
        if found is None:
            cache.discard(self.key.digest, PROGRAM)
            return None
        found.built = lambda: self._built[0]
        found.origin = self._origin
        return found

    def _store(self, executable: Executable, kernels: Mapping[str, Any]) -> None:
        """Keep the program, if it can be."""
        from .stored_program import bytes_of_program

        try:
            content = bytes_of_program(executable, kernels, self.key)
        except (NotStorable, *_SENSELESS) as reason:
            _log.debug("a program is not kept: %s", reason)
            return
        object_cache().store(self.key.digest, content, PROGRAM)


def find_kept_build(
    module: IRModule, target: Target, params: Mapping[str, Any] | None, settings: tuple[str, str],
    build: Build,
) -> KeptBuild | None:  # fmt: skip
    """The place of a build in the cache; None where there is no cache, or the build has none.

    `settings` are the pipeline for Relax, and which checks to remove.
    """
    if object_cache().refusal() is not None:
        return None
    try:
        key = build_key(module, target, params, settings)
        itself = settings == ("default", "None") and not params
        return KeptBuild(key, module, build, (module, target) if itself else None)
    except (NotStorable, *_SENSELESS) as reason:
        _log.debug("a program is not kept: %s", reason)
        return None
