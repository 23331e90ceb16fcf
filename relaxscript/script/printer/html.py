"""Scripts as HTML for notebooks: classes and a style sheet for light and dark, nothing loaded."""

from __future__ import annotations

import re
from functools import lru_cache

from relaxscript.errors.styles import MONOSPACE

__all__ = ["html"]

LIGHT, DARK = "default", "monokai"
# Themes that a notebook chose by itself, against what the system prefers: Jupyter, Colab, VS Code.
_CHOSEN_LIGHT = ':is([data-jp-theme-light="true"], html[theme="light"], .vscode-light) '
_CHOSEN_DARK = ':is([data-jp-theme-light="false"], html[theme="dark"], .vscode-dark) '


def html(text: str, style: str | None = None) -> str:
    """A script as coloured HTML; without a style it follows the reader's light or dark setting."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    lexer = PythonLexer(stripnl=False, ensurenl=False)
    body = highlight(text, lexer, HtmlFormatter(nowrap=True))
    used = frozenset(re.findall(r'<span class="(\w+)">', body))
    # A style of its own has a class of its own: other scripts on the page keep theirs.
    name = "relaxscript" if style is None else f"relaxscript-{style}"
    return f'<style>{_sheet(name, style, used)}</style><pre class="{name}">{body}</pre>'


def _sheet(name: str, style: str | None, used: frozenset[str]) -> str:
    def rules(style: str, theme: str = "") -> str:
        wanted = (rule for kind, rule in _rules(name, style) if kind in {"", *used})
        return "\n".join(f"{theme}{rule}" for rule in wanted)

    if style is not None:
        return rules(style)
    preferred = f"@media (prefers-color-scheme: dark) {{\n{rules(DARK)}\n}}"
    chosen = f"{rules(LIGHT, _CHOSEN_LIGHT)}\n{rules(DARK, _CHOSEN_DARK)}"
    return f"{rules(LIGHT)}\n{preferred}\n{chosen}"


@lru_cache(maxsize=8)
def _rules(name: str, style: str) -> list[tuple[str, str]]:
    """The rules of a style, each with the class that it is for; the whole has none."""
    from pygments.formatters.html import HtmlFormatter
    from pygments.styles import get_style_by_name

    background = get_style_by_name(style).background_color
    text = "#1c2127" if _is_light(background) else "#e3e6ea"
    # The page may write in any colour, so ours is said, not inherited.
    shape = f"font-family: {MONOSPACE}; white-space: pre; padding: 0.6em 0.8em; overflow-x: auto"
    found = [("", f".{name} {{ background: {background}; color: {text}; {shape} }}")]
    for line in HtmlFormatter(style=style).get_style_defs(f".{name}").split("\n"):
        rule = re.match(r"\.[-\w]+ \.(\w+) \{[^}]*\}", line)
        if rule is not None:
            found.append((rule[1], rule[0]))
    return found


def _is_light(colour: str) -> bool:
    """True if dark text can be read on a colour, `#rrggbb` or `#rgb`."""
    digits = colour.removeprefix("#")
    size = len(digits) // 3
    parts = [int(digits[i * size : (i + 1) * size], 16) for i in range(3)]
    middle = 3 * int(16**size) // 2
    return sum(parts) > middle
