"""Class names that mean two things in the package."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Mapping

from relaxscript_tests.syntax import tree_of

# Names of TVM, which has them twice as well, and the instructions of its virtual machine.
TWICE = {
    "Call", "Effect", "If", "Linear", "Module", "Object", "Parameter", "ReLU", "Sequential",
    "StringImm", "Tensor", "Tuple", "Var",
}  # fmt: skip


@functools.cache
def public_classes(text: str) -> list[str]:
    """The names of the public classes of a file."""
    classes = (node for node in tree_of(text).body if isinstance(node, ast.ClassDef))
    return [node.name for node in classes if not node.name.startswith("_")]


def shared_class_names(files: Mapping[str, str]) -> list[str]:
    """Public classes of the same name in several files, those of `TWICE` aside."""
    places = defaultdict(set)
    for path, text in files.items():
        for name in public_classes(text):
            places[name].add(path)
    return [
        f"{name} is a class of {' and of '.join(sorted(paths))}"
        for name, paths in sorted(places.items())
        if len(paths) > 1 and name not in TWICE
    ]
