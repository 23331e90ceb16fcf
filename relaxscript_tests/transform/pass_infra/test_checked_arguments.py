"""Arguments of passes: one that does not fit is named with the pass, its parameter, what fits."""

from __future__ import annotations

import re
from inspect import signature

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.vdevice import VDevice
from relaxscript.transform import (
    ApplyPassToFunction,
    BindParams,
    DeadCodeElimination,
    FoldConstant,
    FunctionPass,
    FuseOps,
    LegalizeOps,
    PassInfo,
    RunCodegen,
    Sequential,
    VMShapeLower,
    dataflowblock_pass,
    function_pass,
    module_pass,
)
from relaxscript.transform.pass_infra.checked_arguments import checks_arguments
from relaxscript.transform.pass_infra.passes import find_pass, prim_func_pass
from relaxscript_tests.transform.every_pass import PASSES
from relaxscript_tests.transform.models import Model

# What fits the parameters that must be given.
FITS = {
    "transform": FuseOps(), "func_name_regex": "main", "extern_modules": [], "func_name": "main",
    "params": {}, "binding_map": {}, "patterns": [], "fcodegen": len, "index": 0,
    "sinfo_func": len,
    "new_vdevice": VDevice("llvm"), "ftransform": len, "fcond": len, "target": "llvm",
    "allreduce_strategy": 0, "work_dir": "logs", "max_trials_global": 1,
    "desired_layouts": {}, "op_impl_map": {}, "op_buffer_transforms": {},
    "op_buffer_axis_separators": {}, "op_buffer_input_axis_separators": {},
}  # fmt: skip
STRANGE = [
    object(), 3, 2.5, True, "x", b"x", (), [object()], {3: 4}, {"x": object()}, len, int, FuseOps,
    FuseOps(), Model, Model["main"], np.ones(2), np.int64(3), ..., NotImplemented,
]  # fmt: skip
# What does not fit, by how parameters are annotated.
MISFITS = {
    "int": [2.5, "3", True, [3], None],
    "bool": [1, "yes", [], None],
    "str": [3, b"x", ["x"], None],
    "str | None": [3, b"x", ["x"]],
    "Sequence[str] | None": ["main", b"x", [3], {"main": 1}, 3, Model],
    "Mapping[Any, Any]": ["n", [("n", 3)], 3, Model],
}

every_pass = pytest.mark.parametrize("name", PASSES)


def required(cls, besides=""):
    parameters = [p for p in signature(cls).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    return {p.name: FITS[p.name] for p in parameters if p.default is p.empty and p.name != besides}


def rest_of(cls):
    """The name of the parameter that takes any number of arguments, if there is one."""
    parameters = signature(cls).parameters.values()
    return next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)


def refusal(cls, **given):
    """What is said of arguments; empty where they are taken."""
    rest = rest_of(cls)
    try:
        cls(*([given.pop(rest)] if rest in given else []), **given)
    except DiagnosticError as error:
        return error.diagnostics[0].message
    except TypeError as error:
        return str(error)
    return ""


def help_of(make):
    with pytest.raises(DiagnosticError, match="RX0103") as caught:
        make()
    assert isinstance(caught.value, TypeError)
    assert caught.value.diagnostics[0].span is not None
    return caught.value.diagnostics[0].help


@every_pass
def test_no_argument_however_strange_ends_in_an_error_of_pythons_own(name):
    cls = PASSES[name]
    for parameter in signature(cls).parameters.values():
        for strange in STRANGE:
            said = refusal(cls, **required(cls, parameter.name), **{parameter.name: strange})
            named = rf"`{parameter.name}` of `{cls.__name__}` is "
            own = r"`patterns\[0\]` is a PrimFunc|.* is neither a `FusionPattern`|`fcodegen` is "
            own += r"|a Sequential is made of passes|.* is no mapping"
            own += r"|.*has no (order|direction|out_dtype) |there is no (kind of )?target"
            own += r"|.*target|.*extern|`R\.|.*operator"
            assert not said or re.match(f"{named}|{own}", said), (strange, said)
            if type(strange) is object:
                assert said


@every_pass
def test_what_does_not_fit_the_annotation_of_a_parameter_is_refused(name):
    cls = PASSES[name]
    for parameter in signature(cls).parameters.values():
        for misfit in MISFITS.get(parameter.annotation, ()):
            said = refusal(cls, **required(cls, parameter.name), **{parameter.name: misfit})
            assert said.startswith(f"`{parameter.name}` of `{cls.__name__}` is "), (misfit, said)


@every_pass
def test_a_parameter_that_there_is_not_and_an_argument_too_many_are_named(name):
    cls = PASSES[name]
    said = refusal(cls, **required(cls), strange=3)
    assert said == f"`{cls.__name__}` has no parameter `strange`"
    wrong = f"`{cls.__name__}` takes [0-9]+ arguments?( by position)?, n"
    if rest_of(cls):
        wrong = f"`{rest_of(cls)}` of `{cls.__name__}` is"
    with pytest.raises(TypeError, match=wrong):
        cls(*[None] * 9)


@every_pass
def test_who_gives_the_module_to_the_constructor_is_told_to_call_the_pass(name):
    cls = PASSES[name]
    for program in (Model, Model["main"]):
        needed, called = ", ".join(required(cls)), "Model" if program is Model else "mod"
        assert help_of(lambda program=program: cls(program)) == (
            f"make the pass, then call it with the module: `{cls.__name__}({needed})({called})`"
        )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FuseOps("x"), "`fuse_opt_level` of `FuseOps` is an integer, not str ('x')"),
        (
            lambda: FoldConstant(Model),
            "`FoldConstant` takes 0 arguments, not 1",
        ),
        (lambda: FuseOps(fuse_level=1), "`FuseOps` has no parameter `fuse_level`"),
        (lambda: BindParams("main"), "`BindParams` needs `params`"),
        (lambda: Sequential(3), "`passes` of `Sequential` is a list of Passes, not int (3)"),
        (
            lambda: RunCodegen({"mine": 3}),
            "`target_options` of `RunCodegen` is a mapping from strings to mappings from strings, "
            "not dict ({'mine': 3})",
        ),
        (
            lambda: DeadCodeElimination(FuseOps),
            "`entry_functions` of `DeadCodeElimination` is a list of strings, not the class `Fuse",
        ),
        (lambda: VMShapeLower(True), "`VMShapeLower` takes 0 arguments by position, not 1"),
        (
            lambda: LegalizeOps(3),
            "`customize_legalize_map` of `LegalizeOps` is a mapping from strings to functions, not",
        ),
    ],
)
def test_arguments_are_told_with_what_fits(make, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    "decorator", [module_pass, function_pass, dataflowblock_pass, prim_func_pass]
)
def test_decorators_of_passes_look_at_their_arguments(decorator):
    name = decorator.__name__
    for given, noun in (
        ({"opt_level": "3"}, "an integer, not str"), ({"name": 3}, "a string, not int"),
        ({"required": "Normalize"}, "a list of strings, not str"),
        ({"traceable": 1}, "True or False, not int"),
    ):  # fmt: skip
        (parameter,) = given
        with pytest.raises(TypeError, match=f"`{parameter}` of `{name}` is {noun}"):
            decorator(**given)


def test_numbers_of_numpy_and_lists_of_all_kinds_are_taken():
    assert FuseOps(np.int64(2)).fuse_opt_level == 2
    for names in (["main"], ("main",), {"main"}, {"main": 1}.keys(), iter(["main"])):
        assert DeadCodeElimination(names).entry_functions == ("main",)


def test_the_level_that_a_class_says_is_looked_at_with_the_class():
    class Mine(FunctionPass):
        opt_level = "3"

        def transform_function(self, func, mod, ctx):
            return func

    with pytest.raises(TypeError, match="`opt_level` of `PassInfo` is an integer, not str"):
        Mine()(Model)
    assert PassInfo(3, "a").opt_level == 3


def test_a_pass_of_a_users_is_made_as_its_class_says():
    class Mine(FuseOps):
        def __init__(self, levels):
            super().__init__(*levels)

    assert Mine([1]).fuse_opt_level == 1
    with pytest.raises(TypeError, match="`fuse_opt_level` of `Mine` is an integer, not str"):
        Mine("x")


def test_annotations_that_are_not_known_admit_everything():
    @checks_arguments()
    def step(values: tuple[int, ...] | None = None, made: type[int] = int) -> object:
        return values, made

    assert step((1, 2)) == ((1, 2), int)
    assert step(made=str) == (None, str)
    with pytest.raises(TypeError, match=r"`values` of `step` is a tuple, not tuple \(\('x',\)\)"):
        step(("x",))


def test_what_to_write_instead_is_the_help():
    assert help_of(lambda: FuseOps(fuse_level=1)) == "did you mean `fuse_opt_level`?"
    assert help_of(lambda: BindParams("main")) == "it is called as `BindParams(func_name, params)`"
    assert help_of(lambda: ApplyPassToFunction(FuseOps, "main")) == "write `FuseOps()`"


@pytest.mark.parametrize("name", ["tuning_api", "relax.transform.tuning_api"])
def test_a_pass_that_is_not_built_is_refused_with_what_to_write_instead(name):
    with pytest.raises(DiagnosticError, match="the pass `tuning_api` is not built yet") as told:
        find_pass(name)
    assert "nothing is tuned" in told.value.diagnostics[0].help
