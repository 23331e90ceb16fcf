"""Pages of the API: one for each room that users import from, with all that it offers.

What several rooms offer is described where it stands first in `ROOMS`, and elsewhere linked.
"""

from __future__ import annotations

import enum
import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from relaxscript.opdef.composite import CompositeOp
from relaxscript.opdef.operator import Operator

from .markdown import fence, page, prose, table, to_markdown
from .passes import passes
from .signatures import signature_of

__all__ = ["ROOMS", "api_pages", "places"]

# The rooms by what one comes for, `relaxscript.` left out.
ROOMS: Mapping[str, tuple[str, ...]] = {
    "Writing, building, running": (
        "", "script", "script.ir_builder", "script.parser", "nd", "target", "vm", "runtime",
        "interpreter", "artifact", "weights",
    ),
    "Relax": (
        "relax", "relax.analysis", "relax.op", "relax.transform", "relax.dpl",
        "relax.expr_functor", "relax.block_builder", "relax.exec_builder", "relax.backend",
        "relax.distributed", "relax.testing",
    ),
    "Models and training": (
        "relax.frontend", "relax.frontend.nn", "relax.training", "relax.training.loss",
        "relax.training.optimizer", "training",
    ),
    "PrimFuncs and tensor expressions": (
        "tir", "tir.transform", "tir.schedule", "tir.analysis", "tir.stmt_functor", "s_tir", "te",
        "topi",
    ),
    "Passes and what they are made of": ("transform", "builder", "analysis", "dpl", "visitor"),
    "For those who extend or embed": (
        "ir", "arith", "opdef", "errors", "error", "base", "testing", "dtypes", "expr",
        "struct_info", "ty", "explainer", "graph", "distributed",
    ),
}  # fmt: skip
_MOST = 60  # characters of a constant


class _Entry(NamedTuple):
    """A name that a room offers: its value, and the page where that is described."""

    name: str
    value: Any
    place: str


def places() -> Mapping[str, str]:
    """The page of every room, and the place of each class whose name no other room uses."""
    found = {_module(room): _place(room) for room in _all_rooms()}
    claimed: dict[str, set[str]] = {}
    for room, entries in _entries().items():
        for name in (e.name for e in _described(room, entries) if e.name[:1].isupper()):
            claimed.setdefault(name, set()).add(f"{_place(room)}#{_module(room)}.{name}")
    return {**found, **{name: owners.pop() for name, owners in claimed.items() if len(owners) < 2}}


def api_pages() -> Iterator[tuple[str, str]]:
    """The index, and a page for each room: where, and its Markdown."""
    modules = {room: importlib.import_module(_module(room)) for room in _all_rooms()}
    sections = [
        f"## {title}\n\n"
        + table(
            ("import", "what it offers"),
            [(f"[`{_module(room)}`]({_module(room)}.md)", _about(modules[room])) for room in rooms],
        )
        for title, rooms in ROOMS.items()
    ]
    contents = fence("\n".join([":hidden:", "", *map(_module, _all_rooms())]), "{toctree}")
    yield "api/index", page("API", contents, *sections)
    for room, entries in _entries().items():
        yield _place(room), _room_page(room, modules[room], entries)


def _all_rooms() -> Iterator[str]:
    return (room for rooms in ROOMS.values() for room in rooms)


def _module(room: str) -> str:
    return f"relaxscript.{room}".rstrip(".")


def _place(room: str) -> str:
    return f"api/{_module(room)}"


def _about(module: ModuleType) -> str:
    return prose((inspect.getdoc(module) or "").partition("\n\n")[0])


def _entries() -> Mapping[str, list[_Entry]]:
    """What each room offers; a value belongs to the first room that does."""
    homes: dict[int, str] = {}
    ours = {id(each): f"passes/{name}" for name, each in passes().items()}
    found: dict[str, list[_Entry]] = {}
    for room in _all_rooms():
        module = importlib.import_module(_module(room))
        found[room] = []
        for name in sorted(module.__all__, key=str.lower):
            value = getattr(module, name)
            place = _place_elsewhere(value, ours) or homes.setdefault(id(value), _place(room))
            found[room].append(_Entry(name, value, place))
    return found


def _place_elsewhere(value: Any, ours: Mapping[int, str]) -> str | None:
    """The page of an operator, a pass or a module, none of which is described here."""
    if isinstance(value, Operator | CompositeOp):
        return f"operators/{value.script_name}"
    if isinstance(value, ModuleType):
        return next((_place(r) for r in _all_rooms() if _module(r) == value.__name__), "api/index")
    return ours.get(id(value))


def _described(room: str, entries: list[_Entry]) -> list[_Entry]:
    """The classes and functions that a room's page describes, each by the first of its names."""
    here = [e for e in entries if e.place == _place(room) and _is_described(e.value)]
    first = {id(e.value): e for e in reversed(here)}
    return [e for e in here if first[id(e.value)] is e]


def _is_described(value: Any) -> bool:
    return inspect.isclass(value) or inspect.isroutine(value)


def _room_page(room: str, module: ModuleType, entries: list[_Entry]) -> str:
    described = _described(room, entries)
    elsewhere = [entry for entry in entries if entry.place != _place(room)]
    constants = [e for e in entries if e not in described and e not in elsewhere]
    parts = [_describe(_module(room), entry) for entry in described]
    if constants:
        rows = [(f"`{e.name}`", f"`{_shown(e.value)}`") for e in constants]
        parts += ["## Values and other names", table(("name", "value"), rows)]
    if elsewhere:
        rows = [(f"[`{e.name}`](/{e.place}.md)", _first_line(e.value)) for e in elsewhere]
        parts += ["## Described elsewhere", table(("name", "what it is"), rows)]
    declared = fence("", f"{{py:module}} {_module(room)}")
    return page(_module(room), declared, to_markdown(inspect.getdoc(module) or ""), *parts)


def _shown(value: Any) -> str:
    text = (
        value.__name__
        if _is_described(value)
        else repr(value).replace("`", "'").replace("|", "\\|").partition("\n")[0]
    )
    return f"{text[:_MOST]}…" if " at 0x" in text or len(text) > _MOST else text


def _first_line(value: Any) -> str:
    return prose((inspect.getdoc(value) or "").partition("\n")[0])


def _describe(module: str, entry: _Entry) -> str:
    """A class with its public members, or a function."""
    text = inspect.getdoc(entry.value) or ""
    if not inspect.isclass(entry.value):
        return _object("function", module, entry.name + signature_of(entry.value), text)
    kind = "exception" if issubclass(entry.value, BaseException) else "class"
    # What Python itself says of a class that says nothing, such as a dataclass, is its signature.
    own = text if entry.value.__doc__ and not text.startswith(f"{entry.value.__name__}(") else ""
    head = entry.name + ("" if _is_enum(entry.value) else signature_of(entry.value))
    return _object(kind, module, head, own, _members(module, entry))


def _is_enum(value: type) -> bool:
    return issubclass(value, enum.Enum)


def _members(module: str, entry: _Entry) -> Iterable[str]:
    for name, member in vars(entry.value).items():
        text = inspect.getdoc(member) or ""
        inner = inspect.unwrap(getattr(member, "__func__", member)) if callable(member) else member
        where = f"{entry.name}.{name}"
        if name.startswith("_") or not text:
            continue
        if isinstance(member, staticmethod | classmethod):
            bound = isinstance(member, classmethod)
            yield _object(
                "method", module, where + signature_of(member.__func__, bound=bound), text
            )
        elif inspect.isfunction(inner):
            yield _object("method", module, where + signature_of(member, bound=True), text)
        elif isinstance(member, property) or type(member).__name__ == "cached_property":
            yield _object("property", module, where, text)


def _object(kind: str, module: str, head: str, text: str, members: Iterable[str] = ()) -> str:
    """A directive of Sphinx's domain of Python, between more colons than those inside of it."""
    inside = "\n\n".join(part for part in [to_markdown(text) if text else "", *members] if part)
    marks = ":" * (4 if kind in ("method", "property") else 5)
    return f"{marks}{{py:{kind}}} {head}\n:module: {module}\n\n{inside}\n{marks}"
