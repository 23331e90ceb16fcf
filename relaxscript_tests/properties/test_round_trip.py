"""Printing then parsing is the identity, and printing again gives the same text."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from relaxscript.errors import RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import walk
from relaxscript.script import from_source, ir, relax, tir
from relaxscript.testing.compare import assert_same
from relaxscript.testing.prim_funcs import prim_funcs
from relaxscript.testing.prim_scripts import random_prim_script
from relaxscript.testing.programs import functions, modules, random_module
from relaxscript.testing.scripts import random_script
from relaxscript_tests import examples
from relaxscript_tests.fresh_python import ROOT

pytestmark = pytest.mark.slow

PREFIXES = {"Rx": relax, "Tir": tir, "Ir": ir, "x": relax, "n": tir, "f": ir}
OPTIONS: list[dict[str, Any]] = [
    {"show_all_struct_info": False},
    {"module_alias": ""},
    {"module_alias": "x"},
    {"syntax_sugar": False},
    {"relax_prefix": "Rx", "tir_prefix": "Tir", "ir_prefix": "Ir"},
    {"relax_prefix": "x", "tir_prefix": "n", "ir_prefix": "f"},
    {"verbose_expr": True},
    {"int_dtype": "void", "float_dtype": "float16", "buffer_dtype": "void"},
    {"line_width": 40, "indent_spaces": 2},
]


# A whole module takes minutes to shrink, and what fails in one fails in a function as a rule.
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


def parsed(text: str) -> Any:
    """The program of a printed text; that something is checked at run time is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        return from_source(text, filename="<printed>", mode="data", extra_vars=PREFIXES)


@contextmanager
def blamed_on(seed: int, make: Callable[[int], Any] = random_script) -> Iterator[None]:
    """A failure says which program it was: `random_script(seed)` gives it again."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{make.__name__}({seed}): {error}") from error


def check(program: Any, **options: Any) -> None:
    text = program.script(show_meta=True, **options)
    ast.parse(text)
    again = parsed(text)
    assert_same(again, program)
    assert again.script(show_meta=True, **options) == text


@settings(phases=WITHOUT_SHRINKING)
@given(modules())
def test_modules(mod):
    check(mod)


# One number stands for a share of the seeds, so that a failure names a small one.
@pytest.mark.parametrize("share", range(20))
def test_modules_that_say_everything(share):
    """At the whole effort 30,000 modules; at the tenth of an ordinary run, 3,000."""
    count = examples(1_500)
    for seed in range(share * 1_500, share * 1_500 + count):
        with blamed_on(seed):
            check(random_script(seed))


IMPORTS = "from relaxscript.script import ir as I, relax as R, tir as T\n"


def test_modules_that_python_runs(tmp_path):
    """A script saved to a file and imported is what was printed, its constants included."""
    for seed in range(examples(1_000)):
        mod = random_script(seed)
        path = tmp_path / f"printed_{seed}.py"
        text = IMPORTS + mod.script(show_meta=True)
        path.write_text(text, encoding="utf-8")
        with blamed_on(seed), warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)
            found = [v for v in runpy.run_path(str(path)).values() if isinstance(v, IRModule)]
            assert_same(found[0], mod)


@pytest.mark.parametrize("share", range(4))
def test_prim_funcs_that_say_everything(share):
    count = examples(2_500)
    for seed in range(share * 2_500, share * 2_500 + count):
        with blamed_on(seed, random_prim_script):
            check(random_prim_script(seed))


@given(functions())
def test_functions(function):
    check(function)


@given(prim_funcs())
def test_prim_funcs(function):
    check(function)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_under_every_option_that_keeps_the_meaning(options):
    for seed in range(examples(300)):
        with blamed_on(seed):
            check(random_script(seed), **options)


PRINTS = """
import hashlib
from relaxscript.testing.scripts import random_script
texts = [random_script(seed).script(show_meta=True) for seed in range(40)]
print(hashlib.sha256("".join(texts).encode("utf-8", "surrogatepass")).hexdigest())
"""


def test_every_process_prints_the_same_text():
    found = set()
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", PRINTS], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def test_different_programs_print_differently():
    texts: dict[str, Any] = {}
    for seed in range(examples(400)):
        mod = random_module(seed)
        known = texts.setdefault(mod.script(show_meta=True), mod)
        assert structural_equal(known, mod)


def test_every_part_of_a_program_has_a_script():
    for seed in range(examples(100)):
        functions = [*random_script(seed).functions.values(), random_prim_script(seed)]
        for node in {id(n): n for f in functions for n in walk(f)}.values():
            ast.parse(node.script())
