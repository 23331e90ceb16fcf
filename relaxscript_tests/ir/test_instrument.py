"""Instruments: what they are told, and what those that are there do."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir.instrument import (
    PassInstrument,
    PassPrintingInstrument,
    PassTimingInstrument,
    PrintAfterAll,
    PrintBeforeAll,
    WellFormedInstrument,
    pass_instrument,
)
from relaxscript.script import ir as I, relax as R
from relaxscript.transform import (
    Normalize,
    PassContext,
    Sequential,
    ToNonDataflow,
    function_pass,
    module_pass,
)


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            gv = R.exp(x)
            R.output(gv)
        return gv


BOTH = Sequential([Normalize(), ToNonDataflow()], name="both")


@pass_instrument
class Log:
    """Writes down what it is told."""

    def __init__(self, refused=()):
        self.refused = refused
        self.log = []

    def enter_pass_ctx(self):
        self.log.append("enter")

    def exit_pass_ctx(self):
        self.log.append("exit")

    def should_run(self, mod, info):
        return info.name not in self.refused

    def run_before_pass(self, mod, info):
        self.log.append(f"before {info.name}")

    def run_after_pass(self, mod, info):
        self.log.append(f"after {info.name}")


def test_an_instrument_is_told_of_contexts_and_passes():
    log = Log()
    assert isinstance(log, PassInstrument)
    with PassContext(instruments=[log]):
        BOTH(Model)
    assert log.log == [
        "enter", "before both", "before Normalize", "after Normalize", "before ToNonDataflow",
        "after ToNonDataflow", "after both", "exit",
    ]  # fmt: skip


def test_an_instrument_may_prevent_a_pass():
    log = Log(refused=["ToNonDataflow"])
    with PassContext(instruments=[log, PassInstrument()]):
        assert BOTH(Model) is Model
    assert "before ToNonDataflow" not in log.log


def test_instruments_are_exchanged_inside_a_context():
    first, second = Log(), Log()
    with PassContext(instruments=[first]) as ctx:
        ctx.override_instruments([second])
        Normalize()(Model)
        assert first.log == ["enter", "exit"]
        assert second.log == ["enter", "before Normalize", "after Normalize"]
    assert second.log[-1] == "exit"


def test_an_instrument_is_made_from_a_class_with_one_of_the_methods():
    @pass_instrument()
    class Before:
        def run_before_pass(self, mod, info):
            raise KeyError(info.name)

    with pytest.raises(KeyError, match="Normalize"), PassContext(instruments=[Before()]):
        Normalize()(Model)
    with pytest.raises(TypeError, match="an instrument is made from a class, not from 3"):
        pass_instrument(3)
    with pytest.raises(TypeError, match="`object` has none of the methods enter_pass_ctx"):
        pass_instrument(object)


def test_times_are_listed_by_pass_and_those_inside_indented():
    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        BOTH(Model)
        Normalize()(Model)
        lines = timing.render().split("\n")
    assert [line.split(":")[0] for line in lines] == [
        "Total time", "both", "  Normalize", "  ToNonDataflow", "Normalize",
    ]  # fmt: skip
    assert lines[1].endswith("%)")
    with PassContext(instruments=[timing]):
        assert timing.render() == "Total time: 0us"


def test_the_time_of_a_pass_that_failed_ends_with_the_one_around_it():
    @module_pass(opt_level=0)
    def fails(mod, ctx):
        raise KeyError

    @module_pass(opt_level=0)
    def catches(mod, ctx):
        with pytest.raises(KeyError):
            fails(mod)
        return mod

    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        catches(Model)
        Normalize()(Model)
        names = [line.split(":")[0] for line in timing.render().split("\n")]
    assert names == ["Total time", "catches", "  fails", "Normalize"]


@pytest.mark.parametrize(
    ("instrument", "printed"),
    [
        (PrintBeforeAll(), ["# before Normalize", "# before ToNonDataflow"]),
        (PrintAfterAll(), ["# after Normalize", "# after ToNonDataflow"]),
        (
            PassPrintingInstrument(["Normalize"], ["ToNonDataflow"]),
            ["# before Normalize", "# after ToNonDataflow"],
        ),
        (PassPrintingInstrument(["Another"], []), []),
    ],
)
def test_modules_are_printed_around_passes(instrument, printed, capsys):
    with PassContext(instruments=[instrument]):
        ToNonDataflow()(Normalize()(Model))
    said = capsys.readouterr().out
    assert [
        line for line in said.split("\n") if line.startswith(("# before", "# after"))
    ] == printed
    assert said.count("def main") == len(printed)


@pytest.mark.parametrize("place", [0, 1])
def test_the_passes_to_print_are_a_list_of_names(place):
    given = [[], []]
    given[place] = "Normalize"
    what = ("print_before_pass_names", "print_after_pass_names")[place]
    with pytest.raises(TypeError, match=f"`{what}` is a list of names of passes, not 'Normalize'"):
        PassPrintingInstrument(*given)


@function_pass(opt_level=0)
def unbound(func, mod, ctx):
    """The function without its parameters, which its body uses."""
    return func.replace(params=())


def test_a_pass_that_makes_a_module_that_is_not_well_formed_is_named():
    with (
        pytest.raises(DiagnosticError, match="RX0706") as caught,
        PassContext(instruments=[WellFormedInstrument()]),
    ):
        Sequential([Normalize(), unbound])(Model)
    message = caught.value.diagnostics[0].message
    assert message == "after the pass `unbound` the module is not well-formed: `x` is not defined"
    assert isinstance(caught.value.__cause__, DiagnosticError)


def test_the_module_before_a_pass_is_verified_too_unless_that_is_not_wanted():
    wrong = unbound(Model)
    with (
        pytest.raises(DiagnosticError, match="before the pass `ToNonDataflow` the module is not"),
        PassContext(instruments=[WellFormedInstrument()]),
    ):
        ToNonDataflow()(wrong)
    with (
        pytest.raises(DiagnosticError, match="after the pass `ToNonDataflow` the module is not"),
        PassContext(instruments=[WellFormedInstrument(validate_before_transform=False)]),
    ):
        ToNonDataflow()(wrong)


def test_a_module_that_reads_back_as_another_is_refused_unless_that_is_not_wanted():
    @function_pass(opt_level=0)
    def nested(func, mod, ctx):
        value = R.exp(R.exp(func.params[0]))
        return func.replace(body=value)

    def run(instrument):
        with PassContext(instruments=[instrument]):
            nested(Model)

    with pytest.raises(DiagnosticError, match="the module does not read back as it is: "):
        run(WellFormedInstrument())
    run(WellFormedInstrument(check_struct_info=False))
