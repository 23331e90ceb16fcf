"""Explanations of programs: kernels, operators, lines, schedules, bytes and operations."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.frontend import nn
from relaxscript.ir.instrument import PassInstrument
from relaxscript.ir.module import IRModule
from relaxscript.runtime import ExecBuilder, Executable
from relaxscript.runtime.debug.explanation import Explanation, KernelRow
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule, DeadCodeElimination
from relaxscript.transform.pipeline import default_pipeline, zero_pipeline
from relaxscript_tests.architecture import ROOT

MODEL = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 32), "float32")):
        n = T.int64()
        with R.dataflow():
            h = R.matmul(x, w)
            y = R.nn.relu(h)
            z = R.exp(y)
            s = R.nn.softmax(z)
            R.output(s)
        return s
"""

# Each PrimFunc has its loops arranged where a rule fits.
PASSES = [zero_pipeline(), DeadCodeElimination(), ApplyDefaultSchedule(), default_pipeline()]


def built(text: str, **options: object) -> Executable:
    return rx.build(from_source(text), relax_pipeline=PASSES, **options)  # type: ignore[arg-type]


def row_of(found: Explanation, name: str) -> KernelRow:
    return next(row for row in found.kernels if row.name == name)


def test_a_fused_kernel_tells_its_operators_and_the_lines_of_all_of_them():
    row = row_of(built(MODEL).explain(), "fused_matmul_relu_exp")
    assert row.operators == ("matmul", "nn.relu", "exp")
    assert [span.text for span in row.spans] == ["R.matmul(x, w)", "R.nn.relu(h)", "R.exp(y)"]
    assert [span.line for span in row.spans] == [8, 9, 10]


def test_bytes_and_operations_are_those_that_are_counted_by_hand():
    explained = built(MODEL).explain(n=128)
    row = row_of(explained, "fused_matmul_relu_exp")
    amounts = [row.bytes_read, row.bytes_written, row.flops]
    # n·64 and 64·32 elements are read, n·32 written. A product, a maximum and an exp for each.
    assert [amount.text for amount in amounts] == ["n * 256 + 8192", "n * 128", "n * 4160"]
    assert [amount.value for amount in amounts] == [40960, 16384, 128 * 32 * (2 * 64 + 2)]
    assert row_of(explained, "softmax").flops.value == 6 * 128 * 32


def test_a_schedule_is_told_with_its_reason():
    rows = built(MODEL).explain().kernels
    assert [(row.name, row.schedule) for row in rows] == [
        ("fused_matmul_relu_exp", "product"), ("softmax", "rows"),
    ]  # fmt: skip
    assert rows[0].reason == "reduction over axis 1 of `x`, axis 0 of `w`"


def test_what_no_rule_arranges_is_plain_and_says_why():
    text = MODEL.replace("R.nn.softmax(z)", "R.cumsum(z, axis=0)")
    row = row_of(built(text).explain(), "cumsum")
    assert row.schedule == "plain"
    assert row.reason == "no rule fits: it is not known on what its elements depend"


OVERLAPPING = """
@I.ir_module
class M:
    @T.prim_func
    def f(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"),
          C: T.Buffer((64, 64), "float32"{strides})):
        for i, j, k in T.grid(T.int64(64), T.int64(64), T.int64(64)):
            with T.block("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @R.function
    def main(x: R.Tensor((64, 64), "float32")):
        return R.call_tir(M.f, (x, x), out_sinfo=R.Tensor((64, 64), "float32"))
"""


def test_what_is_arranged_where_buffers_share_no_memory_says_so():
    (row,) = built(OVERLAPPING.format(strides="")).explain().kernels
    assert (row.operators, row.flops.value) == (("f",), 2 * 64**3)
    assert row.schedule == "product"
    assert row.reason == (
        "reduction over axis 1 of `A`, axis 0 of `B`; "
        "as written where a result shares memory with another buffer"
    )


def test_buffers_that_may_overlap_are_told_to_be_the_reason():
    text = OVERLAPPING.replace("A: T.Buffer((64, 64), \"float32\")",
                               "A: T.Buffer((64, 64), \"float32\", strides=(64, 1))")  # fmt: skip
    (row,) = built(text.format(strides="")).explain().kernels
    assert row.schedule == "plain"
    assert row.reason == (
        "no rule fits: its buffers may overlap; with `tir.noalias` it is for `nests`"
    )


def test_kernels_that_somebody_scheduled_say_by_what_this_is_seen():
    text = """
@I.ir_module
class M:
    @T.prim_func
    def f(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        t = T.alloc_buffer((64, 64), scope="local")
        for i in T.parallel(64):
            for j in T.unroll(8):
                for k in T.vectorized(8):
                    with T.block("t"):
                        vi = T.axis.spatial(64, i)
                        vj = T.axis.spatial(64, j * 8 + k)
                        t[vi, vj] = T.exp(A[vi, vj])
            for j in T.serial(64, annotations={"a": 1}):
                B[i, j] = t[i, 63 - j]

    @R.function
    def main(x: R.Tensor((64, 64), "float32")):
        return R.call_tir(M.f, (x,), out_sinfo=R.Tensor((64, 64), "float32"))
"""
    (row,) = rx.build(from_source(text)).explain().kernels
    assert (row.name, row.schedule) == ("f", "plain")
    assert row.reason == (
        "its loops are as the program arranged them: annotations, memory in `local`, "
        "parallel loops, tiles, unrolled loops, vectors"
    )


def test_a_pipeline_that_arranges_nothing_says_so():
    executable = rx.build(from_source(MODEL), relax_pipeline="zero")
    rows = executable.explain().kernels
    assert {row.schedule for row in rows} == {"plain"}
    assert {row.reason for row in rows} == {"no pass of this pipeline arranges loops"}


def test_operators_that_numpy_computes_are_rows_without_operations():
    rows = rx.build(from_source(MODEL), "reference").explain(n=2).kernels
    assert [row.name for row in rows] == ["matmul", "nn.relu", "exp", "nn.softmax"]
    assert {(row.kind, row.schedule, row.flops) for row in rows} == {("operator", "by numpy", None)}
    assert (rows[0].bytes_read.value, rows[0].bytes_written.value) == (2 * 256 + 8192, 256)


def test_a_packed_function_is_a_row():
    text = """
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.call_dps_packed("my.sort", (x,), out_sinfo=R.Tensor((4,), "float32"))
"""
    (row,) = rx.build(from_source(text)).explain().kernels
    assert (row.name, row.kind, row.moved) == ("my.sort", "packed function", 32)


def test_a_kernel_that_is_called_twice_on_the_same_sizes_is_one_row():
    text = """
@R.function
def main(x: R.Tensor((4, 32), "float32"), y: R.Tensor((8, 32), "float32")):
    a = R.nn.softmax(x)
    b = R.nn.softmax(a)
    c = R.nn.softmax(y)
    return b, c
"""
    rows = built(text).explain().kernels
    assert [(row.name, row.calls, row.flops.value) for row in rows] == [
        ("softmax", 2, 6 * 128), ("softmax1", 1, 6 * 256),
    ]  # fmt: skip
    assert [span.line for span in rows[0].spans] == [4, 5]


TWO = """
@I.ir_module
class M:
    @R.function(private=True)
    def inner(x: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        k = T.int64()
        y: R.Tensor((k,), "float32") = R.exp(x)
        return y

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return M.inner(x)

    @R.function
    def other(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return R.sin(x)
"""


def test_a_function_is_explained_with_what_it_calls():
    executable = built(TWO)
    assert [row.name for row in executable.explain("main").kernels] == ["exp"]
    assert [row.name for row in executable.explain("other").kernels] == ["sin"]
    assert [row.name for row in executable.explain().kernels] == ["exp", "sin"]


def test_a_function_that_is_not_there_is_refused():
    with pytest.raises(VMError, match="there is no function `man`"):
        built(TWO).explain("man")


def test_a_size_of_another_name_is_refused():
    with pytest.raises(VMError, match="no shape variable is called `m`") as caught:
        built(MODEL).explain(m=3)
    assert caught.value.diagnostic.notes == ("there are n",)


@pytest.mark.parametrize(("size", "said"), [
    (-1, "from 0 on, got an int -1"), (2.5, "from 0 on, got"), (True, "from 0 on, got"),
])  # fmt: skip
def test_a_size_that_is_no_number_of_elements_is_refused(size, said):
    with pytest.raises(VMError, match=said):
        built(MODEL).explain(n=size)


def test_a_program_that_was_written_by_hand_is_not_explained():
    with pytest.raises(VMError, match="where a module was built to it"):
        ExecBuilder().get().explain()


def test_a_machine_explains_its_program():
    model = rx.VirtualMachine(built(MODEL))
    assert str(model.explain(n=3)) == str(model.executable.explain(n=3))


def test_a_program_explains_itself_in_the_context_in_which_it_was_built():
    with rx.transform.PassContext(disabled_pass=["ApplyDefaultSchedule"]):
        executable = built(MODEL)
    assert {row.schedule for row in executable.explain().kernels} == {"plain"}


def test_instruments_of_the_caller_see_nothing_of_an_explanation():
    executable = built(MODEL.replace("R.nn.softmax(z)", "R.cumsum(z, axis=0)"))
    seen = []

    class Watching(PassInstrument):
        def run_before_pass(self, mod, info):
            seen.append(info.name)

    with rx.transform.PassContext(instruments=[Watching()]):
        executable.explain()
    assert seen == []


def test_the_least_time_is_that_of_bytes_or_of_operations():
    explained = built(MODEL).explain(n=1024)
    row, roof = row_of(explained, "fused_matmul_relu_exp"), explained.roof
    assert roof is not None
    assert row.moved is not None
    by_bytes = row.moved / roof.bytes_per_second(row.moved)
    by_flops = row.flops.value / roof.flops
    assert explained.seconds(row) == max(by_bytes, by_flops)
    assert explained.bound(row) == ("arithmetic" if by_flops > by_bytes else "memory")
    assert explained.total_seconds == sum(explained.seconds(row) for row in explained.kernels)


def test_without_sizes_no_time_is_told():
    explained = built(MODEL).explain()
    assert [explained.seconds(row) for row in explained.kernels] == [None, None]
    assert (explained.total_seconds, explained.bound(explained.kernels[0])) == (None, "")


def test_data_and_html_are_read_by_other_readers():
    explained = built(MODEL).explain(n=2)
    data = json.loads(explained.as_json())
    assert (data["target"], data["dims"]) == ("llvm", {"n": 2})
    first = data["kernels"][0]
    assert (first["name"], first["flops"]["value"]) == ("fused_matmul_relu_exp", 2 * 4160)
    assert first["places"][0]["line"] == 8
    rows = ElementTree.fromstring(explained._repr_html_()).findall(".//tbody/tr")
    assert [row.findall("td")[1].text for row in rows] == ["fused_matmul_relu_exp", "softmax"]


def test_a_module_of_prim_funcs_is_explained():
    text = """
@T.prim_func
def twice(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(64):
        B[i] = A[i] * T.float32(2)
"""
    module = IRModule({"twice": from_source(text).with_attr("global_symbol", "twice")})
    (row,) = rx.build(module).explain().kernels
    assert (row.name, row.flops.value, row.calls) == ("twice", 64, 1)


# ---------------------------------------------------------------- profiles


def profiled(text: str, *args: object):
    return rx.VirtualMachine(built(text)).profile("main", *args)


def test_a_profile_tells_bytes_operations_and_lines_of_each_kernel():
    x, w = np.ones((3, 64), "float32"), np.ones((64, 32), "float32")
    rows = {row.name: row for row in profiled(MODEL, x, w).rows}
    row = rows["fused_matmul_relu_exp"]
    assert (row.moved, row.flops) == (3 * 256 + 8192 + 3 * 128, 3 * 4160)
    assert row.roof > 0
    assert [place.line for place in row.places] == [8, 9, 10]
    assert rows["softmax"].flops == 6 * 3 * 32
    assert rows["vm.builtin.alloc_tensor"].flops is None


def test_a_profile_counts_each_size_of_a_kernel_by_itself():
    text = """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    n, m = T.int64(), T.int64()
    return R.exp(x), R.exp(y)
"""
    report = profiled(text, np.ones(3, "float32"), np.ones(5, "float32"))
    (row,) = [row for row in report.rows if row.name == "exp"]
    assert (row.count, row.flops, row.moved) == (2, 8, 64)


def test_a_program_that_was_written_by_hand_has_a_profile_of_times():
    builder = ExecBuilder()
    with builder.function("main", 1):
        builder.emit_call("vm.builtin.copy", [builder.r(0)], builder.r(1))
        builder.emit_ret(builder.r(1))
    (row,) = rx.VirtualMachine(builder.get()).profile("main", np.ones(3)).rows
    assert (row.name, row.count, row.flops) == ("vm.builtin.copy", 1, None)


class Net(nn.Module):
    """A model of which only bindings have places."""

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        y = nn.op.exp(x)
        z = nn.op.softmax(y)
        w = nn.op.matmul(z, z)
        v = nn.op.exp(w)
        return nn.op.softmax(v)


def test_every_line_of_a_module_of_nn_has_its_time():
    mod, _ = Net().export_tvm({"forward": {"x": nn.spec.Tensor((32, 32), "float32")}})
    model = rx.jit(mod)
    first = Net.forward.__code__.co_firstlineno
    lines = list(range(first + 1, first + 6))
    explained = {span.line for row in model.explain().kernels for span in row.spans}
    assert sorted(explained) == lines
    report = model.profile("forward", np.ones((32, 32), "float32"))
    timed = [line.place.line for line in report.lines if line.seconds]
    assert timed == lines


# ---------------------------------------------------------------- where programs come from


def test_a_program_that_was_loaded_is_explained(tmp_path):
    rx.save(rx.build(from_source(MODEL)), tmp_path / "model.rx")
    rows = rx.load(tmp_path / "model.rx").explain(n=3).kernels
    assert rows[0].operators[0] == "matmul"


def test_a_program_from_the_cache_is_explained_as_the_one_that_was_built(tmp_path, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(tmp_path / "cache"))
    module = from_source(MODEL)
    first, second = (rx.build(module, relax_pipeline="zero") for _ in range(2))
    assert (first.built is None, second.built is None) == (True, False)
    assert str(second.explain(n=3)) == str(first.explain(n=3))


def test_what_explains_is_imported_when_somebody_asks():
    text = '@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    return R.exp(x)\n'
    heavy = ("explainer.answers", "runtime.debug.explanation", "runtime.debug.report")
    program = (
        "import sys, relaxscript as rx\n"
        f"rx.jit(rx.from_source({text!r}))\n"
        f"print([name for name in {heavy!r} if f'relaxscript.{{name}}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("[]\n", "")
