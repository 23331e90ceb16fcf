"""What is asked of the mistakes found so far."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.errors import Diagnostic
from relaxscript.script.parser.reporter import MOST_MISTAKES, Reporter
from relaxscript_tests.growth import growth

WARNING = Diagnostic("RX0202", "may differ", None, severity="warning")
ERROR = Diagnostic("RX0202", "differs", None)


def test_asking_for_mistakes_looks_at_each_warning_once():
    def prepare(count: int) -> Callable[[], None]:
        def act() -> None:
            reporter = Reporter()
            for _ in range(count):
                reporter.undecided(WARNING)
                assert not reporter.failed

        return act

    assert growth(prepare, 50) < 10


def test_a_mistake_is_found_behind_warnings_and_where_warnings_were_taken_back():
    reporter = Reporter()
    for _ in range(3):
        reporter.undecided(WARNING)
    assert not reporter.failed
    reporter.forget(1)
    reporter.diagnostics.append(ERROR)
    assert reporter.failed
    assert reporter.failed
    assert [d.severity for d in reporter.settled()] == ["warning", "error"]


def test_warnings_that_are_taken_back_do_not_make_room_for_more_mistakes():
    reporter = Reporter()
    for _ in range(MOST_MISTAKES):
        reporter.undecided(WARNING)
    reporter.forget(0)
    reporter.diagnostics.extend([ERROR] * MOST_MISTAKES)
    assert reporter.is_full
