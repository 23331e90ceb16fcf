"""Sources and spans: characters of the user's own text, as Python counts lines."""

from __future__ import annotations

import ast
import copy
import itertools
import pickle

import pytest
from hypothesis import assume, given, strategies as st

from relaxscript.errors import SequentialSpan, Source, Span

TEXTS = [
    "y = R.add(x, z)\n",
    "é = foo('日本', ü) + bar\n",
    "a = 1\r\nbé = a + c\rd = 'ü' + e\n",
    "\x0cx = 1\ny = '''\x0cé\n''' + x\n",
    "f(\n    é,\n\tü\n)",
    "s = 'a\u2028b\x85c' + d\n",
]


@st.composite
def spans(draw: st.DrawFn, filenames: tuple[str, ...] = ("a.py", "b.py")) -> Span:
    source = Source(draw(st.sampled_from(filenames)), "ab\nécd\n\nf")
    ends = sorted(draw(st.tuples(*[st.integers(0, len(source.text))] * 2)))
    return source.between(*ends)


@pytest.mark.parametrize("text", TEXTS)
def test_every_node_stands_where_python_says_its_text_is(text: str):
    source = Source("f.py", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.expr, ast.stmt)):
            ends = {"\r\n": "\n", "\r": "\n"}
            expected = ast.get_source_segment(text, node)
            found = source.span(node).text
            for end, plain in ends.items():
                found, expected = found.replace(end, plain), expected.replace(end, plain)
            assert found == expected


def test_columns_count_characters_and_not_bytes():
    text = "é = 'ü' + z"
    binop = ast.parse(text).body[0].value
    span = Source("f.py", text).span(binop.right)
    assert (span.line, span.column, span.end_line, span.end_column) == (1, 11, 1, 12)


def test_lines_end_where_the_tokenizer_ends_them():
    lines = Source("f.py", "a\nb\r\nc\rd\x0ce\u2028f\x85g\x0bh").lines
    assert lines == ("a", "b", "c", "d\x0ce\u2028f\x85g\x0bh")


def test_an_empty_text_has_one_empty_line():
    assert Source("f.py", "").lines == ("",)
    assert Source("f.py", "a").line(2) == ""
    assert Source("f.py", "a").line(0) == ""


def test_a_byte_order_mark_is_dropped():
    assert Source("f.py", "\ufeffx = 1").text == "x = 1"


def test_a_node_without_position_stands_where_its_parts_stand():
    text = "with f(x) as y, g:\n    pass\n"
    item = ast.parse(text).body[0].items[0]
    assert Source("f.py", text).span(item).text == "f(x) as y"


def test_a_node_without_parts_stands_in_the_whole_text():
    source = Source("f.py", "a = 1\nb")
    assert source.span(ast.Load()) == source.whole
    assert source.whole.text == "a = 1\nb"


def test_a_node_that_was_made_by_hand_without_an_end_stands_in_the_whole_text():
    source = Source("f.py", "a = 1\nb")
    node = ast.Name("b", ast.Load(), lineno=2, col_offset=0)
    assert source.span(node) == source.whole


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("async  def  fé(x: int): pass", ast.AsyncFunctionDef, "fé"),
        ("@deco\ndef f(x): pass", ast.FunctionDef, "f"),
        ("class Ü(Base): pass", ast.ClassDef, "Ü"),
        ("def f(ü: int): pass", ast.arg, "ü"),
        ("R.sum(é, axis=1)", ast.keyword, "axis"),
        ("é.nn.softmax", ast.Attribute, "softmax"),
        ("f(**more)", ast.keyword, "**more"),
        ("é + x", ast.BinOp, "é + x"),
    ],
)
def test_the_span_of_a_name_is_the_name_alone(text: str, kind: type[ast.AST], name: str):
    source = Source("f.py", text)
    node = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, kind))
    if name == "**more":
        # Python gives the position of the whole keyword; there is no name to point at.
        assert source.name_span(node) == source.span(node)
    else:
        assert source.name_span(node).text == name


def test_a_span_between_offsets_has_their_lines_and_columns():
    source = Source("<printed>", "ab\r\ncd\n")
    span = source.between(1, 5)
    assert (span.line, span.column, span.end_line, span.end_column) == (1, 2, 2, 2)
    assert span.text == "b\r\nc"


@given(st.data())
def test_an_offset_and_its_place_say_the_same(data: st.DataObject):
    source = Source("f.py", data.draw(st.text("ab\né\r")))
    start = data.draw(st.integers(0, len(source.text)))
    span = source.between(start, start)
    # The middle of `\r\n` is no place of its own: it is the end of its line.
    assume(source.text[max(start - 1, 0) : start + 1] != "\r\n")
    assert source.offset(span.line, span.column) == start


def test_places_outside_of_the_text_are_taken_to_its_nearest():
    source = Source("f.py", "ab\ncd")
    assert Span(source, 1, 2, 1, 99).text == "b"
    assert Span(source, 7, 1, 9, 9).text == "cd"
    assert source.between(-3, 99).text == "ab\ncd"


@given(spans(), spans(), spans())
def test_contains_is_a_partial_order(a: Span, b: Span, c: Span):
    assert a.contains(a)
    assert not (a.contains(b) and b.contains(a)) or a == b
    assert not (a.contains(b) and b.contains(c)) or a.contains(c)


@pytest.mark.slow
@given(spans(), spans())
def test_a_cover_is_the_smallest_span_that_contains_both(a: Span, b: Span):
    cover = a.cover(b)
    if a.source != b.source:
        assert cover == a
        return
    assert cover.contains(a)
    assert cover.contains(b)
    assert cover.start in (a.start, b.start)
    assert cover.end in (a.end, b.end)


@given(spans(), spans(), spans())
def test_spans_are_totally_ordered_by_file_and_position(a: Span, b: Span, c: Span):
    assert (a < b) + (a == b) + (a > b) == 1
    assert (a <= b) == (a < b or a == b)
    assert (a >= b) == (b <= a)
    assert not (a < b < c) or a < c
    assert sorted([a, b])[0].filename == min(a.filename, b.filename)


@given(spans(), spans())
def test_equal_spans_have_equal_hashes(a: Span, b: Span):
    twin = Span(Source(a.filename, a.source.text), *a.start, *a.end)
    assert a == twin
    assert hash(a) == hash(twin)
    assert (a == b) == (a.filename == b.filename and a.start == b.start and a.end == b.end)


def test_the_span_of_a_node_equals_the_same_span_made_by_hand():
    source = Source("f.py", "é + x")
    node = ast.parse(source.text).body[0].value.right
    assert source.span(node) == Span(source, 1, 5, 1, 6)
    assert hash(source.span(node)) == hash(Span(source, 1, 5, 1, 6))


def test_spans_of_different_texts_with_one_name_differ():
    a, b = Source("f.py", "x"), Source("f.py", "y")
    assert a.whole != b.whole
    assert not a.whole.contains(b.whole)
    assert (a.whole < b.whole) != (b.whole < a.whole)


def test_a_span_is_no_sequence_and_always_true():
    empty = Source("f.py", "").whole
    assert not hasattr(empty, "__len__")
    assert empty


@pytest.mark.parametrize("name", ["line", "column", "source", "text", "colour"])
def test_a_span_cannot_be_changed(name: str):
    with pytest.raises(AttributeError, match=name):
        setattr(Source("f.py", "x").whole, name, 3)


def test_a_span_is_neither_equal_nor_comparable_to_other_things():
    span = Source("f.py", "x").whole
    assert span != (1, 1, 1, 2)
    assert span.source != "x"
    for compare in ("__lt__", "__le__", "__gt__", "__ge__"):
        assert getattr(span, compare)(3) is NotImplemented


def test_a_span_travels_with_its_source():
    source = Source("f.py", "é + x")
    span = source.span(ast.parse(source.text).body[0].value.right)
    for other in (pickle.loads(pickle.dumps(span)), copy.deepcopy(span)):
        assert other == span
        assert other.text == "x"


def test_spans_that_are_pickled_together_share_their_source():
    source = Source("f.py", "x = y")
    a, b = pickle.loads(pickle.dumps([source.whole, source.between(0, 1)]))
    assert a.source is b.source


def test_a_span_says_where_it_is():
    span = Source("f.py", "é + x").between(4, 5)
    assert str(span) == "f.py:1:5"
    assert repr(span) == "Span(f.py:1:5-1:6)"
    assert repr(span.source) == "Source('f.py', 1 lines)"


def test_every_byte_of_a_line_has_the_column_of_its_character():
    text = "aé日😀b"
    source = Source("f.py", text)
    starts = [0, *itertools.accumulate(len(character.encode()) for character in text)]
    assert [source.character_column(1, byte) for byte in starts] == [1, 2, 3, 4, 5, 6]


def test_a_sequential_span_stands_where_the_last_of_its_pieces_is():
    source = Source("m.py", "h = f(x)\ny = g(h)\n")
    first, last = source.between(4, 8), source.between(13, 17)
    span = SequentialSpan([first, last])
    assert (span, span.text, str(span)) == (last, "g(h)", str(last))
    assert span.spans == (first, last)
    assert last.spans == (last,)


def test_a_sequential_span_of_sequential_spans_has_each_piece_once():
    source = Source("m.py", "h = f(x)\ny = g(h)\n")
    first, last = source.between(4, 8), source.between(13, 17)
    inner = SequentialSpan([first, last])
    assert SequentialSpan([inner, first, last]).spans == (first, last)
    assert pickle.loads(pickle.dumps(inner)).spans == (first, last)
