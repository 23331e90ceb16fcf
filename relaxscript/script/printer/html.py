"""Scripts as HTML for notebooks: classes and a style sheet for light and dark, nothing loaded."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["html"]

LIGHT, DARK = "default", "monokai"


def html(text: str, style: str | None = None) -> str:
    """A script as coloured HTML; without a style it follows the reader's light or dark setting."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    body = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
    return f'<style>{_rules(style)}</style><pre class="relaxscript">{body}</pre>'


@lru_cache(maxsize=8)
def _rules(style: str | None) -> str:
    from pygments.formatters.html import HtmlFormatter

    def rules(name: str) -> str:
        lines = HtmlFormatter(style=name).get_style_defs(".relaxscript").split("\n")
        return "\n".join(line for line in lines if line.startswith(".relaxscript "))

    if style is not None:
        return rules(style)
    return f"{rules(LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{rules(DARK)}\n}}"
