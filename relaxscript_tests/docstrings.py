"""The form of docstrings: a noun phrase or an imperative first, and short sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from relaxscript_tests.syntax import nodes_of

_QUESTION = re.compile(r"(How|That|What|When|Where|Whether|Which|Who|Why)\b")


def documented(text: str) -> Iterator[tuple[int, str]]:
    """The docstrings of a file, with the lines where they begin."""
    for node in nodes_of(text):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found = ast.get_docstring(node)
            if found is not None:
                yield node.body[0].lineno, found


def question_docstrings(files: Mapping[str, str]) -> list[str]:
    """Docstrings that begin as a question does: `What ...`, `Whether ...`."""
    return [
        f'{path}:{line}: a docstring begins with "{found.split()[0]}", not with a noun phrase '
        "or an imperative"
        for path, text in files.items()
        for line, found in documented(text)
        if _QUESTION.match(found)
    ]


MOST_WORDS = 20
_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|\([^()]*\)")  # counted as one word
_END = re.compile(r"(?<=[.;:?!])\s+")


def long_sentences(files: Mapping[str, str]) -> list[str]:
    """Sentences of more than twenty words, in paragraphs that are neither lists nor sources."""
    return [
        f"{path}:{line}: a sentence of {len(sentence.split())} words: {sentence}"
        for path, text in files.items()
        for line, found in documented(text)
        for paragraph in found.split("\n\n")
        if not paragraph.startswith((" ", "*", ">>>", "Source")) and "\n  " not in paragraph
        for sentence in _END.split(_CODE.sub("code", " ".join(paragraph.split())))
        if len(sentence.split()) > MOST_WORDS
    ]
