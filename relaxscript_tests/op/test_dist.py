"""Operators of workers and of distributed tensors: their results, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from relaxscript import from_source
from relaxscript.errors import DiagnosticError, RelaxWarning, VMError
from relaxscript.ir import assert_structural_equal
from relaxscript.ir.distributed import DeviceMesh
from relaxscript.script import relax as R
from relaxscript.testing.compare import EXECUTORS, observe

HEAD = """
@I.ir_module
class Module:
    I.module_global_infos({
        "mesh": [
            R.device_mesh((2,), I.Range(0, 2)), R.device_mesh((2,), [2, 3]),
            R.device_mesh((2, 2), I.Range(0, 4)), R.device_mesh((1,), [0]),
        ]
    })

    @T.prim_func
    def half(x: T.Buffer((2,), "float32"), y: T.Buffer((2,), "float32")):
        for i in range(2):
            y[i] = x[i] * T.float32(2)

    @R.function
    def main(
        x: R.DTensor((4, 6), "float32", "mesh[0]", "S[0]"),
        y: R.DTensor((4, 6), "float32", "mesh[1]", "R"),
        z: R.Tensor((4, 6), "float32"),
        s: R.Shape,
        q: R.DTensor((4,), "float32", "mesh[0]", "S[0]"),
        p: R.Tensor(("n", 6), "float32"),
        u: R.DTensor((4, 6), "float32", "mesh[2]", "S[0], S[1]"),
        v: R.DTensor((6, 4), "float32", "mesh[2]", "R, S[1]"),
        w: R.DTensor((2,), "float32", "mesh[3]", "S[0]"),
        d: R.DTensor(("n", "m"), "float32", "mesh[0]", "S[1]"),
        k: R.DTensor(ndim=2, dtype="float32", device_mesh="mesh[0]", placement="S[1]"),
    ):
        n = T.int64()
        m = T.int64()
        r = CALL
        return r
"""


LOCAL = "R.dist.call_tir_local_view(Module.half, "


def module(call: str) -> Any:
    """The module whose `main` gives a call of its parameters; it prints and parses back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        made = from_source(HEAD.replace("CALL", call))
        assert_structural_equal(from_source(made.script(show_meta=True)), made)
    return made


def result(call: str) -> str:
    """The annotation of a call's result as a module writes it."""
    made = module(call)
    (printed,) = (
        line for line in made.script(line_width=500).split("\n") if " r" in line and "=" in line
    )
    return printed.split(" = ")[0].partition(": R.")[2] or printed.partition("out_sinfo=")[2][2:-1]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("x + x", 'DTensor((4, 6), "float32", "mesh[0]", "S[0]")'),
        ("x * 2", 'DTensor((4, 6), "float32", "mesh[0]", "S[0]")'),
        ("2.0 > x", 'DTensor((4, 6), "bool", "mesh[0]", "S[0]")'),
        ("R.nn.relu(u)", 'DTensor((4, 6), "float32", "mesh[2]", "S[0], S[1]")'),
        ("R.add(u, R.permute_dims(v))", 'DTensor((4, 6), "float32", "mesh[2]", "S[0], S[1]")'),
        ("R.matmul(u, v)", 'DTensor((4, 4), "float32", "mesh[2]", "S[0], S[1]")'),
        ("R.matmul(v, u)", 'DTensor((6, 6), "float32", "mesh[2]", "R, S[1]")'),
        ("R.sum(u, axis=1)", 'DTensor((4,), "float32", "mesh[2]", "S[0], R")'),
        ("R.mean(u, axis=0, keepdims=True)", 'DTensor((1, 6), "float32", "mesh[2]", "R, S[1]")'),
        ("R.nn.softmax(u)", 'DTensor((4, 6), "float32", "mesh[2]", "S[0], R")'),
        ("R.exp(d)", 'DTensor((n, m), "float32", "mesh[0]", "S[1]")'),
        ("R.exp(k)", 'DTensor(dtype="float32", ndim=2, device_mesh="mesh[0]", placement="R")'),
        ("R.ccl.allreduce(u)", 'DTensor((4, 6), "float32", "mesh[2]", "R, R")'),
        ("R.ccl.allreduce(z, op_type='max')", 'Tensor((4, 6), "float32")'),
        ("R.ccl.allgather(z, num_workers=3)", 'Tensor((12, 6), "float32")'),
        ("R.ccl.allgather(p, 2, in_group=False)", 'Tensor((n * 2, 6), "float32")'),
        ("R.ccl.broadcast_from_worker0(z)", 'Tensor((4, 6), "float32")'),
        ("R.ccl.scatter_from_worker0(z, 2)", 'Tensor((2, 6), "float32")'),
        ("R.ccl.scatter_from_worker0(p, 3, axis=-1)", 'Tensor((n, 2), "float32")'),
        ("R.ccl.scatter_from_worker0(p, 3)", 'Tensor((n // 3, 6), "float32")'),
        ('R.dist.annotate_sharding(z, "mesh[0]", "S[1]")', 'Tensor((4, 6), "float32")'),
        (
            'R.dist.annotate_sharding(x, device_mesh="mesh[0]", placement="R")',
            'DTensor((4, 6), "float32", "mesh[0]", "S[0]")',
        ),
        (
            'R.dist.redistribute(x, "mesh[2]", "R, S[1]")',
            'DTensor((4, 6), "float32", "mesh[2]", "R, S[1]")',
        ),
        (
            'R.dist.redistribute(z, "mesh[0]", "S[0]")',
            'DTensor((4, 6), "float32", "mesh[0]", "S[0]")',
        ),
        (
            "R.dist.redistribute_replica_to_shard(y, num_workers=2, axis=1)",
            'DTensor((4, 6), "float32", "mesh[1]", "S[1]")',
        ),
        ("R.dist.redistribute_replica_to_shard(z, 2, axis=0)", 'Tensor((2, 6), "float32")'),
        (
            'R.dist.const([1, 2], struct_info=R.DTensor((2,), "float32", "mesh[0]", "S[0]"))',
            'DTensor((2,), "float32", "mesh[0]", "S[0]")',
        ),
        (
            'R.dist.const(R.const(1), R.DTensor((), device_mesh="mesh[0]", placement="R"))',
            'DTensor((), "int32", "mesh[0]", "R")',
        ),
        (
            'R.dist.call_tir(Module.half, w, R.DTensor((2,), "float32", "mesh[3]", "R"))',
            'DTensor((2,), "float32", "mesh[3]", "R")',
        ),
        (
            LOCAL + 'q, R.DTensor((4,), "float32", "mesh[0]", "S[0]"))',
            'DTensor((4,), "float32", "mesh[0]", "S[0]")',
        ),
    ],
)  # fmt: skip
def test_the_result_lies_where_its_axes_come_from(call: str, expected: str | None) -> None:
    if expected is not None:
        assert result(call) == expected


@pytest.mark.parametrize(
    ("call", "code", "message", "blamed"),
    [
        ("R.add(x, y)", "RX0203", "distributed tensors of several meshes do not go together", "y"),
        ("R.add(x, z)", "RX0201", "distributed tensors do not go together with others", "z"),
        ("R.concat((z, x))", "RX0201", "distributed tensors do not go together with others", "z"),
        ("R.matmul(x, x)", "RX0203", "`R.matmul` cannot multiply these operands", "x"),
        ("R.ccl.allgather(x, 2)", "RX0201", "`R.ccl.allgather` cannot take these operands", "x"),
        (
            "R.ccl.allreduce(z, 'summ')", "RX0204",
            "`op_type` is one of sum, prod, min, max, avg", "'summ'",
        ),
        ("R.ccl.allgather(R.const(1), 1)", "RX0203", "`R.ccl.allgather` cannot take", "R.const(1)"),
        ("R.ccl.scatter_from_worker0(z, 5)", "RX0203", "workers cannot share the tensor", "z"),
        ("R.ccl.scatter_from_worker0(z, 0)", "RX0204", "there is at least one worker", "0"),
        ("R.ccl.scatter_from_worker0(z, 2, 2)", "RX0204", "there is no axis 2", "2"),
        (
            'R.dist.redistribute(x, "mesh[0]", "S[0], R")', "RX0204",
            'the placement "S[0], R" is for 2 axes of a mesh, and the mesh has 1 axis', '"S[0], R"',
        ),
        (
            'R.dist.redistribute(x, "mesh[0]", "S[2]")', "RX0204",
            'the placement "S[2]" cuts axis 2, and the rank of the tensor is 2', '"S[2]"',
        ),
        (
            'R.dist.annotate_sharding(z, "mesh[2]", "S[1], S[1]")', "RX0204",
            "axis 1 has 6 elements, which 4 devices cannot share evenly", '"S[1], S[1]"',
        ),
        (
            'R.dist.redistribute(x, "mesh[7]", "R")', "RX0324",
            "the module has no mesh `mesh[7]`", '"mesh[7]"',
        ),
        (
            'R.dist.redistribute(x, 3, "R")', "RX0204",
            "the attribute `device_mesh` must be a mesh of devices", "3",
        ),
        (
            'R.dist.redistribute(x, "mesh[0]", "T")', "RX0204",
            "the attribute `placement` must be a placement", '"T"',
        ),
        (
            'R.dist.redistribute(x, "mesh[0]", 4)', "RX0204",
            "the attribute `placement` must be a placement", "4",
        ),
        ('R.dist.redistribute(s, "mesh[0]", "R")', "RX0201", "cannot take these operands", "s"),
        (
            "R.dist.redistribute_replica_to_shard(y, 3, 0)", "RX0203",
            "the one axis of the mesh has all workers", "y",
        ),
        (
            "R.dist.redistribute_replica_to_shard(x, 2, 0)", "RX0203",
            "each worker has the whole tensor before it takes its part", "x",
        ),
        ("R.dist.redistribute_replica_to_shard(y, 2, 5)", "RX0204", "there is no axis 5", "5"),
        ("R.dist.redistribute_replica_to_shard(s, 2, 0)", "RX0201", "cannot take these", "s"),
        ("R.dist.redistribute_replica_to_shard(z, 0, 0)", "RX0204", "at least one worker", "0"),
        (
            LOCAL + 'z, R.Tensor((4,), "float32"))', "RX0201",
            "cannot take these operands", 'R.Tensor((4,), "float32")',
        ),
        (
            LOCAL + '(x,), R.DTensor((4,), "float32", "mesh[0]", "R"))',
            "RX0203", "`half` takes another tensor there", "x",
        ),
        (
            LOCAL + 'q, R.DTensor((4,), "float32", "mesh[0]", "R"))',
            "RX0203", "`half` takes another shape there",
            'R.DTensor((4,), "float32", "mesh[0]", "R")',
        ),
        (
            'R.call_tir(Module.half, q, R.DTensor((2,), "float32", "mesh[1]", "R"))', "RX0203",
            "distributed tensors of several meshes do not go together",
            'R.DTensor((2,), "float32", "mesh[1]", "R")',
        ),
        ("R.dist.const(1.0, R.Tensor)", "RX0204", "`R.dist.const` cannot take", "R.Tensor"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_at_its_place(
    call: str, code: str, message: str, blamed: str
) -> None:
    with pytest.raises(DiagnosticError) as found:
        module(call)
    (diagnostic,) = found.value.diagnostics
    assert (diagnostic.code, diagnostic.span.text) == (code, blamed)
    assert message in diagnostic.message


def test_a_call_with_sizes_that_devices_cannot_share_is_refused() -> None:
    with pytest.raises(DiagnosticError) as found:
        from_source("""
@I.ir_module
class M:
    @R.function
    def f(
        x: R.Tensor(("n",), "float32"),
        y: R.Tuple(R.DTensor(("n",), "float32", R.device_mesh((2,), [0, 1]), "S[0]")),
    ) -> R.Tuple(R.DTensor(("n",), "float32", R.device_mesh((2,), [0, 1]), "S[0]")):
        return y

    @R.function
    def main(
        x: R.Tensor((3,), "float32"),
        y: R.Tuple(R.DTensor(ndim=1, dtype="float32", device_mesh=R.device_mesh((2,), [0, 1]),
                             placement="S[0]")),
    ):
        cls = M
        return cls.f(x, y)
""")
    (diagnostic,) = found.value.diagnostics
    assert (diagnostic.code, diagnostic.span.text) == ("RX0326", "cls.f")
    assert diagnostic.message == "axis 0 has 3 elements, which 2 devices cannot share evenly"


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_of_loops_that_depend_on_a_size_nothing_is_known() -> None:
    made = module('R.scatter_nd(d, R.astype(d, "int64"), d)')
    assert made["main"].ret_struct_info.placement.dim_specs[0].axis == -1


def test_what_depends_on_dimensions_is_a_warning_and_checked_when_it_runs() -> None:
    text = HEAD.replace("CALL", 'R.dist.redistribute(p, "mesh[0]", "S[0]")')
    with pytest.warns(
        RelaxWarning, match="axis 0 has n elements, which 2 devices share evenly for"
    ):
        made = from_source(text)
    for name, load in EXECUTORS.items():
        assert not isinstance(observe(load(made), "main", arguments(4)).value, Exception), name
        failed = observe(load(made), "main", arguments(3)).value
        assert isinstance(failed, VMError), name


def arguments(n: int) -> list[Any]:
    """Arguments of `main`."""
    one = np.ones((4, 6), "float32")
    return [
        one, one, np.arange(24, dtype="float32").reshape(4, 6), (1,), np.ones(4, "float32"),
        np.ones((n, 6), "float32"), one, np.ones((6, 4), "float32"),
        np.array([1, 2], "float32"), np.ones((n, 2), "float32"), one,
    ]  # fmt: skip


ROWS = np.arange(24, dtype="float32").reshape(4, 6)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("R.matmul(u, v)", np.full((4, 4), 6, "float32")),
        ("x + 1", np.full((4, 6), 2, "float32")),
        ('R.dist.redistribute(z, "mesh[0]", "S[0]")', ROWS),
        ('R.dist.annotate_sharding(z, "mesh[0]", "S[0]")', ROWS),
        ("R.dist.redistribute_replica_to_shard(z, 2, 0)", ROWS[:2]),
        ("R.dist.redistribute_replica_to_shard(y, 2, 0)", np.ones((4, 6), "float32")),
        ("R.ccl.scatter_from_worker0(z, 3, 1)", ROWS[:, :2]),
        ("R.ccl.allreduce(z, 'avg')", ROWS),
        ("R.ccl.allgather(z, 1)", ROWS),
        ("R.ccl.broadcast_from_worker0(z)", ROWS),
        (
            'R.dist.call_tir(Module.half, w, R.DTensor((2,), "float32", "mesh[3]", "R"))',
            np.array([2, 4], "float32"),
        ),
        (
            LOCAL + 'w, R.DTensor((2,), "float32", "mesh[3]", "R"))',
            np.array([2, 4], "float32"),
        ),
    ],
)  # fmt: skip
def test_one_worker_computes_the_whole(call: str, expected: Any) -> None:
    made = module(call)
    for load in EXECUTORS.values():
        value = observe(load(made), "main", arguments(2)).value
        np.testing.assert_array_equal(value, expected, strict=True)


def test_one_worker_does_not_know_what_others_have() -> None:
    with pytest.raises(ValueError, match="gathers from 2 workers, and one runs"):
        R.ccl.allgather(np.ones(2), 2)
    with pytest.raises(
        ValueError, match="axis 0 has 3 elements, which 2 workers cannot share evenly"
    ):
        R.ccl.scatter_from_worker0.meaning(np.ones(3), num_workers=2)


def test_a_call_on_parts_of_several_devices_is_refused_by_one() -> None:
    made = module(LOCAL + 'q, R.DTensor((4,), "float32", "mesh[0]", "S[0]"))')
    failed = observe(EXECUTORS["interpreter"](made), "main", arguments(2)).value
    assert isinstance(failed, VMError)
    assert "runs on each of 2 devices, and here is one" in str(failed)


def test_a_mesh_by_name_needs_a_module() -> None:
    with pytest.raises(DiagnosticError, match=r"names a mesh of a module, and there is none"):
        R.DTensor((4,), "float32", "mesh[0]", "R")
    mesh = DeviceMesh((2,), (0, 1))
    assert repr(R.DTensor((4,), "int8", mesh, "S[0]")).startswith('R.DTensor((4,), "int8"')
