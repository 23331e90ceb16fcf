"""The format of safetensors: the header that says where in a file each tensor is, and its bytes.

    8 bytes    the length of the header, little-endian
    header     {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
    the rest   the elements of the tensors, one after another without holes, in row-major order

A file may come from a stranger. So the header is not given to a reader of JSON, which makes objects
of whatever it has: it is read by the grammar above, and refused where it is anything else.
Nothing of the elements is read but those of dtype BOOL, of which not every byte is one.

Source: the description of the format in the documentation of safetensors.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from relaxscript.dtypes import DataType, result_dtype

__all__ = [
    "LONGEST_HEADER", "Array", "Buffer", "HeaderError", "StoredTensor", "array_of", "bytes_of",
    "elements_of", "header_of", "read_header", "stored_dtype",
]  # fmt: skip

Array = np.ndarray[Any, Any]
Buffer = Any  # bytes, or a file that is mapped: Python's buffer protocol has no type before 3.12

LONGEST_HEADER = 100_000_000  # bytes; no reader of the format takes more
_MOST_DIMENSIONS = 64  # of numpy's arrays

_DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32",
    "I32": "int32", "U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16",
    "F32": "float32", "F64": "float64", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2FNUZ": "float8_e5m2fnuz", "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E8M0": "float8_e8m0fnu",
}  # fmt: skip
_WRITTEN = {dtype: word for word, dtype in _DTYPES.items()}
# The bits of an element of the other dtypes, which no tensor of Relax has.
_FOREIGN_BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "C64": 64}


class HeaderError(ValueError):
    """A mistake in the bytes of a file, in a few words."""


class StoredTensor(NamedTuple):
    """A tensor in a file: the dtype by the word of the format, and where its elements are.

    `begin` and `end` count from the first byte of the file.
    """

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def stored_dtype(tensor: StoredTensor) -> DataType | None:
    """The dtype of the elements; None for one that no tensor of Relax has."""
    name = _DTYPES.get(tensor.dtype)
    return None if name is None else DataType(name)


# ---------------------------------------------------------------- reading

_SPACE = r"[ \t\r\n]*"
_NUMBER = r"(?:0|[1-9][0-9]{0,18})"
# With an end, since a regular expression remembers each round of a repetition.
_NUMBERS = rf"\[{_SPACE}(?:{_NUMBER}(?:{_SPACE},{_SPACE}{_NUMBER}){{0,255}}{_SPACE})?\]"
_FIELD = rf'"(?:dtype|shape|data_offsets)"{_SPACE}:{_SPACE}(?:"[A-Z0-9_]{{1,16}}"|{_NUMBERS})'
_TENSOR = re.compile(rf"\{{{_SPACE}{_FIELD}(?:{_SPACE},{_SPACE}{_FIELD}){{2}}{_SPACE}\}}")
_FIELDS = re.compile(
    rf'"(dtype|shape|data_offsets)"{_SPACE}:{_SPACE}(?:"([A-Z0-9_]+)"|(\[[^\]]*\]))'
)
_COLON = re.compile(rf"{_SPACE}:{_SPACE}")
_STRINGS = json.JSONDecoder()  # asked where a string begins, and so for nothing else
_OPEN = re.compile(rf"\{{{_SPACE}(\}}{_SPACE})?")
_NEXT = re.compile(rf"{_SPACE}(?:,{_SPACE}|(\}}){_SPACE})")


def read_header(content: Buffer) -> tuple[dict[str, StoredTensor], dict[str, str]]:
    """The tensors of a file by the names that they have there, and its metadata.

    Raises `HeaderError` for what is no header, and where the tensors are not what the file holds:
    each byte behind the header belongs to one tensor. Each tensor has as many as its shape
    and dtype say.
    """
    if len(content) < 8:
        raise HeaderError("it is too short for a file of safetensors")
    length = int.from_bytes(content[:8], "little")
    if length > min(LONGEST_HEADER, len(content) - 8):
        reason = f"it is cut off or no file of safetensors: a header of {length:,} bytes"
        raise HeaderError(reason)
    try:
        text = bytes(content[8 : 8 + length]).decode()
    except UnicodeDecodeError:
        raise HeaderError("its header is not text") from None
    reader = _HeaderReader(text)
    for name in reader.entries(0):
        if name == "__metadata__":
            reader.read_metadata()
        else:
            reader.read_tensor(name, 8 + length)
    if reader.place != len(text):
        raise HeaderError("something follows the end of its header")
    _check_places(reader.tensors, 8 + length, len(content))
    _check_bools(reader.tensors, content)
    return reader.tensors, reader.metadata


class _HeaderReader:
    """One reading of the text of a header, from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.tensors: dict[str, StoredTensor] = {}
        self.metadata: dict[str, str] = {}

    def entries(self, place: int) -> Iterator[str]:
        """The keys of the object at a place; before the next one, what it has is to be read."""
        found = _OPEN.match(self.text, place)
        if found is None:
            raise HeaderError("its header is no table")
        self.place = found.end()
        keys: set[str] = set()
        ended = found[1] is not None
        while not ended:
            name = self.read_string(f"its header cannot be read behind {len(keys):,} names")
            if name in keys:
                raise HeaderError(f"it has {_quote(name)} twice")
            keys.add(name)
            self.skip(_COLON, name)
            yield name
            ended = self.skip(_NEXT, name)[1] is not None

    def skip(self, pattern: re.Pattern[str], name: str) -> re.Match[str]:
        found = pattern.match(self.text, self.place)
        if found is None:
            raise HeaderError(f"its header cannot be read behind {_quote(name)}")
        self.place = found.end()
        return found

    def read_string(self, otherwise: str) -> str:
        """The string that begins here; a mistake, in these words, where none does."""
        if not self.text.startswith('"', self.place):
            raise HeaderError(otherwise)
        try:
            value, self.place = _STRINGS.raw_decode(self.text, self.place)
            value.encode()  # half of a surrogate pair is no text
        except ValueError:
            raise HeaderError(otherwise) from None
        return str(value)

    def read_metadata(self) -> None:
        for name in self.entries(self.place):
            self.metadata[name] = self.read_string(f"the metadata of {_quote(name)} is no string")

    def read_tensor(self, name: str, start: int) -> None:
        found = _TENSOR.match(self.text, self.place)
        fields = _FIELDS.findall(found[0]) if found else []
        said = {key: word or [int(n) for n in re.findall("[0-9]+", ns)] for key, word, ns in fields}
        dtype, shape, offsets = map(said.get, ("dtype", "shape", "data_offsets"))
        if not isinstance(dtype, str) or not isinstance(shape, list):
            dtype = shape = None
        if found is None or dtype is None or not isinstance(offsets, list) or len(offsets) != 2:
            raise HeaderError(f"{_quote(name)} is not described by dtype, shape and data_offsets")
        begin, end = offsets
        _check_size(name, str(dtype), tuple(shape or ()), end - begin)
        self.tensors[name] = StoredTensor(
            str(dtype), tuple(shape or ()), start + begin, start + end
        )
        self.place = found.end()


def _quote(name: str) -> str:
    """A name of a stranger's, shortened and without what would change a terminal."""
    shown = name if len(name) <= 200 else f"{name[:60]}..."
    return f"`{''.join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)}`"


def _check_size(name: str, dtype: str, shape: tuple[int, ...], size: int) -> None:
    known = _DTYPES.get(dtype)
    if known is None and dtype not in _FOREIGN_BITS:
        raise HeaderError(f"{_quote(name)} has the unknown dtype {dtype}")
    if len(shape) > _MOST_DIMENSIONS:
        raise HeaderError(f"{_quote(name)} has {len(shape)} dimensions")
    bits = DataType(known).itemsize * 8 if known is not None else _FOREIGN_BITS[dtype]
    wanted, rest = divmod(math.prod(shape) * bits, 8)
    if rest or wanted != size:
        shown = ", ".join(map(str, shape))
        raise HeaderError(
            f"{_quote(name)} of dtype {dtype} and shape [{shown}] is said to have {size:,} bytes"
        )


def _check_places(tensors: Mapping[str, StoredTensor], start: int, length: int) -> None:
    """Refuse tensors that overlap, leave holes, or end elsewhere than the file."""
    last = start
    for name, tensor in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if tensor.end > length:
            raise HeaderError(f"it is cut off: {_quote(name)} ends at byte {tensor.end:,}")
        if tensor.begin < last:
            raise HeaderError(f"{_quote(name)} overlaps with the tensor before it")
        if tensor.begin > last:
            raise HeaderError(
                f"the {tensor.begin - last:,} bytes before {_quote(name)} are nobody's"
            )
        last = tensor.end
    if last != length:
        raise HeaderError(f"the {length - last:,} bytes at its end are nobody's")


def _check_bools(tensors: Mapping[str, StoredTensor], content: Buffer) -> None:
    for name, tensor in tensors.items():
        if tensor.dtype == "BOOL" and tensor.begin != tensor.end:
            size = tensor.end - tensor.begin
            if np.ndarray((size,), np.uint8, buffer=content, offset=tensor.begin).max() > 1:
                raise HeaderError(f"{_quote(name)} has elements that are neither true nor false")


def array_of(content: Buffer, tensor: StoredTensor) -> Array:
    """The elements of a tensor that `read_header` found, read-only, where they are.

    Elements that do not lie as the computer wants them are copied. A file that we wrote has none.
    """
    dtype = DataType(_DTYPES[tensor.dtype]).numpy.newbyteorder("<")
    array: Array = np.ndarray(tensor.shape, dtype, buffer=content, offset=tensor.begin)
    if not array.flags.aligned:
        array = array.copy()
        array.setflags(write=False)
    return array


# ---------------------------------------------------------------- writing


def header_of(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> tuple[bytes, list[str]]:
    """The beginning of a file, and the names in the order in which their elements follow.

    Larger elements come first, so that all lie as computers want them. The same tensors give the
    same bytes, whatever their order. Raises `HeaderError` for a dtype that the format has not.
    """
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    table: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))} if metadata else {}
    place = 0
    for name in order:
        array = tensors[name]
        if (dtype := result_dtype(array)) not in _WRITTEN:
            raise HeaderError(f"{_quote(name)} has the dtype {dtype}, which safetensors has not")
        offsets = [place, place + array.nbytes]
        place = offsets[1]
        table[name] = {
            "dtype": _WRITTEN[dtype], "shape": list(array.shape), "data_offsets": offsets,
        }  # fmt: skip
    text = json.dumps(table, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST_HEADER:
        raise HeaderError(f"its header would have {len(text):,} bytes")
    return len(text).to_bytes(8, "little") + text, order


def elements_of(array: Array) -> Array:
    """The elements as the format has them: bytes in row-major order, little-endian."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return plain.reshape(-1).view(np.uint8)


def bytes_of(tensors: Mapping[str, Array]) -> bytes:
    """A whole file in memory. Raises as `header_of`."""
    head, order = header_of(tensors, {})
    return b"".join((head, *(elements_of(tensors[name]).tobytes() for name in order)))
