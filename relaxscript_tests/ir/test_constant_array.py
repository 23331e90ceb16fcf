"""Constants hold elements that nobody can write into; what is so already is not copied."""

from __future__ import annotations

import itertools
import mmap
import pickle
import weakref

import ml_dtypes
import numpy as np
import pytest

import relaxscript as rx
from relaxscript import Constant
from relaxscript.codegen.native import plan_draft
from relaxscript.interpreter.relax import Interpreter
from relaxscript.ir import save_json, structural_equal, structural_hash
from relaxscript.ir.constant_array import given_up, in_c_order
from relaxscript.runtime.arrays import NDArray
from relaxscript.script import relax as R
from relaxscript.transform import FoldConstant

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip


def program(array):
    """A program that gives a constant, as it is and moved about."""
    bb, weight = rx.BlockBuilder(), rx.const(array)
    with bb.function("main", []):
        moved = bb.emit(R.permute_dims(weight, [2, 0, 1]))
        back = bb.emit(R.permute_dims(moved))
        both = bb.emit(R.concat([R.flip(moved, 1), moved], axis=0))
        bb.emit_func_output(rx.Tuple([weight, moved, back, both]))
    return bb.get()


def bits(values):
    if not isinstance(values, tuple):
        values = (values,)
    return [
        (value.dtype, value.shape, value.flags.c_contiguous, value.tobytes()) for value in values
    ]


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "elements"
    path.write_bytes(np.arange(8, dtype="float32").tobytes())
    return path


def test_elements_that_somebody_can_write_into_are_copied(path):
    given = np.arange(4.0)
    view = given[:]
    view.setflags(write=False)
    shared = np.frombuffer(bytearray(32), "float32")
    with path.open("r+b") as file:
        mapped = np.ndarray(8, "float32", buffer=mmap.mmap(file.fileno(), 0))
    for array in (given, view, shared, mapped):
        constant = Constant(array)
        assert address(constant.data) != address(array)
        assert not constant.data.flags.writeable
        if array.flags.writeable:
            array[:] = 9
            assert 9 not in constant.data


def test_elements_of_bytes_and_of_files_mapped_to_be_read_are_shared(path):
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for array in (
        np.ndarray(8, "float32", buffer=mapped),
        np.memmap(path, "float32", "r"),
        np.frombuffer(path.read_bytes(), "float32"),
        np.frombuffer(path.read_bytes(), "float32").reshape(2, 4),
    ):
        constant = Constant(array)
        assert address(constant.data) == address(array)
        assert not constant.data.flags.writeable


def test_elements_that_are_not_compact_or_not_native_are_copied_in_c_order():
    rows = np.frombuffer(np.arange(8, dtype="float32").tobytes(), "float32").reshape(2, 4)
    repeated = np.broadcast_to(rows[:1], (2, 4))
    for array in (rows[:, ::2], rows.T[::-1], rows.T[1:3], repeated.T, rows.view(">f4")):
        constant = Constant(array)
        assert constant.data.flags.c_contiguous
        assert constant.data.dtype.isnative
        assert constant.data.tolist() == array.tolist()
        assert not np.shares_memory(constant.data, rows)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_compact_elements_keep_their_order_in_memory(axes):
    array = np.arange(24.0).reshape(2, 3, 4).transpose(axes)
    constant = Constant(array)
    assert constant.data.strides == array.strides
    assert not np.shares_memory(constant.data, array)
    ordered = in_c_order(constant.data)
    assert ordered.flags.c_contiguous
    assert not ordered.flags.writeable
    assert ordered.tolist() == constant.data.tolist() == array.tolist()
    assert constant.data.numpy().flags.c_contiguous


def test_elements_in_c_order_are_given_as_they_are():
    for array in (np.zeros((2, 3)), np.float32(1), np.zeros((0, 5)).T, np.zeros((1, 4)).T):
        data = Constant(array).data
        assert in_c_order(data) is data


def test_a_copy_in_c_order_is_shared_by_all_who_hold_it_and_goes_with_them():
    data = Constant(np.arange(6.0).reshape(2, 3).T).data
    held = np.asarray(in_c_order(data))
    assert address(in_c_order(data)) == address(held)
    gone = weakref.ref(in_c_order(data))
    del held
    assert gone() is None
    assert in_c_order(data).tolist() == data.tolist()


def test_a_copy_in_c_order_is_of_no_array_that_is_gone():
    held = []
    for start in range(50):  # arrays that have the ids of others before them
        data = Constant(np.arange(start, start + 6.0).reshape(2, 3).T).data
        held.append(in_c_order(data))
        assert held[-1].tolist() == data.tolist()
        del data


def test_a_program_has_one_copy_of_a_constant_for_all_of_its_parts(monkeypatch):
    made = []
    monkeypatch.setattr(plan_draft, "in_c_order", lambda d: made.append(in_c_order(d)) or made[-1])
    weight = rx.const(np.arange(6, dtype="float32").reshape(2, 3).T)
    bb, x = rx.BlockBuilder(), rx.Var("x", rx.TensorStructInfo((3, 2), "float32"))
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(R.add(x, weight)))
    executable = rx.build(bb.get())
    constants = [c for c in executable.constants if isinstance(c, np.ndarray)]
    assert {address(array) for array in made} == {address(array) for array in constants}
    assert len(constants) == 1


def test_elements_of_other_constants_are_shared():
    data = Constant(np.arange(6.0).reshape(2, 3)).data
    for array in (data, data.T, np.asarray(data), np.asarray(data).reshape(3, 2)):
        constant = Constant(array)
        assert address(constant.data) == address(data)
        assert type(constant.data) is NDArray
        with pytest.raises(ValueError, match="WRITEABLE"):
            constant.data.setflags(write=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_order_in_memory_is_seen_by_nobody(dtype, tmp_path, rng):
    """Programs that differ in it only are equal, and compute the same bits in every way."""
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    axes = tuple(rng.permutation(3))
    whole = rng.integers(0, 50, (7, 8, 9)).astype(kind)
    for view in (whole.transpose(axes), whole[::2, 1:, ::-1].transpose(axes)):
        given, plain = program(view), program(np.array(view, order="C"))
        assert str(given) == str(plain)
        assert save_json(given) == save_json(plain)
        assert structural_equal(given, plain)
        assert structural_hash(given) == structural_hash(plain)
        again = pickle.loads(pickle.dumps(given))
        assert structural_equal(again, plain)
        expected = bits(Interpreter(plain).main())
        for mod in (given, again, FoldConstant()(given), FoldConstant()(plain)):
            assert bits(Interpreter(mod).main()) == expected
        contents = []
        for mod in (given, plain):
            executable = rx.build(mod)
            assert bits(rx.VirtualMachine(executable).main()) == expected
            rx.save(executable, tmp_path / "saved")
            contents.append((tmp_path / "saved").read_bytes())
            assert bits(rx.load(tmp_path / "saved")["main"]()) == expected
        assert contents[0] == contents[1]


def test_sums_over_a_constant_are_rounded_alike_in_every_order(rng):
    array = rng.normal(size=(50, 70)).astype("float32").T
    x = rng.normal(size=(3, 70)).astype("float32")
    found = []
    for given in (array, np.array(array, order="C")):
        bb = rx.BlockBuilder()
        v = rx.Var("x", rx.TensorStructInfo((3, 70), "float32"))
        weight = rx.const(given)
        with bb.function("main", [v]):
            product = bb.emit(R.matmul(v, weight))
            total = bb.emit(R.sum(R.multiply(weight, weight), axis=[0]))
            square = bb.emit(R.matmul(R.permute_dims(weight), weight))
            bb.emit_func_output(rx.Tuple([product, total, square]))
        mod = bb.get()
        folded = FoldConstant()(mod)
        runs = (Interpreter(mod).main, rx.jit(mod).main, rx.jit(folded).main)
        found.append([bits(run(x)) for run in runs])
    assert found[0] == found[1]


def test_a_new_array_that_its_maker_gives_up_is_shared_and_can_no_longer_be_written_into():
    array = np.arange(4.0)
    constant = Constant(given_up(array))
    assert address(constant.data) == address(array)
    for held in (array, constant.data):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        constant.data.setflags(write=True)


def test_what_somebody_else_may_hold_is_not_given_up():
    array = np.arange(4.0)
    assert given_up(array[1:]).flags.writeable
    assert address(Constant(given_up(array[1:])).data) != address(array[1:])


@pytest.mark.parametrize("shape", [(300, 100), (3, 70, 90), (2, 30000), (30000, 2), (128, 64, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_a_copy_in_c_order_has_all_elements(shape: tuple[int, ...], dtype: str):
    data = np.arange(np.prod(shape)).astype(dtype).reshape(shape[::-1]).T
    ordered = in_c_order(data)
    assert ordered.flags.c_contiguous
    assert np.array_equal(ordered, data)
