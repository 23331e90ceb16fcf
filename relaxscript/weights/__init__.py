"""Weights in files: `load_weights` and `save_weights`, over safetensors.

Start reading at `load.py`. `header.py` is the format, for saved programs too; `mapping.py` has the
arrays by name, `names.py` what is said where names differ.
"""

from __future__ import annotations

from .load import load_weights
from .mapping import Weights, file_of
from .save import save_weights

__all__ = ["Weights", "file_of", "load_weights", "save_weights"]
