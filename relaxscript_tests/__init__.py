"""The tests of relaxscript; they mirror the package, the test of `x/y.py` is `x/test_y.py`.

Random figures come in two sizes: the environment variable `RELAXSCRIPT_TEST_EFFORT` is the share of
them that is drawn, a tenth unless it says otherwise, all of them at 1.0. A test that counts its own
random cases asks `examples` for their number, so that both sizes mean the same everywhere.

Whatever stands here runs without the cache of machine code, and so do the processes that it starts:
what is compiled is compiled, and nothing of it is left in the user's home.
"""

from __future__ import annotations

import os

__all__ = ["EFFORT", "examples"]

EFFORT = float(os.environ.get("RELAXSCRIPT_TEST_EFFORT", "0.1"))
if not 0 < EFFORT <= 1:
    raise ValueError(f"RELAXSCRIPT_TEST_EFFORT is {EFFORT}; it is a share, above 0 and at most 1")

os.environ["RELAXSCRIPT_CACHE"] = "off"


def examples(whole: int) -> int:
    """How many of `whole` random cases to draw at the present effort, at least one."""
    return max(1, round(whole * EFFORT))
