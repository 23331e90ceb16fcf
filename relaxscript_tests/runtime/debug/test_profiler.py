"""The report of one call: how often each function ran and how long that took."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import dispatch, register_func
from relaxscript.runtime.debug import profiler
from relaxscript.runtime.debug.profiler import Event, Recorder, Report, Row
from relaxscript_tests.runtime.programs import calling, machine


def test_a_profile_counts_the_calls_and_keeps_the_result():
    def main(ib):
        with ib.function("main", 1):
            ib.emit_call("test.add", [ib.r(0), ib.r(0)], ib.r(1))
            ib.emit_call("test.add", [ib.r(1), ib.r(0)], ib.r(1))
            ib.emit_call("vm.builtin.copy", [ib.r(1)], ib.r(1))
            ib.emit_ret(ib.r(1))

    vm = machine(main, profile=True)
    report = vm.profile("main", np.array(2))
    assert report.result == 6
    assert {row.name: row.count for row in report.rows} == {"test.add": 2, "vm.builtin.copy": 1}
    assert report.seconds >= sum(row.seconds for row in report.rows) > 0


def test_a_function_that_calls_the_machine_again_is_counted_once():
    vm = machine(calling("test.twice"), profile=True)
    register_func("test.twice", lambda x: vm.executable and x)
    assert [row.count for row in vm.profile("main", 1).rows] == [1]


def test_what_is_done_before_a_first_call_is_no_part_of_its_time(monkeypatch):
    """A clock that only the decoding of a function moves on."""
    now = [0.0]
    decode = dispatch.decode

    def slowly(*args):
        now[0] += 1.0
        return decode(*args)

    monkeypatch.setattr(dispatch, "decode", slowly)
    monkeypatch.setattr(profiler.time, "perf_counter", lambda: now[0])
    report = machine(calling("test.add", 2), profile=True).profile("main", 1, 2)
    assert (report.result, report.seconds, now[0]) == (3, 0.0, 1.0)


def test_every_machine_profiles():
    assert machine(calling("test.add", 2)).profile("main", 1, 2).result == 3


def test_a_report_is_written_in_three_forms():
    report = Report([Row("a", 1, 1e-6), Row("b", 2, 3e-6)], 8e-6)
    assert [line.split() for line in report.table().splitlines()] == [
        ["function", "count", "time", "(us)", "percent"],
        ["b", "2", "3.00", "37.5"],
        ["a", "1", "1.00", "12.5"],
        ["total", "8.00"],
    ]
    assert str(report) == report.table()
    assert report.csv() == "name,count,seconds\nb,2,3e-06\na,1,1e-06\n"
    assert json.loads(report.json())["rows"][0] == {"name": "b", "count": 2, "seconds": 3e-06}


def test_a_trace_has_the_whole_call_and_in_it_every_other_with_its_arguments():
    def main(ib):
        with ib.function("main", 1):
            ib.emit_call("test.add", [ib.r(0), ib.r(0)], ib.r(1))
            ib.emit_call("vm.builtin.copy", [ib.r(1)], ib.r(1))
            ib.emit_ret(ib.r(1))

    report = machine(main, profile=True).profile("main", np.zeros((2, 3), "float32"))
    trace = json.loads(report.chrome_trace())
    whole, *inner = trace["traceEvents"]
    assert [event["name"] for event in inner] == ["test.add", "vm.builtin.copy"]
    assert (whole["name"], whole["ts"], whole["tid"]) == ("main", 0, 0)
    assert inner[0]["args"] == dict.fromkeys("01", "a tensor of shape (2, 3) and dtype float32")
    for event in inner:
        assert event["ph"] == "X"
        assert 0 <= event["ts"] <= event["ts"] + event["dur"] <= whole["dur"]


def test_a_trace_counts_microseconds():
    report = Report([], 3e-3, None, [Event("a", 1e-3, 2e-3, 4, ("x",))])
    assert json.loads(report.chrome_trace())["traceEvents"] == [
        {"name": "a", "cat": "relaxscript", "ph": "X", "pid": 0, "tid": 4, "ts": 1000.0,
         "dur": 2000.0, "args": {"0": "x"}},
    ]  # fmt: skip


def test_a_trace_tells_threads_apart():
    recorder = Recorder()

    def call():
        recorder(None, "here", True, None)
        recorder(None, "here", False, None)
        other = threading.Thread(
            target=lambda: (
                recorder(None, "there", True, None),
                recorder(None, "there", False, None),
            )
        )
        other.start()
        other.join()

    report = recorder.run("main", call)
    assert [(event.name, event.thread) for event in report.events] == [
        ("main", 0), ("here", 0), ("there", 1),
    ]  # fmt: skip


def test_a_report_comes_back_from_its_json():
    events = [Event("main", 0.0, 8e-6), Event("a", 1e-6, 1e-6, 1, ("an int",))]
    report = Report([Row("a", 1, 1e-6), Row("b", 2, 3e-6)], 8e-6, None, events)
    again = Report.from_json(report.json())
    assert (again.rows, again.seconds, again.events) == (report.rows, 8e-6, tuple(events))
    assert again.chrome_trace() == report.chrome_trace()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": [3], "seconds": 1}'])
def test_what_is_no_report_is_refused(text):
    with pytest.raises(VMError, match="this is no report as JSON") as caught:
        Report.from_json(text)
    assert caught.value.code == "RX0608"


def test_an_empty_report_has_a_table():
    assert Report([], 0.0).table().endswith("0.00")
