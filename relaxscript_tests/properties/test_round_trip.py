"""Printing then parsing is the identity, and printing again gives the same text."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from relaxscript.errors import RelaxWarning
from relaxscript.ir.same import structural_equal
from relaxscript.script import from_source, ir, relax, tir
from relaxscript.testing.compare import assert_same
from relaxscript.testing.prim_funcs import prim_funcs
from relaxscript.testing.programs import functions, modules, random_module
from relaxscript_tests import examples

PREFIXES = {"Rx": relax, "Tir": tir, "Ir": ir}
OPTIONS: list[dict[str, Any]] = [
    {"show_all_struct_info": False},
    {"module_alias": ""},
    {"syntax_sugar": False},
    {"relax_prefix": "Rx", "tir_prefix": "Tir", "ir_prefix": "Ir"},
]


# A whole module takes minutes to shrink, and what fails in one fails in a function as a rule.
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


def parsed(text: str) -> Any:
    """The program of a printed text; that something is checked at run time is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        return from_source(text, filename="<printed>", mode="data", extra_vars=PREFIXES)


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


@given(functions())
def test_functions(function):
    check(function)


@given(prim_funcs())
def test_prim_funcs(function):
    check(function)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_under_every_option_that_keeps_the_meaning(options):
    for seed in range(10):
        check(random_module(seed), **options)


def test_different_programs_print_differently():
    texts: dict[str, Any] = {}
    for seed in range(examples(400)):
        mod = random_module(seed)
        known = texts.setdefault(mod.script(show_meta=True), mod)
        assert structural_equal(known, mod)
