"""The harness that measures peers: what it asks, what it makes of answers, and what it reports."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from relaxscript_tests.benchmarks.peers import command, environments
from relaxscript_tests.benchmarks.peers.chart import svg
from relaxscript_tests.benchmarks.peers.clock import Calls, WrongResult, difference
from relaxscript_tests.benchmarks.peers.conversation import Conversation, WorkerFailed
from relaxscript_tests.benchmarks.peers.environments import Absence, interpreters
from relaxscript_tests.benchmarks.peers.measuring import (
    QUICK,
    Bench,
    Effort,
    Figures,
    measured,
    sides_of,
)
from relaxscript_tests.benchmarks.peers.report import Conditions, report, seconds
from relaxscript_tests.benchmarks.peers.results import load, ratio_of, ratios, save
from relaxscript_tests.benchmarks.peers.sides import (
    by_numpy,
    by_ours,
    compiler,
    compiler_by_ours,
)
from relaxscript_tests.benchmarks.peers.table import MEASUREMENTS, ROWS, Measurement, Row, Side
from relaxscript_tests.benchmarks.peers.worker import blas, line_of, serve
from relaxscript_tests.benchmarks.peers.workloads import WORKLOADS

MODULE = "relaxscript_tests.benchmarks.peers.sides.by_example"
EXAMPLE = Row("row", "an example", "example", ("jax", "torch"), must=2.0, aim=1.0)
CONDITIONS = Conditions("a day", "abc", "command", ["a machine"], "pinned", "low", ["jax: gone"])


def figures(peer: str, *wall: float, failure: str = "") -> Figures:
    return Figures(Side(peer), list(wall), [w / 2 for w in wall], failure=failure, error=1e-7)


def answers(behaviour: str, *requests: dict[str, object]) -> list[dict[str, object]]:
    """What a worker in this process says to requests."""
    told: list[dict[str, object]] = []
    lines = iter([*(json.dumps(request) for request in requests), ""])
    serve(lambda: next(lines), told.append, {"module": MODULE, "workload": behaviour})
    return told


# ---------------------------------------------------------------- a worker


def test_a_worker_says_what_it_has_then_answers_each_request():
    ready, prepared, sample = answers("works", {"do": "prepare"}, {"do": "sample", "seconds": 0.0})
    assert ready["versions"]["python"] == sys.version.split()[0]
    assert ready["versions"].keys() >= blas().keys()
    assert prepared["error"] == 0.0
    assert len(sample["wall"]) == len(sample["cpu"]) == 1
    assert sample["wall"][0] > 0


def test_a_new_process_tells_its_parts_and_what_it_imports():
    _, once = answers("works", {"do": "rehearse"})
    assert list(once["parts"]) == ["load", "compile", "first call"]
    assert once["wall"] == [pytest.approx(sum(once["parts"].values()))]
    assert once["imports"] == []


def test_the_library_of_products_is_named_where_numpy_says_it(monkeypatch):
    assert len(blas()) == 1
    monkeypatch.setitem(sys.modules, "numpy", ModuleType("numpy"))
    assert blas() == {}


def failure_of(behaviour: str) -> str:
    told: list[dict[str, str]] = []
    lines = iter(['{"do": "prepare"}', ""])
    with pytest.raises(SystemExit):
        serve(lambda: next(lines), told.append, {"module": MODULE, "workload": behaviour})
    return told[-1]["failed"]


def test_a_wrong_result_is_a_failure_before_anything_is_timed():
    assert failure_of("wrong") == "WrongResult: the result is 5.0e-01 from numpy's"


def test_a_failure_is_one_line_without_the_paths_of_the_machine():
    assert failure_of("raises") == "LookupError: nothing under .../some file and more"
    assert len(line_of(ValueError("long " * 200))) == 300


def test_a_result_of_another_shape_is_wrong():
    x = WORKLOADS["mlp"].inputs()["x"]
    assert difference(x, x) == 0.0
    with pytest.raises(WrongResult, match=r"the shape \(64,\), not \(1, 64\)"):
        difference(x[0], x)


# ---------------------------------------------------------------- its other end


@pytest.mark.slow
def test_what_a_library_prints_is_no_answer():
    with Conversation(sys.executable, {"module": MODULE, "workload": "prints"}) as talk:
        talk.ready()
        assert talk.ask("prepare")["error"] == 0.0


@pytest.mark.slow
def test_a_worker_that_dies_is_a_failure():
    with Conversation(sys.executable, {"module": MODULE, "workload": "dies"}) as talk:
        talk.ready()
        with pytest.raises(WorkerFailed, match="it ended with the status 7"):
            talk.ask("prepare")


@pytest.mark.slow
def test_a_worker_that_is_late_is_ended():
    with Conversation(sys.executable, {"module": MODULE, "workload": "works"}, 0.001) as talk:
        with pytest.raises(WorkerFailed, match="no answer in 0 s"):
            talk.ready()
    assert talk.process.returncode is not None


# ---------------------------------------------------------------- sides in turns


def bench_of(**found: str | Absence) -> Bench:
    effort = Effort(rounds=2, seconds=0.0, cold=1)
    return Bench({"example": sys.executable, **found}, effort, None, lambda line: None)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "rounds"), [("calls", 2), ("cold", 1)])
def test_a_side_that_fails_is_told_and_the_others_go_on(kind: str, rounds: int):
    sides = Side("absent"), Side("example", argument="raises"), Side("example", argument="works")
    measurement = Measurement("example", "an example", "Examples", kind, sides)
    absent, failing, works = measured(measurement, bench_of(absent=Absence("not installed")))
    assert absent.failure == "absent: not installed"
    assert failing.failure.startswith("LookupError: ")
    assert (works.failure, works.error, len(works.wall)) == ("", 0.0, rounds)


@pytest.mark.slow
def test_an_import_is_timed_with_its_process():
    sides = Side("example", argument="json"), Side("example", argument="no_such_package")
    measurement = Measurement("example", "an example", "Examples", "import", sides)
    there, missing = measured(measurement, bench_of())
    assert len(there.wall) == 2
    assert min(there.wall) > 0.001
    assert missing.failure == "ModuleNotFoundError: No module named 'no_such_package'"


def test_in_a_hurry_only_those_run_that_rows_ask_for():
    chain = next(each for each in MEASUREMENTS if each.name == "chain")
    assert [side.label for side in sides_of(chain, QUICK)] == ["ours", "apache-tvm (fuse)"]
    assert len(sides_of(chain, Effort())) == len(chain.sides)


# ---------------------------------------------------------------- interpreters


def test_a_peer_that_is_nowhere_is_absent_and_no_error():
    found = interpreters(["jax=/no/such/python"], {})
    assert found["jax"] == Absence("its interpreter cannot be started (No such file or directory)")
    assert found["numpy"] == sys.executable


def test_options_come_before_the_environment():
    both = {environments.VARIABLE: "torch=/one/python jax=/two/python"}
    absent = interpreters(["torch=/three/python"], both)
    assert isinstance(absent["torch"], Absence)
    assert environments.named(["torch=/three/python"]) == {"torch": "/three/python"}


@pytest.mark.parametrize("option", ["jax", "jax=", "tensorflow=/a/python"])
def test_an_option_that_names_no_peer_is_refused(option: str):
    with pytest.raises(environments.BadOption, match=f"`{option}` is not NAME=PYTHON"):
        environments.named([option])


# ---------------------------------------------------------------- ratios


def test_a_ratio_is_that_of_medians_to_the_best_peer():
    found = {"example": [figures("ours", 1, 2, 9), figures("jax", 5, 5), figures("torch", 4, 2, 4)]}
    ratio = ratio_of(EXAMPLE, found)
    assert ratio.peer.side.peer == "torch"
    assert (ratio.wall, ratio.cpu) == (0.5, 0.5)
    assert ratio.rounds == (0.25, 1.0, 2.25)
    assert ratio.fastest == "torch: 0.5"


def test_the_best_of_all_peers_may_be_none_of_the_row():
    found = {"example": [figures("ours", 3), figures("jax", 2), figures("openvino", 1)]}
    ratio = ratio_of(EXAMPLE, found)
    assert (ratio.peer.side.peer, ratio.fastest) == ("jax", "openvino: 3")
    assert ratio_of(EXAMPLE._replace(counts=True), found).fastest == ""


@pytest.mark.parametrize(("ours", "verdict"), [(0.9, "aim reached"), (2.0, "met"), (2.1, "missed")])
def test_a_verdict_compares_with_must_and_aim(ours: float, verdict: str):
    assert (
        ratio_of(EXAMPLE, {"example": [figures("ours", ours), figures("jax", 1)]}).verdict
        == verdict
    )


def test_a_row_without_figures_says_why():
    broken = figures("ours", failure="it ended")
    assert ratio_of(EXAMPLE, {}).reason == "not measured"
    assert ratio_of(EXAMPLE, {"example": [broken, figures("jax", 1)]}).reason == "ours: it ended"
    without = {"example": [figures("ours", 1), figures("jax", failure="absent")]}
    assert ratio_of(EXAMPLE, without).reason == "jax: absent; torch: not measured"
    assert ratio_of(EXAMPLE, without).verdict == "no figure"


def test_a_ratio_may_be_judged_by_cpu_time():
    ours, jax, torch = figures("ours", 3), figures("jax", 1), figures("torch", 2)
    jax.cpu, torch.cpu = [4.0], [1.0]
    ratio = ratio_of(EXAMPLE, {"example": [ours, jax, torch]}, "cpu")
    assert (ratio.peer.side.peer, ratio.figure, ratio.verdict) == ("torch", 1.5, "met")
    assert ratio.rounds == (1.5,)


def test_a_count_is_a_row_without_a_peer():
    row = EXAMPLE._replace(counts=True, must=1, aim=1)
    ours = figures("ours", 0.5)
    ours.compilations = 32
    ratio = ratio_of(row, {"example": [ours]})
    assert (ratio.wall, ratio.verdict) == (32.0, "missed")


def test_figures_are_kept_in_a_file(tmp_path: Path):
    found = {"example": [figures("ours", 1, 2), figures("jax", failure="absent")]}
    save(tmp_path / "kept.json", found)
    assert load(tmp_path / "kept.json") == found
    assert load(tmp_path / "none.json") == {}


# ---------------------------------------------------------------- the report


def reported() -> str:
    ours = figures("ours", 0.25)
    ours.parts = [{"load": 0.1}]
    found = {"example": [ours, figures("jax", 0.5), figures("torch", failure="it died")]}
    measurement = Measurement("example", "An example", "Examples", "calls", (), "A note.")
    rows = [EXAMPLE, EXAMPLE._replace(text="another", measurement="none")]
    return report(CONDITIONS, ratios(rows, found), [measurement], found, "chart.svg")


def test_the_report_has_every_row_with_its_peer_and_bounds():
    text = reported()
    times = "| an example | 250 ms | jax | 500 ms | **0.5** | 0.5 | 0.5 – 0.5 |"
    assert f"{times} 2 | 1 | aim reached | jax: 0.5 |" in text
    assert "- another: not measured" in text
    assert "![ratio of every row, beside its bounds](chart.svg)" in text


def test_the_report_has_a_table_for_each_measurement():
    text = reported()
    head, _, first, second = text[text.index("| side") :].splitlines()[:4]
    assert head == "| side | median | least | most | CPU | times ours | load | error |"
    assert first == "| ours | 250 ms | 250 ms | 250 ms | 125 ms | 1 | 100 ms | 1.0e-07 |"
    assert second == "| jax | 500 ms | 500 ms | 500 ms | 250 ms | 2 | – | 1.0e-07 |"
    assert "A note." in text
    assert "- torch: it died" in text
    assert "- absent: jax: gone" in text


@pytest.mark.parametrize(
    ("value", "text"), [(12.34, "12.3 s"), (0.5, "500 ms"), (2.5e-6, "2.5 µs"), (9e-8, "90 ns")]
)
def test_times_have_three_digits_and_a_unit(value: float, text: str):
    assert seconds(value) == text


def test_the_chart_has_a_bar_for_each_ratio():
    found = {"example": [figures("ours", 3), figures("jax", 1)]}
    counted = EXAMPLE._replace(counts=True)
    picture = ElementTree.fromstring(svg(ratios([EXAMPLE, EXAMPLE, counted], found)))
    titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["an example / jax: 3"] * 2


# ---------------------------------------------------------------- the table and the command


def test_every_row_has_its_measurement_and_sides():
    known = {each.name: {side.label for side in each.sides} for each in MEASUREMENTS}
    for row in ROWS:
        assert {row.ours, *row.peers} <= known[row.measurement], row.name
        assert row.aim <= row.must
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {row.measurement for row in ROWS} == set(known)


def test_every_side_has_a_file():
    for measurement in MEASUREMENTS:
        for side in measurement.sides if measurement.kind != "import" else ():
            module = bench_of().task(measurement, side)["module"]
            assert importlib.util.find_spec(module), side.label


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlp", "chain", "thousand", "lengths"])
def test_ours_computes_what_the_peers_do(name: str):
    workload = WORKLOADS[name]
    program = by_ours.program(workload, "")
    program.load()
    found = program.compile()(*program.arguments(workload.inputs()))
    wanted = by_numpy.truth(workload, workload.inputs())
    assert difference(program.array(found), wanted) <= workload.tolerance


@pytest.mark.parametrize(
    "name",
    [
        "structural_hash", "structural_equal", "normalize", "well_formed", "build", "print",
        "parse_again", "parse", "compile 5", "passes 5",
    ],
)  # fmt: skip
def test_ours_answers_what_is_asked_of_a_compiler(name: str, monkeypatch):
    for module in (compiler, compiler_by_ours):
        monkeypatch.setattr(module, "BINDINGS", 12)
    calls = Calls(compiler_by_ours.program(name, ""))
    assert calls.error == 0.0
    assert calls.sample(0.0)["wall"][0] > 0


def test_a_wrong_answer_of_a_compiler_is_told(monkeypatch):
    monkeypatch.setattr(compiler, "BINDINGS", 5)
    program = compiler_by_ours.program("structural_equal", "")
    program.fresh = lambda: (program.made(), compiler.build(compiler_by_ours.NAMES, 6))
    with pytest.raises(WrongResult, match="the answer is wrong"):
        Calls(program)


@pytest.mark.slow
def test_ours_has_every_workload():
    for name, workload in WORKLOADS.items():
        module, _ = by_ours.LOADED[name]({} if "encoder" in name else workload.weights())
        assert len(module.functions) == 1, name


@pytest.mark.slow
def test_one_row_is_measured_kept_and_reported(tmp_path: Path, capsys):
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    out, kept = tmp_path / "REPORT.md", tmp_path / "kept.json"
    options = ["--quick", "--row", "gemm_256", "--date", "a day", "--out", str(out)]
    assert command.main([*options, "--json", str(kept)]) == 0
    assert "GEMM 256: " in capsys.readouterr().err
    text = out.read_text("utf-8")
    assert re.search(r"\| GEMM 256 \| .* \| numpy \| .* \| 1.1 \| 1 \|", text)
    assert re.search("a day, commit .*: `.* peers --quick`", text)
    assert list(load(kept)) == ["gemm_256"]
    ElementTree.fromstring(out.with_suffix(".svg").read_text("utf-8"))
    assert before is None or os.sched_getaffinity(0) == before


def test_a_row_that_there_is_not_is_refused(capsys):
    assert command.main(["--row", "no such row"]) == 2
    assert "no row is called no such row; there are mlp, chain" in capsys.readouterr().err


def test_the_names_of_rows_are_listed(capsys):
    assert command.main(["--list"]) == 0
    assert capsys.readouterr().out.split() == [row.name for row in ROWS]
