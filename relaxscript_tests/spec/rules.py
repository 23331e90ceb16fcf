"""Every rule of the Relax specification that a program can keep or break, and who shows it.

A test of this folder says which rules it shows, and how:

    @accepts("criterion 5")     # a right program is taken, or a relation holds
    @rejects("criterion 5")     # a wrong one is refused, warned of, or the relation does not hold
    @symbolic("criterion 5")    # the same with shape variables, where the answer depends on them

`RULES` is the specification's own list, by section and number, with what has to be shown of each.
Source: spec/relax_spec.md; the sections of a rule are in the comment above its block.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["KINDS", "RULES", "SHOWN", "accepts", "collect", "missing", "rejects", "symbolic"]

Test = TypeVar("Test", bound=Callable[..., Any])

KINDS = {"a": "accepted", "r": "rejected", "s": "symbolic"}


def _numbered(section: str, numbers: str) -> dict[str, str]:
    """Rules from a text such as "1:ar 7.1:ar", each with the letters of `KINDS` it needs."""
    pairs = (word.split(":") for word in numbers.split())
    return {f"{section} {number}": kinds for number, kinds in pairs}


RULES: dict[str, str] = {
    # "Well-Formedness Criteria"; "Normal Form"
    **_numbered(
        "criterion",
        "1:ar 2:ar 3:ar 4:ars 5:ars 6:ars 7.1:ar 7.2:ar 7.3:ar 8:ar 9:ar 10:ar 11:ar 12:ar 13:ar "
        "14:ars 15:ars 16:ars 17:ar 18:ar 19:ar 20:ar 21:ar 22:ar 23:ar 24:ar",
    ),
    **_numbered("normal form", "1:ar 2:ar 3:ar 4:ar 5:ar"),
    # "Evaluating MatchCast"; "Checking Structural Information at the Start and End of a Function"
    **_numbered("match cast", "1:a 2:ar 2.1:ars 2.2:ars 3:ars 4:ars 5:ars 6:ars"),
    **_numbered("signature", "parameters:ars result:ars"),
    # "Invariants for TensorStructInfo"
    **_numbered("invariant", "1:ar 2:ar"),
    # "Subtyping for StructInfo"
    **_numbered(
        "subtyping",
        "1:as 2:as 3:ar 4.1:ar 4.2:ar 4.3:ar 4.4:ars 4.5:ar 5.1:ar 5.2:ar 5.3:ars 6:ars "
        "7.1:ar 7.2:ar 7.3:ars 8.1:ar 8.2:ar 8.3:ar 8.4:ars",
    ),
    **_numbered("lub", "object:a kinds:a prim:as shape:as tensor:as tuple:as function:as"),
    # "Auxiliary Procedures"
    **_numbered("derive_func", "default_derive:a empty_derive:a"),
    **_numbered("erasure", "object:a prim:as tensor:as shape:as tuple:as function:as"),
    **_numbered("mapping", "kinds:a prim:as tuple:as function:as shape:as tensor:as"),
    **_numbered(
        "compatibility",
        "1:a 2:r 3.1:r 3.2:ars 4.1:a 4.2:r 4.3:a 4.4:as 4.5:ars 5.1:r 5.2:a 5.3:as 5.4:ars "
        "6.1:r 6.2:r 6.3:r 6.4:a 6.5:as 6.6:ars 6.7:ars 6.8:a 7.1:r 7.2:a 7.3.1:r 7.3.2:r 7.3.3:as "
        "7.3.4:ars",
    ),
    # "Derivation Rules", "Checking Purity"
    **_numbered(
        "derivation",
        "1:ar 2:a 3:a 4:a 5:a 6:a 7:as 8:as 9:ars 10.1:ar 10.4:as 11.1:as 11.2.1:ar 11.2.2:a "
        "11.2.3:ars 11.2.4:a 11.3.1:a 11.3.2:as 11.3.3:ars 11.3.4:ars 11.3.5:a 12.2:ar 12.3:ar "
        "12.4:a 13:a 14.1.1:ars 14.1.2:ar 14.2.1:ar 14.2.2.1:ar 14.2.2.2:a 14.2.3:ar 14.2.4:ar "
        "14.2.5:as 14.2.6:ars 14.2.7:as 15.1:a 15.2:a 15.5:ars 15.6:as 16.1:as 16.2:ar",
    ),
    # "Propagating Virtual Device Information"
    **_numbered("vdevice update", "tensor:ar tuple:ar function:ar other:a"),
    **_numbered("vdevice backward", "1:ar 2:ar 3:a 3.1:ar 3.2:ar 4:a"),
    **_numbered("vdevice", "forward:ar undefined:ar"),
}

# Which tests show a rule, by rule and kind; filled as the tests' files are imported.
SHOWN: dict[str, dict[str, list[str]]] = defaultdict(lambda: {kind: [] for kind in KINDS})


def _shows(kind: str, rules: tuple[str, ...]) -> Callable[[Test], Test]:
    unknown = [rule for rule in rules if rule not in RULES]
    if unknown or not rules:
        raise LookupError(f"no rule of the specification is called {unknown}")

    def note(test: Test) -> Test:
        for rule in rules:
            names = SHOWN[rule][kind]
            if test.__name__ not in names:
                names.append(test.__name__)
        return test

    return note


def accepts(*rules: str) -> Callable[[Test], Test]:
    """The test shows that what keeps these rules is accepted."""
    return _shows("a", rules)


def rejects(*rules: str) -> Callable[[Test], Test]:
    """The test shows that what breaks these rules is not."""
    return _shows("r", rules)


def symbolic(*rules: str) -> Callable[[Test], Test]:
    """The test shows these rules on shapes with variables."""
    return _shows("s", rules)


def collect() -> None:
    """Import every test of this folder, so that `SHOWN` holds all, whatever part of them is run."""
    import relaxscript_tests.spec as folder

    for module in pkgutil.iter_modules(folder.__path__):
        if module.name.startswith("test_"):
            importlib.import_module(f"{folder.__name__}.{module.name}")


def missing(rule: str) -> list[str]:
    """Of a rule, what it needs and no test shows."""
    return [KINDS[kind] for kind in RULES[rule] if not SHOWN[rule][kind]]
