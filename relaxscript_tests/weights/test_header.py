"""The header of safetensors: what is in a file, and every way in which it can be forged."""

from __future__ import annotations

import json
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

from relaxscript.weights.header import (
    LONGEST_HEADER,
    HeaderError,
    array_of,
    bytes_of,
    header_of,
    read_header,
)

F32 = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


def file_of(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(2, 3), offsets=(0, 24)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


DEEP = b'{"a":' * 100_000
FORGED = {
    "nothing": (b"", "it is too short for a file of safetensors"),
    "seven bytes": (b"\0" * 7, "it is too short for a file of safetensors"),
    "no header": (bytes(8), "its header is no table"),
    "a longer header than the file": (
        (9).to_bytes(8, "little") + b"{}", "it is cut off or no file of safetensors: a header of 9",
    ),
    "the longest header": (b"\xff" * 16, "a header of 18,446,744,073,709,551,615 bytes"),
    "no text": (file_of(b"\xff{}"), "its header is not text"),
    "a list": (file_of([]), "its header is no table"),
    "a space before the table": (file_of(b" {}"), "its header is no table"),
    "no end": (file_of(b'{"a":'), "`a` is not described by dtype, shape and data_offsets"),
    "a name without a value": (file_of(b'{"a" 3}'), "its header cannot be read behind `a`"),
    "an entry without an end": (
        file_of(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}'),
        "its header cannot be read behind `a`",
    ),
    "a comma too many": (
        file_of(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},}'), "behind 1 names",
    ),
    "two tables": (file_of(b"{}{}"), "something follows the end of its header"),
    "tables in tables": (file_of(DEEP), "`a` is not described by dtype"),
    "lists in lists": (file_of(b'{"a":' + b"[" * 100_000), "`a` is not described by dtype"),
    "half of a surrogate pair": (file_of(b'{"\\ud800":3}'), "cannot be read behind 0 names"),
    "a name that does not end": (file_of(b'{"' + b"\\n" * 99), "cannot be read behind 0 names"),
    "a name twice": (
        file_of(b'{"a":%b,"a":%b}' % (json.dumps(F32).encode(), json.dumps(F32).encode())),
        "it has `a` twice",
    ),
    "metadata twice": (
        file_of(b'{"__metadata__":{},"__metadata__":{}}'), "it has `__metadata__` twice",
    ),
    "a key of the metadata twice": (
        file_of(b'{"__metadata__":{"a":"1","a":"2"}}'), "it has `a` twice",
    ),
    "metadata that are a number": (
        file_of({"__metadata__": {"a": 1}}), "the metadata of `a` is no string",
    ),
    "metadata that are a list": (file_of({"__metadata__": []}), "its header is no table"),
    "a field too many": (file_of({"a": {**F32, "more": 1}}, bytes(24)), "`a` is not described by"),
    "a field too few": (file_of({"a": {"dtype": "F32", "shape": []}}), "`a` is not described by"),
    "a field twice": (
        file_of(b'{"a":{"dtype":"F32","dtype":"F32","shape":[]}}'), "`a` is not described by",
    ),
    "a dtype that is a list": (file_of({"a": entry(dtype=[1])}), "`a` is not described by"),
    "a shape that is a string": (
        file_of({"a": {**F32, "shape": "X"}}), "`a` is not described by",
    ),
    "offsets that are a string": (
        file_of({"a": {**F32, "data_offsets": "X"}}), "`a` is not described by",
    ),
    "three offsets": (file_of({"a": entry(offsets=(0, 24, 24))}), "`a` is not described by"),
    "a negative size": (file_of({"a": entry(shape=(-2, -3))}), "`a` is not described by"),
    "a size that is no integer": (file_of({"a": entry(shape=(2.0, 3))}), "`a` is not described by"),
    "a size of many digits": (file_of({"a": entry(shape=(10**30,))}), "`a` is not described by"),
    "a size with a sign": (file_of(b'{"a":{"dtype":"U8","shape":[+1]'), "`a` is not described by"),
    "an unknown dtype": (file_of({"a": entry("F33")}, bytes(24)), "`a` has the unknown dtype F33"),
    "many dimensions": (
        file_of({"a": entry(shape=(1,) * 65, offsets=(0, 4))}, bytes(4)), "`a` has 65 dimensions",
    ),
    "too many bytes": (
        file_of({"a": entry(offsets=(0, 28))}, bytes(28)),
        "`a` of dtype F32 and shape [2, 3] is said to have 28 bytes",
    ),
    "an end before the beginning": (
        file_of({"a": entry(offsets=(24, 0))}, bytes(24)), "is said to have -24 bytes",
    ),
    "half a byte": (
        file_of({"a": entry("F4", (3,), (0, 1))}, bytes(1)), "of dtype F4 and shape [3]",
    ),
    "an end behind the file": (file_of({"a": F32}, bytes(23)), "it is cut off: `a` ends at byte"),
    "counts whose product is huge": (
        file_of({"a": entry(shape=(10**9, 10**9), offsets=(0, 4 * 10**18))}), "it is cut off: `a`",
    ),
    "an overlap": (
        file_of({"a": F32, "b": entry(offsets=(20, 44))}, bytes(44)),
        "`b` overlaps with the tensor before it",
    ),
    "the same bytes twice": (file_of({"a": F32, "b": F32}, bytes(24)), "`b` overlaps with"),
    "a hole": (
        file_of({"a": F32, "b": entry(offsets=(28, 52))}, bytes(52)),
        "the 4 bytes before `b` are nobody's",
    ),
    "bytes at the end": (file_of({"a": F32}, bytes(30)), "the 6 bytes at its end are nobody's"),
    "a bool that is 2": (
        file_of({"a": entry("BOOL", (3,), (0, 3))}, b"\0\1\2"),
        "`a` has elements that are neither true nor false",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_header_is_refused_with_what_is_wrong(name):
    content, reason = FORGED[name]
    with pytest.raises(HeaderError) as caught:
        read_header(content)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "filling", [b"[", b"[],", b"{},", b'"\\n', b"1,", b'{"a":', b"1", b" "], ids=repr
)
@pytest.mark.parametrize("beginning", [b'{"a":', b'{"a":{"dtype":"U8","shape":[', b'{"'])
def test_a_header_takes_no_more_memory_than_a_few_times_its_length(beginning, filling):
    content = file_of(beginning + filling * (1_000_000 // len(filling)))
    tracemalloc.start()
    with pytest.raises(HeaderError, match=r"`a` is not described by|cannot be read behind"):
        read_header(content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8_000_000


def test_names_are_read_as_json_has_them_and_shown_without_escapes():
    tensors, metadata = read_header(
        file_of(b'{"__metadata__":{"k\\u00e9":"{\\"a\\": [1]}"},\n "\\t\\"b\\"":'
                b' {"shape" : [ 2 ,\t0 ], "data_offsets":[0,0], "dtype":"I8"} }  ')
    )  # fmt: skip
    assert metadata == {"ké": '{"a": [1]}'}
    assert tensors['\t"b"'].shape == (2, 0)
    with pytest.raises(HeaderError, match=r"`\\x1b\[2J` has the unknown dtype"):
        read_header(file_of({"\x1b[2J": entry("NO")}))
    with pytest.raises(HeaderError, match=r"`a{60}\.\.\.` has"):
        read_header(file_of({"a" * 300: entry("NO")}))


EVERY = [
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
    "float32", "float64",
]  # fmt: skip
SMALL = [
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e8m0fnu,
]  # fmt: skip


def arrays_of(dtypes, rng):
    shapes = [(2, 3), (), (0, 4), (5,), (1, 1, 7)]
    return {
        f"{np.dtype(dtype)}.{shape}": rng.integers(0, 2, shape).astype(dtype)
        for dtype in dtypes
        for shape in shapes
    }


def test_every_dtype_comes_back_bit_by_bit(rng):
    given = arrays_of([*EVERY, *SMALL], rng)
    content = bytes_of(given)
    tensors, _ = read_header(content)
    assert set(tensors) == set(given)
    for name, tensor in tensors.items():
        array = array_of(content, tensor)
        assert (array.dtype, array.shape) == (given[name].dtype, given[name].shape)
        assert array.tobytes() == given[name].tobytes()
        assert array.flags.aligned
        assert not array.flags.writeable


def test_the_library_reads_what_is_written_and_the_other_way_round(rng):
    given = arrays_of(EVERY, rng)
    theirs = safetensors.numpy.load(bytes_of(given))
    assert set(theirs) == set(given)
    assert all(theirs[name].tobytes() == array.tobytes() for name, array in given.items())
    content = safetensors.numpy.save(given, {"format": "np"})
    tensors, metadata = read_header(content)
    assert metadata == {"format": "np"}
    ours = {name: array_of(content, tensor) for name, tensor in tensors.items()}
    assert all(ours[name].tobytes() == array.tobytes() for name, array in given.items())


def test_the_same_tensors_are_the_same_bytes_in_any_order(rng):
    given = arrays_of(EVERY, rng)
    assert bytes_of(given) == bytes_of(dict(reversed(given.items())))


def test_elements_that_lie_askew_are_copied():
    header = {"a": entry("U8", (1,), (0, 1)), "b": entry("F32", (2,), (1, 9))}
    content = file_of(header, b"\1" + np.float32([1, 2]).tobytes())
    tensors, _ = read_header(content)
    array = array_of(content, tensors["b"])
    assert array.tolist() == [1, 2]
    assert array.flags.aligned
    assert not array.flags.writeable


def test_elements_of_any_strides_and_byte_order_are_written_in_rows(rng):
    array = rng.normal(size=(6, 8)).astype(">f4")[::2, ::-3].T
    content = bytes_of({"a": array})
    assert array_of(content, read_header(content)[0]["a"]).tolist() == array.tolist()


def test_what_the_format_has_not_is_refused():
    with pytest.raises(HeaderError, match="`a` has the dtype int4, which safetensors has not"):
        header_of({"a": np.zeros(3, ml_dtypes.int4)}, {})
    with pytest.raises(HeaderError, match=r"its header would have 100,\d+,\d+ bytes"):
        header_of({}, {"a": " " * LONGEST_HEADER})


def test_no_change_of_a_bit_is_read_as_anything_but_tensors_of_the_file(rng):
    content = bytes_of(arrays_of(["float32", "int8", "bool"], rng))
    length = int.from_bytes(content[:8], "little") + 8
    for _ in range(2_000):
        damaged = bytearray(content)
        for _ in range(rng.choice((1, 1, 2, 4))):
            damaged[rng.integers(0, length)] ^= 1 << rng.integers(0, 8)
        try:
            tensors, _ = read_header(bytes(damaged))
        except HeaderError:
            continue
        assert sum(t.end - t.begin for t in tensors.values()) <= len(content) - 8
        assert all(array_of(bytes(damaged), t).size >= 0 for t in tensors.values())
