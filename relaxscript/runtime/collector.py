"""The cycle collector, off while a script is parsed or printed, a pass runs, or a module is built.

All make many objects and hardly any garbage, and the collector visits them again and again: a
printed module of 10,000 bindings takes four times as long to parse with it, twice as long to build.
Whatever happens inside, it is switched on again behind, where it was on before; nothing else of it
is touched.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]


@contextmanager
def collector_paused() -> Iterator[None]:
    """The collector does not run inside.

    It is one for all threads. Of several that pause it at once, the first that ends starts it
    again, and the others are slower; none can leave it off.
    """
    was_running = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_running:
            gc.enable()
