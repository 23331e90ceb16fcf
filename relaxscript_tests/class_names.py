"""Class names that mean two things in the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping

# Names of TVM, which has them twice as well, and the instructions of its virtual machine.
TWICE = {"Call", "Effect", "If", "Object", "Parameter", "StringImm", "Tensor", "Tuple", "Var"}


def shared_class_names(files: Mapping[str, str]) -> list[str]:
    """Public classes of the same name in several files, those of `TWICE` aside."""
    places = defaultdict(set)
    for path, text in files.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(path)
    return [
        f"{name} is a class of {' and of '.join(sorted(paths))}"
        for name, paths in sorted(places.items())
        if len(paths) > 1 and name not in TWICE
    ]
