"""What all tests of the runtime share: a registry that forgets."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.runtime import list_global_func_names, register_func, remove_global_func


@pytest.fixture(autouse=True)
def registry():
    """Registers two functions that tests call, and forgets whatever a test registers."""
    before = set(list_global_func_names())
    register_func("test.add", np.add)
    register_func("test.less", np.less)
    yield
    for name in set(list_global_func_names()) - before:
        remove_global_func(name)
