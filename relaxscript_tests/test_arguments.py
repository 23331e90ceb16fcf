"""Arguments and parameters: one matcher for every callee, by the rules of Python's own calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.arguments import (
    REQUIRED,
    ArgumentError,
    Formal,
    Signature,
    meant_keyword,
    python_signature,
)
from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript_tests import examples

TAKEN = Signature("f", [Formal("x"), Formal("axis", None), Formal("keep", False, False)])


def refused(args: tuple[Any, ...], *words: str, signature: Signature = TAKEN) -> ArgumentError:
    with pytest.raises(ArgumentError) as caught:
        signature.bind(args, dict.fromkeys(words, 0))
    return caught.value


def test_every_parameter_gets_its_argument_or_its_default() -> None:
    assert TAKEN.bind((1,), {}) == {"x": 1, "axis": None, "keep": False}
    assert TAKEN.bind((), {"keep": 2, "x": 1}) == {"x": 1, "axis": None, "keep": 2}
    assert TAKEN.bind_given((1,), {"keep": 2}) == {"x": 1, "keep": 2}


def test_a_rest_takes_what_no_other_parameter_takes() -> None:
    signature = Signature("f", [Formal("x"), Formal("xs", rest="*"), Formal("more", rest="**")])
    assert signature.bind((1, 2, 3), {"y": 4}) == {"x": 1, "xs": (2, 3), "more": {"y": 4}}
    assert str(signature) == "(x, *xs, **more)"


def test_a_synonym_is_the_parameter_that_it_means() -> None:
    signature = Signature("f", [Formal("out_sinfo")], synonyms={"out_ty": "out_sinfo"})
    assert signature.bind((), {"out_ty": 1}) == {"out_sinfo": 1}
    assert refused((1,), "out_ty", signature=signature).keyword == "out_sinfo"


def test_a_word_that_no_parameter_has_comes_with_the_one_that_was_meant() -> None:
    error = refused((1,), "axs")
    assert (error.message, error.meant) == ("`f` has no parameter `axs`", "axis")
    assert (error.keyword, error.help) == ("axs", "did you mean `axis`?")
    far = refused((1,), "quaternion")
    assert far.help == "it is called as `f(x, axis=None, *, keep=False)`"


def test_a_parameter_that_is_given_twice_is_named() -> None:
    error = refused((1, 2), "axis")
    assert (error.message, error.parameter) == ("`f` is given `axis` twice", "axis")
    assert error.help == "leave out one of them, in its place or as `axis=`"


def test_an_argument_too_many_is_named_by_its_position() -> None:
    error = refused((1, 2, 3))
    assert (error.message, error.position) == ("`f` takes 2 arguments by position, not 3", 2)
    assert refused((1,), signature=Signature("f", [])).message == "`f` takes 0 arguments, not 1"


def test_all_that_is_missing_is_named() -> None:
    error = refused((), signature=Signature("f", [Formal("a"), Formal("b"), Formal("c", 1)]))
    assert (error.message, error.parameter) == ("`f` needs `a` and `b`", "a")
    assert error.help == "it is called as `f(a, b, c=1)`"


def test_every_argument_that_does_not_fit_is_found() -> None:
    found = [error.message for error in TAKEN.misfits((1, 2, 3), ["axis", "axs"])]
    assert found == [
        "`f` takes 2 arguments by position, not 3",
        "`f` is given `axis` twice",
        "`f` has no parameter `axs`",
    ]


def test_a_brief_signature_shows_what_people_give() -> None:
    formals = [Formal("a"), Formal("b", 1), Formal("dtype", None, by_position=False)]
    assert str(Signature("f", formals, brief=True)) == "(a, b=1)"
    many = [Formal("a"), *(Formal(f"b{i}", i) for i in range(6))]
    assert str(Signature("f", many, brief=True)) == "(a, ...)"


@pytest.mark.parametrize(
    ("word", "parameters", "meant"),
    [
        ("dim", ["x", "axis", "keepdims"], "axis"),
        ("dim", ["x", "axes"], "axes"),
        ("keepdim", ["x", "axis", "keepdims"], "keepdims"),
        ("sinfo", ["func", "args", "sinfo_args"], "sinfo_args"),
        ("axs", ["x", "axis"], "axis"),
        ("dim", ["x", "shape"], None),
        ("colour", ["x", "axis"], None),
    ],
)
def test_a_keyword_of_others_is_a_parameter_that_there_is(word, parameters, meant):
    assert meant_keyword(word, parameters) == meant


KINDS = (
    inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
)  # fmt: skip


def drawn_signature(rng: np.random.Generator) -> inspect.Signature:
    """A signature of Python with parameters of any kinds."""
    kinds = [KINDS[i] for i in sorted(rng.integers(0, len(KINDS), rng.integers(6)))]
    parameters: list[inspect.Parameter] = []
    defaults = False
    for name, kind in zip("abcdef", kinds):
        rest = kind in (KINDS[2], KINDS[4])
        if rest and any(p.kind is kind for p in parameters):
            continue
        defaults = kind is not KINDS[3] and (defaults or rng.random() < 0.3)
        has_default = not rest and (defaults or (kind is KINDS[3] and rng.random() < 0.5))
        default = name.upper() if has_default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


@pytest.mark.slow
def test_arguments_are_matched_as_python_does(rng: np.random.Generator) -> None:
    for _ in range(examples(20_000)):
        theirs = drawn_signature(rng)
        ours = python_signature("f", theirs)
        assert str(ours) == str(theirs)
        args = tuple(range(rng.integers(4)))
        kwargs = {str(name): name for name in rng.permutation(list("abcdefg"))[: rng.integers(4)]}
        function = eval(f"lambda {str(theirs)[1:-1]}: locals()")
        try:
            bound = function(*args, **kwargs)
        except TypeError:
            assert list(ours.misfits(args, kwargs))
            with pytest.raises(ArgumentError, match="`f`"):
                ours.bind(args, kwargs)
        else:
            assert not list(ours.misfits(args, kwargs))
            assert ours.bind(args, kwargs) == bound


# ---------------------------------------------------------------- the same words everywhere

RELAX = """
@R.function
def main(x: {annotation}):
    return {value}
"""
TENSOR = 'R.Tensor((2,), "float32")'
PRIM_FUNC = """
@T.prim_func
def main(a: T.Buffer((2,), "float32")):
    a[0] = {value}
"""
MACRO = """
@R.macro
def both(a, b):
    return R.add(a, b)
"""


def said(text: str) -> str:
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    return caught.value.diagnostics[0].message


def of_the_machine() -> str:
    module = from_source(RELAX.format(annotation=TENSOR, value="x"))
    with pytest.raises(rx.VMError) as caught:
        rx.jit(module).main(y=np.zeros(2, "float32"))  # type: ignore[attr-defined]
    return caught.value.diagnostic.message


CALLEES: list[tuple[str, Callable[[], str]]] = [
    ("R.exp", lambda: said(RELAX.format(annotation=TENSOR, value="R.exp(y=x)"))),
    ("R.Tensor", lambda: said(RELAX.format(annotation="R.Tensor((2,), y=1)", value="x"))),
    ("T.exp", lambda: said(PRIM_FUNC.format(value="T.exp(y=a[0])"))),
    ("both", lambda: said(MACRO + RELAX.format(annotation=TENSOR, value="both(x, y=x)"))),
    ("main", of_the_machine),
]


@pytest.mark.parametrize(("callee", "said_of"), CALLEES, ids=[name for name, _ in CALLEES])
def test_an_unknown_parameter_is_refused_in_the_same_words(
    callee: str, said_of: Callable[[], str]
) -> None:
    assert said_of() == f"`{callee}` has no parameter `y`"


def test_what_is_required_shows_itself() -> None:
    assert repr(REQUIRED) == "required"
