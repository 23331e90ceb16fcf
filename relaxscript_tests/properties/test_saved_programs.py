"""What was built, with arrays bound to parameters or without, is what comes out of its file."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.artifact import inspect
from relaxscript.errors import DiagnosticError
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import walk
from relaxscript.testing.compare import check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples


def calls_main(mod: rx.IRModule) -> bool:
    """Whether `main` is used inside, where arrays bound to its parameters would be missed."""
    nodes = (node for function in mod.functions.values() for node in walk(function))
    return any(isinstance(node, GlobalVar) and node.name_hint == "main" for node in nodes)


def executables(seed: int) -> list[tuple[rx.Executable, list[Any]]]:
    """The program of a number without and with arrays bound, each with the arguments it takes."""
    mod = random_module(seed)
    main = mod["main"]
    inputs = inputs_for(main, seed)
    names = Counter(param.name_hint for param in main.params)
    random = np.random.default_rng(seed)
    bound = {
        param.name_hint: value
        for param, value in zip(main.params, inputs, strict=True)
        if isinstance(value, np.ndarray) and names[param.name_hint] == 1 and random.random() < 0.6
    }
    found = [(rx.build(mod, target="reference"), inputs)]
    if not bound or calls_main(mod):
        return found
    left = [v for p, v in zip(main.params, inputs, strict=True) if p.name_hint not in bound]
    try:
        return [*found, (rx.build(mod, target="reference", params=bound), left)]
    except DiagnosticError:  # the shapes of the arrays refute a call, which may not be reached
        return found


def loaded(path: Path) -> rx.Executable:
    contents = inspect(path)
    return rx.load(path, (*contents.packed_funcs, *contents.c_functions))


def in_script(printed: str) -> str:
    """The same print with closures called as in a script, which has no `if` for a name."""

    def spelled(found: re.Match[str]) -> str:
        names = found[1].split(".")
        return f"<closure {'.'.join(n + '_' * keyword.iskeyword(n) for n in names)}>"

    return re.sub(r"<closure ([^>]+)>", spelled, printed)


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_what_is_loaded_is_what_was_built_and_does_the_same(share, tmp_path):
    path = tmp_path / "program.rx"
    for seed in range(share * 500, share * 500 + examples(500)):
        for built, inputs in executables(seed):
            rx.save(built, path)
            read = loaded(path)
            assert structural_equal(read.origin[0], built.origin[0]), seed
            before, after = (
                observe(lambda name, *args, vm=vm: vm[name](*args), "main", inputs)
                for vm in map(rx.VirtualMachine, (built, read))
            )
            before = replace(before, printed=in_script(before.printed))
            check_outcomes(f"the file of {seed}", after, "what was built", before)
