"""The article of a name in messages: `a Linear`, `an Attention`."""

from __future__ import annotations

import re

__all__ = ["article"]

# By sound: "an Upsample", but "a UNet"; and letters that are spelled out, "an MLP", "an RMSNorm".
_AN = re.compile(r"[aeioAEIO]|[uU][^aeiouA-Z]{2}|[FHLMNRSX][A-Z]")


def article(name: str) -> str:
    """The indefinite article of a name, by how it begins."""
    return "an" if _AN.match(name) else "a"
