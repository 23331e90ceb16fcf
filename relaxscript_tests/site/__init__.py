"""Tests of the documentation site: its pages, their programs, and builds that have to fail."""

from __future__ import annotations
