"""The pages of `relaxscript explain`: what one calls wrong gets its code, what it calls right none.

A page whose examples are pieces of programs has a setting for them (`explained_settings.py`). Left
to the tests of what they speak of are those of files, of other packages and of whole passes.
"""

from __future__ import annotations

import linecache
import re
import textwrap
import warnings
from contextlib import suppress

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.compiler import build
from relaxscript.errors import CODES, DiagnosticError, VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import BindingBlock, Expr, Function, MatchCast, PrimValue, Var, VarBinding
from relaxscript.ir.struct_info import ObjectStructInfo, StructInfo, TensorStructInfo
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing import diagnostics_of

from .explained_settings import SETTINGS

EXAMPLE = re.compile(r"^(Wrong|Right):\n\n((?:    .*\n|\n)+)", re.MULTILINE)
WHOLE = re.compile(r"\s*(sizes = .*\s*)?@(R\.function|I\.ir_module|T\.prim_func)")


def examples(page: str) -> dict[str, str]:
    """The two examples of a page by their headings."""
    return {name: textwrap.dedent(text) for name, text in EXAMPLE.findall(page + "\n")}


def is_program(text: str) -> bool:
    return WHOLE.match(text) is not None and "exec(" not in text


PAGES = {
    code: examples(page)
    for code, page in CODES.items()
    if code < "RX06" and all(is_program(text) for text in examples(page).values())
}


def codes_of(text: str) -> set[str]:
    """The codes of what is found when a text is parsed and compiled."""
    constants, _, program = text.rpartition("}\n") if text.startswith("sizes") else ("", "", text)
    extra = {"sizes": {"hidden": 64}} if constants else {}

    def compiled() -> None:
        mod = from_source(program, mode="python", extra_vars=extra)
        build(mod if isinstance(mod, IRModule) else IRModule.from_expr(mod))

    return {diagnostic.code for diagnostic in diagnostics_of(compiled)}


@pytest.mark.parametrize("code", PAGES)
def test_what_a_page_calls_wrong_gets_its_code(code):
    assert codes_of(PAGES[code]["Wrong"]) == {code}


@pytest.mark.parametrize("code", PAGES)
def test_what_a_page_calls_right_is_accepted(code):
    assert codes_of(PAGES[code]["Right"]) == set()


def module_of(function: Function) -> IRModule:
    return IRModule({rx.GlobalVar("main"): function})


def bound_to(value: Expr) -> BindingBlock:
    return BindingBlock([VarBinding(Var("y", ObjectStructInfo()), value)])


def cast_to(info: StructInfo) -> BindingBlock:
    return BindingBlock([MatchCast(Var("y", info), PrimValue(3), info)])


def put_in(setting: str, fragment: str) -> set[str]:
    """The codes of what happens when a fragment runs where it belongs."""
    before, dots, after = setting.partition("...")
    indent = before[len(before.rstrip(" ")) :]
    text = before.rstrip(" ") + textwrap.indent(fragment, indent) + after
    tensor = TensorStructInfo((2, 3), "float32")
    scope = {
        "I": I, "R": R, "T": T, "rx": rx, "relax": rx, "np": np, "TENSOR": tensor,
        "relaxscript": rx, "codes_of": codes_of, "module_of": module_of, "bound_to": bound_to,
        "cast_to": cast_to, "found": set(),
    }  # fmt: skip
    filename = f"<page {len(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, filename, "exec"), scope)
    except DiagnosticError as error:
        return {diagnostic.code for diagnostic in error.diagnostics}
    except VMError as error:
        return {error.code}
    finally:
        for name in ("my.scale", "my.rows"):  # what pages register is forgotten after them
            with suppress(VMError):
                rx.remove_global_func(name)
    found: set[str] = scope["found"]
    return found


@pytest.mark.parametrize("code", SETTINGS)
def test_a_fragment_that_a_page_calls_wrong_gets_its_code(code):
    assert put_in(SETTINGS[code], examples(CODES[code])["Wrong"]) == {code}


@pytest.mark.parametrize("code", SETTINGS)
def test_a_fragment_that_a_page_calls_right_is_accepted(code):
    right = examples(CODES[code])["Right"]
    assert (codes_of(right) if is_program(right) else put_in(SETTINGS[code], right)) == set()


def test_most_pages_show_what_was_run():
    assert len(PAGES) + len(SETTINGS) >= 55


def test_examples_are_taken_out_of_a_page():
    page = "RX1: a\n\nText.\n\nWrong:\n\n    x\n\n    y\n\nRight:\n\n    z\n"
    assert examples(page) == {"Wrong": "x\n\ny\n\n", "Right": "z\n\n"}
