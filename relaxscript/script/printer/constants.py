"""Constants as syntax: small ones written out, large ones by reference to metadata.

A constant is written out where the literal gives back every bit of it, with the shortest digits
that do. Everything else is `metadata["relax.expr.Constant"][i]`; the metadata itself is data:
for each constant its dtype, its shape and its bytes (little-endian, row by row) in base64.
"""

from __future__ import annotations

import ast
import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, result_dtype
from relaxscript.ir.relax import Constant

from . import tree
from .session import METADATA_KEY, Session

__all__ = [
    "METADATA_KEY", "SMALL", "MetadataError", "constant", "decode", "decode_all", "encode",
    "metadata_tree",
]  # fmt: skip

SMALL = 64  # elements that are written out
Array = np.ndarray[Any, Any]


class MetadataError(ValueError):
    """An entry of the metadata of a script that holds no constant."""


def constant(session: Session, e: Constant) -> ast.expr:
    """`R.const(1.0, "float32")`, or a reference to the metadata."""
    dtype = result_dtype(e.data)
    written = literal(e.data) if e.data.size <= SMALL else None
    if written is not None:
        word = session.member("relax", "const")
        return tree.call(word, [written, tree.constant(str(dtype))])
    index = session.constants.setdefault(e, len(session.constants))
    entries = tree.subscript(tree.name("metadata"), [tree.constant(METADATA_KEY)])
    return tree.subscript(entries, [tree.number(index)])


def literal(data: Array) -> ast.expr | None:
    """An array as nested lists of numbers, or None where these would not give it back."""
    values = shortest(data)
    if values is None:
        return None
    with np.errstate(all="ignore"):
        again = np.asarray(values).astype(data.dtype)  # as R.const converts
    if again.shape != data.shape or again.tobytes() != data.tobytes():
        return None
    return _nested_list(values)


def shortest(data: Array) -> Any:
    """The numbers of an array as Python's, floats with the fewest digits that are enough."""
    dtype = result_dtype(data)
    if not dtype.is_float:
        return data.tolist() if data.dtype.kind in "iub" else data.astype(np.int64).tolist()
    # A literal nan has no sign and no payload: one that has cannot be written.
    with np.errstate(all="ignore"):  # a signalling nan may be among them
        exact = data.astype(np.float64)
    exact = np.where(np.isnan(exact), np.nan, exact)
    if dtype == "float64":
        return exact.tolist()
    digits = [float(str(item)) for item in data.reshape(-1)]
    rounded = np.asarray(digits, np.float64).reshape(data.shape)
    with np.errstate(all="ignore"):
        same = rounded.astype(data.dtype).tobytes() == data.tobytes()
    return (rounded if same else exact).tolist()


def _nested_list(values: Any) -> ast.expr:
    if isinstance(values, list):
        return tree.items([_nested_list(value) for value in values])
    return tree.constant(values) if isinstance(values, bool) else tree.number(values)


def encode(e: Constant) -> dict[str, Any]:
    """A constant as plain data."""
    data = (
        e.data.astype(e.data.dtype.newbyteorder("<"), copy=False)
        if _is_big_endian(e.data)
        else e.data
    )
    text = base64.b64encode(np.ascontiguousarray(data).tobytes()).decode("ascii")
    return {"dtype": str(result_dtype(e.data)), "shape": list(e.data.shape), "data": text}


def _is_big_endian(data: Array) -> bool:
    return bool(data.dtype.byteorder == ">")


def decode(entry: Any) -> Constant:
    """The constant of plain data, the inverse of `encode`; raises `MetadataError`."""
    if not isinstance(entry, Mapping) or not {"dtype", "shape", "data"} <= entry.keys():
        raise MetadataError("an entry of the metadata has the keys `dtype`, `shape` and `data`")
    try:
        dtype = DataType(entry["dtype"]).numpy
        content = base64.b64decode(entry["data"], validate=True)
        shape = tuple(int(n) for n in entry["shape"])
        return Constant(np.frombuffer(content, dtype).reshape(shape))
    except (ArithmeticError, MemoryError, TypeError, ValueError, binascii.Error) as error:
        raise MetadataError(f"an entry of the metadata holds no constant: {error}") from None


def decode_all(metadata: Mapping[str, Any]) -> dict[str, list[Constant]]:
    """The constants of a script's metadata, each still as plain data or decoded before.

    Raises `MetadataError`.
    """
    try:
        return {
            key: [e if isinstance(e, Constant) else decode(e) for e in entries]
            for key, entries in metadata.items()
        }
    except (AttributeError, TypeError) as error:
        raise MetadataError(str(error)) from None


def metadata_tree(constants: Iterable[Constant]) -> ast.stmt:
    """`metadata = {...}`, complete."""
    entries = []
    for e in constants:
        pairs = [(tree.constant(k), _plain(v)) for k, v in encode(e).items()]
        entries.append(tree.dictionary(pairs))
    table = tree.dictionary([(tree.constant(METADATA_KEY), tree.items(entries))])
    return tree.assign(tree.name("metadata"), table)


def _plain(value: Any) -> ast.expr:
    if isinstance(value, list):
        return tree.items([tree.number(n) for n in value])
    return tree.constant(value)
