"""The architecture, held: each check of `architecture.py` on the checkout and on a fault.

The fault is there so that a check which no longer sees anything fails as well.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from types import ModuleType

import pytest

from relaxscript_tests.architecture import (
    FILE_LINES,
    FUNCTION_LINES,
    NAMELESS,
    PACKAGE,
    definitions,
    exists,
    listed_in,
    listing_problems,
    metadata,
    module_of,
    named_operators,
    names_in,
    namespace_problems,
    of_facades,
    offers_of_their_own,
    oversized,
    own_code,
    plain_files,
    private_uses,
    python_files,
    readable,
    star_imports_of_unlisted,
    strangers_at_the_top,
    taken_over,
    tracked_files,
    unpackaged,
    unwanted_words,
    upward_imports,
)
from relaxscript_tests.checks_of_files import problems_found, read_package
from relaxscript_tests.class_names import shared_class_names
from relaxscript_tests.class_towers import classes_of, towers
from relaxscript_tests.docstrings import long_sentences, question_docstrings
from relaxscript_tests.fresh_python import changed_by, imported_by
from relaxscript_tests.messages_read import messages_read
from relaxscript_tests.pages import absent_paths, map_problems


def expect_none(problems: Iterable[str]) -> None:
    """Fail with every problem on a line of its own, which an `assert` would cut short."""
    if text := "\n".join(problems):
        pytest.fail(text, pytrace=False)


def test_problems_are_told_in_full():
    expect_none([])
    with pytest.raises(pytest.fail.Exception, match="a is wrong\nb is wrong"):
        expect_none(["a is wrong", "b is wrong"])


# ---------------------------------------------------------------- imports point down only


@pytest.mark.slow
def test_imports_only_point_down():
    """Imports inside functions and under TYPE_CHECKING too: hiding a cycle is still a cycle."""
    expect_none(upward_imports(read_package()))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ir/node.py", "from relaxscript.op import add"),
        ("ir/node.py", "from ..arith import simplify"),
        ("ir/node.py", "def f():\n    import relaxscript.script.printer"),
        ("ir/node.py", "if TYPE_CHECKING:\n    from .. import op"),
        ("ir/node.py", "importlib.import_module('relaxscript.op')"),
        ("ir/node.py", "from relaxscript.runtime import values"),
        ("ir/node.py", "import relaxscript"),
        ("dtypes.py", "from .errors import Span"),
        ("version.py", "import relaxscript.dtypes"),
        ("errors/span.py", "from ..dtypes import DataType"),
        ("runtime/machine.py", "from ..ir import node"),
        ("runtime/values.py", "from .machine import run"),
        ("sinfo/erase.py", "from ..runtime import machine"),
        ("analysis/free.py", "from ..builder import BlockBuilder"),
        ("builder/scope.py", "from ..interpreter import Interpreter"),
        ("codegen/backend.py", "from ..interpreter.tir import evaluate"),
        ("interpreter/tir.py", "from ..codegen.vm import Kernel"),
        ("runtime/machine.py", "from ..interpreter.environment import Environment"),
        ("op/nn/__init__.py", "from ...builder import BlockBuilder"),
        ("vm.py", "from . import tir"),
        ("helpers.py", ""),
        ("compiler.py", "import relaxscript.helpers"),
    ],
)
def test_an_import_that_points_up_is_found(path: str, text: str):
    files = {
        f"{PACKAGE}/{name}": ""
        for name in ("op/__init__.py", "runtime/values.py", "runtime/machine.py", "ir/node.py")
    }
    assert len(upward_imports({**files, f"{PACKAGE}/{path}": text})) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "ir/node.py",
            "from ..errors import Span\nfrom relaxscript.dtypes import DataType\nimport ast",
        ),
        (
            "op/linear.py",
            "from ..runtime.values import Shape\nfrom ..runtime import values\nfrom . import x",
        ),
        ("runtime/machine.py", "from . import values\nfrom .executable import Executable"),
        ("__init__.py", "from . import compiler, tir\nfrom .script import parser"),
        ("__main__.py", "from relaxscript.cli import main"),
        ("builder/scope.py", "from ..analysis import derive_struct_info"),
        ("interpreter/environment.py", "from ..runtime.packed_func import PackedFunc"),
        ("cli/command.py", "from ..version import __version__"),
        ("op/linear.py", "import relaxscript_tests"),
    ],
)
def test_an_import_that_points_down_is_accepted(path: str, text: str):
    assert upward_imports({f"{PACKAGE}/runtime/values.py": "", f"{PACKAGE}/{path}": text}) == []


# ---------------------------------------------------------------- no private parts of others


@pytest.mark.slow
def test_no_file_uses_the_private_parts_of_another():
    expect_none(problems_found()["private uses"])


@pytest.mark.parametrize(
    "text",
    [
        "from .prim import _fold",
        "from relaxscript.ir._prim import fold",
        "from . import prim\nprim._fold(1)",
        "import relaxscript.ir.prim as p\ndef f():\n    return p.Add._table[0]",
    ],
)
def test_a_use_of_a_private_part_is_found(text: str):
    assert len(private_uses({"relaxscript/ir/walk.py": text})) == 1


def test_own_private_parts_and_those_of_python_are_no_offence():
    text = "import ast\nfrom .prim import Add\n_x = ast._y\nself._z\nAdd.__doc__\nAdd._replace(a=1)"
    assert private_uses({"relaxscript/ir/walk.py": text}) == []


# ---------------------------------------------------------------- facades re-export and do no more


def test_facades_only_re_export():
    expect_none(own_code(of_facades(python_files(PACKAGE))))


def test_the_facades_are_files_and_packages():
    files = ["tir.py", "relax/__init__.py", "relax/op/nn.py", "ir/transform.py", "ir/tir.py"]
    found = of_facades({f"{PACKAGE}/{name}": "" for name in files})
    assert list(found) == [f"{PACKAGE}/{name}" for name in files[:-1]]


def test_code_in_a_facade_is_found():
    text = '"""Doc."""\nfrom .ir.tir import For\n__all__ = ["For"]\n'
    assert own_code({"relaxscript/tir.py": text}) == []
    assert len(own_code({"relaxscript/tir.py": f"{text}def f(): ...\nx = 1"})) == 2
    guarded = "if not TYPE_CHECKING:\n    from .errors import f as __getattr__\n"
    assert own_code({"relaxscript/tir.py": text + guarded}) == []
    answering = f"{guarded}    _answer_for(__path__)\n"
    assert own_code({"relaxscript/tir.py": text + answering}) == []
    assert len(own_code({"relaxscript/tir.py": f"{text}{guarded}    x = 1"})) == 1


# ---------------------------------------------------------------- sizes and names of files


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["relaxscript_tests", "tutorials", ".ci"])
def test_files_and_functions_stay_small(folder: str):
    expect_none(oversized(python_files(folder)))


@pytest.mark.slow
def test_files_and_functions_of_the_package_stay_small():
    expect_none(problems_found()["sizes"])


def test_a_file_or_function_that_grew_too_long_is_found():
    function = "def f():\n" + "    pass\n" * (FUNCTION_LINES - 1)
    assert oversized({"a.py": function + "\n" * (FILE_LINES - FUNCTION_LINES)}) == []
    assert oversized({"a.py": function + "    pass\n"}) == ["a.py:1: `f` has 61 lines"]
    assert oversized({"a.py": "\n" * (FILE_LINES + 1)}) == ["a.py has 601 lines"]
    assert len(oversized({"a.py": "class A:\n  async " + (function + "    pass\n")})) == 1


@pytest.mark.slow
def test_classes_are_no_towers():
    expect_none(towers(read_package()))


def test_a_class_that_is_too_deep_or_too_large_is_found():
    methods = "".join(f"    def m{i}(self): ...\n" for i in range(40))
    more = methods.replace("m", "n")
    first = f"class A(dict[str, int]):\n{methods}"
    files = {
        "relaxscript/op/a.py": first,
        "relaxscript/op/b.py": f"from .a import A\nclass B(A):\n{methods}\nclass C(B):\n    pass\n",
        "relaxscript/op/c.py": f"from .b import C\nclass D(C):\n    pass\nclass E(A):\n{more}",
        "relaxscript/op/d.py": f"from .a import A\nclass F(A):\n{more}",
    }
    assert towers(files) == [
        "relaxscript/op/c.py:2: `D` is 4 classes deep",
        "relaxscript/op/d.py:2: `F` has 80 methods",
    ]
    assert towers({path.replace("op", "ir"): text for path, text in files.items()}) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("e.py", "from .b import C as B\nclass D(B[int]):\n    pass"),
        ("e.py", "from relaxscript.op import C\nclass D(C):\n    pass"),
        ("e.py", "from relaxscript import op\nclass D(op.C):\n    pass"),
        ("e.py", "from . import b\nclass D(b.C):\n    pass"),
        ("e.py", "import relaxscript.op.b\nclass D(relaxscript.op.b.C):\n    pass"),
        ("e.py", "import relaxscript.op.b as b\nBase = b.C\nclass D(Base):\n    pass"),
        ("e.py", "from relaxscript.op.all import *\nclass D(C):\n    pass"),
        ("e.py", "from relaxscript.op.later import *\nclass D(Last):\n    pass"),
        ("e.py", "if True:\n    from .later import Last\n    class D(Last):\n        pass"),
        ("x/e.py", "from .. import C\nclass D(C):\n    pass"),
        ("x/__init__.py", "from ..later import relaxscript as r\nclass D(r.op.C):\n    pass"),
    ],
)
def test_a_base_is_followed_through_the_names_that_it_has(path: str, text: str):
    files = {
        "relaxscript/op/a.py": "class A:\n    pass\nclass B(A):\n    pass\n",
        "relaxscript/op/b.py": "from .a import B\nclass C(B):\n    pass",
        "relaxscript/op/all.py": "from . import all\nfrom .all import D\nfrom .b import *",
        "relaxscript/op/__init__.py": "from .all import C",
        "relaxscript/op/later.py": "import relaxscript\nLast = relaxscript.op.C",
    }
    assert towers(files) == []
    (problem,) = towers({**files, f"relaxscript/op/{path}": text})
    assert problem.endswith("`D` is 4 classes deep")


def test_names_that_lead_in_circles_are_those_of_no_class():
    files = {
        "relaxscript/op/__init__.py": "from .a import a\nfrom .b import *",
        "relaxscript/op/a.py": "from . import a\na = a.a\nclass A(a.B, b.B):\n    pass",
        "relaxscript/op/b.py": "from . import *\nclass B(C):\n    pass",
    }
    assert [shape.bases for shape in classes_of(files).values()] == [(), ()]


@pytest.mark.slow
def test_the_bases_that_are_read_are_those_that_python_finds():
    read = classes_of(read_package())
    made = {
        name: getattr(importlib.import_module(module), own)
        for name in read
        for module, _, own in [name.rpartition(".")]
    }
    classes = set(made.values())
    for name, shape in read.items():
        ours = [base for base in made[name].__bases__ if base in classes]
        assert [made[base] for base in shape.bases] == ours, name


def test_every_file_is_named_after_what_it_holds():
    expect_none(path for path in python_files(PACKAGE) if NAMELESS.search(path))


@pytest.mark.parametrize(
    "path", ["relaxscript/core.py", "relaxscript/ir/utils.py", "a/_internal/b.py"]
)
def test_a_file_named_after_nothing_is_found(path: str):
    assert NAMELESS.search(path)
    assert not NAMELESS.search("relaxscript/ir/score.py")


# ---------------------------------------------------------------- what an installation holds


def test_an_installation_holds_the_whole_package():
    data = metadata()["options.package_data"][PACKAGE].split()
    assert "py.typed" in data
    expect_none(unpackaged(tracked_files(), data))


def test_a_folder_or_file_that_would_not_be_installed_is_found():
    there = ["relaxscript/__init__.py", "relaxscript/py.typed", "README.md", "tests/a.py"]
    assert (
        unpackaged([*there, "relaxscript/a/__init__.py", "relaxscript/a/b.py"], ["py.typed"]) == []
    )
    assert unpackaged([*there, "relaxscript/a/b/__init__.py"], ["py.typed"]) == [
        "relaxscript/a has no `__init__.py`"
    ]
    assert unpackaged([*there, "relaxscript/a.toml"], ["py.typed", "b.json"]) == [
        "relaxscript/a.toml is not among the package data of setup.cfg",
        "relaxscript/b.json is not there",
    ]


def test_the_version_stands_in_one_place_and_is_the_newest_of_the_changelog():
    assert metadata()["metadata"]["version"] == "attr: relaxscript.version.__version__"
    version = importlib.import_module(PACKAGE).__version__
    headings = re.findall(r"^## \[(.*?)\]", readable("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == version


# ---------------------------------------------------------------- public names


def test_all_of_packages_and_operator_families_is_what_they_define():
    problems = []
    for path, text in python_files(PACKAGE).items():
        if not (path.endswith("/__init__.py") or "/op/" in path):
            continue
        defined = definitions(text)
        if path.endswith("__init__.py"):
            defined |= taken_over(path, text, listed_in)
        problems += listing_problems(path, defined, importlib.import_module(module_of(path)))
    expect_none(problems)


@pytest.mark.slow
def test_a_star_import_takes_only_what_is_listed():
    expect_none(star_imports_of_unlisted(read_package()))
    files = {"relaxscript/op/a.py": "x = 1", "relaxscript/op/__init__.py": "from .a import *"}
    assert len(star_imports_of_unlisted(files)) == 1


def test_a_wrong_list_of_public_names_is_found():
    def problems(text: str) -> list[str]:
        module = ModuleType("m")
        exec(text, module.__dict__)
        return listing_problems("m.py", definitions(text), module)

    assert problems("import ast\nT = 1\n_u = 2\n__all__ = ['T']") == []
    assert problems("from typing import TypeVar\nN = TypeVar('N')") == []
    assert problems("def f(): ...") == ["m.py has no `__all__`"]
    assert problems("class A: ...\nx, y = 1, 2\n__all__ = ['A', 'x']") == [
        "m.py defines `y` and does not list it in `__all__`"
    ]
    assert problems(
        "try:\n    z: int = 1\nfinally:\n    pass\n__all__ = ['z', 'z', 'q', '_p']\n_p = 1"
    ) == [
        "m.py lists `q`, which it has not",
        "m.py lists `z` twice",
        "m.py lists the private `_p`",
    ]


def test_what_a_file_takes_over_from_others_is_seen():
    text = (
        "from .a import f, _g\nfrom .b import *\nfrom . import c\nimport numpy as np\n"
        "def k():\n    from .d import e"
    )
    assert taken_over("relaxscript/op/__init__.py", text, lambda module: [f"{module}.x"]) == {
        "f",
        "relaxscript.op.b.x",
        "c",
    }


def test_the_public_names_of_r_are_its_notation_and_the_registry():
    names: set[str] = set()
    operators: list[str] = []
    if exists("relaxscript.script.relax"):
        names = names_in(importlib.import_module("relaxscript.script.relax"))
        operators = list(importlib.import_module("relaxscript.op").REGISTRY)
    expect_none(namespace_problems(names, operators))


@pytest.mark.slow
def test_what_is_known_of_operators_is_asked_of_them():
    expect_none(problems_found()["operators named"])


@pytest.mark.slow
def test_a_class_name_means_one_thing():
    expect_none(shared_class_names(read_package()))


def test_a_class_name_that_means_two_things_is_found():
    files = {
        "a.py": "class Scope: ...\nclass _Own: ...\nclass Var: ...",
        "b.py": "class Scope: ...\nclass _Own: ...\nclass Var: ...",
    }
    assert shared_class_names(files) == ["Scope is a class of a.py and of b.py"]


@pytest.mark.slow
def test_docstrings_begin_with_a_noun_phrase_or_an_imperative():
    expect_none(problems_found()["docstrings like questions"])


def test_a_docstring_that_begins_like_a_question_is_found():
    text = (
        '"""Whether."""\n\n\ndef f():\n    """What it is."""\n\n\ndef g():\n    """Whatever."""\n'
    )
    assert [problem.split(": ")[0] for problem in question_docstrings({"a.py": text})] == [
        "a.py:1", "a.py:5",
    ]  # fmt: skip


@pytest.mark.slow
def test_sentences_of_docstrings_are_short():
    expect_none(problems_found()["long sentences"])


def test_a_sentence_of_a_docstring_that_is_too_long_is_found():
    text = '"""A page.\n\n{} end. `{}` ({})\n"""\n'
    assert long_sentences({"a.py": text.format("n " * 19, "n " * 30, "n " * 30)}) == []
    assert len(long_sentences({"a.py": text.format("n " * 20, "n", "n")})) == 1


@pytest.mark.slow
def test_no_parser_reads_a_message():
    expect_none(problems_found()["messages read"])


def test_a_message_that_is_read_is_found():
    text = """
if "not a tensor" in error.fact: pass
said, _, help = str(error).partition("; ")
plain = (warning.message or "").removesuffix(END)
re.search("T[.]", diagnostic.help)
raise cx.error(node, error.code, error.message, help=error.help, at=text.partition(":"))
"""
    found = messages_read({"relaxscript/script/a.py": text})
    assert [problem.partition(": ")[0][-1] for problem in found] == ["2", "3", "4", "5"]


@pytest.mark.slow
def test_what_was_meant_is_offered_in_one_place():
    expect_none(problems_found()["offers"])


def test_an_offer_of_its_own_is_found():
    text = '"""Did you mean."""\nhelp = f"did you mean `{near}`?"\nnote("; did you mean x?")'
    found = offers_of_their_own({"relaxscript/a.py": text, "relaxscript/errors/suggest.py": text})
    assert [problem.partition(": ")[0] for problem in found] == [
        "relaxscript/a.py:2",
        "relaxscript/a.py:3",
    ]


def test_an_operator_that_is_named_by_a_literal_is_found():
    text = 'FREEING = {"relax.add", "relax.force_pure"}\nREGISTRY["relax.sum"]'
    operators = ["relax.add", "relax.sum"]
    found = named_operators({"relaxscript/transform/a.py": text}, operators)
    assert [problem.split(";")[0] for problem in found] == [
        "relaxscript/transform/a.py:1: names `relax.add`",
        "relaxscript/transform/a.py:2: names `relax.sum`",
    ]
    assert named_operators({"relaxscript/op/a.py": text}, operators) == []


def test_a_name_too_many_or_too_few_in_r_is_found():
    nn = ModuleType("nn")
    vars(nn).update(relu=1, helper=2, __all__=["relu"])
    script = ModuleType("script")
    vars(script).update(add=1, Tensor=2, f32=3, nn=nn, annotations=4, _private=5)
    names = names_in(script)
    assert namespace_problems(names, ["relax.add", "relax.nn.relu"]) == []
    assert namespace_problems({*names, "np", "nn.x"}, ["add", "nn.relu"]) == [
        "`R.nn.x` is no type, decorator or operator",
        "`R.np` is no type, decorator or operator",
    ]
    assert namespace_problems(names, ["add", "nn.relu", "nn.gelu"]) == [
        "`R.nn.gelu` is in the registry and not in `R`"
    ]


# ---------------------------------------------------------------- what importing the package does


@pytest.mark.slow
def test_importing_the_package_imports_nothing_heavy():
    assert imported_by("import relaxscript") == []


def test_a_heavy_import_is_found():
    assert imported_by("import pygments.token, astunparse") == ["astunparse", "pygments"]


@pytest.mark.slow
def test_importing_the_package_changes_nothing_that_belongs_to_everybody():
    assert changed_by("import relaxscript") == [[]]


def test_a_change_of_what_belongs_to_everybody_is_found():
    faults = {
        "sys.excepthook = print": "sys.excepthook",
        "sys.displayhook = print": "sys.displayhook",
        "sys.path.insert(0, 'x')": "sys.path",
        "sys.setrecursionlimit(12345)": "sys.getrecursionlimit",
        "builtins.relax = 1": "builtins",
        "warnings.simplefilter('ignore')": "warnings.filters",
        "signal.signal(signal.SIGINT, lambda *_: None)": "signal",
        "os.environ['OMP_NUM_THREADS'] = '1234'": "os.environ",
        "threading.excepthook = print": "threading.excepthook",
        "inspect.getfile = print": "inspect",
        "linecache.checkcache = print": "linecache",
        "numpy.seterr(divide='raise')": "numpy.geterr",
        "logging.basicConfig(level=10)": "logging",
        "random.seed(1)": "random",
        "atexit.register(print)": "atexit",
    }
    assert changed_by(*faults) == [[name] for name in faults.values()]


def test_every_hook_of_the_ir_is_filled():
    """`ir/` calls a few functions of later rooms; importing these fills each of them in."""
    unfilled: list[str] = []
    if exists("relaxscript.ir.hooks"):
        for room in ("arith", "builder", "script", "graph", "semantics.packed_calls"):
            importlib.import_module(f"{PACKAGE}.{room}")
        unfilled = importlib.import_module("relaxscript.ir.hooks").unfilled()
    expect_none(unfilled)


# ---------------------------------------------------------------- the map in the README


def test_the_map_of_the_readme_is_that_of_the_house():
    expect_none(map_problems(readable("README.md"), python_files(PACKAGE)))


def test_a_map_of_another_house_is_found():
    files = ["relaxscript/ir/a.py", "relaxscript/dtypes.py", "relaxscript/__main__.py"]
    assert map_problems("| `dtypes.py` | a |\n| `ir/` | b |", files) == []
    assert map_problems("| `ir/` | b |\n| `dtypes.py` | a |", files) == [
        "the map of the README has another order"
    ]
    assert map_problems("| `dtypes.py`, `arith/` | the `ir` |", files) == [
        "the map of the README has no `ir`",
        "the map of the README has `arith`",
    ]


# ---------------------------------------------------------------- the top level and what files say


def test_what_contributors_are_told_of_is_there():
    expect_none(absent_paths(readable("CONTRIBUTING.md"), tracked_files()))


def test_a_file_that_contributors_are_told_of_in_vain_is_found():
    page = "`op/add.py`, `ir/`, `te.py` and `x/y.py`, not `op/sub.py`"
    assert absent_paths(page, ["relaxscript/op/add.py"]) == ["there is no `op/sub.py`"]


def test_the_top_level_holds_nothing_else():
    expect_none(strangers_at_the_top(tracked_files()))


def test_without_git_the_same_python_files_are_found():
    def sources(files: list[str]) -> set[str]:
        return {path for path in files if path.endswith(".py") and not path.startswith(".")}

    assert sources(plain_files()) == sources(tracked_files())


def test_a_stranger_at_the_top_level_is_found():
    files = ["README.md", "relaxscript/a.py", ".ci/run", "docs/index.md", "setup.py"]
    assert strangers_at_the_top(files) == {"docs", "setup.py"}


@pytest.mark.slow
def test_no_file_is_unfinished_or_names_a_path_of_a_machine():
    expect_none(p for path in tracked_files() for p in unwanted_words(path, readable(path)))


# Written with `|` in them, for this file is searched as well.
@pytest.mark.parametrize(
    "word", ["TO|DO: x", "# XX|X", "FIX|ME", "'/|tmp/a'", "cd /|root", " /|work/main", "/|home/me"]
)
def test_an_unwanted_word_is_found(word: str):
    assert len(unwanted_words("a.py", "x = 1\n" + word.replace("|", ""))) == 1


def test_a_harmless_word_is_no_offence():
    text = "https://a.org/tmp/x a/work/b tmp_path XXXL and/or ../root $HOME/tmp/x"
    assert unwanted_words("a.py", text) == []
