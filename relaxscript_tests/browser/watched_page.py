"""A page of a browser that is watched: what it complains of, and what it asks the network for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import Browser, Page

__all__ = ["Watched", "contrast", "served", "watched"]

HOST = "http://127.0.0.1"
THEMES = ("light", "dark")
_NUMBER = re.compile(r"[\d.]+")


class Watched:
    """A page, and what went wrong in it since it was opened."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("requestfailed", self._fail)
        page.on("response", self._answer)
        page.route("**/*", self._ask)

    def open(self, address: str) -> Page:
        self.page.goto(address, wait_until="load")
        return self.page

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def _fail(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # what was still to come when the page was left
            self._note("failed", request.url)

    def _answer(self, response: Any) -> None:
        if response.status >= 400:
            self._note(str(response.status), response.url)

    def _ask(self, route: Any) -> None:
        """Let through what is here, and stop what would go over the network."""
        if route.request.url.startswith((HOST, "file:", "data:", "blob:", "about:")):
            route.continue_()
        else:
            self._note("network", route.request.url)
            route.abort()

    def _note(self, what: str, url: str) -> None:
        self.complaints.append(f"{what}: {url}")


@contextmanager
def watched(browser: Browser, theme: str = "light") -> Iterator[Watched]:
    """A new page in light or dark, in which nothing may have gone wrong at the end."""
    context = browser.new_context(
        color_scheme=theme,  # type: ignore[arg-type]
        viewport={"width": 1400, "height": 1000},
    )
    try:
        page = Watched(context.new_page())
        yield page
        if page.complaints:
            raise AssertionError("\n".join(page.complaints))
    finally:
        context.close()


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Say nothing of requests."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, *args: Any) -> None:
        """Say nothing of pages that were left before they had all come."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which the files of a folder are served."""
    server = _Server(("127.0.0.1", 0), partial(_Silent, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{HOST}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def contrast(page: Page, selector: str) -> float:
    """The contrast of the text of an element with what is behind it, from 1 to 21, as by WCAG."""
    found = page.locator(selector).first.evaluate(
        """element => {
            const text = getComputedStyle(element).color;
            let behind = element;
            const ground = e => getComputedStyle(e).backgroundColor;
            const isClear = e => /rgba\\(.*, 0\\)|transparent/.test(ground(e));
            while (isClear(behind) && behind.parentElement) behind = behind.parentElement;
            return [text, ground(behind)];
        }"""
    )
    low, high = sorted(map(_luminance, found))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (float(number) / 255 for number in _NUMBER.findall(colour)[:3])
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
