"""Long lines are broken in their brackets, as formatters of Python break them."""

from __future__ import annotations

import ast

from hypothesis import given, strategies as st

from relaxscript.script.printer.unparser import unparse

from .programs import text


def lines(source: str, width: int = 30) -> str:
    return unparse(ast.parse(source), width)


def test_a_line_that_fits_stays_whole():
    assert lines("value = function(first, sec)") == "value = function(first, sec)"


def test_the_arguments_of_the_last_call_move_to_a_line_of_their_own():
    assert lines("value = function(first, second)") == text("""
        value = function(
            first, second
        )
    """)


def test_arguments_that_do_not_fit_on_a_line_stand_one_to_a_line_with_a_comma():
    assert lines("value = function(first, second, third, fourth)") == text("""
        value = function(
            first,
            second,
            third,
            fourth,
        )
    """)


def test_an_argument_that_is_too_long_is_broken_itself():
    assert lines("v = f(first, g(second_argument, third_argument))") == text("""
        v = f(
            first,
            g(
                second_argument,
                third_argument,
            ),
        )
    """)


def test_a_lone_argument_gets_no_comma():
    assert lines("value = function('a text that is long')") == text("""
        value = function(
            "a text that is long"
        )
    """)


def test_the_parameters_of_a_definition_break_first():
    assert lines("def function(first, second) -> Result: pass") == text("""
        def function(
            first, second
        ) -> Result:
            pass
    """)


def test_a_lone_parameter_gets_a_comma():
    assert lines("def function(first_parameter) -> Result: pass") == text("""
        def function(
            first_parameter,
        ) -> Result:
            pass
    """)


def test_nothing_gets_a_comma_that_would_change_it():
    assert lines("value = something[index_one + index_two]") == text("""
        value = something[
            index_one + index_two
        ]
    """)


def test_operators_break_at_the_weakest_in_parentheses_made_for_them():
    assert lines("value = first * second + third * fourth") == text("""
        value = (
            first * second
            + third * fourth
        )
    """)


def test_conditions_break_as_values_do():
    assert lines("if first_condition and second_condition: pass") == text("""
        if (
            first_condition
            and second_condition
        ):
            pass
    """)


def test_a_head_that_is_too_long_is_broken_too():
    assert lines("x: Annotation(first_one, second_one) = f(first, second, third)") == text("""
        x: Annotation(
            first_one, second_one
        ) = f(first, second, third)
    """)


def test_a_value_moves_into_parentheses_before_an_annotation_is_broken():
    assert lines("y: Annotation(n, 4) = function(1)") == text("""
        y: Annotation(n, 4) = (
            function(1)
        )
    """)
    assert lines("y: Annotation(n, 4) = a_long_name") == text("""
        y: Annotation(n, 4) = (
            a_long_name
        )
    """)


def test_a_line_without_brackets_stays_long():
    long = "a_name_that_is_much_too_long_for_the_line = 1"
    assert lines(long) == long


NAMES = st.sampled_from(["a", "bb", "a_longer_name", "another_quite_long_name"])


def larger(inner: st.SearchStrategy[ast.expr]) -> st.SearchStrategy[ast.expr]:
    several = st.lists(inner, max_size=4)
    load = ast.Load()
    return st.one_of(
        st.builds(lambda f, a: ast.Call(ast.Name(f, load), a, []), NAMES, several),
        st.builds(lambda a: ast.Tuple(a, load), several),
        st.builds(lambda a: ast.List(a, load), several),
        st.builds(lambda a, b: ast.Subscript(a, b, load), inner, inner),
        st.builds(lambda a, b: ast.BinOp(a, ast.Add(), b), inner, inner),
        st.builds(lambda a, b: ast.BinOp(a, ast.Mult(), b), inner, inner),
        st.builds(lambda a, b: ast.BoolOp(ast.And(), [a, b]), inner, inner),
        st.builds(lambda a: ast.UnaryOp(ast.Not(), a), inner),
        st.builds(lambda f, k, a: ast.Call(f, [], [ast.keyword(k, a)]), inner, NAMES, inner),
    )


TREES = st.recursive(NAMES.map(lambda n: ast.Name(n, ast.Load())), larger, max_leaves=20)


@given(TREES, st.integers(8, 80))
def test_breaking_lines_changes_no_meaning(value: ast.expr, width: int):
    statement = ast.Assign([ast.Name("x", ast.Store())], value)
    written = unparse(ast.Module([statement, ast.Return(value)], []), width)
    read = ast.parse(written).body
    assert ast.dump(read[0].value) == ast.dump(value) == ast.dump(read[1].value)


def test_lines_whose_indentation_leaves_no_room_are_broken_as_far_as_possible():
    ifs = "".join(f"{' ' * depth}if c:\n" for depth in range(40))
    source = ast.parse(f"{ifs}{' ' * 40}a[T.int32(0), 1] = f(T.float32(1.0), b)")
    assert ast.dump(ast.parse(unparse(source))) == ast.dump(source)
