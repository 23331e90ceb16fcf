"""An editor as far as a language server sees one: JSON-RPC over the streams of a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from relaxscript_tests.architecture import ROOT

__all__ = ["Editor"]

# A server that says nothing for so long is ended, and the test fails.
SECONDS = 120
SERVER = (sys.executable, "-W", "error", "-m", "relaxscript", "lsp", "--stdio")


class Editor:
    """A process of `relaxscript lsp`, or of another server, and what it has said.

    Requests wait for their answers.
    """

    def __init__(self, folder, command: Sequence[str] = SERVER, **capabilities: Any) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip
        self.told: list[dict[str, Any]] = []
        self.errors: list[bytes] = []
        self.number = 0
        self.watch = threading.Timer(SECONDS, self.process.kill)
        self.watch.start()
        self.reader = threading.Thread(target=self._read_errors)
        self.reader.start()
        self.capabilities = self.ask("initialize", {
            "processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities,
        })["capabilities"]  # fmt: skip
        self.tell("initialized", {})

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None and self.process.stdin and not self.process.stdin.closed:
            self.ask("shutdown", None)
            self.tell("exit", None)
        self.process.wait()
        self.watch.cancel()
        self.reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def _read_errors(self) -> None:
        self.errors.extend(self.process.stderr)

    # ---- messages

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request."""
        return self.answer(self.begin(method, params))

    def begin(self, method: str, params: Any) -> int:
        """Send a request; its number."""
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        return self.number

    def answer(self, number: int) -> Any:
        """The result of a request that was sent."""
        reply = self.reply(number)
        assert "error" not in reply, reply
        return reply["result"]

    def reply(self, number: int) -> dict[str, Any]:
        """What was said to a request that was sent, a result or an error."""
        while True:
            for index, message in enumerate(self.told):
                if message.get("id") == number and "method" not in message:
                    return self.told.pop(index)
            self.told.append(self._receive())

    def notification(self, method: str, **wanted: Any) -> Any:
        """The parameters of a notification, waited for; those that it has to have are `wanted`."""
        while True:
            for index, message in enumerate(self.told):
                params = message.get("params") or {}
                if message.get("method") == method and wanted.items() <= params.items():
                    del self.told[index]
                    return params
            self.told.append(self._receive())

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            assert line, b"".join(self.errors).decode()
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if "method" in message and "id" in message:  # a question to the editor
            self._send({"id": message["id"], "result": None})
        return message

    # ---- documents

    def open(self, uri: str, text: str, language: str = "python") -> list[dict[str, Any]]:
        """Open a document; its diagnostics."""
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return self.diagnostics(uri, 1)

    def change(self, uri: str, version: int, *changes: tuple[Any, str]) -> None:
        """Replace ranges, each given as (line, character, line, character), one after the other."""
        edits = [{"range": range_of(*place), "text": text} for place, text in changes]
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": edits})

    def diagnostics(self, uri: str, version: int) -> list[dict[str, Any]]:
        """The diagnostics of a version of a document."""
        found = self.notification("textDocument/publishDiagnostics", uri=uri, version=version)
        return found["diagnostics"]  # type: ignore[no-any-return]

    def ask_at(self, what: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """The answer to a question about a position."""
        place = {"line": line, "character": character}
        params = {"textDocument": {"uri": uri}, "position": place, **more}
        return self.ask(f"textDocument/{what}", params)


def range_of(line: int, character: int, end_line: int, end: int) -> dict[str, Any]:
    """A range as the protocol has it."""
    return {
        "start": {"line": line, "character": character},
        "end": {"line": end_line, "character": end},
    }
