"""Names that users know as `relax.frontend`: models in other manners than scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.frontend.detach_params import detach_params

from . import nn

if not TYPE_CHECKING:
    from relaxscript.errors.absent_modules import answer_for as _answer_for
    from relaxscript.errors.not_built import of_frontend as __getattr__  # noqa: F401

    _answer_for(__path__)

__all__ = ["detach_params", "nn"]
