"""Passes that tune elsewhere change nothing here, and each call of one says so."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.script import from_source
from relaxscript.transform import (
    FewShotTuning,
    MetaScheduleApplyDatabase,
    MetaScheduleTuneIRMod,
    MetaScheduleTuneTIR,
    Pass,
)
from relaxscript_tests.transform.other_machines.programs import STATIC

STEPS = [
    FewShotTuning(), FewShotTuning(3, benchmark=True), MetaScheduleApplyDatabase(),
    MetaScheduleApplyDatabase("logs", enable_warning=True), MetaScheduleTuneTIR("logs", 8),
    MetaScheduleTuneIRMod({}, "logs", 8), MetaScheduleTuneIRMod({}, "logs", 8, 2, ["exp"]),
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_the_module_stays_and_one_warning_says_what_to_do_instead(
    step: Pass, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    mod = from_source(STATIC)
    for _ in range(2):
        with pytest.warns(RelaxWarning) as caught:
            assert step(mod) is mod
        assert [str(warning.message).splitlines()[:2] for warning in caught] == [
            [
                f"`{step.info.name}` changes nothing: no schedules are searched for or read",
                "help: `ApplyDefaultSchedule()` arranges all loops; "
                "`tir.Schedule` changes them step by step",
            ]
        ]
        assert caught[0].filename == __file__
    assert list(Path.cwd().iterdir()) == []


def test_to_make_such_a_pass_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FewShotTuning(valid_count=2)


def test_a_tuner_is_told_where_its_results_go_and_how_long_it_tries():
    with pytest.raises(DiagnosticError, match="`MetaScheduleTuneTIR` needs `max_trials_global`"):
        MetaScheduleTuneTIR("logs")
    with pytest.raises(DiagnosticError, match=r"`op_names` of .* is a list of strings"):
        MetaScheduleTuneIRMod({}, "logs", 8, op_names="exp")
