"""Explanations as text, HTML and data, from rows that were made by hand."""

from __future__ import annotations

from xml.etree import ElementTree

from relaxscript.errors import Source
from relaxscript.runtime.debug.explanation import Amount, Explanation, KernelRow, Roof, lines_of
from relaxscript_tests.markup import Markup

SOURCE = Source("model.py", "a\nb\nc\nd\n")
ROOF = Roof(((1024, 4e9), (1 << 20, 1e9)), 8e9, "said by a test")


def row(name: str = "add", *, moved: int = 512, flops: int = 64, calls: int = 1) -> KernelRow:
    read, written = Amount(f"{moved - 8}", moved - 8), Amount("8", 8)
    spans = (SOURCE.between(0, 1), SOURCE.between(2, 3), SOURCE.between(6, 7))
    return KernelRow(
        "main", name, "kernel", calls, ("add",), spans, "elemwise", "plain", "no rule fits",
        read, written, Amount("n * 2", flops),
    )  # fmt: skip


def test_lines_and_schedules_say_more_where_one_points_at_them():
    hints = Markup(Explanation([row()], "llvm", {}, ROOF).html()).hints
    assert hints == {
        "1-2, 4\n": "model.py:1: a\nmodel.py:2: b\nmodel.py:4: d", "plain\n": "no rule fits",
    }  # fmt: skip


def test_the_speed_is_that_of_the_least_size_that_holds_the_bytes():
    assert [ROOF.bytes_per_second(size) for size in (1, 1024, 1025, 1 << 30)] == [
        4e9, 4e9, 1e9, 1e9,
    ]  # fmt: skip


def test_the_longer_of_moving_and_computing_is_the_time():
    slow = row(moved=512, flops=8000, calls=3)
    explained = Explanation([row(moved=512, flops=8), slow], "llvm", {}, ROOF)
    assert [explained.seconds(each) for each in explained.kernels] == [512 / 4e9, 3e-6]
    assert [explained.bound(each) for each in explained.kernels] == ["memory", "arithmetic"]
    assert explained.total_seconds == 512 / 4e9 + 3e-6


def test_operations_on_floats_of_twice_the_size_take_twice_as_long():
    assert ROOF.seconds(8, 8000, 8) == 2 * ROOF.seconds(8, 8000)
    assert (ROOF.bound(1000, 1500), ROOF.bound(1000, 1500, 8)) == ("memory", "arithmetic")


def test_a_table_has_a_line_for_each_kernel_and_the_reasons_behind():
    lines = str(Explanation([row()], "llvm", {"n": 3}, ROOF)).splitlines()
    assert lines[0] == "kernels for llvm, n=3"
    assert lines[3].split() == [
        "main", "add", "1", "add", "1-2,", "4", "plain", "504", "B", "8", "B", "64", "128", "ns",
        "(memory)",
    ]  # fmt: skip
    assert lines[5] == "add: plain, no rule fits"
    assert lines[-1] == (
        "roof of one core: 1.00 GB/s for 1.00 MiB, 4.00 GB/s for 1.00 KiB, 8.00 Gflop/s "
        "(said by a test)"
    )


def test_a_name_with_signs_of_markup_is_text_in_html():
    explained = Explanation([row("<b>&\"'")], "llvm", {}, None)
    tree = ElementTree.fromstring(explained.html())
    assert [cell.text for cell in tree.findall(".//td")][1] == "<b>&\"'"
    assert tree.find(".//b") is None


def test_an_explanation_of_nothing_has_a_header_only():
    assert len(str(Explanation([], "llvm", {}, None)).splitlines()) == 3


def test_lines_of_several_files_are_told_with_their_names():
    other = Source("models/other.py", "a\nb\n").between(2, 3)
    assert lines_of([SOURCE.between(0, 1), other]) == "model.py:1; other.py:2"
    assert lines_of([]) == ""


def test_lines_of_several_cells_are_told_with_their_numbers():
    first, second = (Source(f"<In[{k}]>", "a\nb\n").between(0, 3) for k in (1, 2))
    assert lines_of([first, second]) == "Cell In[1]:1-2; Cell In[2]:1-2"
