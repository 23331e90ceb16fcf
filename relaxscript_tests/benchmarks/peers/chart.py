"""The chart: for every row its ratio on a logarithmic axis, with what it must and may aim to be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from .results import Ratio

COLOURS = {"aim reached": "#2e7d32", "met": "#9e9d24", "missed": "#c62828"}
MUST = 'stroke="#000000" stroke-width="2"'
AIM = 'stroke="#000000" stroke-dasharray="2 2"'
LEFT, WIDTH, LINE, TOP = 310, 920, 22, 46


def svg(all_ratios: Sequence[Ratio]) -> str:
    """The picture of those rows that have a ratio."""
    shown = [ratio for ratio in all_ratios if ratio.figure and not ratio.row.counts]
    numbers = [n for ratio in shown for n in (ratio.figure, ratio.row.must, ratio.row.aim) if n]
    low = math.floor(math.log10(min(numbers, default=0.1)))
    high = math.ceil(math.log10(max(numbers, default=10.0)))
    axis = Axis(low, max(high, low + 1))
    height = TOP + LINE * len(shown) + 12
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="8" y="16" font-weight="bold">time of ours / time of the peer</text>',
        *legend(),
        *axis.grid(height),
    ]
    for place, ratio in enumerate(shown):
        lines += bar(axis, ratio, TOP + LINE * place)
    return "\n".join([*lines, "</svg>", ""])


class Axis:
    """A logarithmic axis between two powers of ten."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - 60)

    def grid(self, height: int) -> Iterator[str]:
        for power in range(self.low, self.high + 1):
            x = self.at(10.0**power)
            colour = "#777777" if power == 0 else "#dddddd"
            yield line(x, TOP - 6, height - 8, f'stroke="{colour}"')
            yield text(x, TOP - 10, f"{10.0**power:g}", 'text-anchor="middle" fill="#555555"')


def legend() -> Iterator[str]:
    x = LEFT
    for name, colour in COLOURS.items():
        yield f'<rect x="{x}" y="7" width="10" height="10" fill="{colour}"/>'
        yield text(x + 14, 16, name)
        x += 100
    yield line(x, 5, 19, MUST)
    yield text(x + 6, 16, "must")
    yield line(x + 50, 5, 19, AIM)
    yield text(x + 56, 16, "aim")


def bar(axis: Axis, ratio: Ratio, y: int) -> Iterator[str]:
    """A line of the chart: its name, a bar from the left, its bounds, its figure."""
    value = ratio.figure or 1.0
    end, must, aim = axis.at(value), axis.at(ratio.row.must), axis.at(ratio.row.aim)
    colour = COLOURS[ratio.verdict]
    peer = f" / {ratio.peer.side.label}" if ratio.peer else ""
    yield f"<g><title>{escape(ratio.row.text + peer)}: {value:.3g}</title>"
    yield text(LEFT - 8, y + 13, ratio.row.text, 'text-anchor="end"')
    long = max(1.0, end - LEFT)
    yield f'<rect x="{LEFT}" y="{y + 3}" width="{long:.1f}" height="13" fill="{colour}"/>'
    yield line(must, y, y + 19, MUST)
    yield line(aim, y, y + 19, AIM)
    yield text(max(end, must, aim) + 5, y + 14, f"{value:.3g}") + "</g>"


def line(x: float, top: float, bottom: float, style: str) -> str:
    return f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" {style}/>'


def text(x: float, y: float, said: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y}" {style}>{escape(said)}</text>'
