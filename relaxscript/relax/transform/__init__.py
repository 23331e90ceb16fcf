"""Names that users know as `relax.transform`: the passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript import transform
from relaxscript.transform import *  # noqa: F403

from . import legalize_ops

if not TYPE_CHECKING:  # for type checkers a name that is not here is an error
    from relaxscript.errors.absent_modules import answer_for as _answer_for
    from relaxscript.errors.not_built import of_relax_transform as __getattr__  # noqa: F401

    _answer_for(__path__)  # noqa: F405

__all__ = [*transform.__all__, "legalize_ops"]
