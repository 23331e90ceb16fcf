"""What a script used, and the names that nothing in it may have."""

from __future__ import annotations

import pytest

from relaxscript.ir.module import IRModule
from relaxscript.script.printer.options import Options
from relaxscript.script.printer.session import Session


def test_what_a_script_used_is_remembered():
    session = Session(Options(relax_prefix="rx"))
    first = session.member("relax", "nn.relu")
    assert session.member("relax", "nn.relu") is first
    assert session.used == {"relax"}


def test_prefixes_and_the_module_are_reserved():
    session = Session(Options(module_alias="self"), module_name="Mine")
    assert {"I", "T", "R", "self", "Mine", "metadata", "float"} <= session.reserved()


@pytest.mark.parametrize(
    ("name", "printed"),
    [("Mine", "Mine"), ("R", "R_1"), ("cls", "cls_1"), ("metadata", "metadata_1"), ("if", "if_")],
)
def test_a_module_has_its_own_name_unless_that_means_something_else(name, printed):
    session = Session()
    session.name_module(name, IRModule())
    assert session.module_name == printed


@pytest.mark.parametrize(
    ("name", "printed"),
    [("main", "main"), ("R", "R_1"), ("a.b", "a_b"), ("__init__", "v__init__"), ("cls", "cls")],
)
def test_a_function_has_its_own_name_unless_a_class_would_misread_it(name, printed):
    assert Session().function_name(name) == printed


def test_a_prefix_with_dots_reserves_its_first_name():
    assert "my" in Session(Options(relax_prefix="my.relax")).reserved()
