"""What SARIF 2.1.0 asks of a document, as far as ours uses it: `problems_of` lists what is wrong.

Paragraphs are those of the OASIS standard. Members that it does not know are problems too: its
schema admits no others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

# For each kind of object: its members, the kind of each, and whether it must be there ("!"). A kind
# in brackets is a list of it.
KINDS: Mapping[str, Mapping[str, str]] = {
    "log": {"$schema": "uri", "version": "version!", "runs": "[run]!"},
    "run": {
        "tool": "tool!", "invocations": "[invocation]", "columnKind": "columnKind",
        "results": "[result]",
    },
    "tool": {"driver": "driver!"},
    "driver": {"name": "text!", "semanticVersion": "semver", "rules": "[rule]"},
    "rule": {
        "id": "text!", "shortDescription": "strings", "fullDescription": "strings",
        "help": "strings", "defaultConfiguration": "configuration",
    },
    "strings": {"text": "text!", "markdown": "text"},
    "configuration": {"level": "level"},
    "invocation": {
        "executionSuccessful": "bool!", "toolExecutionNotifications": "[notification]",
    },
    "notification": {"level": "level", "message": "message!"},
    "result": {
        "ruleId": "text", "ruleIndex": "index", "level": "level", "message": "message!",
        "locations": "[location]", "relatedLocations": "[location]", "fixes": "[fix]",
    },
    "message": {"text": "string!"},
    "location": {"id": "index", "physicalLocation": "physical", "message": "message"},
    "physical": {"artifactLocation": "artifact!", "region": "region"},
    "artifact": {"uri": "uri!"},
    "region": {
        "startLine": "count!", "startColumn": "count", "endLine": "count", "endColumn": "count",
    },
    "fix": {"description": "message", "artifactChanges": "[change]!"},
    "change": {"artifactLocation": "artifact!", "replacements": "[replacement]!"},
    "replacement": {"deletedRegion": "region!", "insertedContent": "content"},
    "content": {"text": "any"},
}  # fmt: skip

URI = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+\Z")
SEMVER = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\Z")

BRACE = re.compile(r"[{}]")


def problems_of(log: Any) -> list[str]:
    """One sentence for everything that the standard does not admit."""
    problems = list(_object(log, "log", "log"))
    return problems or [problem for run in log["runs"] for problem in _run(run)]


def _object(value: Any, kind: str, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path} is no {kind}"
        return
    members = KINDS[kind]
    yield from (f"{path}.{name} is unknown" for name in value if name not in members)
    for name, wanted in members.items():
        if name in value:
            yield from _member(value[name], wanted.rstrip("!"), f"{path}.{name}")
        elif wanted.endswith("!"):
            yield f"{path} has no {name}"
    if kind == "region":
        yield from _region(value, path)


def _member(value: Any, kind: str, path: str) -> Iterator[str]:
    if kind.startswith("["):
        if not isinstance(value, list):
            yield f"{path} is no list"
            return
        if kind in ("[change]", "[replacement]") and not value:  # 3.55.3, 3.56.3
            yield f"{path} is empty"
        for number, item in enumerate(value):
            yield from _object(item, kind[1:-1], f"{path}[{number}]")
    elif kind in KINDS:
        yield from _object(value, kind, path)
    elif not _is(value, kind):
        yield f"{path} is no {kind}: {value!r}"


def _is(value: Any, kind: str) -> bool:
    wanted, holds = CHECKS[kind]
    return type(value) is wanted and holds(value)


def _is_uri(value: str) -> bool:
    if URI.match(value) is None or re.search(r"%(?![0-9A-Fa-f]{2})", value):
        return False
    return bool(urlsplit(value).path)


CHECKS: Mapping[str, tuple[type, Callable[[Any], bool]]] = {
    "any": (str, lambda value: True),
    "text": (str, lambda value: value != ""),
    # 3.11.5: a brace that begins no placeholder is doubled; ours have no placeholders.
    "string": (str, lambda value: not BRACE.search(re.sub(r"\{\{|\}\}", "", value))),
    "version": (str, lambda value: value == "2.1.0"),
    "semver": (str, lambda value: SEMVER.match(value) is not None),
    "uri": (str, _is_uri),
    "columnKind": (str, lambda value: value in ("utf16CodeUnits", "unicodeCodePoints")),
    "level": (str, lambda value: value in ("none", "note", "warning", "error")),
    "bool": (bool, lambda value: True),
    "count": (int, lambda value: value >= 1),  # 3.30.5: lines and columns count from 1
    "index": (int, lambda value: value >= 0),
}


def _region(region: Mapping[str, Any], path: str) -> Iterator[str]:
    start = region.get("startLine"), region.get("startColumn", 1)
    end = region.get("endLine", start[0]), region.get("endColumn", 1 << 31)
    if None not in start and end < start:
        yield f"{path} ends before it begins"


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    """What must agree: rules have different names, results point at their rules (3.27.6)."""
    rules = [rule.get("id") for rule in run["tool"]["driver"].get("rules", [])]
    if len(set(rules)) < len(rules):
        yield "two rules have the same id"
    for number, result in enumerate(run.get("results", [])):
        index = result.get("ruleIndex", -1)
        if not (index < len(rules) and (index < 0 or rules[index] == result.get("ruleId"))):
            yield f"result {number} does not point at its rule"
        ids = [place["id"] for place in result.get("relatedLocations", []) if "id" in place]
        if len(set(ids)) < len(ids):
            yield f"two related locations of result {number} have the same id"
