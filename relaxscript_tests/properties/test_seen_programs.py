"""Every program is explained, and does under a profile what it does otherwise."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import relaxscript as rx
from relaxscript.runtime.debug.report import Report
from relaxscript.testing.compare import check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples


@pytest.mark.slow
@pytest.mark.parametrize("share", range(2))
@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
def test_a_profile_changes_nothing_but_time(share):
    for seed in range(share * 500, share * 500 + examples(500)):
        mod = random_module(seed)
        model = rx.VirtualMachine(rx.build(mod))
        reports: list[Report] = []

        def profiled(name, *args, model=model, reports=reports):
            reports.append(model.profile(name, *args))
            return reports[-1].result

        inputs = inputs_for(mod["main"], seed)
        before = observe(lambda name, *args, model=model: model[name](*args), "main", inputs)
        after = observe(profiled, "main", inputs)
        check_outcomes(f"{seed} under a profile", after, "the program", before, words=True)
        for report in reports:
            ElementTree.fromstring(report.html())
            again = Report.from_json(report.json())
            assert (again.table(), again.svg()) == (report.table(), report.svg()), seed
            assert sum(row.seconds for row in report.rows) <= report.seconds, seed


@pytest.mark.slow
@pytest.mark.parametrize("target", ["llvm", "reference"])
@pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")
def test_every_size_that_is_asked_for_decides_all_amounts(target):
    for seed in range(examples(300)):
        executable = rx.build(random_module(seed), target)
        asked = executable.explain().variables
        explained = executable.explain(**dict.fromkeys(asked, 3))
        for row in json.loads(explained.as_json())["kernels"]:
            amounts = [row[name] for name in ("bytes_read", "bytes_written", "flops")]
            values = [amount["value"] for amount in amounts if amount is not None]
            assert all(value is not None and value >= 0 for value in values), (seed, row)
        ElementTree.fromstring(explained.html())
