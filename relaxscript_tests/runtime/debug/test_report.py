"""Reports of profiles as text, data, traces and pictures."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.debug.report import Event, Report, Row, SourceLine, SourcePlace, lines_text
from relaxscript_tests.markup import Markup

PLACE = SourcePlace("models/m.py", 3)
SVG = "{http://www.w3.org/2000/svg}"


def test_a_report_is_written_in_three_forms():
    report = Report([Row("a", 1, 1e-6), Row("b", 2, 3e-6)], 8e-6)
    assert [line.split() for line in report.table().splitlines()] == [
        ["function", "count", "time", "(us)", "percent"],
        ["b", "2", "3.00", "37.5"],
        ["a", "1", "1.00", "12.5"],
        ["total", "8.00"],
    ]
    assert str(report) == report.table()
    header = "name,count,seconds,bytes,flops,roof_seconds"
    assert report.csv() == f"{header}\nb,2,3e-06,,,\na,1,1e-06,,,\n"
    first = json.loads(report.json())["rows"][0]
    assert (first["name"], first["count"], first["seconds"]) == ("b", 2, 3e-06)


def test_a_trace_counts_microseconds():
    report = Report([], 3e-3, None, [Event("a", 1e-3, 2e-3, 4, ("x",))])
    assert json.loads(report.chrome_trace())["traceEvents"] == [
        {"name": "a", "cat": "relaxscript", "ph": "X", "pid": 0, "tid": 4, "ts": 1000.0,
         "dur": 2000.0, "args": {"0": "x"}},
    ]  # fmt: skip


def test_a_report_comes_back_from_its_json():
    events = [Event("main", 0.0, 8e-6), Event("a", 1e-6, 1e-6, 1, ("an int",), (PLACE,))]
    rows = [Row("a", 1, 1e-6, 8, 2, 1e-7, (PLACE,)), Row("b", 2, 3e-6)]
    report = Report(rows, 8e-6, None, events, [SourceLine(PLACE, "a = 1", 1e-6)])
    again = Report.from_json(report.json())
    assert (again.rows, again.seconds, again.events) == (report.rows, 8e-6, tuple(events))
    assert (again.lines, again.svg()) == (report.lines, report.svg())
    assert again.chrome_trace() == report.chrome_trace()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": [3], "seconds": 1}'])
def test_what_is_no_report_is_refused(text):
    with pytest.raises(VMError, match="this is no report as JSON") as caught:
        Report.from_json(text)
    assert caught.value.code == "RX0608"


def test_an_empty_report_has_a_table():
    assert Report([], 0.0).table().endswith("0.00")


def test_speeds_and_lines_are_told_where_any_is_known():
    rows = [Row("a", 1, 1e-6, 2000, 4000, 5e-7, (PLACE,)), Row("b", 1, 2e-6)]
    lines = Report(rows, 4e-6).table().splitlines()
    assert lines[0].split()[5:] == ["bytes/s", "flop/s", "roof", "(%)", "lines"]
    assert lines[1].split() == ["b", "1", "2.00", "50.0"]
    assert lines[2].split() == ["a", "1", "1.00", "25.0", "2.00", "GB/s", "4.00", "Gflop/s", "50",
                                "3"]  # fmt: skip


def test_lines_of_several_sources_are_told_with_their_names():
    assert lines_text([PLACE, SourcePlace("models/m.py", 1), PLACE]) == "1, 3"
    assert lines_text([PLACE, SourcePlace("n.ipynb", 2, 4)]) == "m.py:3, n.ipynb[4]:2"


def test_lines_of_cells_are_told_with_their_numbers():
    cell = SourcePlace("<In[2]>", 5)
    assert lines_text([PLACE, cell]) == "Cell In[2]:5, m.py:3"
    report = Report([], 1.0, None, (), [SourceLine(cell, "y = x", 1.0)])
    assert "Cell In[2]:5" in report.svg()


def test_a_trace_tells_the_lines_of_a_call():
    report = Report([], 1.0, None, [Event("a", 0.0, 1.0, 0, ("x",), (PLACE,))])
    (event,) = json.loads(report.chrome_trace())["traceEvents"]
    assert event["args"] == {"0": "x", "lines": "3"}


def test_a_report_in_a_notebook_has_a_table_and_a_picture():
    rows = [Row("<b>&", 1, 1e-6)]
    report = Report(rows, 4e-6, None, (), [SourceLine(PLACE, "a < b", 1e-6)])
    tree = ElementTree.fromstring(report._repr_html_())
    assert tree.find(".//td").text == "<b>&"
    assert tree.find(f".//{SVG}svg") is not None
    assert repr(report) == "<Report of 1 function, 4.00 us>"
    assert "<svg" not in Report(rows, 4e-6).html()


def test_the_lines_of_a_function_say_what_is_on_them():
    row = Row("f", 1, 1e-6, places=(PLACE, SourcePlace("n.ipynb", 2, 4)))
    report = Report([row], 4e-6, None, (), [SourceLine(PLACE, "  y = x", 1e-6)])
    assert Markup(report.html()).hints["m.py:3, n.ipynb[4]:2\n"] == "m.py:3: y = x\nn.ipynb[4]:2: "
