"""Numbers with units, and tables, as what is measured is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["bytes_text", "rate_text", "seconds_text", "table_text"]

_BYTES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_COUNTS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def bytes_text(count: float) -> str:
    """A number of bytes: 1536 is "1.50 KiB"."""
    unit, name = next(((unit, name) for unit, name in _BYTES if count >= unit), (1, "B"))
    return f"{count / unit:.2f} {name}" if unit > 1 else f"{count:.0f} B"


def rate_text(count: float, noun: str) -> str:
    """A large number of things: 2.5e9 of "flop/s" is "2.50 Gflop/s"."""
    unit, prefix = next(((unit, name) for unit, name in _COUNTS if count >= unit), (1, ""))
    return f"{count / unit:.2f} {prefix}{noun}" if unit > 1 else f"{count:.0f} {noun}"


def seconds_text(seconds: float) -> str:
    """A time: 0.00025 is "250.00 us"."""
    unit, name = next(((unit, name) for unit, name in _SECONDS if seconds >= unit), (1e-9, "ns"))
    return f"{seconds / unit:.2f} {name}" if unit > 1e-9 else f"{seconds / unit:.0f} ns"


def table_text(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int]) -> str:
    """Lines with columns under one another; those in `right` end where the others begin."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    made = []
    for line in lines:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ]
        made.append("  ".join(cells).rstrip())
    return "\n".join(made)
