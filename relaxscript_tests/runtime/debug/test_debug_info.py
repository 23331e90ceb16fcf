"""Bytecode in the words of its source."""

from __future__ import annotations

import pytest

from relaxscript.errors import Source
from relaxscript.runtime import ExecBuilder
from relaxscript.runtime.debug.debug_info import (
    Location,
    location,
    names_at,
    starts_of_line,
    starts_of_variable,
)
from relaxscript_tests.runtime.programs import line


@pytest.fixture
def program():
    """`a` and later `b` in one register, behind a branch in line 4."""
    ib = ExecBuilder()
    with ib.function("first", 0):
        ib.emit_call("test.f", [], ib.r(0), span=line(2))
        ib.emit_ret(ib.r(0))
    with ib.function("main", 2, ["x", "y"]):
        ib.emit_call("test.f", [ib.r(0)], ib.r(2), span=line(3))
        ib.variable("a", ib.r(2), 3, 5)
        ib.emit_if(ib.r(2), 3, span=line(4))
        ib.emit_call("test.f", [ib.r(2)], ib.r(2), span=line(5))
        ib.variable("b", ib.r(2), 5, 7)
        ib.emit_goto(1, span=line(4))
        ib.emit_ret(ib.r(2), span=line(6))
    return ib.get()


def test_a_variable_has_its_register_between_its_first_and_last_place(program):
    main = program.functions[program.function_index["main"]]
    named = {pc: set(names_at(main, pc)) - {"x", "y"} for pc in range(2, 7)}
    assert named == {2: set(), 3: {"a"}, 4: {"a"}, 5: {"b"}, 6: {"b"}}


def test_parameters_without_names_are_counted():
    ib = ExecBuilder()
    with ib.function("main", 2):
        ib.emit_ret(ib.r(1))
    assert list(names_at(ib.get().functions[0], 0)) == ["arg0", "arg1"]


def test_a_call_that_makes_a_variable_names_it(program):
    main = program.functions[program.function_index["main"]]
    texts = [location(program, main, pc).text for pc in range(2, 7)]
    assert texts == ["a = test.f(x)", "if a else goto 6", "b = test.f(a)", "goto 6", "return b"]


def test_a_place_in_a_cell_is_told_with_the_number_of_the_cell():
    span = Source("<In[2]>", "f(x)\n").between(0, 4)
    assert str(Location("main", 0, "f(x)", span)) == "`main` at Cell In[2], line 1: f(x)"


def test_places_of_variables_and_lines_are_found(program):
    main = program.functions[program.function_index["main"]]
    assert starts_of_variable(main, "b") == {5}
    assert starts_of_variable(main, "x") == {2}
    assert starts_of_variable(main, "c") == set()
    assert starts_of_line(program, main, 4) == {3}
    assert starts_of_line(program, main, None) == {2, 3, 4, 6}


def test_a_place_without_source_has_no_line(program):
    first = program.functions[0]
    assert location(program, first, 1) == Location("first", 1, "return %0", None)
    assert location(program, first, 1).line is None
    assert str(location(program, first, 1)) == "`first`: return %0"
