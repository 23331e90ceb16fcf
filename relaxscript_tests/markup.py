"""Reading of the HTML that notebooks show, as strictly as tests want it."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["HOSTILE", "Markup"]

# What is harmless as text and does something, or shows something else, as HTML.
HOSTILE = (
    "</script><script>alert(1)</script>",
    "</style><style>*{display:none}</style>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload='alert(1)'>",
    "' onmouseover='alert(1)",
    "</pre></details></div>",
    "<!-- -->]]><![CDATA[",
    "&lt;b&gt; &amp; &#x3c;",
    "`${alert(1)}` {{7*7}} <%= 1 %>",
    "javascript:alert(1)",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "a\nb\r\nc\u2028d\td\x00\x1b[31m\x7f",
    "\ud800 \uffff \U0001f642 日本 e\u0301",
    "x" * 3_000,
)
# Tags and attributes that there are in any output of ours.
TAGS = {
    *("div", "style", "pre", "code", "span", "details", "summary", "b", "ul", "li"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("svg", "title", "rect", "text", "g", "path", "a", "polygon", "ellipse"),
}
ATTRIBUTES = {"class", "title", "open", "data-more", "scope"}
OF_PICTURES = {
    *("xmlns", "viewbox", "width", "height", "class", "role", "aria-label", "x", "y", "xml:space"),
}
EMPTY = {"rect"}


class Markup(HTMLParser):
    """The content of a piece of HTML: text and hints. It fails for what is not ours."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.hints: dict[str, str] = {}  # by the text that has it, the last of several
        self.opened: list[str] = []
        self.styles = 0
        self.folds: list[bool] = []
        self.classes: list[tuple[str, str]] = []
        self._roles: list[str] = []
        self._hinted: list[tuple[int, int, str]] = []
        self.feed(html)
        self.close()
        assert self.opened == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        known = OF_PICTURES if "svg" in [*self.opened, tag] else ATTRIBUTES
        assert {name for name, _ in attrs} <= known
        given = dict(attrs)
        if tag in EMPTY:
            return
        self.opened.append(tag)
        self.styles += tag == "style"
        if tag == "details":
            self.folds.append("open" in given)
        self._roles.append(given.get("class") or "")
        self.classes.append((tag, self._roles[-1]))
        if "title" in given:
            self._hinted.append((len(self.opened), len(self.text), given["title"] or ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in EMPTY:
            return
        assert self.opened[-1] == tag
        if self._hinted and self._hinted[-1][0] == len(self.opened):
            _, start, hint = self._hinted.pop()
            self.hints[self.text[start:]] = hint
        self.opened.pop()
        self.text += "\n" if self._roles.pop() == "rx-title" else ""

    def handle_data(self, data: str) -> None:
        if "style" not in self.opened:
            self.text += data
            if self.opened[-1:] in (["td"], ["th"], ["li"]):
                self.text += "\n"

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")
