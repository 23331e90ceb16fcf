"""The specification, rule by rule: `rules.py` lists them, the tests say which of them they show."""

from __future__ import annotations
