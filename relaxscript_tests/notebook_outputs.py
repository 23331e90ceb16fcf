"""What cells of notebooks give: how it is stored, and where two runs of a cell differ."""

from __future__ import annotations

import base64
import difflib
import html
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

__all__ = ["VARIES", "are_dressed_alike", "differences", "tags_of", "tidied"]

Output = dict[str, Any]

VARIES = "varies"  # the tag of cells that show times, versions or figures of the machine
STYLE = re.compile(r"<(style|script)\b.*?</\1>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
READ = ("text/html", "image/svg+xml")  # forms in which words are, beside how they look
PNG = b"\x89PNG\r\n\x1a\n"


def tags_of(cell: Any) -> list[str]:
    return list(cell.metadata.get("tags", ()))


def tidied(outputs: Iterable[Any]) -> list[Output]:
    """The outputs as they are stored: streams that follow each other are one, errors first.

    How a stream is cut depends on time, and which of two streams is told of first, too.
    """
    found: list[Output] = []
    streamed = groupby(outputs, lambda output: output["output_type"] == "stream")
    for is_stream, group in streamed:
        several = [dict(output) for output in group]
        if not is_stream:
            found += several
            continue
        for name in ("stderr", "stdout"):
            text = "".join(output["text"] for output in several if output["name"] == name)
            if text:
                found.append({"output_type": "stream", "name": name, "text": text})
    for output in found:
        output.pop("transient", None)
    return found


def differences(stored: Sequence[Any], found: Sequence[Any], tags: Iterable[str]) -> str:
    """How the outputs of this run differ from the stored ones, as a diff; empty where they agree.

    Of pictures the type and size count, of errors the message, of HTML and SVG what one reads of
    it, of lines all but spaces at the end: the rest depends on versions of libraries. Of cells that
    vary, kinds and numbers of lines count.
    """
    described = _shape if VARIES in tags else _text
    before, after = (
        [
            line.rstrip()
            for output in tidied(outputs)
            for part in described(output)
            for line in part.split("\n")
        ]
        for outputs in (stored, found)
    )
    diff = difflib.unified_diff(before, after, "stored", "found", n=2, lineterm="")
    return "\n".join(diff)


def are_dressed_alike(stored: Sequence[Any], found: Sequence[Any]) -> bool:
    """True if outputs of one shape also have the style sheets of each other."""
    before, after = (
        [
            sheet.group()
            for output in outputs
            for sheet in STYLE.finditer(str(output.get("data", {}).get("text/html", "")))
        ]
        for outputs in (stored, found)
    )
    return before == after


def _text(output: Output) -> list[str]:
    """What is compared of an output, in lines."""
    match output["output_type"]:
        case "stream":
            return [f"[{output['name']}]", output["text"].removesuffix("\n")]
        case "error":
            return [f"[error {output['ename']}]", output["evalue"]]
        case kind:
            parts = {mime: _data(mime, data) for mime, data in sorted(output["data"].items())}
            if parts.get("text/html") == parts.get("text/plain"):
                parts["text/html"] = ""  # it is enough to compare, and to show, one of them
            return [f"[{kind}]", *(line for part in parts.items() for line in _named(*part))]


def _named(mime: str, text: str) -> list[str]:
    return [f"[{mime}]", *text.strip("\n").splitlines()]


def _shape(output: Output) -> list[str]:
    """The kind of an output that varies, and how many lines it has."""
    match output["output_type"]:
        case "stream":
            return [f"[{output['name']}]", f"{len(output['text'].splitlines())} lines"]
        case "error":
            return [f"[error {output['ename']}]"]
        case kind:
            count = len(output["data"].get("text/plain", "").splitlines())
            return [f"[{kind}]", *sorted(output["data"]), f"{count} lines"]


def _data(mime: str, data: Any) -> str:
    if mime in READ:
        return html.unescape(TAG.sub("", STYLE.sub("", data))).strip("\n")
    if mime.startswith("image/"):
        return _size(base64.b64decode(data))
    return data.strip("\n") if isinstance(data, str) else repr(data)


def _size(picture: bytes) -> str:
    """The width and height of a PNG; nothing of other pictures."""
    if not picture.startswith(PNG):
        return ""
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    return f"{width} × {height}"
