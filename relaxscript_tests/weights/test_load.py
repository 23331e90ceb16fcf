"""Loading weights: files, indices and folders, renamed and converted, and what is refused."""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import relaxscript as rx
from relaxscript_tests.architecture import ROOT

W = np.arange(6, dtype="float32").reshape(2, 3) / 7
B = np.arange(3, dtype="int64")


def refused(*args, **options):
    with pytest.raises(rx.DiagnosticError) as caught:
        rx.load_weights(*args, **options)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.safetensors"
    rx.save_weights({"fc.weight": W, "fc.bias": B}, path, metadata={"format": "pt"})
    return path


@pytest.fixture
def index(tmp_path):
    given = {f"layers.{i}": np.full(4, i, "float32") for i in range(5)}
    rx.save_weights(given, tmp_path / "big.safetensors", max_shard_size=32)
    return tmp_path / "big.safetensors.index.json"


# ---------------------------------------------------------------- what is loaded


def test_arrays_come_by_name_out_of_a_mapped_file(file):
    weights = rx.load_weights(file)
    assert sorted(weights) == ["fc.bias", "fc.weight"]
    assert weights.metadata == {"format": "pt"}
    array = weights["fc.weight"]
    assert array.tobytes() == W.tobytes()
    assert isinstance(array.base, mmap.mmap)
    assert not array.flags.writeable
    assert weights["fc.weight"] is array


def test_shapes_dtypes_and_files_are_known_without_reading(file):
    weights = rx.load_weights(str(file), dtype="bfloat16")
    assert weights.shape("fc.weight") == (2, 3)
    assert (weights.dtype("fc.weight"), weights.dtype("fc.bias")) == ("bfloat16", "int64")
    assert weights.file("fc.bias") == str(file)
    assert repr(weights) == f"<2 tensors of 48 bytes in {file}>"
    assert "fc.bias" in weights
    assert "bias" not in weights


def test_a_name_that_is_not_there_is_a_key_error_with_the_nearest(file):
    with pytest.raises(KeyError, match=r"no tensor `fc.wieght`; did you mean `fc.weight`\?"):
        rx.load_weights(file)["fc.wieght"]
    with pytest.raises(KeyError, match="no tensor `3`"):
        rx.load_weights(file).shape(3)


GIGABYTE = """
import resource, sys
import numpy as np
import relaxscript as rx

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

with open("big.safetensors", "wb") as file:  # the elements are a hole of the file system
    text = b'{"w":{"dtype":"F32","shape":[1024,1024,256],"data_offsets":[0,1073741824]}}'
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    file.truncate(8 + len(text) + (1 << 30))
from relaxscript import weights
before = resident()
loaded = rx.load_weights("big.safetensors")
array = loaded["w"]
constant = rx.Constant(array)
assert array.nbytes == constant.data.nbytes == 1 << 30
assert resident() - before < 8 << 20, resident() - before
assert array[1023, 1023, 255] == 0
assert resident() - before < 16 << 20, resident() - before
"""


def test_a_gigabyte_is_loaded_and_made_a_constant_without_a_copy(tmp_path):
    subprocess.run(
        [sys.executable, "-c", GIGABYTE], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True
    )


def test_the_files_of_an_index_are_one_model(index):
    for path in (index, index.parent):
        weights = rx.load_weights(path)
        assert list(weights) == [f"layers.{i}" for i in range(5)]
        assert all((array == i).all() for i, array in enumerate(weights.values()))
        assert weights.file("layers.4") == str(index.parent / "big-00003-of-00003.safetensors")


def test_a_folder_with_one_file_is_that_file(file):
    assert rx.load_weights(file.parent).file("fc.bias") == str(file)


def test_a_path_may_be_bytes(file):
    assert len(rx.load_weights(os.fsencode(file))) == 2


def test_an_index_beside_a_file_that_is_not_there_is_offered(index):
    path = index.parent / "big.safetensors"
    assert refused(path).help == f"the index is there: `{index}`"


def test_a_file_that_is_replaced_stays_as_it_was(file):
    weights = rx.load_weights(file)
    array = weights["fc.weight"]
    rx.save_weights({"fc.weight": W + 1}, file)
    assert array.tobytes() == W.tobytes()
    assert rx.load_weights(file)["fc.weight"].tobytes() == (W + 1).tobytes()


# ---------------------------------------------------------------- conversion


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2"]
)
def test_floats_are_converted_on_request_and_integers_stay(file, dtype):
    weights = rx.load_weights(file, dtype=dtype)
    assert weights["fc.weight"].tolist() == W.astype(dtype).tolist()
    assert weights["fc.weight"].dtype == np.dtype(dtype)
    assert weights["fc.weight"] is weights["fc.weight"]
    assert not weights["fc.weight"].flags.writeable
    assert weights["fc.bias"].dtype == "int64"


def test_numbers_are_rounded_once(tmp_path):
    path = tmp_path / "a.safetensors"
    value = 1 + 2.0**-8 + 2.0**-40  # float32 would make a tie of it, and that is rounded down
    rx.save_weights({"a": np.array([value])}, path)
    assert float(rx.load_weights(path, dtype="bfloat16")["a"][0]) == 1 + 2.0**-7


def test_what_is_small_in_the_file_is_made_wide(tmp_path):
    path = tmp_path / "a.safetensors"
    small = np.arange(8).astype(ml_dtypes.float8_e4m3fn)
    rx.save_weights({"a": small}, path)
    assert rx.load_weights(path)["a"].dtype == small.dtype
    assert rx.load_weights(path, dtype="float32")["a"].tolist() == list(range(8))


def test_a_table_of_dtypes_names_some_of_the_tensors(file):
    weights = rx.load_weights(file, dtype={"fc.weight": "float16"})
    assert weights.dtype("fc.weight") == "float16"
    found = refused(file, dtype={"fc.wieght": "float16", "other": "float16"})
    assert found.code == "RX0712"
    assert found.message == ("the table of dtypes has `fc.wieght`, `other`, which the file has not")
    assert found.notes == ("`fc.wieght` is not there; did you mean `fc.weight`?",)
    found = refused(file, dtype={"fc.bias": "float16"})
    assert found.message == "`fc.bias` is I64, and only floats are converted"


def test_a_misspelt_dtype_is_offered(file):
    assert refused(file, dtype="flaot16").help == 'did you mean "float16"?'


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16"), ml_dtypes.bfloat16])
def test_a_dtype_may_be_that_of_numpy(file, dtype):
    name = np.dtype(dtype).name
    assert rx.load_weights(file, dtype=dtype).dtype("fc.weight") == name
    assert rx.load_weights(file, dtype={"fc.weight": dtype})["fc.weight"].dtype == name


def test_what_is_no_dtype_of_floats_is_refused(file):
    assert refused(file, dtype=np.int8).message == 'weights are not converted to "int8"'
    assert refused(file, dtype=dict).code == "RX0703"


@pytest.mark.parametrize("dtype", ["int8", "float23", 3])
def test_weights_are_converted_to_floats_only(file, dtype):
    found = refused(file, dtype=dtype)
    assert found.code == "RX0703"
    assert found.message == f'weights are not converted to "{dtype}"'
    assert found.help == ('did you mean "float16"?' if dtype == "flaot16" else found.help)


@pytest.mark.parametrize("dtype", ["float16", "float8_e4m3fn"])
def test_a_number_that_is_too_large_for_a_dtype_is_said_and_not_made_infinite(tmp_path, dtype):
    path = tmp_path / "a.safetensors"
    rx.save_weights({"a": np.float32([1, 1e6, np.inf, np.nan])}, path)
    weights = rx.load_weights(path, dtype=dtype)
    with pytest.raises(rx.DiagnosticError, match=f"`a` has numbers that are too large for {dtype}"):
        weights["a"]
    kept = np.float32([1, np.inf, np.nan])
    rx.save_weights({"a": kept}, path)
    assert str(rx.load_weights(path, dtype="float16")["a"].tolist()) == str(kept.tolist())


# ---------------------------------------------------------------- names


def test_names_are_changed_by_a_function_or_a_table(file):
    by_function = rx.load_weights(file, names=lambda name: name.removeprefix("fc."))
    assert sorted(by_function) == ["bias", "weight"]
    by_table = rx.load_weights(file, names={"fc.weight": "w"}, dtype={"w": "float16"})
    assert sorted(by_table) == ["fc.bias", "w"]
    assert sorted(rx.load_weights(file, names={"fc.bias": None})) == ["fc.weight"]
    assert len(rx.load_weights(file, names=lambda name: None)) == 0


def test_names_that_the_file_has_not_are_all_said_with_the_nearest(file):
    found = refused(file, names={"fc.wieght": "w", "fc.bais": "b"})
    assert found.message == "the table of names has `fc.wieght`, `fc.bais`, which the file has not"
    assert found.notes == (
        "`fc.wieght` is not there; did you mean `fc.weight`?",
        "`fc.bais` is not there; did you mean `fc.bias`?",
    )


def test_new_names_are_strings_and_differ(file):
    found = refused(file, names=lambda name: "a")
    assert (found.code, found.message) == (
        "RX0712", "`fc.bias` and `fc.weight` would both be `a`"
    )  # fmt: skip
    found = refused(file, names=len)
    assert found.message == "the new name of `fc.bias` is of type int"
    assert found.help == "give a string, or None to leave the tensor out"


# ---------------------------------------------------------------- what is refused


def test_what_cannot_be_read_is_said_with_its_path(tmp_path):
    absent = tmp_path / "modle.safetensors"
    assert refused(absent).message == f"cannot read `{absent}`: No such file or directory"
    absent = tmp_path / "modle.safetensors.index.json"
    assert refused(absent).message == f"cannot read `{absent}`: No such file or directory"
    empty = tmp_path / "empty.safetensors"
    empty.touch()
    assert refused(empty).message == f"cannot read `{empty}`: it is empty"
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe").message.endswith("it is no regular file")


def test_a_file_that_is_cut_off_is_refused_at_every_length(file):
    content = file.read_bytes()
    for length in range(len(content)):
        file.write_bytes(content[:length])
        found = refused(file)
        assert (found.code, found.message[:13]) == ("RX0701", "cannot read `")


def test_a_dtype_that_relax_has_not_is_refused_unless_it_is_left_out(tmp_path):
    path = tmp_path / "a.safetensors"
    header = b'{"freqs":{"dtype":"C64","shape":[2],"data_offsets":[0,16]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(16))
    found = refused(path)
    assert found.message.endswith("`freqs` has the dtype C64, which no tensor of Relax has")
    assert found.help == "leave it out by `names=`: its new name is None"
    assert len(rx.load_weights(path, names={"freqs": None})) == 0


def test_a_shard_that_the_index_leaves_out_is_named(index):
    assert len(rx.load_weights(index.parent)) == 5
    table = json.loads(index.read_text("utf-8"))
    shard = table["weight_map"].pop("layers.4")
    index.write_text(json.dumps(table), "utf-8")
    found = refused(index.parent)
    assert found.code == "RX0701"
    assert found.message == (
        f"cannot read `{index}`: `{shard}` is in its folder, and it does not name it"
    )
    assert found.help == f"to load what it names, give it instead of the folder: `{index}`"
    assert len(rx.load_weights(index)) == 4
    rx.save_weights({"a": W}, index.parent / "more.safetensors")
    message = refused(index.parent).message
    assert f"`{shard}`, `more.safetensors` are in its folder, and it does not name them" in message


def test_an_index_may_call_its_files_anything(tmp_path):
    rx.save_weights({"a": W}, tmp_path / "first.safetensors")
    rx.save_weights({"b": W}, tmp_path / "second.safetensors")
    table = {"weight_map": {"a": "first.safetensors", "b": "second.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(table), "utf-8")
    assert sorted(rx.load_weights(tmp_path)) == ["a", "b"]


def test_a_folder_is_that_of_one_model(file, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    assert refused(tmp_path / "other").message.endswith("it has no file of safetensors")
    rx.save_weights({"a": W}, tmp_path / "other" / "model-00001-of-00002.safetensors")
    found = refused(tmp_path / "other")
    assert found.message.endswith("it has no index that names its files")
    rx.save_weights({"a": W}, tmp_path / "second.safetensors")
    found = refused(tmp_path)
    assert found.message.endswith("several models: `model.safetensors`, `second.safetensors`")
    assert found.help == f"name one of them: `{file}`"

    def denied(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", denied)
    assert refused(tmp_path).message.endswith("Permission denied")


def test_shards_that_are_absent_are_all_named(index):
    for number in (1, 3):
        (index.parent / f"big-0000{number}-of-00003.safetensors").unlink()
    found = refused(index)
    assert found.message == (
        f"cannot read `{index}`: it names `big-00001-of-00003.safetensors`, "
        "`big-00003-of-00003.safetensors`, which are not there"
    )


def test_a_shard_without_the_tensor_is_said(index):
    said = json.loads(index.read_text())
    said["weight_map"]["layers.7"] = "big-00001-of-00003.safetensors"
    index.write_text(json.dumps(said))
    found = refused(index)
    assert found.message.endswith(
        "it says that `layers.7` is in `big-00001-of-00003.safetensors`, which has no such tensor"
    )
    assert found.help == "did you mean `layers.0`?"


WRONG_INDEX = {
    "not JSON": ("{", "it is not JSON"),
    "deep": ('{"a":' * 100_000, "it is not JSON"),
    "no text": (b"\xff\xff\xff", "it is not JSON"),
    "a list": ("[]", "it has no `weight_map` from names of tensors to files"),
    "no map": ("{}", "it has no `weight_map` from names of tensors to files"),
    "a map to numbers": ('{"weight_map": {"a": 3}}', "it has no `weight_map` from names"),
    "a path upwards": ('{"weight_map": {"a": "../b"}}', "'../b', which is no file of its folder"),
    "the folder above": ('{"weight_map": {"a": ".."}}', "'..', which is no file of its folder"),
    "another drive": ('{"weight_map": {"a": "c:b"}}', "'c:b', which is no file of its folder"),
    "a zero": ('{"weight_map": {"a": "b\\u0000"}}', "which is no file of its folder"),
    "a name twice": ('{"weight_map": {"a": "b", "a": "c"}}', "it has 'a' twice"),
    "long": (" " * ((1 << 24) + 1), "an index has at most 16,777,216 bytes"),
}


@pytest.mark.parametrize("name", WRONG_INDEX)
def test_a_wrong_index_is_refused_with_what_is_wrong(name, tmp_path):
    text, reason = WRONG_INDEX[name]
    path = tmp_path / "model.safetensors.index.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = refused(path)
    assert found.code == "RX0701"
    assert found.message.startswith(f"cannot read `{path}`: ")
    assert reason in found.message


def test_names_are_mapped_by_a_table_or_a_function_only(file):
    found = refused(file, names=3)
    assert found.message == "`names` is a table or a function, not a value of type int"
    assert "names=lambda name" in found.help
