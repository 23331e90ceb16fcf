"""Schedules that functions get where nobody writes one for them.

apply_default_schedule.py  the pass that asks one rule after the other.
elementwise.py             loops over elements that depend on no others, by vectors.
loop_nests.py              what a function of plain loops does: nests, and one store in each.
processor.py               facts of the processor: how long its vectors are.
"""

from __future__ import annotations

from .apply_default_schedule import ApplyDefaultSchedule
from .elementwise import elementwise

__all__ = ["ApplyDefaultSchedule", "elementwise"]
