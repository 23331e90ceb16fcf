"""Contexts: which passes run, with which options."""

from __future__ import annotations

import threading

import pytest

from relaxscript.compiler import build
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.instrument import PassInstrument
from relaxscript.transform import PassContext, PassInfo, Sequential, module_pass
from relaxscript_tests.transform.models import Model


def levelled(level: int, name: str):
    @module_pass(opt_level=level, name=name)
    def step(mod, ctx):
        return mod.with_attr("seen", (mod.get_attr("seen") or "") + name)

    return step


ROW = Sequential([levelled(0, "a"), levelled(2, "b"), levelled(3, "c")])


def seen(**options):
    with PassContext(**options):
        return ROW(Model).get_attr("seen")


def test_a_sequential_runs_passes_up_to_the_level_of_the_context():
    assert ROW(Model).get_attr("seen") == "ab"
    assert seen(opt_level=3) == "abc"
    assert seen(opt_level=0) == "a"


def test_passes_are_disabled_and_required_by_name():
    assert seen(disabled_pass=["a"]) == "b"
    assert seen(opt_level=0, required_pass=["c"]) == "ac"
    assert seen(opt_level=0, required_pass=["c"], disabled_pass=["c"]) == "a"
    assert seen(disabled_pass=["relax.transform.a"]) == "b"


@pytest.mark.parametrize("field", ["disabled_pass", "required_pass"])
def test_a_name_that_is_nearly_that_of_a_pass_is_warned_of(field):
    with pytest.warns(RelaxWarning) as caught:
        PassContext(**{field: ["relax.FoldConstnat", "Mine", "FoldConstant"]})
    (found,) = [warning.message.diagnostic for warning in caught]
    assert found.message == f'`{field}` names "relax.FoldConstnat", and there is no such pass here'
    assert (found.code, found.help) == ("RX0703", 'did you mean "FoldConstant"?')


def test_a_pass_that_is_called_itself_runs_at_any_level():
    with PassContext(opt_level=0):
        assert levelled(3, "c")(Model).get_attr("seen") == "c"


def test_the_innermost_context_counts():
    assert PassContext.current().opt_level == 2
    with PassContext(opt_level=0) as outer:
        with PassContext(opt_level=3) as inner:
            assert PassContext.current() is inner
        assert PassContext.current() is outer
    assert PassContext.current().opt_level == 2


def test_a_context_is_left_when_its_block_fails():
    with pytest.raises(KeyError), PassContext(opt_level=0):
        raise KeyError
    assert PassContext.current().opt_level == 2


def test_a_context_is_one_of_its_thread():
    found = []
    with PassContext(opt_level=0):
        thread = threading.Thread(target=lambda: found.append(PassContext.current().opt_level))
        thread.start()
        thread.join()
    assert found == [2]


def test_options_are_known_and_typed():
    with PassContext(config={"relax.backend.use_cuda_graph": False}) as ctx:
        assert ctx.config == {"relax.backend.use_cuda_graph": False}
    assert PassContext.list_configs()["relax.FuseOps.max_depth"] == {"type": "int"}


def test_an_unknown_option_is_an_error_that_names_the_nearest():
    with pytest.raises(DiagnosticError, match="RX0703") as caught:
        PassContext(config={"relax.backend.use_cuda_graf": True})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == 'there is no option "relax.backend.use_cuda_graf" of passes'
    assert diagnostic.help == 'did you mean "relax.backend.use_cuda_graph"?'
    with pytest.raises(DiagnosticError, match=r"see `PassContext\.list_configs\(\)`"):
        PassContext(config={"?": True})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"config": {"relax.FuseOps.max_depth": "3"}}, "is of type int, not '3'"),
        ({"disabled_pass": "Normalize"}, "`disabled_pass` of `PassContext` is a list of strings"),
        ({"opt_level": "3"}, r"`opt_level` of `PassContext` is an integer, not str \('3'\)"),
        ({"config": {3: 4}}, "`config` of `PassContext` is a mapping from strings, not dict"),
        ({"levels": 3}, "`PassContext` has no parameter `levels`"),
        ({"required_pass": [3]}, "`required_pass` is a list of names of passes"),
        ({"instruments": [3]}, "an instrument is a PassInstrument, not 3"),
    ],
)
def test_values_of_another_kind_are_errors(options, message):
    with pytest.raises(TypeError, match=message):
        PassContext(**options)


def test_the_required_passes_of_an_info_are_a_list():
    with pytest.raises(TypeError, match="`required` of `PassInfo` is a list of strings, not str"):
        PassInfo(0, "a", "Normalize")


HOOKS = [
    "enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass",
]  # fmt: skip


class Names(PassInstrument):
    """Remembers the passes that run."""

    def __init__(self):
        self.names = []

    def run_after_pass(self, mod, info):
        self.names.append(info.name)


class Busy(Names):
    """Does something each time it is told something, by the name of what tells it."""

    def __init__(self, hook, does):
        super().__init__()
        self.hook, self.does = hook, does

    def enter_pass_ctx(self):
        self.do("enter_pass_ctx")

    def exit_pass_ctx(self):
        self.do("exit_pass_ctx")

    def should_run(self, mod, info):
        self.do("should_run")
        return True

    def run_before_pass(self, mod, info):
        self.do("run_before_pass")

    def run_after_pass(self, mod, info):
        super().run_after_pass(mod, info)
        self.do("run_after_pass")

    def do(self, hook):
        if hook == self.hook:
            self.does()


@pytest.mark.parametrize("hook", HOOKS)
def test_an_instrument_may_build_a_module_whenever_it_is_told_something(hook):
    busy, other = Busy(hook, lambda: build(Model)), Names()
    with PassContext(instruments=[other, busy]):
        ROW(Model)
    assert other.names == busy.names == ["a", "b", "sequential"]


@pytest.mark.parametrize("hook", HOOKS)
def test_an_instrument_hears_of_nothing_that_it_runs_in_a_context_of_its_own(hook):
    inner = Names()

    def run():
        with PassContext(instruments=[busy, inner]):
            levelled(0, "own")(Model)

    busy = Busy(hook, run)
    with PassContext(instruments=[busy]):
        levelled(0, "a")(Model)
    assert busy.names == ["a"]
    assert inner.names == ["own"]


def test_an_instrument_that_fails_is_told_of_what_runs_afterwards():
    def fail():
        raise KeyError

    busy = Busy("run_after_pass", fail)
    for _ in range(2):
        with pytest.raises(KeyError), PassContext(instruments=[busy]):
            ROW(Model)
    assert busy.names == ["a", "a"]


def test_a_context_is_shown_by_what_it_was_given():
    assert repr(PassContext()) == "PassContext(opt_level=2)"
    given = PassContext(3, disabled_pass=["FuseOps"])
    assert repr(given) == "PassContext(opt_level=3, disabled_pass=('FuseOps',))"
