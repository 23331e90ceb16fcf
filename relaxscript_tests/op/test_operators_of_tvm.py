"""Operators by the names, parameters and defaults that they have in TVM, and what is known of them.

`operators_of_tvm.txt` lists those of TVM 0.20 and of 0.25, which differ in a few signatures. After
the signature it says what TVM has for an operator: `compute`, `gradient`, a rule of its `layout`,
and what it does in mixed precision. Whatever differs here stands below, with its reason.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from relaxscript.op import REGISTRY, Operator, Trait
from relaxscript.script import relax as R

LIST = Path(__file__).with_name("operators_of_tvm.txt")

# Operators with another signature, and what a call of TVM's means all the same.
SIGNATURES = {
    "call_packed": "attributes may be given by any keyword, too, of which the schema says nothing",
    "image.affine_grid": "`align_corners` may be said, too, by keyword; TVM's grid is that of True",
}


class Listed(NamedTuple):
    """An operator of TVM: its name, its signatures in the versions, and what TVM has for it."""

    name: str
    signatures: tuple[str, ...]
    facts: frozenset[str]


def listed() -> list[Listed]:
    found: list[Listed] = []
    for line in LIST.read_text().splitlines():
        entry, _, facts = line.partition(" ; ")
        name, _, signature = entry.strip().removeprefix("or ").removeprefix("R.").partition("(")
        if line.startswith("    or "):
            before = found.pop()
            found.append(before._replace(signatures=(*before.signatures, f"({signature}")))
        elif line and not line.startswith("#"):
            found.append(Listed(name, (f"({signature}",), frozenset(facts.split())))
    return found


every_listed = pytest.mark.parametrize("tvm", listed(), ids=lambda tvm: tvm.name)
registered = [tvm for tvm in listed() if f"relax.{tvm.name}" in REGISTRY]
every_registered = pytest.mark.parametrize("tvm", registered, ids=lambda tvm: tvm.name)


def member(name: str) -> Any:
    found: Any = R
    for part in name.split("."):
        found = getattr(found, part)
    return found


@every_listed
def test_it_is_there_with_its_parameters_and_defaults(tvm: Listed) -> None:
    signature = inspect.signature(member(tvm.name))
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    ours = str(inspect.Signature(plain))
    assert (ours in tvm.signatures) != (tvm.name in SIGNATURES), ours


@every_registered
def test_it_has_side_effects_where_tvm_s_has(tvm: Listed) -> None:
    assert REGISTRY[f"relax.{tvm.name}"].pure != ("impure" in tvm.facts)


def has(operator: Operator, kind: Any) -> bool:
    """Whether an operator has a rule, or says why it needs none."""
    return kind in operator.rules or kind in operator.reasons


@every_registered
@pytest.mark.parametrize("kind", ["compute", "gradient", "layout"])
def test_it_has_the_rules_that_tvm_s_has_or_says_why_not(tvm: Listed, kind: str) -> None:
    assert kind not in tvm.facts or has(REGISTRY[f"relax.{tvm.name}"], kind)


@every_registered
def test_in_mixed_precision_it_does_as_tvm_s_does(tvm: Listed) -> None:
    operator = REGISTRY[f"relax.{tvm.name}"]
    assert ("mp-infer" in tvm.facts) <= ("mixed_precision" in operator.rules)
    assert ("mp:always" in tvm.facts) == (Trait.MIXED_ALWAYS in operator.traits)
    assert ("mp:follow" in tvm.facts) <= (Trait.MIXED_FOLLOW in operator.traits)


@pytest.mark.parametrize("kind", ["compute", "gradient"])
@pytest.mark.parametrize("operator", REGISTRY.values(), ids=repr)
def test_every_operator_has_a_compute_and_a_gradient_or_says_why_not(
    operator: Operator, kind: str
) -> None:
    assert has(operator, kind)
