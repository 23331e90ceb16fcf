"""No mistake is reported by a line that no test has seen reporting it.

What is reached is noted while the whole suite runs, and judged at its end: see `recorder.py`.
"""

from __future__ import annotations

import pytest

from relaxscript_tests.rejected.sites import all_sites, sites_of, unreached

PROGRAM = """
def check(self, x):
    if x < 0:
        raise OperandError(
            "x", "is negative",
        )
    raise self.error(x, "RX0101", "no")
    return types.Diagnostic("of a protocol")
"""


def test_sites_are_found_in_the_syntax():
    first, second = sites_of("op/a.py", PROGRAM)
    assert (first.first, first.last) == (4, 6)
    assert str(second) == 'relaxscript/op/a.py:7: raise self.error(x, "RX0101", "no")'


def test_a_site_is_reached_by_any_of_its_lines():
    sites = sites_of("op/a.py", PROGRAM)
    assert unreached(sites, [("op/a.py", 5), ("op/a.py", 7)]) == []
    assert unreached(sites, [("op/a.py", 3), ("op/b.py", 5)]) == sites


@pytest.mark.slow
def test_the_package_has_sites():
    assert len(all_sites()) > 50
