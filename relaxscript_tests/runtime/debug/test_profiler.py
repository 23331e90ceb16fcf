"""The report of one call: how often each function ran and how long that took."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from relaxscript.errors import SequentialSpan, Source
from relaxscript.runtime import VirtualMachine, dispatch, register_func
from relaxscript.runtime.debug import profiler
from relaxscript.runtime.debug.profiler import Recorder
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


class Kernel:
    """A kernel that makes something at its first call, unless it was told to before."""

    def __init__(self):
        self.done = []

    def prepare(self):
        self.done.append("prepared")

    def __call__(self, x):
        self.done.append("called")
        return x


def test_what_a_first_call_makes_is_made_before_the_time_runs():
    kernel = Kernel()
    executable = machine(calling("test.kernel", 1)).executable.link({"test.kernel": kernel})
    VirtualMachine(executable).profile("main", 1)
    assert kernel.done == ["prepared", "called"]


def test_every_machine_profiles():
    assert machine(calling("test.add", 2)).profile("main", 1, 2).result == 3


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


def test_a_trace_tells_threads_apart():
    recorder = Recorder()
    here, there = (recorder.wrap(name, lambda: None) for name in ("here", "there"))

    def call():
        here()
        other = threading.Thread(target=there)
        other.start()
        other.join()

    report = recorder.run("main", call)
    assert [(event.name, event.thread) for event in report.events] == [
        ("main", 0), ("here", 0), ("there", 1),
    ]  # fmt: skip


class Inner:
    """Times of two calls that a kernel made, half a second and a second after the beginning."""

    def __init__(self, kernel):
        self.began, self.done, self.kernel = 0.0, 0, kernel

    def begin(self):
        self.began = profiler.time.perf_counter()

    def count(self):
        return self.done

    def __call__(self):
        self.kernel()
        self.done = 2

    def taken(self):
        yield "first", SOURCE.between(0, 5), self.began + 0.5, 0.25
        yield "second", SOURCE.between(6, 11), self.began + 1.0, 0.5


SOURCE = Source("m.py", "a = 1\nb = 2\nc = 3\n")


@pytest.fixture
def clock(monkeypatch):
    """A clock that only a test moves on."""
    now = [0.0]
    monkeypatch.setattr(profiler.time, "perf_counter", lambda: now[0])
    return now


def test_a_kernel_that_took_times_itself_is_replaced_by_what_it_called(clock):
    inner = Inner(lambda: clock.__setitem__(0, 2.0))
    recorder = Recorder(None, [inner])
    kernel = recorder.wrap("kernel", inner, SOURCE.between(0, 17))
    other = recorder.wrap("other", lambda: clock.__setitem__(0, 2.5), SOURCE.between(12, 17))
    report = recorder.run("main", lambda: (kernel(), other()))
    assert [(row.name, row.seconds) for row in report.rows] == [
        ("other", 0.5), ("second", 0.5), ("first", 0.25),
    ]  # fmt: skip
    assert [(event.name, event.start) for event in report.events] == [
        ("main", 0.0), ("kernel", 0.0), ("other", 2.0), ("first", 0.5), ("second", 1.0),
    ]  # fmt: skip


def test_a_call_of_a_kernel_is_inside_of_it_whatever_the_clocks_say(clock):
    inner = Inner(lambda: clock.__setitem__(0, 1.25))
    recorder = Recorder(None, [inner])
    report = recorder.run("main", recorder.wrap("kernel", inner))
    assert [(event.start, event.seconds) for event in report.events[2:]] == [
        (0.5, 0.25), (1.0, 0.25),
    ]  # fmt: skip


def test_lines_have_the_seconds_of_what_they_compute(clock):
    recorder = Recorder()
    both = SequentialSpan([SOURCE.between(0, 5), SOURCE.between(12, 17)])
    fused = recorder.wrap("fused", lambda: clock.__setitem__(0, 1.0), both)
    lines = recorder.run("main", fused).lines
    assert [(line.place.line, line.text, line.seconds) for line in lines] == [
        (1, "a = 1", 0.5), (2, "b = 2", 0.0), (3, "c = 3", 0.5),
    ]  # fmt: skip


def test_bytes_and_operations_are_those_of_all_calls_of_a_function(clock):
    def amounts(name, span, args):
        return (None, None, None) if name == "b" else (args[0][0], 10, 1e-6)

    recorder = Recorder(amounts)
    a, b = (recorder.wrap(name, lambda x: x) for name in "ab")
    report = recorder.run("main", lambda: (a(np.zeros(3)), a(np.zeros(5)), b(1)))
    assert [(row.name, row.count, row.moved, row.flops, row.roof) for row in report.rows] == [
        ("a", 2, 8, 20, 2e-6), ("b", 1, None, None, None),
    ]  # fmt: skip
