"""Each test of a mistake looks at what is said."""

from __future__ import annotations

import pytest

from relaxscript_tests.architecture import python_files
from relaxscript_tests.messages_seen import unseen_messages


@pytest.mark.slow
def test_tests_look_at_what_is_said():
    assert unseen_messages(python_files("relaxscript_tests")) == []


@pytest.mark.parametrize(
    "expected",
    [
        "pytest.raises(VMError)",
        "raises(rx.DiagnosticError)",
        'pytest.raises(VMError, match="5")',
        "warnings.catch_warnings(), pytest.raises(Exception)",
    ],
)
def test_a_message_that_is_not_looked_at_is_found(expected: str):
    (problem,) = unseen_messages({"a.py": f"x = 1\nwith {expected}:\n    f()\n"})
    assert problem.startswith("a.py:2: any `")


@pytest.mark.parametrize(
    "expected",
    [
        'pytest.raises(VMError, match="is 5; must be 4")',
        "pytest.raises(VMError, match=words)",
        "pytest.raises(VMError) as caught",
        "pytest.raises(KeyboardInterrupt)",
        "pytest.raises(kind)",
    ],
)
def test_a_message_that_is_looked_at_is_no_offence(expected: str):
    assert unseen_messages({"a.py": f"with {expected}:\n    f()\n"}) == []
