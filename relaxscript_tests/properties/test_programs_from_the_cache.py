"""A program from the cache is the one that was built, and does the same."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

import relaxscript as rx
from relaxscript.runtime.object_cache import PROGRAM, object_cache
from relaxscript.testing.compare import check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples


def written(mod: rx.IRModule) -> rx.IRModule:
    """The module as its script says it, with places."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rx.from_source(mod.script(show_meta=True))


def places(executable: rx.Executable) -> list[object]:
    functions = executable.functions
    return [
        *[(f.span, f.param_spans) for f in functions],
        *[i.span for i in executable.instructions],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_it_is_what_was_built_and_does_the_same(share, tmp_path, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(tmp_path))
    kept = 0
    for seed in range(share * 250, share * 250 + examples(250)):
        mod = random_module(seed)
        if seed % 2:
            mod = written(mod)
        options = {"relax_pipeline": "default" if seed % 3 else "zero"}
        built, again = rx.build(mod, **options), rx.build(mod, **options)
        kept += len([file for file in object_cache().files() if file.kind == PROGRAM])
        object_cache().clear()
        assert again.as_text() == built.as_text(), seed
        assert places(again) == places(built), seed
        before, after = (
            observe(
                lambda name, *args, vm=vm: vm[name](*args), "main", inputs_for(mod["main"], seed)
            )
            for vm in map(rx.VirtualMachine, (built, again))
        )
        check_outcomes(f"{seed} from the cache", after, "what was built", before)
    assert kept > examples(120)


@pytest.mark.slow
def test_nothing_is_written_outside_of_the_folder(tmp_path, monkeypatch):
    folder, home = tmp_path / "cache", tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(folder))
    monkeypatch.chdir(home)
    for seed in range(examples(30)):
        mod = random_module(seed)
        for _ in range(2):
            rx.VirtualMachine(rx.build(mod, relax_pipeline="zero"))
    assert os.listdir(home) == []
    assert {Path(file.path).parent for file in object_cache().files()} == {folder}
