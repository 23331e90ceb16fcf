"""`relaxscript bench`: times of the functions of a file that is not run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relaxscript.cli import main
from relaxscript.cli.example_arguments import USUAL_SIZE, ExampleArguments
from relaxscript.errors import DiagnosticError
from relaxscript.runtime.values import Shape
from relaxscript.script import from_source
from relaxscript_tests.cli.programs import BAD, GOOD, IMPORTS, MODULE


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(text):
        (tmp_path / "a.py").write_text(text, "utf-8")
        return "a.py"

    return make


def measured(capsys, *arguments):
    """The functions that `relaxscript bench --json` measured."""
    assert main(["bench", "--json", "--repeat", "2", *arguments]) == 0
    return json.loads(capsys.readouterr().out)["functions"]


def test_times_and_sizes_of_a_function_are_told(file, capsys):
    assert main(["bench", file(f"raise SystemExit\n{GOOD}"), "--repeat", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    head, *lines = out.splitlines()
    assert head == f"twice for llvm, n={USUAL_SIZE}"
    assert [line.split()[0] for line in lines] == [
        "build", "first", "a", "throughput", "memory",
    ]  # fmt: skip
    assert "arguments 1.50 KiB, results 1.50 KiB, constants 0 B" in lines[-1]


def test_sizes_are_those_that_are_given(file, capsys):
    (found,) = measured(capsys, file(GOOD), "--dims", "n=5")
    assert (found["dims"], found["arguments"], found["results"]) == ({"n": 5}, 60, 60)
    assert len(found["seconds"]) == 2
    assert min(found["seconds"]) <= found["median"] <= max(found["seconds"])
    assert min(found["build_seconds"], found["first_call_seconds"], found["peak"]) > 0


def test_main_of_a_module_is_measured_unless_another_is_named(file, capsys):
    path = file(MODULE)
    assert [each["function"] for each in measured(capsys, path)] == ["Pair.main"]
    for name in ("twice", "Pair.twice"):
        (found,) = measured(capsys, path, "--function", name)
        assert found["function"] == "Pair.twice"


def test_every_script_of_a_file_is_measured(file, capsys):
    found = measured(capsys, file(GOOD + GOOD.replace("twice", "again")))
    assert [each["function"] for each in found] == ["twice", "again"]


def test_a_program_that_was_read_from_the_cache_is_told_to_be(file, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(tmp_path / "cache"))
    path = file(GOOD)
    assert [measured(capsys, path)[0]["from_cache"] for _ in range(2)] == [False, True]
    assert main(["bench", path, "--repeat", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(", read from the cache")


def test_another_target_is_compared(file, capsys):
    path = file(GOOD)
    (found,) = measured(capsys, path, "--target", "reference", "--compare", "llvm")
    assert (found["target"], found["compared_with"]) == ("reference", "llvm")
    assert found["compared"] > 0
    assert main(["bench", path, "--repeat", "1", "--compare"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.split()[0] == "compared"
    assert "for llvm -opt-level=0, " in last
    assert last.endswith(" times as long")


def test_bytes_and_operations_of_kernels_are_told(file, capsys):
    text = f"""{IMPORTS}
@T.prim_func
def twice(A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")):
    n = T.int64()
    for i in range(n):
        B[i] = A[i] * T.float32(2)
"""
    (found,) = measured(capsys, file(text), "--dims", "n=64")
    assert (found["flops"], found["moved"], found["roof_seconds"] > 0) == (64, 512, True)
    assert main(["bench", "a.py", "--repeat", "1"]) == 0
    out = capsys.readouterr().out
    assert "flop/s" in out
    assert "% of the roof" in out


def test_mistakes_of_a_file_are_told_instead_of_times(file, capsys):
    assert main(["bench", file(BAD)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error[RX0101]: `imaeg` is not defined")


def test_a_function_that_fails_tells_the_error_of_its_run(file, capsys):
    text = f"""{IMPORTS}
@R.function
def f(x: R.Tensor(("n",), "float32")):
    y = R.match_cast(x, R.Tensor((7,), "float32"))
    return y
"""
    assert main(["bench", file(text)]) == 1
    err = capsys.readouterr().err
    assert "error[RX06" in err
    assert "128" in err


def test_a_program_that_cannot_be_built_tells_its_mistake(file, capsys):
    text = f"""{IMPORTS}
@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    A[0] = T.call_extern("float32", "no_such_function", A[0])
"""
    assert main(["bench", file(text)]) == 1
    assert capsys.readouterr().err.startswith("error[RX05")


@pytest.mark.parametrize(("arguments", "said"), [
    (["--function", "mian"], "error[RX0703]: `a.py` has no function `mian`\n"),
    (["--dims", "m=3"], "error[RX0703]: no parameter has the shape variable `m`\n"),
    (["--target", "lvm"], 'error[RX0703]: there is no target "lvm"\n'),
    (["--compare", "lvm"], 'error[RX0703]: there is no target "lvm"\n'),
])  # fmt: skip
def test_what_is_not_there_is_refused(file, capsys, arguments, said):
    assert main(["bench", file(GOOD), *arguments]) == 2
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize(("arguments", "said"), [
    (["--dims", "n"], "--dims is written as n=128,m=3, not 'n'"),
    (["--dims", "n=-1"], "--dims is written as n=128,m=3, not 'n=-1'"),
    (["--repeat", "0"], "--repeat is a number from 1 on, not 0"),
])  # fmt: skip
def test_arguments_that_make_no_sense_are_an_error_of_the_command(file, capsys, arguments, said):
    with pytest.raises(SystemExit) as caught:
        main(["bench", file(GOOD), *arguments])
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_a_file_without_scripts_has_no_function_to_measure(file, capsys):
    assert main(["bench", file("x = 1\n")]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error[RX0703]: `a.py` has no function to measure\n")
    assert "= help: there are: none\n" in err


def test_a_module_of_several_functions_without_main_needs_a_name(file, capsys):
    assert main(["bench", file(MODULE.replace("def main", "def other"))]) == 2
    assert "= help: there are: Pair.twice, Pair.other\n" in capsys.readouterr().err


# ---------------------------------------------------------------- arguments


def arguments(params: str, **dims: int) -> ExampleArguments:
    text = f"@R.function\ndef f({params}):\n    n = T.int64()\n    return R.tuple()\n"
    return ExampleArguments(from_source(text), dims)


def test_arguments_have_the_sizes_and_dtypes_of_their_annotations():
    made = arguments('x: R.Tensor(("n", 3), "float16"), y: R.Tensor((2,), "int64")', n=4)
    x, y = made.values
    assert (x.shape, x.dtype, y.shape, y.dtype) == ((4, 3), "float16", (2,), "int64")
    assert np.all(abs(x) <= 1)
    assert set(y.tolist()) <= {0, 1}
    assert made.sizes == {"n": 4}


def test_arguments_are_the_same_each_time():
    first, second = (arguments('x: R.Tensor((9,), "float32")').values[0] for _ in range(2))
    assert np.array_equal(first, second)


def test_shapes_numbers_and_tuples_are_made_as_well():
    made = arguments(
        's: R.Shape(["n", 2]), k: R.Prim(value="n"), t: R.Tuple(R.Tensor(ndim=1), R.Prim("bool"))',
        n=3,
    )
    shape, number, (tensor, flag) = made.values
    assert (shape, number, tensor.shape, type(flag)) == (Shape((3, 2)), 3, (USUAL_SIZE,), bool)


def test_an_object_has_no_example_and_is_refused():
    with pytest.raises(DiagnosticError, match="no argument can be made for `x`") as caught:
        arguments("x: R.Object")
    assert caught.value.diagnostics[0].code == "RX0703"


@pytest.mark.parametrize("size", ["n - 200", "3 // n"])
def test_sizes_that_no_array_has_are_refused(size):
    with pytest.raises(DiagnosticError, match=r"`x` cannot have .* elements with n="):
        arguments(f's: R.Shape(["n"]), x: R.Tensor(({size},), "float32")', n=0)
