"""The shape of the project as checks; `test_architecture.py` runs them on this checkout.

Each check is a function from the texts of files to a list of what is wrong with them, one sentence
each. The floor plan, which says what room may import which, is `FLOORS`: start there.
"""

from __future__ import annotations

import ast
import configparser
import functools
import importlib
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

from relaxscript_tests.syntax import nodes_of, tree_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "relaxscript"


# ---------------------------------------------------------------- what there is


def tracked_files() -> list[str]:
    """The files that git does not ignore, or where git cannot say, what looks like them."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return plain_files()
    return [name for name in sorted(set(done.stdout.split("\0"))) if (ROOT / name).is_file()]


MADE = re.compile(r"^(build|dist)/|(^|/)(\.|__pycache__/|[^/]*\.egg-info/)")


def plain_files() -> list[str]:
    """Every file, without those in dot-folders and those that building and running make."""
    visible = [path for path in ROOT.iterdir() if not path.name.startswith(".")]
    found = [path for top in visible for path in (top, *top.rglob("*")) if path.is_file()]
    names = [path.relative_to(ROOT).as_posix() for path in found]
    return sorted(name for name in names if not MADE.search(name))


@functools.cache
def python_files(folder: str) -> dict[str, str]:
    """The text of every Python file below `folder`, by its path from the top of the checkout."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def module_of(path: str) -> str:
    """`relaxscript/ir/node.py` is `relaxscript.ir.node`; an `__init__.py` is its folder."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


# ---------------------------------------------------------------- imports point down only

# From the first floor built to the last. A file may import from its own room and from rooms of the
# rows above its own: neither from a row below nor from another room of the same row.
FLOORS = (
    ("version",),
    ("dtypes", "format_string"),
    ("errors",),
    ("arguments",),
    ("runtime.values",),
    ("runtime.arrays", "runtime.object_path"),
    ("weights",),
    ("ir",),
    ("arith",),
    ("sinfo",),
    ("tir_builder",),
    ("te",),
    ("opdef",),
    ("op",),
    ("visitor",),
    ("analysis",),
    ("builder",),
    ("dpl",),
    ("runtime",),
    ("semantics",),
    ("transform",),
    ("script",),
    ("graph",),
    ("codegen", "interpreter"),
    ("explainer",),
    ("compiler",),
    ("artifact",),
    ("frontend", "testing", "training", "cli"),
    (
        "base", "distributed", "error", "expr", "ir.transform", "nd", "s_tir", "struct_info",
        "target", "tir", "topi", "ty", "vm",
    ),
    ("relax",),
    ("__init__", "__main__"),
)  # fmt: skip
FACADES = (*FLOORS[-3], *FLOORS[-2])

# Rooms that import less than their row allows, so that they can be lifted out and read alone.
ONLY: Mapping[str, tuple[str, ...]] = {
    "version": (),
    "dtypes": (),
    "format_string": (),
    "errors": (),
    "arguments": ("errors",),
    "runtime.values": ("dtypes", "errors", "format_string"),
    "runtime.arrays": ("dtypes", "errors", "runtime.values"),
    "runtime.object_path": (),
    "weights": ("dtypes", "errors", "runtime.values"),
    "ir": ("dtypes", "errors", "runtime.arrays", "runtime.object_path"),
    "tir_builder": ("dtypes", "errors", "ir", "arith", "sinfo"),
    "runtime": (
        "arguments", "dtypes", "errors", "format_string", "runtime.values", "runtime.arrays",
        "runtime.object_path", "weights",
    ),
}  # fmt: skip

ROW = {room: row for row, rooms in enumerate(FLOORS) for room in rooms}


def room_of(module: str) -> str | None:
    """The room in which a module of ours stands: the longest of `ROW` that its name begins with."""
    inside = module.removeprefix(PACKAGE).removeprefix(".") or "__init__"
    parts = inside.split(".")
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in ROW), None)


def may_import(room: str, other: str) -> bool:
    if room == other or (other in FACADES and other.startswith(f"{room}.")):
        return True  # a facade inside of a room is the room's own to name
    if room in ONLY:
        return other in ONLY[room]
    return ROW[other] < ROW[room]


def home_of(path: str, node: ast.ImportFrom) -> str:
    """The full name of the module from which a file imports."""
    package = path.split("/")[:-1]
    above = package[: len(package) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


@functools.cache
def imports_of_ours(path: str, text: str) -> list[tuple[int, str, str]]:
    """Every import of our own modules, wherever it stands: line, module, name taken from it."""
    imports = []
    for node in nodes_of(text):
        match node:
            case ast.Import(names=names):
                found = [(alias.name, "") for alias in names]
            case ast.ImportFrom(names=names):
                found = [(home_of(path, node), alias.name) for alias in names]
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                found = [(name, "")]
            case _:
                continue
        for module, name in found:
            if module.split(".")[0] == PACKAGE:
                imports.append((node.lineno, module, name))
    return imports


def upward_imports(files: Mapping[str, str]) -> list[str]:
    modules = {module_of(path) for path in files}
    problems = []
    for path, text in files.items():
        room = room_of(module_of(path))
        if room is None:
            problems.append(f"{path} stands in no room of the floor plan")
            continue
        for line, module, name in imports_of_ours(path, text):
            target = f"{module}.{name}" if f"{module}.{name}" in modules else module
            other = room_of(target)
            if other is None:
                problems.append(f"{path}:{line}: `{target}` is no room of the floor plan")
            elif not may_import(room, other):
                problems.append(f"{path}:{line}: {room} may not import {target}")
    return problems


# ---------------------------------------------------------------- no private parts of others

NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}  # public, whatever their spelling


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in NAMED_TUPLE


def root_of(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def names_of_ours(path: str, text: str) -> set[str]:
    """The names that a file's imports of our modules bind in it."""
    lines = {line for line, _, _ in imports_of_ours(path, text)}
    return {
        alias.asname or alias.name.split(".")[0]
        for node in nodes_of(text)
        if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno in lines
        for alias in node.names
    }


def private_uses(files: Mapping[str, str]) -> list[str]:
    problems = []
    for path, text in files.items():
        for line, module, name in imports_of_ours(path, text):
            if any(is_private(part) for part in (*module.split("."), name)):
                problems.append(f"{path}:{line}: imports the private `{module}.{name}`".rstrip("."))
        ours = names_of_ours(path, text)
        problems += [
            f"{path}:{node.lineno}: uses the private `{ast.unparse(node)}`"
            for node in nodes_of(text)
            if isinstance(node, ast.Attribute) and is_private(node.attr) and root_of(node) in ours
        ]
    return problems


# ---------------------------------------------------------------- facades re-export and do no more


def unguarded(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, and those that type checkers, or only they, do not read."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from unguarded(node.body)
        else:
            yield node


def of_facades(files: Mapping[str, str]) -> dict[str, str]:
    """The files that only re-export; a facade may be a package."""
    tops = tuple(f"{PACKAGE}/{name.replace('.', '/')}" for name in FACADES)
    return {
        path: text
        for path, text in files.items()
        if path.removesuffix(".py") in tops or path.startswith(tuple(f"{top}/" for top in tops))
    }


def own_code(files: Mapping[str, str]) -> list[str]:
    """The statements of facades that are neither docstring, import nor `__all__`.

    They may have the finder of `errors/absent_modules.py` answer for what is not in them.
    """
    problems = []
    for path, text in files.items():
        for node in unguarded(tree_of(text).body):
            match node:
                case ast.ImportFrom() | ast.Import():
                    pass
                case ast.Expr(value=ast.Constant(value=str())):
                    pass
                case ast.Assign(targets=[ast.Name(id="__all__")]):
                    pass
                case ast.Expr(value=ast.Call(ast.Name("_answer_for"), [ast.Name("__path__")], [])):
                    pass
                case _:
                    problems.append(f"{path}:{node.lineno}: a facade has no code of its own")
    return problems


# ---------------------------------------------------------------- sizes and names of files

FILE_LINES = 600
FUNCTION_LINES = 60
NAMELESS = re.compile(
    # Users of TVM import `relax.utils`, those of `backend` and `training`, and one `common`.
    r"(?<!relaxscript/relax)(?<!relaxscript/relax/backend)(?<!relaxscript/relax/training)(^|/)utils?(\.py|/)"
    r"|(^|/)(helpers?|misc|_internal)(\.py|/)|(?<!/transform/legalize_ops)(^|/)common(\.py|/)"
    r"|^relaxscript/core(\.py|/)"
)


def oversized(files: Mapping[str, str]) -> list[str]:
    problems = []
    for path, text in files.items():
        lines = len(text.splitlines())
        if lines > FILE_LINES:
            problems.append(f"{path} has {lines} lines")
        for node in nodes_of(text):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or node.lineno) - node.lineno + 1
                if size > FUNCTION_LINES:
                    problems.append(f"{path}:{node.lineno}: `{node.name}` has {size} lines")
    return problems


# ---------------------------------------------------------------- what an installation holds


def unpackaged(files: Iterable[str], data: Iterable[str]) -> list[str]:
    """What below the package would be left out when it is installed.

    A folder is installed when it and all above it have an `__init__.py`, a file that is not Python
    when `data`, the names in `setup.cfg`, has it. `files` are paths from the top of the checkout.
    """
    inside = [path for path in files if path.startswith(f"{PACKAGE}/")]
    folders = {above.as_posix() for path in inside for above in Path(path).parents}
    listed = {f"{PACKAGE}/{name}" for name in data}
    return [
        *(
            f"{folder} has no `__init__.py`"
            for folder in sorted(folders - {"."})
            if f"{folder}/__init__.py" not in inside
        ),
        *(
            f"{path} is not among the package data of setup.cfg"
            for path in inside
            if not path.endswith(".py") and path not in listed
        ),
        *(f"{path} is not there" for path in sorted(listed - set(inside))),
    ]


def metadata() -> configparser.ConfigParser:
    """`setup.cfg`, as it stands."""
    found = configparser.ConfigParser(interpolation=None)
    found.read_string((ROOT / "setup.cfg").read_text("utf-8"))
    return found


# ---------------------------------------------------------------- public names


def top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, without what only type checkers read."""
    for node in body:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                yield from top_level(orelse)
            case ast.If(body=inner, orelse=orelse):
                yield from top_level([*inner, *orelse])
            case ast.Try(body=inner, handlers=handlers, orelse=orelse):
                yield from top_level([*inner, *(s for h in handlers for s in h.body), *orelse])
            case _:
                yield node


def targets_of(node: ast.stmt) -> list[ast.expr]:
    """What an assignment binds, except where it only makes a variable for annotations."""
    match node:
        case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar" | "ParamSpec" | "TypeVarTuple"))):
            return []
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target):
            return [target]
    return []


def definitions(text: str) -> set[str]:
    """The public names that a file's own statements define."""
    names: set[str] = set()
    for node in top_level(tree_of(text).body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        for target in targets_of(node):
            names.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
    return {name for name in names if not name.startswith("_")}


def taken_over(path: str, text: str, star: Callable[[str], Iterable[str]]) -> set[str]:
    """The public names that a file takes from modules of ours; `star` answers for `import *`."""
    starred = {module for _, module, name in imports_of_ours(path, text) if name == "*"}
    top = {node.lineno for node in top_level(tree_of(text).body)}
    lines = {line for line, _, name in imports_of_ours(path, text) if line in top and name != "*"}
    names = {
        alias.asname or alias.name
        for node in nodes_of(text)
        if isinstance(node, ast.ImportFrom) and node.lineno in lines
        for alias in node.names
    }
    names.update(name for module in starred for name in star(module))
    return {name for name in names if not name.startswith("_")}


def listing_problems(path: str, defined: set[str], module: ModuleType) -> list[str]:
    """Where `__all__` differs from a module's public names; modules in it may be listed or not."""
    if not hasattr(module, "__all__"):
        return [f"{path} has no `__all__`"] if defined else []
    listed = list(module.__all__)
    unlisted = {
        n for n in defined - set(listed) if not isinstance(getattr(module, n, None), ModuleType)
    }
    return [
        *(
            f"{path} defines `{name}` and does not list it in `__all__`"
            for name in sorted(unlisted)
        ),
        *(
            f"{path} lists `{name}`, which it has not"
            for name in listed
            if not hasattr(module, name)
        ),
        *(
            f"{path} lists `{name}` twice"
            for name in sorted({n for n in listed if listed.count(n) > 1})
        ),
        *(f"{path} lists the private `{name}`" for name in listed if is_private(name)),
    ]


def listed_in(module: str) -> Iterable[str]:
    names: Iterable[str] = importlib.import_module(module).__all__
    return names


def star_imports_of_unlisted(files: Mapping[str, str]) -> list[str]:
    listed = {
        module_of(p) for p, text in files.items() if re.search(r"^__all__\b", text, re.MULTILINE)
    }
    return [
        f"{path}:{line}: `import *` from {module}, which has no `__all__`"
        for path, text in files.items()
        for line, module, name in imports_of_ours(path, text)
        if name == "*" and module not in listed
    ]


# What `R.` may hold beside operators: types, decorators, the forms of statements and of leaves.
NOTATION = set(
    """
    Annotated Tensor Shape Prim Tuple Callable Object Any dim function func macro rewriter
    dataflow output outputs match_cast match_shape emit emit_match_cast If Then Else arg
    func_attr func_name func_ret_struct_info func_ret_value
    const prim_value str dtype shape tuple ExternFunc TupleGetItem ShapeExpr SeqExpr
    device cpu cuda ext_dev gpu hexagon metal opencl rocm vpi vulkan webgpu
    DTensor device_mesh dist.DTensor dist.device_mesh dist.call_tir dist.const
    call_packed call_py_func dot emit_te linear masked_fill nn.attention_bias nn.embedding nn.relu6
    vm.call_tir_dyn
    """.split()
)
SHORT_DTYPE = re.compile(r"(u?int|bfloat|float|[uif]|bf|bool|boolean)\d*(_?e\w+)?")


def names_in(namespace: ModuleType) -> set[str]:
    """The public names of a module, `nn.relu` for what the module `nn` in it lists."""
    found: set[str] = set()
    for name, value in vars(namespace).items():
        if name.startswith("_") or name == "annotations":
            continue
        inner = isinstance(value, ModuleType) and getattr(value, "__all__", None)
        found |= {f"{name}.{part}" for part in inner} if inner else {name}
    return found


def namespace_problems(names: set[str], operators: Iterable[str]) -> list[str]:
    """How the public names of `R` differ from its notation and the operators of the registry."""
    registered = {name.removeprefix("relax.") for name in operators}
    strangers = {n for n in names - registered - NOTATION if not SHORT_DTYPE.fullmatch(n)}
    return [
        *(f"`R.{name}` is no type, decorator or operator" for name in sorted(strangers)),
        *(f"`R.{name}` is in the registry and not in `R`" for name in sorted(registered - names)),
    ]


def exists(module: str) -> bool:
    """Whether a module is there to be imported; what imports it is not asked."""
    path = ROOT / module.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


OFFER = re.compile("did you mean", re.IGNORECASE)
OFFERING = (f"{PACKAGE}/errors/suggest.py", f"{PACKAGE}/errors/explain/")


def offers_of_their_own(files: Mapping[str, str]) -> list[str]:
    """Where a file words the offer of a name itself, which `errors/suggest.py` does for all."""
    return [
        f"{path}:{node.lineno}: says what was meant in words of its own"
        for path, text in files.items()
        if not path.startswith(OFFERING)
        for statement in nodes_of(text)
        for node in ast.iter_child_nodes(statement)
        if isinstance(node, ast.Constant) and not isinstance(statement, ast.Expr)
        if isinstance(node.value, str) and OFFER.search(node.value)
    ]


def named_operators(files: Mapping[str, str], operators: Iterable[str]) -> list[str]:
    """Where a file outside `op/` names an operator by a literal: it asks for a trait instead.

    The engine in `opdef/` may, since it makes calls of operators that are defined above it.
    Who means one operator imports it, in a table that dispatches on operators too.
    """
    known = set(operators)
    return [
        f"{path}:{node.lineno}: names `{node.value}`; ask for a trait, or import the operator"
        for path, text in files.items()
        if not path.startswith((f"{PACKAGE}/op/", f"{PACKAGE}/opdef/"))
        for node in nodes_of(text)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known
    ]


# ---------------------------------------------------------------- the top level and what files say

TOP = {
    *(PACKAGE, "relaxscript_tests", "tutorials"),
    *("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
}


def strangers_at_the_top(files: Iterable[str]) -> set[str]:
    names = {path.split("/")[0] for path in files}
    return {name for name in names - TOP if not name.startswith(".")}


# The brackets keep this line from finding itself.
MARK = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X])\b")
MACHINE = re.compile(r"(?<![\w/.:~})-])/(work|root|tmp|home|Users)(/|\b(?![\w.-]))")
PICTURE = re.compile(r'"image/[\w+]+": "[^"]*"')


def unwanted_words(path: str, text: str) -> list[str]:
    """Marks of unfinished work, and paths of the machine on which somebody wrote."""
    lines = enumerate(PICTURE.sub("", text).splitlines(), 1)
    return [
        f"{path}:{number}: {found.group()}"
        for number, line in lines
        for pattern in (MARK, MACHINE)
        if (found := pattern.search(line))
    ]


def readable(path: str) -> str:
    try:
        return (ROOT / path).read_text("utf-8")
    except UnicodeDecodeError:
        return ""  # a picture or an archive holds no words
