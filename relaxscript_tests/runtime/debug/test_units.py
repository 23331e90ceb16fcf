"""Numbers with units, and tables."""

from __future__ import annotations

import pytest

from relaxscript.runtime.debug.units import (
    bytes_text,
    rate_text,
    seconds_text,
    table_text,
)


@pytest.mark.parametrize(("count", "text"), [
    (0, "0 B"), (1023, "1023 B"), (1536, "1.50 KiB"), (3 << 20, "3.00 MiB"), (5 << 30, "5.00 GiB"),
])  # fmt: skip
def test_bytes_have_the_largest_unit_that_fits(count, text):
    assert bytes_text(count) == text


@pytest.mark.parametrize(("count", "text"), [
    (12, "12 flop/s"), (2.5e3, "2.50 kflop/s"), (2.5e9, "2.50 Gflop/s"), (3e12, "3.00 Tflop/s"),
])  # fmt: skip
def test_rates_have_a_prefix(count, text):
    assert rate_text(count, "flop/s") == text


@pytest.mark.parametrize(("seconds", "text"), [
    (2.0, "2.00 s"), (0.25, "250.00 ms"), (2.5e-4, "250.00 us"), (1.2e-8, "12 ns"), (0.0, "0 ns"),
])  # fmt: skip
def test_times_have_the_largest_unit_that_fits(seconds, text):
    assert seconds_text(seconds) == text


def test_columns_are_under_one_another():
    text = table_text(["name", "n"], [["a", "1"], ["long name", "100"]], [1])
    assert text.splitlines() == ["name         n", "a            1", "long name  100"]
