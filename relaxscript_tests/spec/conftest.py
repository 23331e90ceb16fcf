"""The table of rules and tests, printed after a run of this folder."""

from __future__ import annotations

import pytest

from . import rules

__all__ = ["pytest_terminal_summary"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rules.collect()
    terminalreporter.section("rules of the specification")
    if terminalreporter.verbosity > 0:
        for rule, kinds in rules.SHOWN.items():
            for kind, names in kinds.items():
                for name in names:
                    terminalreporter.write_line(f"{rule:24} {rules.KINDS[kind]:9} {name}")
    sections: dict[str, list[bool]] = {}
    for rule in rules.RULES:
        sections.setdefault(rule.rpartition(" ")[0], []).append(not rules.missing(rule))
    for section, shown in sections.items():
        terminalreporter.write_line(f"{section}: {sum(shown)} of {len(shown)} rules are shown")
