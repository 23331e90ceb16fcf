"""Options of printing, and the names that no variable may have."""

from __future__ import annotations

from relaxscript.script.printer.session import Options, Session


def test_options_are_those_of_tvm_with_its_defaults():
    options = Options.read({})
    assert (options.show_meta, options.show_all_struct_info, options.syntax_sugar) == (
        False,
        True,
        True,
    )
    assert (options.ir_prefix, options.tir_prefix, options.relax_prefix) == ("I", "T", "R")
    assert (options.module_alias, options.indent_spaces, options.line_width) == ("cls", 4, 100)


def test_what_a_script_used_is_remembered():
    session = Session(Options(relax_prefix="rx"))
    first = session.member("relax", "nn.relu")
    assert session.member("relax", "nn.relu") is first
    assert session.used == {"relax"}


def test_prefixes_and_the_module_are_reserved():
    session = Session(Options(module_alias="self"), module_name="Mine")
    assert {"I", "T", "R", "self", "Mine", "metadata", "float"} <= session.reserved()
