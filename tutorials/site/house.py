"""Drawings of the house, as SVG in the colours of the page: its rooms, and how data flows."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from relaxscript_tests.architecture import FACADES, FLOORS

__all__ = ["data_flow", "floor_plan", "room_descriptions", "with_drawings"]

_ROW = re.compile(r"^\| (`.*?`) \| (.*?) \|$", re.MULTILINE)
_HEIGHT, _GAP, _WIDTH, _ROOM, _TEXT = 30, 6, 820, 150, 11


def room_descriptions(readme: str) -> Mapping[str, str]:
    """What the map in the README says of each room."""
    return {
        room.removesuffix("/").removesuffix(".py").replace("/", "."): said.replace("`", "")
        for rooms, said in _ROW.findall(readme)
        for room in re.findall(r"`([^`]*)`", rooms)
    }


def floor_plan(readme: str, pages: Mapping[str, str]) -> str:
    """The rooms, a floor for each row of the plan; each imports only from those above it.

    `pages` has the page of a room, as seen from the page with the drawing.
    """
    said = room_descriptions(readme)
    floors = [floor for floor in FLOORS if not set(floor) & {*FACADES, "__init__"}]
    floors.append(("names that users of TVM know",))
    parts = []
    for number, floor in enumerate(floors):
        y = number * (_HEIGHT + _GAP)
        parts += [
            _room(room, column * (_ROOM + _GAP), y, pages.get(room))
            for column, room in enumerate(floor)
        ]
        words = said.get(floor[0], "re-exports, nothing else")
        x = len(floor) * (_ROOM + _GAP) + _GAP
        parts.append(_words(_shortened(words, x), x, y + _HEIGHT / 2, "said"))
    height = len(floors) * (_HEIGHT + _GAP)
    return _svg(_WIDTH, height, "The rooms of relaxscript, from the first floor built", parts)


def _shortened(words: str, x: float) -> str:
    most = int((_WIDTH - x) / (_TEXT * 0.55))
    return words if len(words) <= most else words[:most].rsplit(" ", 1)[0] + " …"


def _room(room: str, x: float, y: float, place: str | None) -> str:
    box = f'<rect x="{x}" y="{y}" width="{_ROOM}" height="{_HEIGHT}" rx="5"/>'
    if len(room) * 7.5 > _ROOM:
        box = f'<rect x="{x}" y="{y}" width="{_ROOM + 60}" height="{_HEIGHT}" rx="5"/>'
    drawn = box + _words(room, x + 10, y + _HEIGHT / 2, "room")
    if place is None:
        return f"<g>{drawn}</g>"
    return f'<a href="{place}.html">{drawn}</a>'


def _words(text: str, x: float, y: float, name: str) -> str:
    return f'<text class="{name}" x="{x:g}" y="{y:g}">{html.escape(text)}</text>'


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    inside = "".join(parts)
    return (
        f'<svg class="house" viewBox="-1 -1 {width + 2:g} {height + 2:g}" role="img" '
        f'aria-label="{html.escape(title)}"><title>{html.escape(title)}</title>{inside}</svg>'
    )


# What data is, from left to right, with what makes the next of it.
_STAGES = (
    ("Python source", "the user's file, cell or string", "parse"),
    ("IRModule", "typed as it is built", "passes"),
    ("IRModule", "lowered: calls, if, results", "codegen"),
    ("Executable", "bytecode, kernels, constants", "load"),
    ("VirtualMachine", "numpy in, numpy out", ""),
)


def data_flow() -> str:
    """The way from a source to something that runs, and back by the printer."""
    width, height, gap, top = 150, 64, 62, 30
    parts = [
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>'
    ]
    for number, (name, said, makes) in enumerate(_STAGES):
        x = number * (width + gap)
        parts += [
            f'<rect x="{x}" y="{top}" width="{width}" height="{height}" rx="6"/>',
            _words(name, x + 10, top + 22, "room"),
            *(
                _words(line, x + 10, top + 40 + 13 * n, "small")
                for n, line in enumerate(_two(said))
            ),
        ]
        if makes:
            parts += [
                _arrow(f"M{x + width} {top + height / 2}h{gap - 2}"),
                _words(makes, x + width + 6, top + height / 2 - 11, "small"),
            ]
    below = top + height
    first, second, third = width / 2, width * 1.5 + gap, width * 2.5 + 2 * gap
    fourth = 3 * (width + gap)
    parts += [
        _arrow(f"M{second} {below}v30H{first}v-28"),
        _words("print: parses back to the same module", first + 8, below + 44, "small"),
        _arrow(f"M{second + 20} {top - 26}v24"),
        _words("BlockBuilder: whatever makes IR goes through it", second + 30, top - 16, "small"),
        _arrow(f"M{second + 20} {below}v44H{fourth - 2}"),
        _arrow(f"M{third} {below}v44H{fourth - 2}"),
        f'<rect x="{fourth}" y="{below + 22}" width="{width * 2 + gap}" height="44" rx="6"/>',
        _words("Interpreter", fourth + 10, below + 36, "room"),
        _words(
            "the specification's semantics, by numpy, of either", fourth + 10, below + 54, "small"
        ),
    ]
    total = len(_STAGES) * (width + gap) - gap
    return _svg(total, below + 68, "From a source to something that runs", parts)


def _two(said: str) -> list[str]:
    """Words in at most two lines of a box."""
    if len(said) < 24:
        return [said]
    middle = said.rfind(" ", 0, 24)
    return [said[:middle], said[middle + 1 :]]


def _arrow(path: str) -> str:
    return f'<path class="arrow" d="{path}" marker-end="url(#head)"/>'


def with_drawings(text: str, root: Path, pages: Mapping[str, str]) -> str:
    """A page with the drawings in the places where it asks for them.

    `pages` are those of rooms.
    """
    if "<!-- rooms -->" not in text:
        return text
    readme = (root / "README.md").read_text("utf-8")
    drawn = text.replace("<!-- rooms -->", floor_plan(readme, pages))
    return drawn.replace("<!-- data -->", data_flow())
