"""The version of relaxscript; it is defined here alone, and `setup.cfg` reads it from this file."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
