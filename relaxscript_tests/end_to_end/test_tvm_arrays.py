"""Arrays of `tvm.nd` as arguments: what they are called with decides what functions give."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as tvm
from relaxscript import nd, relax
from relaxscript.script import ir as I, relax as R, tir as T


@I.ir_module
class Pair:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        with R.dataflow():
            total = R.add(x, y)
            product = R.multiply(x, y)
            R.output(total, product)
        return (total, (product, R.shape([2, 3])))

    @R.function
    def second(pair: R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32"))):
        return pair[1]


@I.ir_module
class Copy:
    @T.prim_func
    def copied(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("copied"):
                vi = T.axis.spatial(4, i)
                b[vi] = a[vi]


X, Y = np.array([1, 2], "float32"), np.array([3, 4], "float32")


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_function_called_with_such_an_array_gives_such_arrays(target):
    vm = relax.VirtualMachine(tvm.build(Pair, target=target), tvm.cpu())
    for args in ((nd.array(X), nd.array(Y)), (nd.array(X), Y), (X, nd.array(Y))):
        total, (product, shape) = vm["main"](*args)
        assert type(total) is type(product) is nd.NDArray
        assert type(shape) is tvm.runtime.ShapeTuple
        np.testing.assert_array_equal(total.numpy(), X + Y)
    assert type(vm["second"]((X, nd.array(Y)))) is nd.NDArray
    assert type(vm["main"](x=nd.array(X), y=Y)[0]) is nd.NDArray


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_function_called_with_plain_arrays_gives_plain_ones(target):
    vm = relax.VirtualMachine(tvm.build(Pair, target=target), tvm.cpu())
    total, (product, _) = vm["main"](X, Y)
    assert type(total) is type(product) is np.ndarray
    assert type(vm["second"]((X, Y))) is np.ndarray


@tvm.register_func("test.tvm_arrays.scale", override=True)
def scale(x, factor, out):
    """As people write destination-passing functions for TVM."""
    out.copyfrom(x.numpy() * factor.numpy())


@tvm.register_func("test.tvm_arrays.kind", override=True)
def kind(x):
    KINDS.append(type(x))
    return x


KINDS: list[type] = []


@I.ir_module
class Packed:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        z = R.call_dps_packed("test.tvm_arrays.scale", (x, y), out_sinfo=R.Tensor((2,), "float32"))
        k = R.call_packed("test.tvm_arrays.kind", z, sinfo_args=R.Tensor((2,), "float32"))
        return k


def test_registered_functions_are_given_the_arrays_that_the_program_was_called_with():
    vm = relax.VirtualMachine(tvm.build(Packed), tvm.cpu())
    KINDS.clear()
    result = vm["main"](nd.array(X), nd.array(Y))
    np.testing.assert_array_equal(result.numpy(), X * Y)
    with pytest.raises(tvm.VMError, match=r"'numpy\.ndarray' object has no attribute"):
        vm["main"](X, Y)
    assert KINDS == [nd.NDArray]
    assert type(result) is nd.NDArray


def test_saved_inputs_keep_what_they_are():
    vm = relax.VirtualMachine(tvm.build(Pair))
    vm.set_input("main", nd.array(X), nd.array(Y))
    vm.invoke_stateful("main")
    assert type(vm.get_outputs("main")[0]) is nd.NDArray


@pytest.mark.parametrize("target", ["llvm", "reference"])
@pytest.mark.parametrize("build", [tvm.build, tvm.compile, tvm.tir.build])
def test_a_module_of_prim_funcs_is_called_by_name(build, target):
    made = build(Copy, target=target)
    for given in (np.arange(4, dtype="float32"), nd.array(np.arange(4, dtype="float32"))):
        plain, own = np.zeros(4, "float32"), nd.array(np.zeros(4, "float32"))
        made["copied"](given, plain)
        made["copied"](given, own)
        np.testing.assert_array_equal(plain, given)
        np.testing.assert_array_equal(own.numpy(), given)


def test_one_error_is_the_base_of_what_is_wrong_and_of_what_fails():
    for kind in (tvm.DiagnosticError, tvm.VMError):
        assert issubclass(kind, tvm.TVMError)
    assert tvm.error.TVMError is tvm.TVMError
    vm = relax.VirtualMachine(tvm.build(Pair))
    with pytest.raises(tvm.TVMError, match=r"`y.shape\[0\]` is 3"):
        vm["main"](X, np.zeros(3, "float32"))


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_a_program_with_one_public_function_is_called_as_that_function(target):
    made = tvm.build(Copy["copied"], target=target)
    given, taken = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    made(given, taken)
    np.testing.assert_array_equal(taken, given)


def test_a_program_with_several_public_functions_is_called_as_main():
    total, _ = tvm.build(Pair)(X, Y)
    np.testing.assert_array_equal(total, X + Y)


def test_the_elements_of_a_constant_are_read_as_those_of_an_array():
    constant = relax.const(np.array([1, 2], "float32"))
    assert type(constant.data.numpy()) is np.ndarray
    np.testing.assert_array_equal(constant.data.numpy(), np.array([1, 2], "float32"))
    assert not constant.data.flags.writeable


@I.ir_module
class Constants:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.add(x, R.const([1.0, 2.0]))
        return (y, R.const([3.0]))


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_constants_of_a_program_are_plain_arrays_where_it_runs(target):
    found = tvm.build(Constants, target=target)["main"](X)
    assert [type(value) for value in found] == [np.ndarray, np.ndarray]
