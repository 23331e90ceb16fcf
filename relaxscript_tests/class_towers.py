"""Classes that derive from too many others, or have too many methods."""

from __future__ import annotations

import ast
import functools
from collections.abc import Container, Mapping
from typing import NamedTuple

from relaxscript_tests.architecture import home_of, module_of, room_of, top_level
from relaxscript_tests.syntax import nodes_of, tree_of

DEEPEST = 3  # a class, what it derives from, and what that derives from
MOST_METHODS = 65  # inherited ones counted

METHOD = (ast.FunctionDef, ast.AsyncFunctionDef)


class ClassShape(NamedTuple):
    """A class of ours: where it stands, the classes of ours it derives from, and its methods."""

    path: str
    line: int
    bases: tuple[str, ...]
    methods: frozenset[str]


class Names(NamedTuple):
    """What the names of a module stand for, in full, and the modules whose names are its, too."""

    meanings: dict[str, str]
    starred: list[str]


def towers(files: Mapping[str, str]) -> list[str]:
    """Classes that derive from too many others, or have too many methods.

    What a class has from a library is the library's. Nodes of the language are nested as the
    grammar is.
    """
    classes = classes_of(files)

    @functools.cache
    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in classes[name].bases), default=0)

    @functools.cache
    def methods(name: str) -> frozenset[str]:
        return classes[name].methods.union(*(methods(base) for base in classes[name].bases))

    problems = []
    for name, shape in classes.items():
        if room_of(module_of(shape.path)) == "ir":
            continue
        where = f"{shape.path}:{shape.line}: `{name.rpartition('.')[2]}`"
        if depth(name) > DEEPEST:
            problems.append(f"{where} is {depth(name)} classes deep")
        if len(methods(name)) > MOST_METHODS:
            problems.append(f"{where} has {len(methods(name))} methods")
    return problems


def classes_of(files: Mapping[str, str]) -> dict[str, ClassShape]:
    """The classes of files by their full names, except those inside of functions and classes."""
    modules = {module_of(path): names_of(path, text) for path, text in files.items()}
    found = {
        f"{module_of(path)}.{name}": shape
        for path, text in files.items()
        for name, shape in classes_in(path, text).items()
    }
    shapes = {}
    for name, shape in found.items():
        bases = [class_behind(base, found, modules) for base in shape.bases]
        shapes[name] = shape._replace(bases=(*filter(None, bases),))
    return shapes


@functools.cache
def classes_in(path: str, text: str) -> dict[str, ClassShape]:
    """The classes of a file, each with its bases as they are named in it."""
    shapes = {}
    for node in top_level(tree_of(text).body):
        if isinstance(node, ast.ClassDef):
            bases = tuple(f"{module_of(path)}.{base}" for base in map(dotted, node.bases) if base)
            methods = frozenset(m.name for m in top_level(node.body) if isinstance(m, METHOD))
            shapes[node.name] = ClassShape(path, node.lineno, bases, methods)
    return shapes


@functools.cache
def names_of(path: str, text: str) -> Names:
    """What the imports of a file, wherever they stand, and its aliases give names to."""
    names = Names({}, [])
    for node in nodes_of(text):
        match node:
            case ast.Import(names=imported):
                for alias in imported:
                    name = alias.asname or alias.name.split(".")[0]
                    names.meanings[name] = alias.name if alias.asname else name
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                names.starred.append(home_of(path, node))
            case ast.ImportFrom(names=imported):
                home = home_of(path, node)
                names.meanings.update((a.asname or a.name, f"{home}.{a.name}") for a in imported)
    for statement in top_level(tree_of(text).body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if other := dotted(value):
                names.meanings.setdefault(name, f"{module_of(path)}.{other}")
    return names


def dotted(node: ast.expr) -> str | None:
    """`a.b` for the name `a.b`, and for `a.b[T]`; None for what is computed."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if home := dotted(value):
            return f"{home}.{attr}"
        case ast.Subscript(value=value):
            return dotted(value)
    return None


def class_behind(
    name: str, classes: Container[str], modules: Mapping[str, Names],
    asked: frozenset[tuple[str, str]] = frozenset(),
) -> str | None:  # fmt: skip
    """The class that a full name gives, by however many names; None for what is no class of ours.

    `asked` are modules with the names that were looked up in them: they may import in circles.
    """
    if name in classes:
        return name
    parts = name.split(".")
    homes = (".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
    home = next((home for home in homes if home in modules), None)
    if home is None:
        return None
    first, *rest = parts[home.count(".") + 1 :]
    if (home, first) in asked:
        return None
    names = modules[home]
    meaning = names.meanings.get(first)
    others = [f"{other}.{first}" for other in names.starred] if meaning is None else [meaning]
    asked |= {(home, first)}
    found = (class_behind(".".join([other, *rest]), classes, modules, asked) for other in others)
    return next(filter(None, found), None)
