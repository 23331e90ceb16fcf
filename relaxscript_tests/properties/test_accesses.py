"""The executors agree on PrimFuncs whose indices leave their buffers: on every value and error."""

from __future__ import annotations

import warnings
from collections import Counter
from functools import partial

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.script.parser.prim_funcs import function as tir_function
from relaxscript.testing.accesses import arguments_of, random_accesses
from relaxscript_tests import examples


def outcome(run, args):
    """What a run gives: a value, or the code, the text and the place of its failure."""
    try:
        return run(*args)
    except VMError as error:
        return error.diagnostic.code, error.diagnostic.message, error.span


def compared(seed):
    """How the runs of one random script ended, which must be the same for both executors."""
    text = random_accesses(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = rx.from_source(text)
    except DiagnosticError:
        return ["refused"]
    function = module["k"]
    kernel = compile_prim_func(
        function, options={"level": 3 if seed % 8 == 0 else 0}, module=module
    )
    ends = []
    for case in range(4 * seed, 4 * seed + 4):
        ours, theirs = arguments_of(case), arguments_of(case)
        expected = outcome(lambda *args: evaluate(function, args, module), ours)
        assert outcome(kernel, theirs) == expected, text
        for a, b in zip(theirs, ours, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=text)
        ends.append("ran" if expected is None else expected[0])
    return ends


def refused(text):
    """Whether indices of the function that is run are refused, and nothing else."""
    others = text.partition("\n\n")[0].count("\n") + 1
    try:
        rx.from_source(text)
    except DiagnosticError as error:
        return all(
            "has no element" in d.message and d.span.line <= others for d in error.diagnostics
        )
    return False


@pytest.mark.slow
def test_what_is_refused_when_parsed_fails_when_run(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        texts = {seed: random_accesses(seed) for seed in range(examples(3000))}
        wrong = {seed: text for seed, text in texts.items() if refused(text)}
        monkeypatch.setattr(tir_function, "refuse_indices", lambda cx, function: None)
        for seed, text in wrong.items():
            module = rx.from_source(text)
            run = partial(evaluate, module["k"], module=module)
            for case in range(4 * seed, 4 * seed + 4):
                assert outcome(lambda *args, run=run: run(args), arguments_of(case)), text
    assert len(wrong) > examples(100)


@pytest.mark.slow
def test_they_agree_on_random_accesses():
    ends = Counter(end for seed in range(examples(4000)) for end in compared(seed))
    ran = sum(ends.values()) - ends["refused"]
    # Both ways to end are common, so neither is tested by few programs only.
    assert ran / 5 < ends["ran"] < ran * 4 / 5
    assert ends["RX0614"] > ran / 5
