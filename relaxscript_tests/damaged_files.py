"""Saved programs that are damaged or lie, made from one that is whole."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from relaxscript.artifact import MANIFEST, MODULE, WEIGHTS

Change = Callable[[dict[str, Any]], object]


def parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archived(files: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def resigned(
    content: bytes, change: Change = lambda manifest: None, **files: bytes
) -> bytes:  # fmt: skip
    """The file with another module or other weights and a manifest that is right about them."""
    found = parts(content)
    names = {"module": MODULE, "weights": WEIGHTS}
    found.update({names[word]: new for word, new in files.items()})
    manifest = json.loads(found[MANIFEST])
    for name in (MODULE, WEIGHTS):
        digest = hashlib.sha256(found[name]).hexdigest()
        manifest["files"][name] = {"bytes": len(found[name]), "sha256": digest}
    change(manifest)
    return archived({**found, MANIFEST: json.dumps(manifest).encode()})


def header(table: object) -> bytes:
    """Weights that are nothing but a header."""
    text = json.dumps(table).encode()
    return len(text).to_bytes(8, "little") + text


def without(name: str) -> Callable[[bytes], bytes]:
    return lambda content: archived({k: v for k, v in parts(content).items() if k != name})


def with_file(name: str, text: bytes) -> Callable[[bytes], bytes]:
    return lambda content: archived({**parts(content), name: text})


def with_manifest(change: Change) -> Callable[[bytes], bytes]:
    return lambda content: resigned(content, change)


def with_module(text: bytes) -> Callable[[bytes], bytes]:
    return lambda content: resigned(content, module=text)


def with_weights(weights: bytes) -> Callable[[bytes], bytes]:
    return lambda content: resigned(content, weights=weights)


HUGE = {"0": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 4 * 10**18]}}
DEEP = b'{"a":' * 100_000

# How a file is damaged, and what is said of it.
WRONG: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda content: b"", "it is no saved program"),
    "text": (lambda content: b"relaxscript" * 100, "it is no saved program"),
    "an archive of nothing": (lambda content: archived({}), "it is no saved program"),
    "the first half": (lambda content: content[: len(content) // 2], "it is no saved program"),
    "no manifest": (without(MANIFEST), "it is no saved program"),
    "no weights": (without(WEIGHTS), "it is no saved program"),
    "one file more": (with_file("more.py", b""), "it is no saved program"),
    "a path upwards": (with_file("../module.py", b""), "it is no saved program"),
    "a path from the root": (with_file("/module.py", b""), "it is no saved program"),
    "compressed": (
        lambda content: archived(parts(content), zipfile.ZIP_DEFLATED), "is not stored as it is",
    ),
    "a bomb": (
        lambda content: archived(
            {**parts(content), WEIGHTS: bytes(50_000_000)}, zipfile.ZIP_DEFLATED
        ),
        "is not stored as it is",
    ),
    "a manifest of megabytes": (
        with_file(MANIFEST, b" " * 5_000_000), "manifest.json is longer than 4194304 bytes",
    ),
    "a module of megabytes": (
        with_file(MODULE, b"\n" * 17_000_000), "module.py is longer than 16777216 bytes",
    ),
    "a manifest that is no JSON": (with_file(MANIFEST, b"\xff"), "manifest.json is not JSON"),
    "a manifest that nests": (with_file(MANIFEST, DEEP), "manifest.json is not JSON"),
    "a manifest that is a list": (with_file(MANIFEST, b"[]"), "it is no saved program"),
    "another format": (with_manifest(lambda m: m.update(format="other")), "no saved program"),
    "no version": (with_manifest(lambda m: m.pop("version")), "manifest.json has no version"),
    "version 0": (with_manifest(lambda m: m.update(version=0)), "manifest.json has no version"),
    "version true": (with_manifest(lambda m: m.update(version=True)), "has no version"),
    "a wrong length": (
        with_manifest(lambda m: m["files"][MODULE].update(bytes=10**9)),
        "module.py is not what manifest.json says",
    ),
    "a wrong hash": (
        with_manifest(lambda m: m["files"][WEIGHTS].update(sha256="0" * 64)),
        "weights.safetensors is not what manifest.json says",
    ),
    "no list of files": (with_manifest(lambda m: m.update(files=3)), "is not what"),
    "no target": (with_manifest(lambda m: m.pop("target")), "manifest.json has no target"),
    "a target of lists": (
        with_manifest(lambda m: m["target"].update(keys=[])), "manifest.json has no target",
    ),
    "no weights in the manifest": (
        with_manifest(lambda m: m.update(weights=[])), "their number is not that of the manifest",
    ),
    "huge weights in the manifest": (
        with_manifest(lambda m: m["weights"][0].update(shape=[10**9, 10**9])),
        "they are not what the manifest says",
    ),
    "a negative size": (
        with_manifest(lambda m: m["weights"][0].update(shape=[-4, -32])),
        "a shape is a list of sizes",
    ),
    "an unknown dtype": (
        with_manifest(lambda m: m["weights"][0].update(dtype="flaot32")),
        "the weights cannot be read",
    ),
    "a type without an array": (
        with_manifest(lambda m: m["weights"][0].update(dtype="handle")),
        "the weights cannot be read",
    ),
    "weights that are nothing": (with_weights(b""), "the weights cannot be read"),
    "weights with a huge header": (with_weights(b"\xff" * 16), "the weights cannot be read"),
    "weights with huge counts": (with_weights(header(HUGE)), "the weights cannot be read"),
    "weights that nest": (
        with_weights(len(DEEP).to_bytes(8, "little") + DEEP), "the weights cannot be read",
    ),
    "weights of another name": (
        with_weights(header({"1": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}})),
        "the weights cannot be read",
    ),
    "a module that is no text": (with_module(b"\xff\xfe"), "module.py is not text"),
    "a function instead of a module": (
        with_module(b"@R.function\ndef main(x: R.Object):\n    return x\n"),
        "module.py holds no module",
    ),
}  # fmt: skip
