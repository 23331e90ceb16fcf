"""A picture of source lines with a bar for each, as an SVG that needs nothing beside itself.

Colours are for light pages, and others for dark ones, which the reader's settings choose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.errors.markup import escape
from relaxscript.errors.style_sheet import DARK, LIGHT
from relaxscript.errors.styles import MONOSPACE

from .units import seconds_text

__all__ = ["line_picture"]

_ROW, _CHARACTER, _BAR, _GAP = 18, 7.3, 220, 12

_FONT = f"12px {MONOSPACE}"
# The colours of the one style sheet, by what is drawn.
_COLOURS = {"text": "text", ".page": "page", ".less": "gutter", ".bar": "bar", ".back": "shade"}


def _style() -> str:
    """The style sheet, which says nothing of the page on which a picture stands."""

    def rules(colours: Mapping[str, str]) -> str:
        return " ".join(
            f".relaxscript-lines {part} {{ fill: {colours[name]}; }}"
            for part, name in _COLOURS.items()
        )

    font = f".relaxscript-lines text {{ font: {_FONT}; }}"
    return f"{font} {rules(LIGHT)} @media (prefers-color-scheme: dark) {{ {rules(DARK)} }}"


def line_picture(
    lines: Sequence[tuple[str, str, float]], total: float, whole: bool = True
) -> str:  # fmt: skip
    """The picture of lines, each a name, a text and seconds, of a call that took `total`.

    One that is not `whole` has its colours from the page that it stands in.
    """
    longest = max([seconds for *_, seconds in lines], default=0.0)
    names = max([len(name) for name, *_ in lines], default=0) * _CHARACTER
    texts = max([len(text.expandtabs()) for _, text, _ in lines], default=0) * _CHARACTER
    left = names + 2 * _GAP
    width = left + _BAR + 2 * _GAP + 80 + texts
    height = (len(lines) + 2) * _ROW
    title = f"{seconds_text(total)} by source line"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" class="relaxscript-lines" role="img" '
        f'aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        *([f"<style>{_style()}</style>"] if whole else []),
        f'<rect class="page" width="{width:.0f}" height="{height}"/>',
        f'<text x="{_GAP}" y="{_ROW}">{escape(title)}</text>',
    ]
    for i, (name, text, seconds) in enumerate(lines):
        top = (i + 1) * _ROW + 4
        parts += _line(name, text, seconds, total, left, top, _BAR * _share(seconds, longest))
    return "\n".join([*parts, "</svg>"])


def _line(
    name: str, text: str, seconds: float, total: float, left: float, top: float, length: float
) -> list[str]:
    """The parts of one line: its name, its bar, its time and its text."""
    base = top + 13
    share = f"{100 * _share(seconds, total):.1f} %"
    said = (
        f"{name}: {seconds_text(seconds)}, {share} of the call" if seconds else f"{name}: nothing"
    )
    bar = (
        f'<rect class="bar" x="{left:.1f}" y="{top + 3}" width="{max(length, 1):.1f}" height="12"/>'
    )
    time = (
        f'<text class="less" x="{left + _BAR + _GAP:.1f}" y="{base}">{seconds_text(seconds)}</text>'
    )
    return [
        f"<g><title>{escape(said)}</title>",
        f'<text class="less" x="{_GAP}" y="{base}">{escape(name)}</text>',
        f'<rect class="back" x="{left:.1f}" y="{top + 3}" width="{_BAR}" height="12"/>',
        *([bar, time] if seconds else []),
        f'<text x="{left + _BAR + 2 * _GAP + 80:.1f}" y="{base}" xml:space="preserve">'
        f"{escape(text.expandtabs())}</text></g>",
    ]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
