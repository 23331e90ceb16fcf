"""Local functions in the stepper and the profiler: closures, and the sizes that they capture."""

from __future__ import annotations

import numpy as np

import relaxscript as rx

X4 = np.arange(4, dtype="float32")


class TestLocalFunctions:
    """What is made of local functions is shown by names that do not depend on how it is made."""

    TEXT = """\
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("k", "n"), "float32")):
        n, k = T.int64(), T.int64()

        @R.function
        def plus(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            s = R.add(z, x)
            return s

        @R.function
        def made(z: R.Object) -> R.Tensor((n, k), "float32"):
            s = R.zeros(R.shape([n, k]), "float32")
            return s

        p = plus(x)
        q = made(y)
        return (p, q, plus, made)

    @R.function
    def take(a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
        return a

    @R.function
    def bind(x: R.Tensor((4,), "float32")):
        cls = Model
        c = R.make_closure(cls.take, (x,))
        return c
"""

    def instructions(self, name, *args):
        stepper = rx.jit(rx.from_source(self.TEXT), target="reference").step(name, *args)
        found = []
        while not stepper.finished:
            if stepper.location.function == name:
                found.append(stepper.location.text)
            stepper.step()
        return found

    def test_closures_and_the_sizes_they_capture_are_made_one_by_one(self):
        found = self.instructions("main", X4, np.ones((2, 3), "float32"))
        assert found[:6] == [
            "plus = vm.builtin.make_closure(main.plus, x)",
            "%3 = vm.builtin.make_prim_value(vm, c[0], c[1])",
            "%4 = vm.builtin.make_prim_value(vm, c[2], c[3])",
            "made = vm.builtin.make_closure(main.made, %3, %4)",
            "p = main.plus(x, x)",
            "q = main.made(y, %3, %4)",
        ]

    def test_a_profile_counts_the_closures_of_all_local_functions_together(self):
        vm = rx.jit(rx.from_source(self.TEXT), target="reference")
        report = vm.profile("main", X4, np.ones((2, 3), "float32"))
        counts = {row.name: row.count for row in report.rows}
        assert counts["vm.builtin.make_closure"] == 2
        assert not [name for name in counts if name.startswith("relaxscript.")]

    def test_a_closure_that_the_program_makes_itself_is_told_apart(self):
        assert self.instructions("bind", X4) == [
            "c = relaxscript.make_closure(take, x)",
            "return c",
        ]

    SIZES = """\
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, "m"), "float32")):
        n, m = T.int64(), T.int64()

        @R.function
        def plus(z: R.Tensor((n, 4), "float32")) -> R.Tensor((n, m), "float32"):
            a = R.add(z, x)
            b = R.matmul(a, w)
            return b

        @R.function
        def apply(
            f: R.Callable((R.Tensor((n, 4), "float32"),), R.Tensor((n, m), "float32"))
        ) -> R.Tensor((n, m), "float32"):
            c = f(x)
            return c

        p = plus(x)
        q = apply(plus)
        return (p, q, plus)
"""

    def sizes(self):
        """What is shown before each instruction of the program above."""
        vm = rx.jit(rx.from_source(self.SIZES), target="reference")
        stepper = vm.step("main", np.ones((2, 4), "float32"), np.ones((4, 3), "float32"))
        while not stepper.finished:
            place = stepper.location
            yield place.function, place.text, dict(stepper.registers), dict(stepper.shapes)
            stepper.step()

    def test_sizes_that_captured_tensors_give_are_shown_at_each_step(self):
        inside = {"main.plus": 0, "main.apply": 0}
        for function, _, registers, shapes in self.sizes():
            assert shapes == {"n": 2, "m": 3}
            if function != "main":
                inside[function] += 1
                assert (registers["n"], registers["m"]) == (2, 3)
        assert inside == {"main.plus": 6, "main.apply": 2}

    def test_a_size_is_computed_once_for_all_closures_of_a_scope(self):
        texts = [text for function, text, _, _ in self.sizes() if function == "main"]
        assert texts == [
            "%2 = vm.builtin.make_prim_value(vm, c[0], c[1])",
            "%3 = vm.builtin.make_prim_value(vm, c[2], c[3])",
            "plus = vm.builtin.make_closure(main.plus, x, w, %2, %3)",
            "apply = vm.builtin.make_closure(main.apply, x, %2, %3)",
            "p = main.plus(x, x, w, %2, %3)",
            "q = main.apply(plus, x, %2, %3)",
            "%2 = vm.builtin.make_tuple(p, q, plus)",
            "return %2",
        ]

    def test_a_local_function_is_shown_until_its_last_call(self):
        shown = {text: registers for _, text, registers, _ in self.sizes()}
        assert {"plus", "apply"} <= shown["p = main.plus(x, x, w, %2, %3)"].keys()
        assert {"plus", "apply"} <= shown["q = main.apply(plus, x, %2, %3)"].keys()

    def test_captured_sizes_are_parameters_by_their_names(self):
        text = rx.build(rx.from_source(self.TEXT)).as_text()
        assert "@main.made(z, k, n) private" in text
        assert "@main.plus(z, x) private" in text
