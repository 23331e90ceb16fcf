"""Schedules as a whole: blocks by name, functions, traces, copies, errors."""

from __future__ import annotations

import inspect

import pytest

import relaxscript
from relaxscript import IRModule, s_tir, tir
from relaxscript.ir import structural_equal
from relaxscript.ir.tir import Block, For, SeqStmt
from relaxscript.script import tir as T
from relaxscript.tir import Schedule, ScheduleError
from relaxscript.tir.schedule import BlockRV, LoopRV, Trace

from .scheduled import chain, check, matmul, refused, scale, stencil

SIGNATURES = """
Schedule(mod, *, seed=None, debug_mask='none', error_render_level='detail', enable_check=True)
get_block(self, name, func_name=None)
get_loops(self, block)
get_child_blocks(self, block_or_loop)
get_producers(self, block)
get_consumers(self, block)
get_output_blocks(self, scope_block)
split(self, loop, factors, preserve_unit_iters=True, disable_predication=False)
fuse(self, *loops, preserve_unit_iters=True)
reorder(self, *ordered_loops)
vectorize(self, loop)
parallel(self, loop)
unroll(self, loop)
bind(self, loop, thread_axis)
compute_inline(self, block)
reverse_compute_inline(self, block)
compute_at(self, block, loop, preserve_unit_loops=False, index=-1)
reverse_compute_at(self, block, loop, preserve_unit_loops=False, index=-1)
cache_read(self, block, read_buffer_index, storage_scope, consumer_blocks=None)
cache_write(self, block, write_buffer_index, storage_scope, consumer_blocks=None)
decompose_reduction(self, block, loop)
rfactor(self, loop, factor_axis)
pad_einsum(self, block, padding)
annotate(self, block_or_loop, ann_key, ann_val)
unannotate(self, block_or_loop, ann_key)
"""


@pytest.mark.parametrize("line", SIGNATURES.strip().splitlines())
def test_methods_have_the_parameters_that_tvm_gives_them(line):
    name = line.partition("(")[0]
    function = Schedule if name == "Schedule" else getattr(Schedule, name)
    parameters = inspect.signature(function).parameters.values()
    bare = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
    assert f"{name}{bare}" == line


def test_the_names_of_tvm_lead_here():
    assert s_tir.Schedule is tir.Schedule is tir.schedule.Schedule
    assert relaxscript.tir.ScheduleError is s_tir.ScheduleError


def test_blocks_and_loops_are_found():
    sch = Schedule(chain)
    block = sch.get_block("B")
    assert isinstance(block, BlockRV)
    assert isinstance(sch.get(block), Block)
    loops = sch.get_loops(block)
    assert [sch.get(loop).loop_var.name for loop in loops] == ["i", "j"]
    assert all(isinstance(loop, LoopRV) and isinstance(sch.get(loop), For) for loop in loops)

    assert [repr(one) for one in (sch, block, *loops)] == [
        "<Schedule of main>", "<BlockRV B>", "<LoopRV i>", "<LoopRV j>"
    ]  # fmt: skip

    def names(blocks):
        return [sch.get(found).name_hint for found in blocks]

    root = sch.get_block("root")
    assert names(sch.get_child_blocks(root)) == ["A", "B", "C"]
    assert names(sch.get_child_blocks(loops[0])) == ["B"]
    assert names(sch.get_producers(block)) == ["A"]
    assert names(sch.get_consumers("A")) == ["B", "C"]
    assert names(sch.get_output_blocks("root")) == ["C"]
    assert sch.get(3).value == 3


def test_blocks_stay_the_same_through_steps():
    sch = Schedule(chain)
    block = sch.get_block("B")
    i, j = sch.get_loops(block)
    sch.annotate(block, "first", 1)
    sch.fuse(i, j)
    sch.annotate(block, "second", 2)
    assert dict(sch.get(block).annotations) == {"first": 1, "second": 2}
    check(chain, sch)


def test_a_block_that_is_not_there_is_told_with_those_that_are():
    sch = Schedule(chain)
    refused(sch, lambda: sch.get_block("D"), "`main` has no block 'D'", "`A`, `B`, `C`")
    refused(sch, lambda: sch.get_block("roots"), "did you mean `root`?")
    refused(sch, lambda: sch.get_block("A", "mian"), "no PrimFunc 'mian'", "did you mean `main`?")

    @T.prim_func
    def twice(X: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                X[vi] = T.float32(0)
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                X[vi] = T.float32(1)

    sch = Schedule(twice)
    refused(sch, lambda: sch.get_block("b"), "`main` has 2 blocks `b`", "one of them")
    first, _ = sch.get_child_blocks(sch.get_block("root"))
    sch.vectorize(sch.get_loops(first)[0])
    check(twice, sch)


def test_a_block_that_a_step_removed_is_told_as_such():
    sch = Schedule(chain)
    block = sch.get_block("A")
    sch.compute_inline(block)
    refused(sch, lambda: sch.get_loops(block), "the block `A` is no longer there: a step removed")


def test_a_module_has_functions_to_work_on():
    mod = IRModule({"mul": matmul, "double": scale})
    sch = Schedule(mod)
    refused_name = pytest.raises(ScheduleError, match="the module has no PrimFunc 'main'")
    with refused_name:
        sch.get_block("C")
    assert sch.func_working_on is None
    sch.work_on("double")
    assert sch.func_working_on.name_hint == "double"
    i = sch.get_loops("scale")[0]
    sch.parallel(i)
    k = sch.get_loops(sch.get_block("C", "mul"))[2]
    sch.unroll(k)
    assert sch.mod["mul"] is not matmul
    assert mod["mul"] is matmul
    with pytest.raises(ScheduleError, match="the loops are of several functions"):
        sch.fuse(i, k)
    with pytest.raises(TypeError, match=r"`tir.Schedule` takes a module or a PrimFunc, not"):
        Schedule(3)


def test_a_copy_goes_on_by_itself():
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    other = sch.copy()
    other.vectorize(j)
    assert structural_equal(sch.mod["main"], matmul)
    assert len(other.trace) == len(sch.trace) + 1
    sch.parallel(i)
    check(matmul, sch)
    check(matmul, other)


def test_what_is_forgotten_is_not_known_any_more():
    sch = Schedule(matmul)
    block = sch.get_block("C")
    sch.remove_rv(block)
    with pytest.raises(ScheduleError, match="this block belongs to another schedule"):
        sch.get(block)


def test_a_trace_is_python_that_makes_the_same_program(capsys):
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j_0, j_1 = sch.split(j, [None, 4])
    sch.reorder(j_0, i, k, j_1)
    sch.fuse(j_0, i)
    sch.annotate(block, "hint", 'a "b"')
    assert str(sch.trace) == "\n".join([
        "# from relaxscript import tir",
        "def apply_trace(sch: tir.Schedule) -> None:",
        '  b0 = sch.get_block(name="C", func_name="main")',
        "  l1, l2, l3 = sch.get_loops(block=b0)",
        "  l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True, "
        "disable_predication=False)",
        "  sch.reorder(l4, l1, l3, l5)",
        "  l6 = sch.fuse(l4, l1, preserve_unit_iters=True)",
        '  sch.annotate(block_or_loop=b0, ann_key="hint", ann_val="a \\"b\\"")',
    ])  # fmt: skip
    scope: dict[str, object] = {"tir": tir}
    exec(str(sch.trace), scope)
    again = Schedule(matmul)
    scope["apply_trace"](again)  # type: ignore[operator]
    assert structural_equal(again.mod, sch.mod)
    sch.show()
    assert "apply_trace" in capsys.readouterr().out


def test_a_trace_goes_through_json():
    sch = Schedule(stencil)
    (i,) = sch.get_loops("B")
    outer, _ = sch.split(i, [None, 3])
    sch.bind(outer, "threadIdx.x")
    sch.annotate(outer, "x", [1, 2.5])
    again = Schedule(stencil)
    Trace.apply_json_to_schedule(sch.trace.as_json(), again)
    assert structural_equal(again.mod, sch.mod)
    for wrong in ([[["mod", {}, []]], []], [[["copy"]], []], {}, 3, "[[[1]]]", "{"):
        with pytest.raises(ScheduleError, match="no step"):
            Trace.apply_json_to_schedule(wrong, again)
    unusual = Schedule(scale)
    n = scale.buffer_map[scale.params[0]].shape[0]
    unusual.annotate(unusual.get_block("scale"), "size", n)
    with pytest.raises(ScheduleError, match="`n` is no number, and JSON has no other scalars"):
        unusual.trace.as_json()


def test_a_simplified_trace_only_looks_for_what_it_uses():
    sch = Schedule(chain)
    sch.get_loops("B")
    sch.get_block("C")
    i, _ = sch.get_loops("A")
    sch.parallel(i)
    short = sch.trace.simplified()
    assert [inst.kind.name for inst in short.insts] == ["GetBlock", "GetLoops", "Parallel"]
    assert short.insts[0].kind.is_pure
    assert not short.insts[2].kind.is_pure
    assert short.insts[2].inputs
    assert short.insts[0].attrs == ["A", "main"]
    again = Schedule(chain)
    short.apply_to_schedule(again)
    assert structural_equal(again.mod, sch.mod)
    assert short.pop() is not None
    assert len(short) == 2
    assert short.get_decision(short.insts[0]) is None
    short.append(sch.trace.insts[-1], 3)
    assert short.get_decision(short.insts[-1]) == 3
    assert str(Trace()).endswith("pass")
    assert Trace().pop() is None


def test_a_trace_of_another_program_is_refused():
    sch = Schedule(matmul)
    i, _, _ = sch.get_loops("C")
    two = Schedule(chain)
    with pytest.raises(ScheduleError, match=r"`sch.get_loops` gives 2 here, where the trace has 3"):
        sch.trace.apply_to_schedule(two)


def test_errors_are_as_long_as_they_are_wanted():
    for level, words in (("fast", "depend on each other"), ("none", "a step of a schedule is")):
        sch = Schedule(matmul, error_render_level=level)
        k = sch.get_loops("C")[2]
        with pytest.raises(ScheduleError, match=words) as raised:
            sch.parallel(k)
        assert not raised.value.diagnostics[0].labels
    with pytest.raises(ValueError, match='is "detail", "fast" or "none", not \'all\''):
        Schedule(matmul, error_render_level="all")


def test_steps_that_are_not_built_say_what_to_use():
    sch = Schedule(matmul)
    with pytest.raises(
        AttributeError, match=r"`tir.Schedule.tensorize` is not built yet; `sch.vec"
    ):
        sch.tensorize
    with pytest.raises(AttributeError, match="a schedule has no step `splitt`"):
        sch.splitt
    assert not hasattr(sch, "blockize")


def test_loops_that_are_one_object_are_scheduled_apart():
    body = chain.body.block.body
    twice = chain.with_body(
        chain.body.replace(
            block=chain.body.block.replace(body=SeqStmt((body.seq[0], body.seq[1], *body.seq)))
        )
    )
    sch = Schedule(twice)
    blocks = sch.get_child_blocks(sch.get_block("root"))
    assert [sch.get(block).name_hint for block in blocks] == ["A", "B", "A", "B", "C"]
    sch.parallel(sch.get_loops(blocks[2])[0])
    assert sch.get(sch.get_loops(blocks[0])[0]).kind == "serial"
    check(twice, sch)
