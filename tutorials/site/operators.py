"""Pages of operators: one for each name of `R.`, in families by the files that define them."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from relaxscript import op
from relaxscript.cli.operators import operators
from relaxscript.op import namespace

from .markdown import fence, page, prose, table, to_markdown

__all__ = ["families", "operator_pages", "places"]

_SECTIONS = ("Types", "Example", "Compute", "Gradient", "Elsewhere")
_SECTION = re.compile(rf"^({'|'.join(_SECTIONS)}):\n", re.MULTILINE)
_PACKAGE = "relaxscript.op."
_PAGE = (
    "A page begins with what an operator gives and what it takes. *Types* is what is known of an "
    "example's operands and of its result, *Example* is run for the page. *Compute* says how near "
    "the loops that `LegalizeOps` makes of the operator come to its meaning in numpy, and "
    "*Gradient* what the pass `Gradient` makes of it: there `grad` is the gradient of the loss by "
    "the result, and `out` the result. *Elsewhere* are the names that it has in other libraries."
)


def families() -> Mapping[str, list[str]]:
    """The names of operators by the module that defines them, `nn.activation`."""
    found: dict[str, list[str]] = {}
    for name, operator in sorted(operators().items(), key=lambda item: _order(item[0])):
        found.setdefault(_homes()[id(operator)], []).append(name)
    return dict(sorted(found.items(), key=lambda item: _order(item[0])))


def places() -> Mapping[str, str]:
    """The page of every operator, by its name in scripts."""
    return {f"R.{name}": f"operators/{name}" for name in operators()}


def operator_pages() -> Iterator[tuple[str, str]]:
    """The index, a page for each family and one for each operator: where, and its Markdown."""
    known = operators()
    found = families()
    sections = [
        f"## [{family}](family-{family}.md)\n\n{_about(family)}\n\n{_list(names, known)}"
        for family, names in found.items()
    ]
    yield (
        "operators/index",
        page(
            "Operators",
            f"There are {len(known)} operators behind `R.`, in families by the files that define "
            "them. `relaxscript ops NAME` and `help(R.NAME)` show the same pages.",
            _PAGE,
            _contents(f"family-{family}" for family in found),
            *sections,
        ),
    )
    for family, names in found.items():
        yield (
            f"operators/family-{family}",
            page(family, _about(family), _contents(names), _list(names, known)),
        )
        yield from ((f"operators/{name}", _operator_page(name, known[name])) for name in names)


def _order(name: str) -> tuple[int, str]:
    return (name.count("."), name)


@functools.cache
def _homes() -> Mapping[int, str]:
    """The file that lists each operator, by the identity of the operator."""
    found = {}
    for info in pkgutil.walk_packages(op.__path__, _PACKAGE):
        module = importlib.import_module(info.name)
        if not info.ispkg and module is not namespace:
            for name in getattr(module, "__all__", ()):
                found[id(getattr(module, name))] = info.name.removeprefix(_PACKAGE)
    return found


def _about(family: str) -> str:
    """The first paragraph that the file of a family says of itself."""
    module = importlib.import_module(_PACKAGE + family)
    return prose((inspect.getdoc(module) or "").partition("\n\n")[0])


def _contents(names: Any) -> str:
    return fence("\n".join([":hidden:", "", *names]), "{toctree}")


def _list(names: list[str], known: Mapping[str, Any]) -> str:
    rows = [(f"[`R.{name}`]({name}.md)", prose(_first_line(known[name]))) for name in names]
    return table(("operator", "what it gives"), rows)


def _first_line(operator: Any) -> str:
    return (inspect.getdoc(operator) or "").partition("\n")[0]


def _operator_page(name: str, operator: Any) -> str:
    text = inspect.getdoc(operator) or ""
    top, *rest = _SECTION.split(text)
    meaning, call, parameters = _top(top, f"R.{name}(")
    sections = [
        f"## {title}\n\n{_section(title, body)}" for title, body in zip(rest[::2], rest[1::2])
    ]
    return page(f"R.{name}", to_markdown(meaning), fence(call, "python"), parameters, *sections)


def _top(text: str, begin: str) -> tuple[str, str, str]:
    """The meaning, the signature and the table of parameters."""
    meaning, _, rest = text.partition(f"\n{begin}")
    call, _, listed = f"{begin}{rest}".partition("\n\n")
    rows = [
        (f"`{name}`", prose(said.strip()))
        for line in listed.strip().splitlines()
        for name, _, said in [line.partition(" ")]
    ]
    return meaning, call.strip(), table(("parameter", "what it takes"), rows) if rows else ""


def _section(title: str, body: str) -> str:
    lines = textwrap.dedent(body).rstrip()
    match title:
        case "Elsewhere":
            return "\n".join(f"- {_elsewhere(line)}" for line in lines.splitlines())
        case "Compute":
            return prose(lines)
        case "Gradient" if "(" not in lines or lines.startswith("none"):
            return prose(lines)
    return fence(lines)


def _elsewhere(line: str) -> str:
    library, _, name = line.rpartition(" ")
    return f"{library} `{name}`".strip()
