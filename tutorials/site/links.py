"""Links of the pages that were built: each leads somewhere, and no page needs the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken_links"]

_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
# Relations of `<link>` that browsers follow only when they are asked to.
_NOT_LOADED = {"canonical", "search", "index", "next", "prev", "author"}


class _Reader(HTMLParser):
    """The links, what is loaded and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        loaded = given.get(_LOADED.get(tag, ""))
        if loaded and given.get("rel") not in _NOT_LOADED:
            self.loaded.append(loaded)


def broken_links(out: Path) -> list[str]:
    """The links of the pages in a folder that lead nowhere, and what is loaded from elsewhere."""
    pages = {path: _read(path) for path in sorted(out.rglob("*.html"))}
    anchors = {path: reader.anchors for path, reader in pages.items()}
    return [
        f"{path.relative_to(out).as_posix()}: {problem}"
        for path, reader in pages.items()
        for problem in _problems(path, reader, anchors)
    ]


def _read(path: Path) -> _Reader:
    reader = _Reader()
    reader.feed(path.read_text("utf-8"))
    return reader


def _problems(path: Path, reader: _Reader, anchors: Mapping[Path, set[str]]) -> Iterator[str]:
    for address in dict.fromkeys(reader.loaded):
        if urlsplit(address).netloc:
            yield f"loads {address} from the network"
    for address in dict.fromkeys((*reader.links, *reader.loaded)):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.exists():
            yield f"there is no {address}"
        elif parts.fragment and unquote(parts.fragment) not in anchors.get(target, ()):
            yield f"there is nothing at {address}"
