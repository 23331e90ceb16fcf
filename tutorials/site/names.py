"""An extension of Sphinx: names lead to their pages, formulas are MathML, menus hold one branch.

`R.matmul`, `DeadCodeElimination` and RX0203 are links wherever they stand outside of programs, in
pages that are read elsewhere without Sphinx too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

__all__ = ["setup"]

_CODE = re.compile(r"\bRX0\d{3}\b")
_CALL = re.compile(r"\(.*\)$", re.DOTALL)


class LinkedNames(SphinxPostTransform):
    """Make links of names that have a page, except in headings, in links and on that page."""

    default_priority = 200

    def run(self, **kwargs: Any) -> None:
        places: Mapping[str, str] = self.config.relaxscript_places
        for literal in list(self.document.findall(nodes.literal)):
            place = places.get(_CALL.sub("", literal.astext()))
            if place is not None and _is_prose(literal):
                self._replace(literal, literal.astext(), place)
        for text in list(self.document.findall(nodes.Text)):
            if _CODE.search(text) and _is_prose(text) and not _in(text, nodes.literal):
                self._link_codes(text, places)

    def _link_codes(self, text: nodes.Text, places: Mapping[str, str]) -> None:
        parts: list[nodes.Node] = []
        end = 0
        for found in _CODE.finditer(text):
            parts.append(nodes.Text(text[end : found.start()]))
            place = places.get(found.group())
            shown = nodes.Text(found.group())
            parts.append(shown if place is None else self._reference(shown, place))
            end = found.end()
        parts.append(nodes.Text(text[end:]))
        text.parent.replace(text, parts)

    def _replace(self, literal: nodes.literal, name: str, place: str) -> None:
        if place.partition("#")[0] != self.env.docname:
            literal.parent.replace(literal, self._reference(literal.deepcopy(), place))

    def _reference(self, shown: nodes.Node, place: str) -> nodes.Node:
        uri = _uri(self.app, self.env.docname, place)
        return nodes.reference("", "", shown, internal=True, refuri=uri)


class TypesInSignatures(SphinxPostTransform):
    """Link the types in signatures that have one place; others, and Python's own, are words."""

    default_priority = 5  # before references are resolved, which would warn of each

    def run(self, **kwargs: Any) -> None:
        places: Mapping[str, str] = self.config.relaxscript_places
        for signature in list(self.document.findall(addnodes.desc_signature)):
            for pending in list(signature.findall(addnodes.pending_xref)):
                place = places.get(pending.get("reftarget", ""))
                shown = pending.children
                if place is not None:
                    uri = _uri(self.app, self.env.docname, place)
                    shown = [nodes.reference("", "", *shown, internal=True, refuri=uri)]
                pending.parent.replace(pending, shown)


def _uri(app: Sphinx, docname: str, place: str) -> str:
    page, mark, anchor = place.partition("#")
    return app.builder.get_relative_uri(docname, page) + mark + anchor


def _is_prose(node: nodes.Node) -> bool:
    return not _in(node, nodes.reference, nodes.title, nodes.literal_block, nodes.raw)


def _in(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def _formula(writer: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula in MathML, which browsers draw without a script."""
    written = tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block))
    writer.body.append(written)
    raise nodes.SkipNode


def _collapse_menu(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let the theme's menu hold the branch of a page only: with all pages it outweighs them."""
    menu: Callable[..., str] | None = context.get("toctree")
    if menu is not None:
        context["toctree"] = lambda **options: menu(**{**options, "collapse": True})


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("relaxscript_places", {}, "env", types=[dict])
    app.add_post_transform(TypesInSignatures)
    app.add_post_transform(LinkedNames)
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
    app.connect("html-page-context", _collapse_menu, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
