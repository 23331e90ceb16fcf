"""What all tests of the runtime share: two functions that programs call."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.runtime import register_func


@pytest.fixture(autouse=True)
def registry(registry_as_before):
    """Registers two functions that tests call."""
    register_func("test.add", np.add)
    register_func("test.less", np.less)
