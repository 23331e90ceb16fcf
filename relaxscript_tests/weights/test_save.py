"""Saving weights: what is written is what is read, as a whole or not at all."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import relaxscript as rx
from relaxscript.runtime import Device
from relaxscript.weights import file_of
from relaxscript_tests import examples

W = np.arange(6, dtype="float32").reshape(2, 3)


def refused(*args, **options):
    with pytest.raises(rx.DiagnosticError) as caught:
        rx.save_weights(*args, **options)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_what_is_written_is_read_by_us_and_by_the_library(tmp_path):
    path = tmp_path / "a.safetensors"
    given = {"b": W.astype("float16"), "a.ü": W.T, "c": np.array(True), "none": W[:0]}
    rx.save_weights(given, path, metadata={"format": "pt", "a": "ö"})
    ours, theirs = rx.load_weights(path), safetensors.numpy.load_file(path)
    assert ours.metadata == {"format": "pt", "a": "ö"}
    assert set(ours) == set(theirs) == set(given)
    for name, array in given.items():
        for read in (ours[name], theirs[name]):
            assert (read.dtype, read.tolist()) == (array.dtype, array.tolist())


class Exported:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_tensors_of_any_library_and_device_are_written(tmp_path):
    path = tmp_path / "a.safetensors"
    moved = rx.nd.array(W, Device("cpu", 1))
    rx.save_weights({"dlpack": Exported(W), "nd": rx.nd.array(W), "moved": moved}, path)
    assert all(array.tolist() == W.tolist() for array in rx.load_weights(path).values())


def test_weights_that_were_loaded_are_written_again(tmp_path):
    path = tmp_path / "a.safetensors"
    rx.save_weights({"w": W}, path)
    rx.save_weights(rx.load_weights(path, dtype="bfloat16"), path)
    assert rx.load_weights(path)["w"].dtype == ml_dtypes.bfloat16


def test_large_weights_are_divided_between_files_that_an_index_names(tmp_path):
    path = tmp_path / "m.safetensors"
    given = {"a": W, "b": W, "c": np.zeros(100, "float32"), "d": W}
    rx.save_weights(given, path, max_shard_size=50)
    names = [f"m-0000{i}-of-00003.safetensors" for i in (1, 2, 3)]
    assert sorted(file.name for file in tmp_path.iterdir()) == [*names, "m.safetensors.index.json"]
    index = json.loads((tmp_path / "m.safetensors.index.json").read_text())
    assert index["weight_map"] == {"a": names[0], "b": names[0], "c": names[1], "d": names[2]}
    assert index["metadata"] == {"total_size": 472}
    rx.save_weights(given, tmp_path / "whole.safetensors", max_shard_size=472)
    assert (tmp_path / "whole.safetensors").exists()


def test_what_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "m.safetensors"
    rx.save_weights({"a": W, "b": W}, path, max_shard_size=24)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    unknown = {"a": W + 1, "b": np.zeros(3, ml_dtypes.int4)}
    found = refused(unknown, path, max_shard_size=24)
    assert found.code == "RX0206"
    assert found.message == "`b` has the dtype int4, which safetensors has not"
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_what_is_no_tensor_or_name_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    found = refused({"w": [1.0]}, path)
    assert found.code == "RX0206"
    assert found.message.startswith("the value for `w` is no tensor: expected a tensor, got a list")
    found = refused({3: W}, path)
    assert (found.code, found.message) == ("RX0712", "a tensor has a string for its name, not 3")
    found = refused({"\ud800": W}, path)
    assert found.message == "a tensor has a string for its name, not '\\ud800'"
    assert "name of what a file says of itself" in refused({"__metadata__": W}, path).message
    assert "and 'a' is given int" in refused({"w": W}, path, metadata={"a": 1}).message
    found = refused({"w": W}, path, max_shard_size=0)
    assert (found.code, found.message) == (
        "RX0703", "`max_shard_size` is a positive number of bytes, not 0"
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_that_is_said(tmp_path):
    path = tmp_path / "no" / "a.safetensors"
    found = refused({"w": W}, path)
    assert (found.code, found.message) == (
        "RX0707", f"cannot write `{path}`: No such file or directory"
    )  # fmt: skip


def test_the_file_of_an_array_is_known_wherever_the_array_goes(tmp_path):
    path = tmp_path / "a.safetensors"
    rx.save_weights({"w": W}, path)
    weights = rx.load_weights(path)
    assert file_of(weights, "w") == str(path)
    assert file_of({"v": weights["w"][1:].T, "n": W}, "v") == str(path)
    assert file_of({"n": W}, "n") is None


LETTERS = 'ab."\\{}[]:,\x00\x1f\x7f\n é\u2028漢\U0001f600'
DTYPES = ["float32", "float64", "float16", "int8", "int64", "uint16", "bool"]


def test_whatever_is_written_is_read_by_us_and_by_the_library_bit_by_bit(tmp_path, rng):
    for number in range(examples(300)):
        path = tmp_path / f"{number}.safetensors"
        given = {
            "".join(rng.choice(list(LETTERS), rng.integers(0, 9))): np.frombuffer(
                rng.bytes(96), "uint8"
            ).view("uint8" if dtype == "bool" else dtype)[: rng.integers(0, 9)].astype(dtype)
            for dtype in rng.choice(DTYPES, rng.integers(0, 6))
        }  # fmt: skip
        rx.save_weights(given, path, max_shard_size=int(rng.integers(1, 200)))
        index = tmp_path / f"{number}.safetensors.index.json"
        ours = rx.load_weights(index if index.exists() else path)
        files = {ours.file(name) for name in ours}
        theirs = {k: v for file in files for k, v in safetensors.numpy.load_file(file).items()}
        assert set(ours) == set(theirs) == set(given)
        for name, array in given.items():
            for read in (ours[name], theirs[name]):
                assert (read.dtype, read.shape) == (array.dtype, array.shape)
                assert read.tobytes() == array.tobytes()


def test_weights_behind_the_path_are_told_to_come_first(tmp_path):
    found = refused(tmp_path / "a.safetensors", {"w": W})
    assert found.message == "the weights come before the path"
    assert found.help == "write `save_weights(weights, path)`"
    assert list(tmp_path.iterdir()) == []


def test_pairs_of_names_and_arrays_are_no_mapping(tmp_path):
    found = refused([("w", W)], tmp_path / "a.safetensors")
    assert found.message == (
        "weights are given as a mapping from names to arrays, not as a value of type list"
    )
    assert found.help == "where they are pairs of names and arrays, `dict(pairs)` is one"
    assert list(tmp_path.iterdir()) == []
