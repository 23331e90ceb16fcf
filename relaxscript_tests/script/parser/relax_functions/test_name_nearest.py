"""The nearest name is offered for one that there is not, and nothing where all are far."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relaxscript.errors import DiagnosticError, Source, apply_fixes, nearest
from relaxscript.op import REGISTRY
from relaxscript.script import from_source, relax as R
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func
    def kernel(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = {scalar}

    @R.function
    def double(x: R.Tensor((4,), "float32")):
        return R.add(x, x)

    @R.function
    def main(weights: R.Tensor((4,), "float32"), batch: R.Shape(["batch"])):
        cls = Module
        with R.dataflow():
            hidden = R.exp(weights)
            R.output({output})
        return {result}
"""
RIGHT = {"scalar": "A[i]", "output": "hidden", "result": "hidden"}

# what is written, where -> what was meant; None where nothing is near
WRITTEN = [
    ("result", "R.sofmax(hidden)", "R.nn.softmax(hidden)"),
    ("result", "R.nn.sofmax(hidden)", "R.nn.softmax(hidden)"),
    ("result", "R.nn.relus(hidden)", "R.nn.relu(hidden)"),
    ("scalar", "T.expp(A[i])", "T.exp(A[i])"),
    ("result", "R.nn.exp(hidden)", "R.exp(hidden)"),
    ("result", "R.Exp(hidden)", "R.exp(hidden)"),
    ("result", "R.concatenate((hidden, hidden))", "R.concat((hidden, hidden))"),
    ("result", "softmax(hidden)", "R.nn.softmax(hidden)"),
    ("result", "nn.softmax(hidden)", "R.nn.softmax(hidden)"),
    ("result", "torch.exp(hidden)", "R.exp(hidden)"),
    ("result", "relax.op.exp(hidden)", "R.exp(hidden)"),
    ("result", "R.quaternion(hidden)", None),
    ("result", "torch.quaternion(hidden)", None),
    ("result", "R.sum(hidden, axes=0)", "R.sum(hidden, axis=0)"),
    ("result", "R.sum(hidden, keepdim=True)", "R.sum(hidden, keepdims=True)"),
    ("result", "R.sum(hidden, quick=True)", None),
    ("result", 'R.astype(hidden, "flaot16")', 'R.astype(hidden, "float16")'),
    ("result", 'R.astype(hidden, "half")', 'R.astype(hidden, "float16")'),
    ("result", "R.astype(hidden, float16)", 'R.astype(hidden, "float16")'),
    ("result", 'R.astype(hidden, "quaternion")', None),
    ("result", "wieghts", "weights"),
    ("result", "Hidden", "hidden"),
    ("result", "quaternion", None),
    ("result", "hidden.sofmax()", "hidden.softmax()"),
    ("result", "hidden.reshap((2, 2))", "hidden.reshape((2, 2))"),
    ("result", "hidden.shpae", "hidden.shape"),
    ("result", "hidden.quaternion()", None),
    ("result", "cls.duoble(hidden)", "cls.double(hidden)"),
    ("result", "Module.duoble(hidden)", "Module.double(hidden)"),
    ("result", "double(hidden)", "Module.double(hidden)"),
    ("result", "cls.quaternion(hidden)", None),
    ("output", "hiden", "hidden"),
    ("output", "quaternion", None),
    ("scalar", "T.quaternion(A[i])", None),
    ("scalar", "T.exq(A[i])", "T.exp(A[i])"),
    ("scalar", "T.sigmod(A[i])", "T.sigmoid(A[i])"),
    ("scalar", "exp(A[i])", "T.exp(A[i])"),
    ("scalar", "R.exp(A[i])", "T.exp(A[i])"),
    ("scalar", "math.exp(A[i])", "T.exp(A[i])"),
    ("scalar", "a[i]", "A[i]"),
    ("scalar", "A[i].asytpe(\"float32\")", None),
    ("scalar", "T.float(A[i])", "T.float32(A[i])"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "written", "meant"), WRITTEN)
def test_what_was_most_likely_meant_is_offered_and_written(place, written, meant):
    text = PROGRAM.format(**{**RIGHT, place: written})
    with pytest.raises(DiagnosticError) as caught:
        from_source(text)
    (diagnostic,) = caught.value.diagnostics
    assert ("did you mean" in (diagnostic.help or "")) <= (meant is not None)
    mended = apply_fixes(Source("<text>", text), [diagnostic])
    assert mended == (text if meant is None else PROGRAM.format(**{**RIGHT, place: meant}))


def test_the_program_of_these_tests_is_right():
    module = from_source(PROGRAM.format(**RIGHT))
    assert [v.name_hint for v in module.get_global_vars()] == ["kernel", "double", "main"]


@pytest.mark.parametrize(
    ("decorator", "meant"),
    [
        ("@R.functoin", "@R.function"),
        ("@R.prim_func", "@T.prim_func"),
        ("@function", "@R.function"),
        ("@relax.function", "@R.function"),
        ("@R.function(purr=False)", "@R.function(pure=False)"),
        ("@R.function(impure=True)", "@R.function(pure=False)"),
    ],
)
def test_the_nearest_decorator_or_option(decorator, meant):
    text = "{}\ndef f(x: R.Object):\n    return x\n"
    with pytest.raises(DiagnosticError) as caught:
        from_source(text.format(decorator), mode="python")
    (diagnostic,) = caught.value.diagnostics
    assert apply_fixes(Source("<text>", text.format(decorator)), [diagnostic]) == text.format(meant)


@rejected
def test_data_types_by_other_names():
    @R.function
    def f(x: R.Tensor((2, 3), "float")):
    #                         ^^^^^^^ error: RX0108 "float" is not a dtype
    # help: did you mean "float32"?
    # fix: "float32"
        a = R.astype(x, float16)
        #               ^^^^^^^ error: RX0101 `float16` is not defined
        # help: write `"float16"`
        # fix: "float16"
        b = R.astype(x, R.float16)
        #               ^^^^^^^^^ error: RX0102 `R` has no `float16`
        # help: did you mean `"float16"`?
        # fix: "float16"
        c = R.astype(x, "flaot32")
        #               ^^^^^^^^^ error: RX0204 the attribute `dtype` must be a dtype, such as
        #        | "float32"
        # help: write `"float32"`
        # fix: "float32"
        d = R.astype(x, "fp16")
        #               ^^^^^^ error: RX0204 the attribute `dtype` must be a dtype, such as
        #        | "float32"
        # help: write `"float16"`
        # fix: "float16"
        e = R.astype(x, "double")
        #               ^^^^^^^^ error: RX0204 the attribute `dtype` must be a dtype, such as
        #        | "float32"
        # help: write `"float64"`
        # fix: "float64"
        g = R.zeros((2, 3), float32)
        #                   ^^^^^^^ error: RX0101 `float32` is not defined
        # help: write `"float32"`
        # fix: "float32"
        h = R.arange(0, 10, "float32")
        #                   ^^^^^^^^^ error: RX0201 `R.arange` cannot take these operands
        # help: write `dtype="float32"`
        # fix: dtype="float32"
        return x


def typical_slips(name: str) -> Iterator[tuple[str, str]]:
    """What people write who mean a name, by the kind of slip."""
    for i, letter in enumerate(name):
        if letter != "_":
            yield "doubled", name[:i] + letter + name[i:]
        yield "dropped", name[:i] + name[i + 1 :]
        if i + 1 < len(name) and letter != name[i + 1]:
            yield "swapped", name[:i] + name[i + 1] + letter + name[i + 2 :]
    yield "plural", name + "s"
    yield "case", name.upper()
    yield "case", "".join(part.capitalize() for part in name.split("_"))


def names_of(namespace: str) -> list[str]:
    ours = [name.removeprefix("relax.") for name in REGISTRY]
    inside = [name.removeprefix(namespace) for name in ours if name.startswith(namespace)]
    return [name for name in inside if "." not in name]


# Of slips that do not make another name, so many in a thousand lead back to the one that was meant.
# A letter less often fits two names: "convd" is `conv1d` as much as `conv2d`.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("namespace", "share"),
    [
        ("", {"doubled": 1000, "dropped": 980, "swapped": 995, "plural": 1000, "case": 1000}),
        ("nn.", {"doubled": 1000, "dropped": 950, "swapped": 995, "plural": 1000, "case": 1000}),
    ],
)
def test_typical_slips_in_any_name_lead_back_to_it(namespace, share):
    names = names_of(namespace)
    found: dict[str, list[bool]] = {kind: [] for kind in share}
    for name in (n for n in names if len(n) > 2):
        for kind, slipped in typical_slips(name):
            if slipped not in names:
                found[kind].append(nearest(slipped, names) == name)
    reached = {kind: 1000 * sum(right) // len(right) for kind, right in found.items()}
    assert all(reached[kind] >= least for kind, least in share.items()), reached
