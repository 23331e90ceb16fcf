"""Checks that ask each file of the package by itself, all of them one file before the next."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping

from relaxscript_tests.architecture import (
    PACKAGE,
    imports_of_ours,
    named_operators,
    offers_of_their_own,
    oversized,
    private_uses,
    python_files,
)
from relaxscript_tests.class_names import public_classes
from relaxscript_tests.class_towers import classes_in, names_of
from relaxscript_tests.docstrings import long_sentences, question_docstrings
from relaxscript_tests.messages_read import messages_read

__all__ = ["CHECKS", "Check", "problems_found", "read_package"]

Check = Callable[[Mapping[str, str]], list[str]]


def operators_named(files: Mapping[str, str]) -> list[str]:
    return named_operators(files, importlib.import_module(f"{PACKAGE}.op").REGISTRY)


def messages_read_in_scripts(files: Mapping[str, str]) -> list[str]:
    return messages_read({p: t for p, t in files.items() if p.startswith(f"{PACKAGE}/script/")})


CHECKS: Mapping[str, Check] = {
    "private uses": private_uses,
    "sizes": oversized,
    "operators named": operators_named,
    "docstrings like questions": question_docstrings,
    "long sentences": long_sentences,
    "messages read": messages_read_in_scripts,
    "offers": offers_of_their_own,
}


@functools.cache
def problems_found() -> Mapping[str, list[str]]:
    """What each check finds in the package. The others find what they keep of its files."""
    problems: dict[str, list[str]] = {name: [] for name in CHECKS}
    for path, text in python_files(PACKAGE).items():
        for name, check in CHECKS.items():
            problems[name] += check({path: text})
        for kept in (imports_of_ours, classes_in, names_of):
            kept(path, text)
        public_classes(text)
    return problems


def read_package() -> Mapping[str, str]:
    """The files of the package, for checks that compare them with one another."""
    problems_found()
    return python_files(PACKAGE)
