"""One page with everything about a function: its script, its graph, and what is wrong with it.

The page is one file. It loads nothing, since a policy in its head forbids that, and any script but
its own. So no name in a program can do more than be read.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.markup import escape
from relaxscript.errors.render import render_body
from relaxscript.errors.style_sheet import style_sheet
from relaxscript.ir.module import IRModule
from relaxscript.script.parser.from_source import warnings_of
from relaxscript.script.printer.hints import hints_of
from relaxscript.script.printer.html import HINTED_LINES, code_html
from relaxscript.script.printer.module import Printer, constants_of

from .page_parts import PAGE_RULES, PAGE_SCRIPT
from .picture import DrawnNode, Item, Picture
from .svg import svg

__all__ = ["page"]

# Programs with larger constants are not read again to see what else there is to say.
_LARGE = 1 << 16


def page(root: Any, picture: Picture, printer: Printer | None) -> str:
    """The page, as HTML."""
    title = f"{picture.name} of {root.__name__}" if isinstance(root, IRModule) else picture.name
    found = _diagnostics(root, printer)
    script = base64.b64encode(hashlib.sha256(PAGE_SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="{policy}"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{escape(title)}</title>
<style>{style_sheet()}{PAGE_RULES}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p>{escape(picture.remark or _counts(picture))}</p>
<p id="said" role="status" aria-live="polite"></p>
</header>
<main>
<section class="panel" aria-label="script">
<h2>script</h2>
<div class="scroll">{_script(picture, printer, found)}</div>
</section>
<section class="panel" aria-label="graph">
<h2>dataflow</h2>
<div class="scroll drawing">{svg(picture, linked=printer is not None)}</div>
</section>
</main>
<footer aria-label="diagnostics">{_list(found)}</footer>
<script>{PAGE_SCRIPT}</script>
</body>
</html>
"""


def _counts(picture: Picture) -> str:
    number = picture.bindings
    return f"{number} binding{'' if number == 1 else 's'}"


def _script(picture: Picture, printer: Printer | None, found: tuple[Diagnostic, ...]) -> str:
    """The script, each line a link to the box that it is about."""
    if printer is None:
        return '<p class="line">This program has no script.</p>'
    source = printer.source
    hints = hints_of(printer) if len(source.lines) < HINTED_LINES else {}
    boxes = _boxes_of_lines(picture)
    marks = {d.span.line: d.severity for d in reversed(found) if d.span is not None}
    lines = []
    for number, text in enumerate(source.lines, 1):
        box = boxes.get(number)
        looks = ["line", *(["linked"] if box is not None else [])]
        looks += [f"mark-{marks[number]}"] if number in marks else []
        said = "" if box is None else f' data-item="{box}"'
        link = "" if box is None else f' href="#n{box}"'
        lines.append(
            f'<span class="{" ".join(looks)}" id="L{number}" data-number="{number}"{said}>'
            f'<a class="place"{link}>{number}</a>'
            f"{code_html(text, hints, source.offset(number, 1))}</span>"
        )
    return f'<div class="relaxscript script">{"".join(lines)}</div>'


def _boxes_of_lines(picture: Picture) -> dict[int, int]:
    """The box of each line; of two that one line is about, the last one computed."""
    found: dict[int, int] = {}
    items: list[Item] = [*picture.clusters(), *picture.nodes()]
    for item in items:
        if item.line is None:
            continue
        stretches = [(item.line, item.line)]
        if isinstance(item, DrawnNode):
            stretches = [(item.line, item.end_line), *item.also]
        for first, last in stretches:
            found.update(dict.fromkeys(range(first, max(last, first) + 1), item.key))
    return found


def _diagnostics(root: Any, printer: Printer | None) -> tuple[Diagnostic, ...]:
    """The mistakes of a program, and what can only be checked when it runs."""
    found = ill_formed(root)
    is_large = sum(constant.data.size for constant in constants_of(root)) > _LARGE
    if found or printer is None or is_large:
        return found
    try:
        return tuple(warnings_of(printer.source.text, printer.filename, root.metadata))
    except DiagnosticError as error:
        return tuple(error.diagnostics)


def _list(found: tuple[Diagnostic, ...]) -> str:
    if not found:
        return "<p>no diagnostics</p>"
    items = []
    for diagnostic in found:
        line = None if diagnostic.span is None else diagnostic.span.line
        where = "" if line is None else f' <a href="#L{line}">line {line}</a>'
        items.append(
            f'<details open="open"><summary>{escape(diagnostic.severity)} '
            f"{escape(diagnostic.code)}: {escape(diagnostic.message)}{where}</summary>"
            f"{render_body(diagnostic, 'html')}</details>"
        )
    return "\n".join(items)
