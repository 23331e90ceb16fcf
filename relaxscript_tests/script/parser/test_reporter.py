"""What is asked of the mistakes found so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from relaxscript.errors import Diagnostic, Source
from relaxscript.script.parser.reporter import MOST_MISTAKES, Reporter
from relaxscript_tests.growth import growth

WARNING = Diagnostic("RX0202", "may differ", None, severity="warning")
ERROR = Diagnostic("RX0202", "differs", None)


def test_asking_for_mistakes_looks_at_each_warning_once():
    def prepare(count: int) -> Callable[[], None]:
        def act() -> None:
            reporter = Reporter()
            for _ in range(count):
                reporter.record_undecided(WARNING)
                assert not reporter.failed

        return act

    assert growth(prepare, 50) < 10


def test_a_mistake_is_found_behind_warnings():
    reporter = Reporter()
    for _ in range(3):
        reporter.record_undecided(WARNING)
    assert not reporter.failed
    reporter.record(ERROR)
    assert reporter.failed
    assert reporter.failed
    assert [d.severity for d in reporter.settle()] == ["warning"] * 3 + ["error"]


def test_warnings_leave_room_for_mistakes():
    reporter = Reporter()
    for _ in range(MOST_MISTAKES):
        reporter.record_undecided(WARNING)
    assert not reporter.is_full
    for _ in range(MOST_MISTAKES):
        reporter.record(ERROR)
    assert reporter.is_full


def test_uses_of_macros_and_lambdas_are_shown_from_the_inside_out():
    reporter = Reporter()
    whole = Source("a.py", "f(g(x))").whole
    with reporter.inside_macro("f", whole), reporter.inside_macro("g", whole):
        reporter.record(ERROR)
    (found,) = reporter.diagnostics
    assert [label.text for label in found.labels] == [
        "`g` is expanded here",
        "`f` is expanded here",
    ]
    reporter.record(ERROR)
    assert not reporter.diagnostics[1].labels


def test_a_warning_of_what_is_an_error_as_well_is_that_error():
    reporter = Reporter()
    reporter.record_undecided(WARNING)
    reporter.record(replace(WARNING, severity="error"))
    assert [d.severity for d in reporter.settle()] == ["error"]
