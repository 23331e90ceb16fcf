"""Packed functions that tests register are gone after them."""

from __future__ import annotations

import pytest

from relaxscript.runtime import list_global_func_names, remove_global_func


@pytest.fixture(autouse=True)
def _registry_as_before():
    before = set(list_global_func_names())
    yield
    for name in set(list_global_func_names()) - before:
        remove_global_func(name)
