"""However large a number in a text is, reading it ends in a program or in diagnostics, soon.

Every number of a program may be the one that is too large: a dimension, a rank, an attribute of an
operator, a literal, a bound of a loop or the digits of a dtype.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.op import REGISTRY
from relaxscript.script import from_source
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples
from relaxscript_tests.end_to_end.test_operator_laws import CALLS_OF_PRIM_FUNCS, module_of, runnable
from relaxscript_tests.growth import calls_of

# What fits in 32, 63 and 64 bits and what just does not, and what Python itself will not write.
HUGE = (
    "1001", str(2**31), str(2**32), "999999999999", str(2**63 - 1), str(2**63), str(2**64),
    "1" + "0" * 30, "7" * 5000, "0x" + "f" * 20_000, "1e308", "1e999", "(-(1 << 63))", "(1 << 99)",
)  # fmt: skip
NUMBER = re.compile(r"\d+(\.\d+)?")
# A few diagnostics show their lines, which takes some calls for each character.
CALLS_A_CHARACTER = 100


def texts(rng: np.random.Generator) -> Iterator[str]:
    """Programs that have numbers: calls of one operator after the other, and whole programs."""
    operators = [o for o in REGISTRY.values() if o.name not in CALLS_OF_PRIM_FUNCS]
    while True:
        for index in rng.permutation(len(operators)):
            drawn = runnable(operators[index])
            yield module_of(drawn[rng.integers(len(drawn))]).script(show_meta=True)
            yield random_module(int(index)).script(show_meta=True)
            yield random_prim_func(int(index)).script(show_meta=True)


def with_huge_numbers(text: str, rng: np.random.Generator) -> str:
    """The text with one or two of its numbers made huge."""
    found = list(NUMBER.finditer(text))
    chosen = rng.permutation(len(found))[: rng.integers(1, 3)]
    for index in sorted(chosen, reverse=True):
        start, end = found[index].span()
        text = text[:start] + str(rng.choice(HUGE)) + text[end:]
    return text


def reading(text: str, endings: list[str]) -> Callable[[], None]:
    """Read a text, show what was made or said, and note how it ended."""

    def read() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)
            try:
                from_source(text).script(show_meta=True)
            except DiagnosticError as error:
                endings.append("rejected" if str(error) else "nothing said")
            except Exception as error:
                message = f"{type(error).__name__}: {error}\n\n{shown(text)}"
                raise AssertionError(message) from error
            else:
                endings.append("program")

    return read


@pytest.mark.slow
def test_a_huge_number_anywhere_ends_in_a_program_or_in_diagnostics(rng: np.random.Generator):
    endings: list[str] = []
    for _, text in zip(range(examples(800)), texts(rng)):
        huge = with_huge_numbers(text, rng)
        calls = calls_of(reading(huge, endings))
        expected = 20 * calls_of(reading(text, [])) + CALLS_A_CHARACTER * len(huge)
        assert calls < expected, shown(huge)
    assert set(endings) == {"program", "rejected"}


def shown(text: str) -> str:
    """The text with its longest numbers abbreviated."""
    return re.sub(r"\w{100,}", lambda m: m[0][:20] + "…", text)
