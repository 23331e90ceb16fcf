"""Texts of programs in XML: names and strings may hold whatever their author liked."""

from __future__ import annotations

import re
from html import escape

from relaxscript.errors.styles import visible

__all__ = ["xml_text"]

# What no XML may hold, even escaped, and what no file in UTF-8 can.
_FORBIDDEN = re.compile("[\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """A text as the content of an element, or of an attribute in quotes.

    It cannot end either. What would not be seen has a sign, and what XML does not admit as well.
    """
    return escape(_FORBIDDEN.sub("\ufffd", visible(text)), quote=True)
