"""Every pass of `relaxscript.transform` and `tir.transform`, and the programs that test it.

A pass that can be made without arguments is here by itself. One that cannot, or that does something
else with others, has examples in `EXAMPLES`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from relaxscript import op, tir, transform
from relaxscript.builder import BlockBuilder
from relaxscript.dpl import wildcard
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Call as Intrinsic, IntImm, Var as ShapeVar
from relaxscript.ir.relax import Call, Expr, Function, GlobalVar, Op
from relaxscript.ir.struct_info import DTensorStructInfo, TensorStructInfo
from relaxscript.ir.tir import BufferStore, For, ForKind, PrimFunc
from relaxscript.ir.walk import rewrite, walk
from relaxscript.relax import backend
from relaxscript.runtime import register_func
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, Outcome, observe
from relaxscript.testing.generate.packed_funcs import register_packed
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import Pass
from relaxscript.transform.byoc.nest_matcher import nest_row
from relaxscript_tests import examples
from relaxscript_tests.transform.algebra.pass_examples import PRODUCTS
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module
from relaxscript_tests.transform.gradient import differentiable_programs as smooth
from relaxscript_tests.transform.layout.network_programs import network
from relaxscript_tests.transform.layout.pass_examples import LAYOUTS
from relaxscript_tests.transform.params.pass_examples import PARAMS
from relaxscript_tests.transform.pass_case import Case, Make
from relaxscript_tests.transform.precision.pass_examples import PRECISIONS
from relaxscript_tests.transform.prim_func.pass_examples import OF_LOOPS
from relaxscript_tests.transform.simplify.pass_examples import PRIVATE
from relaxscript_tests.transform.vdevice.pass_examples import ON_DEVICES

__all__ = [
    "EXAMPLES", "PASSES", "SAY_ONLY", "Case", "Sample", "cases", "needs_examples",
    "optional_parameters", "samples",
]  # fmt: skip


def with_weights(seed: int) -> IRModule:
    """A random module whose `main` says that its parameters after the first are weights."""
    made = random_module(seed)
    main = next(var for var in made.functions if var.name_hint == "main")
    called = {node for f in made.functions.values() for node in walk(f) if isinstance(node, Call)}
    uses = [use for f in made.functions.values() for use in walk(f) if use is main]
    if len(uses) > sum(call.op is main for call in called):
        return made
    made[main] = made[main].with_attr("num_input", 1)
    return made


def legalized(seed: int) -> IRModule:
    """A random module in which operators are loops."""
    return transform.LegalizeOps()(random_module(seed))


def without_axes(seed: int) -> IRModule:
    """A random module in whose PrimFuncs blocks have no axes."""
    return tir.transform.ConvertBlocksToOpaque()(legalized(seed))


def without_blocks(seed: int) -> IRModule:
    """A random module whose PrimFuncs are loops without blocks."""
    return tir.transform.LowerOpaqueBlock()(without_axes(seed))


def vectorized(seed: int) -> IRModule:
    """A random module in which loops of known extent are vectorized."""

    def step(node: Node) -> Node | None:
        if not isinstance(node, For) or not isinstance(node.extent, IntImm):
            return None
        return node.replace(kind=ForKind.VECTORIZED)

    made = tir.transform.FlattenBuffer()(without_blocks(seed))
    for var, func in made.functions.items():
        if isinstance(func, PrimFunc):
            made[var] = func.replace(body=rewrite(func.body, step))
    return made


def fused(seed: int) -> IRModule:
    """A random module in which loops are fused, as far as they can."""
    return transform.FuseOps()(fusable_module(seed))


def fused_loops(seed: int) -> IRModule:
    """The same, what was fused being loops."""
    return transform.FuseTIR()(fused(seed))


def arranged_loops(seed: int) -> IRModule:
    """The same, arranged by schedules as far as they can."""
    return transform.ApplyDefaultSchedule()(fused_loops(seed))


def composites(seed: int) -> IRModule:
    """A random module in which calls are functions for two code generators."""

    def is_for(remainder: int) -> Callable[[transform.PatternCheckContext], bool]:
        return lambda found: len(repr(found.matched_expr)) % 3 == remainder

    patterns = [
        transform.FusionPattern(f"{name}.call", _CALL[1], None, is_for(remainder))
        for remainder, name in enumerate(["a", "b"])
    ]
    return transform.FuseOpsByPattern(patterns)(random_module(seed))


def generated(seed: int) -> IRModule:
    """A random module in which operators on tensors are functions for one code generator."""

    def is_taken(found: transform.PatternCheckContext) -> bool:
        call = found.matched_expr
        if not isinstance(call, Call) or not isinstance(call.op, Op):
            return False
        given = [value for value in (call, *call.args) if not isinstance(value, GlobalVar)]
        infos = [value.struct_info for value in given]
        return len(infos) > len(call.args) and all(
            isinstance(info, TensorStructInfo) and info.dims is not None for info in infos
        )

    pattern = transform.FusionPattern("law_codegen.call", _CALL[1], None, is_taken)
    made = transform.FuseOpsByPattern([pattern])(random_module(seed))
    return transform.MergeCompositeFunctions()(made)


def asking_for_workspaces(seed: int) -> IRModule:
    """Such a module, in which most of these functions ask for memory to work in."""
    made = generated(seed)
    theirs = [g for g, f in made.relax_functions().items() if f.attrs and "Codegen" in f.attrs]
    for number, gvar in enumerate(theirs):
        if (number + seed) % 4:
            made[gvar] = made[gvar].with_attr("WorkspaceSize", 16 * number + 8)
    return made


def run_codegen(entry_functions: Sequence[str] | None = None) -> Make:
    """RunCodegen with a code generator whose functions the interpreter runs."""

    def generate(functions: Sequence[Function], options: Any, constants: Any) -> dict[str, Any]:
        return {f.attrs["global_symbol"]: interpreted(f) for f in functions if f.attrs}

    def make(mod: IRModule, inputs: Sequence[Any]) -> Pass:
        register_func("relax.ext.law_codegen", generate, override=True)
        return transform.RunCodegen(entry_functions=entry_functions)

    return make


def interpreted(function: Function) -> Callable[..., None]:
    """A destination-passing function that does what a function of Relax does."""
    run = EXECUTORS["interpreter"](IRModule({"main": function.with_attr("global_symbol", "main")}))

    def write(*values: Any) -> None:
        count = len(function.params)
        made = run("main", *values[:count])
        for out, value in zip(values[count:], made if isinstance(made, tuple) else (made,)):
            out[...] = value

    return write


# The nests of operators for which a library is asked, for all sizes.
_NESTS = """
@I.ir_module
class Nests:
    @R.function
    def main(
        x: R.Tensor(("n", "k"), "float32"), y: R.Tensor(("n", "k"), "float32"),
        b: R.Tensor(("k",), "float32"), w: R.Tensor((4, 5), "float32"),
        v: R.Tensor(("m", 4), "float32"),
    ):
        with R.dataflow():
            a1 = R.negative(x)
            a2 = R.nn.relu(x)
            a3 = R.add(x, y)
            a4 = R.multiply(x, y)
            a5 = R.add(x, b)
            a6 = R.matmul(v, w)
            R.output(a1, a2, a3, a4, a5, a6)
        return a1, a2, a3, a4, a5, a6
"""
_PRODUCTS = """
@I.ir_module
class Products:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 5), "float32"),
        b: R.Tensor((5,), "float32"),
    ):
        with R.dataflow():
            y = R.nn.relu(R.add(R.matmul(x, w), b))
            z = R.negative(R.matmul(y, R.const([[1.0], [2.0], [3.0], [4.0], [5.0]], "float32")))
            R.output(z)
        return z
"""


def products(seed: int) -> IRModule:
    """Products, each with what follows it in one PrimFunc, of any size or of a known one."""
    made = from_source(_PRODUCTS if seed % 2 else _PRODUCTS.replace('"n"', str(seed % 5 + 1)))
    made = transform.AnnotateTIROpPattern()(transform.LegalizeOps()(made))
    return transform.FuseTIR()(transform.FuseOps()(made))


def nests_of(mod: IRModule) -> list[PrimFunc]:
    """The PrimFuncs that are nests, of one result, that compute alike wherever they run."""

    def is_taken(func: PrimFunc) -> bool:
        given = [func.buffer_map[param] for param in func.params[:-1] if param in func.buffer_map]
        return nest_row(func) is not None and not any(
            isinstance(node, Intrinsic) or (isinstance(node, BufferStore) and node.buffer in given)
            for node in walk(func.body)
        )

    found = [func for func in mod.functions.values() if isinstance(func, PrimFunc)]
    return [func for func in found if is_taken(func)]


def taking(count: int) -> Callable[[list[transform.MatchResult]], Sequence[Any]]:
    """A code generator for the first nest of those with so many inputs, which the pattern runs."""

    def generate(results: list[transform.MatchResult]) -> Sequence[Any]:
        first = results[0]
        given = first.matched_buffers[:-1]
        taken = len(given) <= count and not any(
            param not in first.pattern.buffer_map for param in first.pattern.params
        )
        return [first.pattern, int(taken), given]

    return generate


def split_by(patterns: Callable[[IRModule], Sequence[PrimFunc]], count: int) -> Make:
    """SplitCallTIRByPattern with a code generator for nests with up to so many inputs."""
    return lambda mod, inputs: transform.SplitCallTIRByPattern(patterns(mod), taking(count))


@functools.cache
def common_nests() -> Sequence[PrimFunc]:
    """The nests of `_NESTS`."""
    return nests_of(transform.LegalizeOps()(from_source(_NESTS)))


def passes_of(facade: ModuleType) -> Mapping[str, type[Pass]]:
    """The classes of passes that a facade exports."""
    names: Sequence[str] = facade.__all__
    return {
        name: found
        for name in names
        if isinstance(found := getattr(facade, name), type)
        and issubclass(found, Pass)
        and not getattr(found, "__abstractmethods__", None)
    }


PASSES: Mapping[str, type[Pass]] = {
    **passes_of(transform),
    **{f"tir.{name}": found for name, found in passes_of(tir.transform).items()},
    **{f"backend.{name}": found for name, found in passes_of(backend).items()},
}


def marked(func: PrimFunc) -> PrimFunc:
    """The PrimFunc with an attribute that says that its buffers share no memory."""
    if func.attrs is not None and func.attrs.get("tir.noalias"):
        return func
    with_mark: PrimFunc = func.with_attr("tir.noalias", True)
    return with_mark


def first_bound(mod: IRModule, inputs: Sequence[Any]) -> Pass:
    """The first tensor of known shape that `main` is given; none where it may write into it."""
    for param, value in zip(mod["main"].params, inputs if mod["main"].is_pure else ()):
        info = param.struct_info
        if isinstance(info, TensorStructInfo) and info.vdevice is None and is_static(info):
            return transform.BindParams("main", {param: value})
    return transform.BindParams("main", {})


def is_static(info: TensorStructInfo) -> bool:
    """True if each dimension is a number."""
    dims = getattr(info.shape, "values", [None])
    return all(isinstance(dim, IntImm) for dim in dims)


def first_size_bound(mod: IRModule, inputs: Sequence[Any]) -> Pass:
    """The first shape variable of a tensor that `main` is given, bound to what it is there.

    It is in no distributed tensor, which devices may not share evenly with every size.
    """
    main = mod["main"]
    shared = {
        dim for node in walk(main) if isinstance(node, DTensorStructInfo) for dim in walk(node)
    }
    for param, value in zip(main.params, inputs):
        dims = getattr(getattr(param.struct_info, "shape", None), "values", ())
        for place, dim in enumerate(dims):
            if isinstance(dim, ShapeVar) and isinstance(value, np.ndarray) and dim not in shared:
                return transform.BindSymbolicVars({dim: value.shape[place]}, "main")
    return transform.BindSymbolicVars({}, "main")


# Any call, and one whose first argument is another.
_CALL = ("law.one", wildcard()(varg_default_wildcard=True))
_CALL_OF_CALL = ("law.two", wildcard()(_CALL[1], varg_default_wildcard=True))
on_functions = transform.ApplyPassToFunction


def of_a_square(builder: BlockBuilder, call: Call) -> Expr:
    """The product that a square is."""
    return op.multiply(call.args[0], call.args[0])


# One operator by another, and every second one as it is.
_OTHERS: dict[str, Callable[[BlockBuilder, Call], Expr]] = {
    **{name: lambda builder, call: call for name in sorted(op.REGISTRY)[::2]},
    "relax.square": of_a_square,
}


def sorted_bindings(order: str, direction: str) -> Make:
    """The sort of bindings by a search."""
    return lambda mod, inputs: transform.TopologicalSort(order, direction)


# What passes are made with, beside nothing: by the name of the pass.
EXAMPLES: Mapping[str, Sequence[Case]] = {
    **PRODUCTS,
    **PRIVATE,
    **ON_DEVICES,
    **PARAMS,
    **PRECISIONS,
    **LAYOUTS,
    "ApplyDefaultSchedule": [
        Case("fused", lambda mod, inputs: transform.ApplyDefaultSchedule(), fused_loops),
        Case("vectors", lambda mod, inputs: transform.ApplyDefaultSchedule(), vectorized),
    ],
    "ApplyPassToFunction": [
        Case("legalize", lambda mod, inputs: on_functions(transform.LegalizeOps(), "main")),
        Case("remove", lambda mod, inputs: on_functions(transform.DeadCodeElimination(), ".*_0")),
        Case("fuse", lambda mod, inputs: on_functions(transform.FuseOps(), ".*"), fusable_module),
    ],
    "AllocateWorkspace": [
        Case("asked", lambda mod, inputs: transform.AllocateWorkspace(), asking_for_workspaces),
    ],
    "AttachExternModules": [
        Case("one", lambda mod, inputs: transform.AttachExternModules([{"unused": print}])),
    ],
    "BindParams": [Case("first", first_bound)],
    "BundleModelParams": [
        Case("", lambda mod, inputs: transform.BundleModelParams(), with_weights),
        Case("ws", lambda mod, inputs: transform.BundleModelParams("ws"), with_weights),
    ],
    "AttachAttrNoAlias": [
        Case("of_program", lambda mod, inputs: transform.AttachAttrNoAlias(whole_program=True)),
    ],
    "BindSymbolicVars": [Case("first", first_size_bound)],
    "CanonicalizeBindings": [
        Case(
            "with_failures", lambda mod, inputs: transform.CanonicalizeBindings(keep_failures=True)
        ),
    ],
    "ConvertToDataflow": [
        Case("of_one", lambda mod, inputs: transform.ConvertToDataflow(1)),
        Case("of_four", lambda mod, inputs: transform.ConvertToDataflow(min_size=4)),
    ],
    "DeadCodeElimination": [
        Case("of_main", lambda mod, inputs: transform.DeadCodeElimination(["main"])),
        Case(
            "with_failures", lambda mod, inputs: transform.DeadCodeElimination(keep_failures=True)
        ),
    ],
    "DecomposeOpsForInference": [
        Case("of_main", lambda mod, inputs: transform.DecomposeOpsForInference("main")),
        Case(
            "but_training",
            lambda mod, inputs: transform.DecomposeOpsForInference(keep_training=True),
        ),
    ],
    "DecomposeOpsForTraining": [
        Case("of_main", lambda mod, inputs: transform.DecomposeOpsForTraining("main")),
    ],
    "EliminateCommonSubexpr": [
        Case("calls", lambda mod, inputs: transform.EliminateCommonSubexpr(call_only=True)),
    ],
    "FoldBatchnormToConv2D": [
        Case("networks", lambda mod, inputs: transform.FoldBatchnormToConv2D(), network),
    ],
    "FuseOps": [
        Case("of_loops", lambda mod, inputs: transform.FuseOps(), fusable_module),
        Case("level_0", lambda mod, inputs: transform.FuseOps(0), fusable_module),
        Case("level_1", lambda mod, inputs: transform.FuseOps(fuse_opt_level=1), fusable_module),
    ],
    "FuseOpsByPattern": [
        Case("calls", lambda mod, inputs: transform.FuseOpsByPattern([_CALL_OF_CALL, _CALL])),
        Case(
            "for_codegen",
            lambda mod, inputs: transform.FuseOpsByPattern(
                [_CALL_OF_CALL], bind_constants=False, annotate_codegen=True
            ),
        ),
        Case(
            "of_main",
            lambda mod, inputs: transform.FuseOpsByPattern([_CALL], entry_functions=["main"]),
        ),
    ],
    "RemoveRedundantReshape": [
        Case("networks", lambda mod, inputs: transform.RemoveRedundantReshape(), network),
    ],
    "OptimizeLayoutTransform": [
        Case("networks", lambda mod, inputs: transform.OptimizeLayoutTransform(), network),
    ],
    "OutlineNative": [
        Case("of_loops", lambda mod, inputs: transform.OutlineNative(), arranged_loops)
    ],
    "FuseTIR": [Case("of_loops", lambda mod, inputs: transform.FuseTIR(), fused)],
    "Gradient": [
        Case("all", lambda mod, inputs: smooth.adjoint(), smooth.module),
        Case("some", lambda mod, inputs: smooth.adjoint(["b", "x"], 1), smooth.module),
    ],
    "IPCAllReduceRewrite": [Case("ring", lambda mod, inputs: transform.IPCAllReduceRewrite(0))],
    "LambdaLift": [Case("direct", lambda mod, inputs: transform.LambdaLift(direct=True))],
    "LegalizeOps": [
        Case("others", lambda mod, inputs: transform.LegalizeOps(_OTHERS)),
        Case(
            "some",
            lambda mod, inputs: transform.LegalizeOps(keep_failures=True, keep_faster=True),
        ),
    ],
    "MergeCompositeFunctions": [
        Case("calls", lambda mod, inputs: transform.MergeCompositeFunctions(), composites),
    ],
    "MetaScheduleTuneIRMod": [
        Case("some", lambda mod, inputs: transform.MetaScheduleTuneIRMod({}, "logs", 1)),
    ],
    "MetaScheduleTuneTIR": [
        Case("some", lambda mod, inputs: transform.MetaScheduleTuneTIR("logs", 1)),
    ],
    "RunCodegen": [
        Case("calls", run_codegen(), generated),
        Case("calls_of_main", run_codegen(["main"]), generated),
    ],
    "SplitCallTIRByPattern": [
        Case("of_its_own", split_by(lambda mod: nests_of(mod)[::2], 2), legalized),
        Case("of_fused", split_by(lambda mod: common_nests(), 2), fused),
        Case("one_input", split_by(lambda mod: common_nests(), 1), fused),
        Case("products", split_by(lambda mod: common_nests()[-1:], 2), products),
    ],
    "TopologicalSort": [
        Case("deep_from_outputs", sorted_bindings("depth-first", "from-outputs")),
        Case("broad", sorted_bindings("breadth-first", "from-inputs")),
        Case("broad_from_outputs", sorted_bindings("breadth-first", "from-outputs")),
    ],
    "VMShapeLower": [
        Case("brief", lambda mod, inputs: transform.VMShapeLower(emit_err_ctx=False)),
    ],
    "tir.Apply": [Case("marked", lambda mod, inputs: tir.transform.Apply(marked), legalized)],
    "tir.BindTarget": [
        Case("llvm", lambda mod, inputs: tir.transform.BindTarget("llvm"), legalized),
    ],
    **OF_LOOPS,
    "tir.VectorizeLoop": [
        Case("vectors", lambda mod, inputs: tir.transform.VectorizeLoop(), vectorized),
        Case("serial", lambda mod, inputs: tir.transform.VectorizeLoop(False), vectorized),
    ],
    "tir.FlattenBuffer": [
        Case("no_blocks", lambda mod, inputs: tir.transform.FlattenBuffer(), without_blocks),
    ],
    "tir.LowerOpaqueBlock": [
        Case("no_axes", lambda mod, inputs: tir.transform.LowerOpaqueBlock(), without_axes),
    ],
    "tir.Filter": [
        Case("all", lambda mod, inputs: tir.transform.Filter(lambda func: True), legalized),
    ],
}  # fmt: skip


def made_without_arguments(found: type[Pass]) -> bool:
    """True if each parameter of a pass has a default."""
    parameters = inspect.signature(found).parameters.values()
    return all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )


def needs_examples() -> list[str]:
    """The passes that no law can ask, since nobody says with what they are made."""
    return [
        name
        for name, found in PASSES.items()
        if not made_without_arguments(found) and name not in EXAMPLES
    ]


# Parameters that do not matter to programs: what is said, printed or refused, and what others read.
SAY_ONLY = frozenset({
    "ApplyPassToFunction.error_if_no_function_matches_regex", "FewShotTuning.benchmark",
    "FewShotTuning.valid_count", "LegalizeOps.enable_warning", "LegalizeOps.require_all",
    "MetaScheduleApplyDatabase.enable_warning", "MetaScheduleApplyDatabase.work_dir",
    "MetaScheduleTuneIRMod.max_trials_per_task", "MetaScheduleTuneIRMod.op_names",
    "PrintIR.header", "PrintIR.show_meta_data", "RunCodegen.target_options",
})  # fmt: skip


def optional_parameters() -> set[str]:
    """The parameters with defaults that change what passes do."""
    found = {
        f"{name}.{parameter.name}"
        for name, cls in PASSES.items()
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.default is not parameter.empty
    }
    return found - SAY_ONLY


def cases() -> Iterator[Case]:
    """Every pass as it is made without arguments, and with those of its examples."""
    for name, found in PASSES.items():
        if made_without_arguments(found):
            module = legalized if name.startswith("tir.") else random_module
            yield Case(name, lambda mod, inputs, found=found: found(), module)  # type: ignore[misc]
        for case in EXAMPLES.get(name, ()):
            yield case._replace(name=f"{name}_{case.name}")


class Sample(NamedTuple):
    """A random module, arguments for its `main`, and its outcomes with executors so far."""

    mod: IRModule
    inputs: Sequence[Any]
    outcomes: dict[str, Outcome]

    @property
    def expected(self) -> Outcome:
        """The outcome of the program with the interpreter."""
        return self.expected_by("interpreter")

    def expected_by(self, executor: str) -> Outcome:
        """The outcome of the program with an executor.

        In loops it may have mathematical functions of its own, which differ in the last places.
        Without loops it is the interpreter that tells.
        """
        if not any(isinstance(function, PrimFunc) for function in self.mod.functions.values()):
            executor = "interpreter"
        return self.outcome_by(executor)

    def outcome_by(self, executor: str) -> Outcome:
        """The outcome of the program with an executor, found once."""
        if executor not in self.outcomes:
            self.outcomes[executor] = observe(EXECUTORS[executor](self.mod), "main", self.inputs)
        return self.outcomes[executor]


@functools.cache
def _sample(module: Callable[[int], IRModule], seed: int, dataflow: bool) -> Sample:
    mod = module(seed) if dataflow else transform.ToNonDataflow()(module(seed))
    inputs = inputs_for(mod["main"], seed)
    return Sample(mod, inputs, {})


def samples(case: Case, count: int, dataflow: bool = True) -> Iterator[Sample]:
    """Random modules with what they give; without dataflow blocks where they are not wanted."""
    register_packed()  # for this test too: whatever one registers is gone after it
    return (_sample(case.module, seed, dataflow) for seed in range(examples(count)))
