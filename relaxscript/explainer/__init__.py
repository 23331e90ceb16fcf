"""The explanation of a program: what its passes made of it, and what each kernel does.

Nothing of it is noted while a program is built. Who asks has the passes run once more. An
instrument keeps the module as it was at some places. Before operators become loops, these have
their names. Before loops are arranged, what is computed can be counted.
"""

from __future__ import annotations

from .explainer import Explainer

__all__ = ["Explainer"]
