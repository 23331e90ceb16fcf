"""Pages of passes: what each does, the program before and after, what it declares."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping

from relaxscript import tir, transform
from relaxscript.transform import Pass

from .markdown import fence, page, prose, table, to_markdown
from .pass_examples import EXAMPLES, difference
from .signatures import signature_of

__all__ = ["families", "pass_pages", "passes", "places"]

_ROOM = "relaxscript.transform."
_LINE = re.compile(r"^(\w+)/ +(.*)$", re.MULTILINE)
# What passes are made of, and how they run: these are on the pages of the API.
_INFRASTRUCTURE = "pass_infra"
_MOST = 90  # lines of a difference


def passes() -> Mapping[str, type[Pass]]:
    """Every pass by its name; those over PrimFuncs alone are `tir.Simplify` and so on."""
    found: dict[str, type[Pass]] = {}
    for prefix, room in (("", transform), ("tir.", tir.transform)):
        for name in room.__all__:
            value = getattr(room, name)
            if isinstance(value, type) and issubclass(value, Pass) and _family(value):
                found[prefix + name] = value
    return found


def families() -> Mapping[str, list[str]]:
    """The names of passes by the folder they are in, in the order of the room's own list."""
    listed = _LINE.findall(inspect.getdoc(transform) or "")
    found: dict[str, list[str]] = {folder: [] for folder, _ in listed}
    for name, each in sorted(passes().items()):
        found[_family(each)].append(name)
    return {folder: names for folder, names in found.items() if names}


def places() -> Mapping[str, str]:
    return {name: f"passes/{name}" for name in passes()}


def pass_pages() -> Iterator[tuple[str, str]]:
    """The index, a page for each family and one for each pass: where, and its Markdown."""
    known, found = passes(), families()
    about = dict(_LINE.findall(inspect.getdoc(transform) or ""))
    sections = [
        f"## [{family}](family-{family}.md)\n\n{_sentence(about[family])}\n\n{_list(names, known)}"
        for family, names in found.items()
    ]
    yield (
        "passes/index",
        page(
            "Passes",
            f"There are {len(known)} passes, in the folders of `relaxscript.transform`. A pass is "
            "a step from module to module: `DeadCodeElimination()(mod)`. "
            "`relaxscript print FILE --passes NAME --diff` shows what one does to a file.",
            _contents(f"family-{family}" for family in found),
            *sections,
        ),
    )
    for family, names in found.items():
        yield (
            f"passes/family-{family}",
            page(family, _sentence(about[family]), _contents(names), _list(names, known)),
        )
        yield from ((f"passes/{name}", _pass_page(name, known[name])) for name in names)


def _family(each: type[Pass]) -> str:
    folder = each.__module__.removeprefix(_ROOM).split(".")[0]
    return "" if folder == _INFRASTRUCTURE else folder


def _sentence(text: str) -> str:
    return prose(text[:1].upper() + text[1:])


def _contents(names: Iterator[str] | list[str]) -> str:
    return fence("\n".join([":hidden:", "", *names]), "{toctree}")


def _list(names: list[str], known: Mapping[str, type[Pass]]) -> str:
    rows = [(f"[`{name}`]({name}.md)", prose(_first_line(known[name]))) for name in names]
    return table(("pass", "what it does"), rows)


def _first_line(each: type[Pass]) -> str:
    return (inspect.getdoc(each) or "").partition("\n")[0]


def _pass_page(name: str, each: type[Pass]) -> str:
    text = inspect.getdoc(each) or ""
    if not text:
        text = inspect.getdoc(importlib.import_module(each.__module__)) or ""
    room = "tir.transform" if name.startswith("tir.") else "transform"
    short = name.removeprefix("tir.")
    rows = [(f"`{key}`", f"`{value!r}`") for key, value in each.declarations().items()]
    declared = table(("declaration", "value"), rows) if rows else ""
    return page(
        name,
        fence(f"relaxscript.{room}.{short}{signature_of(each)}", "python"),
        to_markdown(text),
        _run(name),
        declared and "## What it does beyond the bodies of functions",
        declared,
        f"Defined in `{each.__module__.replace('.', '/')}.py`; optimization level "
        f"{each.opt_level}.",
    )


def _run(name: str) -> str:
    """What the pass does to its example; it is run for this page."""
    example = EXAMPLES.get(name)
    if example is None:
        return ""
    lines = difference(name, example).splitlines()
    shown = (
        [*lines[:_MOST], f"  ... and {len(lines) - _MOST} more lines"] if lines[_MOST:] else lines
    )
    made = example.made_by or f"{name}()"
    earlier = f" `{'`, `'.join(example.before)}` ran before." if example.before else ""
    return "\n\n".join(
        [
            "## An example",
            f"This program is what `{made}` is given.{earlier}",
            fence(example.module().script().strip(), "python"),
            "It makes of it, as `rx.diff` shows:",
            fence("\n".join(shown), "diff"),
        ]
    )
