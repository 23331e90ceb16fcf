"""Reading weights: one file of safetensors, the files that an index names, or a folder of either.

    weights = rx.load_weights("model.safetensors", dtype="float32")
    weights["fc1.weight"]        # a read-only array, which is read when it is used

The files are mapped into memory, so loading copies nothing. All that they say is checked first.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.files import open_regular

from .header import HeaderError, StoredTensor, read_header, stored_dtype
from .mapping import FileTensor, MappedFile, Weights
from .names import refuse_unknown

__all__ = ["load_weights"]

__tracebackhide__ = is_user_error

Path = str | os.PathLike[str]
DType = str | np.dtype[Any] | type[Any]
Names = Mapping[str, str | None] | Callable[[str], str | None]

_SHARD = re.compile(r"-[0-9]{5,}-of-[0-9]{5,}\.safetensors")
_LONGEST_INDEX = 1 << 24  # bytes: about 160,000 names
_FLOATS = (
    "float32", "float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2",
    "float8_e4m3fnuz", "float8_e5m2fnuz",
)  # fmt: skip


def load_weights(
    path: Path, *, dtype: DType | Mapping[str, DType] | None = None, names: Names | None = None
) -> Weights:
    """The tensors of files of safetensors by name, as read-only arrays that are read when used.

    `path` is a file, or an index such as "model.safetensors.index.json", which names the files of a
    model. It may also be a folder with one of these. `dtype` is that of all floating-point tensors
    here, as a string or numpy's, or a table from names to dtypes. What has another in the file is
    converted, each number rounded once, when it is first asked for. `names` is a function from
    names in the file to names here, or a table of those that change. A tensor whose new name is
    None is left out.

    Raises `DiagnosticError`: RX0701 for what is not there, cut off or not what it says it is.
    RX0712 for names that are not there, and for two tensors of one name. RX0703 for a dtype that
    weights are not converted to. Nothing is loaded then. Numbers that are too large for a dtype
    are RX0206, when the tensor is asked for.
    """
    found, metadata = _stored(os.fsdecode(path))
    renamed = _rename(found, names)
    wanted = _wanted_dtypes(renamed, dtype)
    sources = {}
    for name, (content, old, tensor) in renamed.items():
        stored = stored_dtype(tensor)
        if stored is None:
            reason = f"`{old}` has the dtype {tensor.dtype}, which no tensor of Relax has"
            _refuse(content.path, reason, "leave it out by `names=`: its new name is None")
        sources[name] = FileTensor(content, old, tensor, wanted.get(name) or stored)
    return Weights(sources, metadata)


# ---------------------------------------------------------------- files

_Found = dict[str, tuple[MappedFile, str, StoredTensor]]


def _stored(path: str) -> tuple[_Found, dict[str, str]]:
    """The tensors of a file, an index or a folder by name, and the metadata."""
    if os.path.isdir(path):
        path = _file_in(path)
    if path.endswith(".json"):
        return _stored_in_shards(path)
    content, tensors, metadata = _stored_in_file(path)
    return {name: (content, name, tensor) for name, tensor in tensors.items()}, metadata


def _file_in(folder: str) -> str:
    """The file or index of the one model in a folder."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        _refuse(folder, error.strerror or str(error))
    files = [name for name in names if name.endswith(".safetensors")]
    models = [name for name in names if name.endswith(".safetensors.index.json")]
    if len(models) == 1:
        _require_all_named(os.path.join(folder, models[0]), files)
        return os.path.join(folder, models[0])
    models += [name for name in files if not _SHARD.search(name)]
    if not models:
        lacks = "no index that names its files" if files else "no file of safetensors"
        _refuse(folder, f"it has {lacks}")
    if len(models) > 1:
        listed = ", ".join(f"`{name}`" for name in models)
        help = f"name one of them: `{os.path.join(folder, models[0])}`"
        _refuse(folder, f"it has the weights of several models: {listed}", help)
    return os.path.join(folder, models[0])


def _require_all_named(index: str, files: list[str]) -> None:
    """Refuse a folder with files that its index leaves out: part of a model, or another one."""
    left_out = sorted({*files}.difference(_index(index).values()))
    if left_out:
        listed = ", ".join(f"`{file}`" for file in left_out)
        are = "are" if len(left_out) > 1 else "is"
        reason = (
            f"{listed} {are} in its folder, and it does not name {'them' if are == 'are' else 'it'}"
        )
        _refuse(index, reason, f"to load what it names, give it instead of the folder: `{index}`")


def _stored_in_file(path: str) -> tuple[MappedFile, dict[str, StoredTensor], dict[str, str]]:
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size == 0:
                _refuse(path, "it is empty")
            content = MappedFile(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        index = f"{path}.index.json"
        help = f"the index is there: `{index}`" if os.path.exists(index) else None
        _refuse(path, error.strerror or str(error), help)
    content.path = path
    try:
        return content, *read_header(content)
    except HeaderError as error:
        _refuse(path, str(error))


def _stored_in_shards(path: str) -> tuple[_Found, dict[str, str]]:
    """The tensors that an index names, each in the file that it says, and the metadata."""
    files = _index(path)
    folder = os.path.dirname(path)
    shards = {file: os.path.join(folder, file) for file in dict.fromkeys(files.values())}
    absent = [file for file, full in shards.items() if not os.path.exists(full)]
    if absent:
        listed = ", ".join(f"`{file}`" for file in absent)
        _refuse(path, f"it names {listed}, which {'is' if len(absent) == 1 else 'are'} not there")
    read = {file: _stored_in_file(full) for file, full in shards.items()}
    found: _Found = {}
    for name, file in files.items():
        content, tensors, _ = read[file]
        if name not in tensors:
            meant = did_you_mean(nearest(name, tensors), None)
            _refuse(path, f"it says that `{name}` is in `{file}`, which has no such tensor", meant)
        found[name] = (content, name, tensors[name])
    metadata: dict[str, str] = {}
    for _, _, said in read.values():
        metadata = {**said, **metadata}
    return found, metadata


def _index(path: str) -> dict[str, str]:
    """The file of each tensor, as an index has it: files in its own folder."""
    try:
        with open_regular(path) as file:
            text = file.read(_LONGEST_INDEX + 1)
    except OSError as error:
        _refuse(path, error.strerror or str(error))
    if len(text) > _LONGEST_INDEX:
        _refuse(path, f"an index has at most {_LONGEST_INDEX:,} bytes")
    try:
        index = json.loads(text, object_pairs_hook=_without_doubles)
    except HeaderError as error:
        _refuse(path, str(error))
    except (ValueError, RecursionError):
        _refuse(path, "it is not JSON")
    files = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(files, dict) or not all(isinstance(f, str) for f in files.values()):
        _refuse(path, "it has no `weight_map` from names of tensors to files")
    for file in files.values():
        if file in ("", ".", "..") or re.search(r"[/\\:\0]", file):
            _refuse(path, f"it names {file!a}, which is no file of its folder")
    return files


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise HeaderError(f"it has {name!a} twice")
        table[name] = value
    return table


def _refuse(path: str, reason: str, help: str | None = None) -> NoReturn:
    message = f"cannot read `{path}`: {reason}"
    raise DiagnosticError(Diagnostic("RX0701", message, None, help=help)) from None


# ---------------------------------------------------------------- names and dtypes


def _rename(found: _Found, names: Names | None) -> _Found:
    if names is None:
        return found
    if isinstance(names, Mapping):
        refuse_unknown("the table of names", names, found)
        new = {name: names.get(name, name) for name in found}
    elif callable(names):
        new = {name: names(name) for name in found}
    else:
        what = f"`names` is a table or a function, not a value of type {type(names).__name__}"
        _refuse_names(what, 'write for example `names=lambda name: name.removeprefix("net.")`')
    renamed: _Found = {}
    for old, name in new.items():
        if name is None:
            continue
        if not isinstance(name, str):
            what = f"the new name of `{old}` is of type {type(name).__name__}"
            _refuse_names(what, "give a string, or None to leave the tensor out")
        if name in renamed:
            _refuse_names(f"`{renamed[name][1]}` and `{old}` would both be `{name}`")
        renamed[name] = found[old]
    return renamed


def _refuse_names(message: str, help: str | None = None) -> NoReturn:
    raise DiagnosticError(Diagnostic("RX0712", message, None, help=help))


def _wanted_dtypes(
    found: _Found, dtype: DType | Mapping[str, DType] | None
) -> dict[str, DataType]:  # fmt: skip
    """The dtypes of the tensors that have another here than in the file."""
    if dtype is None:
        return {}
    if isinstance(dtype, Mapping):
        refuse_unknown("the table of dtypes", dtype, found)
        wanted = {name: _float_dtype(word) for name, word in dtype.items()}
        for name in wanted:
            if not _is_float(found[name][2]):
                message = f"`{name}` is {found[name][2].dtype}, and only floats are converted"
                raise DiagnosticError(Diagnostic("RX0703", message, None))
        return wanted
    every = _float_dtype(dtype)
    return {name: every for name, (_, _, tensor) in found.items() if _is_float(tensor)}


def _is_float(tensor: StoredTensor) -> bool:
    dtype = stored_dtype(tensor)
    return dtype is not None and dtype.is_float


def _float_dtype(dtype: DType) -> DataType:
    try:
        found = DataType(dtype)
    except (TypeError, ValueError):
        found = None
    if found is not None and found in _FLOATS:
        return found
    near = nearest(str(dtype), _FLOATS)
    help = did_you_mean(near, f"there are {', '.join(_FLOATS)}", '"')
    message = f'weights are not converted to "{found or dtype}"'
    raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
