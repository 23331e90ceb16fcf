"""The language server: what an editor asks, and what it is answered.

Requests wait for the newest text to be read, which another thread does; completion, which is asked
for while a text is being typed, answers with what was known before. An error of ours ends in the
log, and the server goes on.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from relaxscript.errors import Diagnostic
from relaxscript.version import __version__

from .answers import definition_at, hints_of, hover_of, symbols_of
from .completion import completions, documented, open_call_at
from .documents import Document
from .mistakes import Fix, as_lsp, fixed_text, fixes_in, replacing_edit
from .notebooks import Cell, Notebook
from .open_documents import OpenDocument, OpenDocuments

__all__ = ["make_server"]

LOG = logging.getLogger(__name__)
P = TypeVar("P")
R = TypeVar("R")

FIX_ALL = "source.fixAll.relaxscript"
# Cells of a notebook mean something together only: they come as a notebook, or are left alone.
NOT_FILES = ("vscode-notebook-cell:",)
# What a file was before, as a comparison shows it: its mistakes are no problems of today.
FORMER = ("git:", "gitlens:", "fugitive:")


def make_server() -> LanguageServer:
    """A server that has not been started."""
    cells = types.NotebookDocumentFilterWithCells([types.NotebookCellLanguage("python")])
    notebooks = types.NotebookDocumentSyncOptions([cells])
    server = LanguageServer("relaxscript", __version__, notebook_document_sync=notebooks)
    Handlers(server).register()
    return server


class LogForEditor(logging.Handler):
    """Shows what we log in the editor's log as well."""

    def __init__(self, server: LanguageServer, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(logging.WARNING)
        self.server, self.loop = server, loop

    def emit(self, record: logging.LogRecord) -> None:
        said = self.format(record)
        message = types.LogMessageParams(types.MessageType.Error, said)
        self.loop.call_soon_threadsafe(self.server.window_log_message, message)


def steady(handler: Callable[[Any, P], None]) -> Callable[[Any, P], None]:
    """A handler of what is told, which logs why it fails."""

    @functools.wraps(handler)
    def safe(self: Any, params: P) -> None:
        try:
            handler(self, params)
        except Exception as error:
            LOG.exception("InternalError: %s: %s", handler.__name__, error)

    return safe


def guarded(handler: Callable[[Any, P], Awaitable[R]]) -> Callable[[Any, P], Awaitable[R | None]]:
    """A handler that answers nothing where it fails, and logs why."""

    @functools.wraps(handler)
    async def safe(self: Any, params: P) -> R | None:
        try:
            return await handler(self, params)
        except Exception as error:
            LOG.exception("InternalError: %s: %s", handler.__name__, error)
            return None

    return safe


class Handlers:
    """The answers to what an editor asks or tells."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.documents = OpenDocuments(self.publish)
        # The version and the mistakes that the editor has last been told of, for each document.
        self.told: dict[str, tuple[int, list[types.Diagnostic]]] = {}

    def register(self) -> None:
        """Enter all of them into the server."""
        actions = types.CodeActionOptions(
            [types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True
        )
        completing = types.CompletionOptions(trigger_characters=[".", '"'], resolve_provider=True)
        calling = types.SignatureHelpOptions(trigger_characters=["(", ","])
        table: list[tuple[str, Any, Any]] = [
            (types.INITIALIZED, self.initialized, None),
            (types.SHUTDOWN, self.shut_down, None),
            (types.TEXT_DOCUMENT_DID_OPEN, self.opened, None),
            (types.TEXT_DOCUMENT_DID_CHANGE, self.changed, None),
            (types.TEXT_DOCUMENT_DID_CLOSE, self.closed, None),
            (types.NOTEBOOK_DOCUMENT_DID_OPEN, self.notebook_opened, None),
            (types.NOTEBOOK_DOCUMENT_DID_CHANGE, self.notebook_changed, None),
            (types.NOTEBOOK_DOCUMENT_DID_CLOSE, self.notebook_closed, None),
            (types.TEXT_DOCUMENT_HOVER, self.hover, None),
            (types.TEXT_DOCUMENT_INLAY_HINT, self.inlay_hints, None),
            (types.TEXT_DOCUMENT_DEFINITION, self.definition, None),
            (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, self.document_symbols, None),
            (types.TEXT_DOCUMENT_CODE_ACTION, self.code_actions, actions),
            (types.CODE_ACTION_RESOLVE, self.resolve_action, None),
            (types.TEXT_DOCUMENT_COMPLETION, self.completion, completing),
            (types.COMPLETION_ITEM_RESOLVE, self.resolve_item, None),
            (types.TEXT_DOCUMENT_SIGNATURE_HELP, self.signature_help, calling),
        ]
        for method, handler, options in table:
            # pygls wants to mark what it is given, which a bound method does not allow.
            self.server.feature(method, options)(functools.partial(handler))

    def publish(self, session: OpenDocument) -> None:
        """Tell the editor of the mistakes in the newest text."""
        known = session.latest
        if known is None:
            return
        remark = types.DiagnosticSeverity.Information
        found: list[tuple[Diagnostic, types.DiagnosticSeverity | None]] = [
            *((each, None) for each in known.diagnostics),
            *((each, remark) for each in known.remarks),
        ]
        for document in session.document.views():
            shown = [as_lsp(document, each, severity) for each, severity in found
                     if each.span is None or document.holds(each.span)]  # fmt: skip
            if document.uri.startswith(FORMER):
                shown = []
            if self.told.get(document.uri) == (document.version, shown):
                continue
            self.told[document.uri] = (document.version, shown)
            self.server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, shown, document.version)
            )

    def publish_none(self, uri: str) -> None:
        """Take back what the editor was told of a document."""
        self.told.pop(uri, None)
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    # ---- what it is told

    def initialized(self, params: types.InitializedParams) -> None:
        """Begin to log where the editor shows it."""
        handler = LogForEditor(self.server, asyncio.get_running_loop())
        logging.getLogger("relaxscript").addHandler(handler)

    def shut_down(self, params: None) -> None:
        """End the reading of all documents."""
        self.documents.shut_down()

    @steady
    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """Read a document that was opened."""
        item = params.text_document
        if not is_python(item) or item.uri.startswith(NOT_FILES):
            return
        self.told.pop(item.uri, None)
        self.documents.open(self.document(item, item.uri))

    def document(self, item: types.TextDocumentItem, file: str) -> Document:
        """A document as it is opened; a cell is in a file of another name."""
        agreed = self.server.workspace.position_encoding or "utf-16"
        encoding: Any = getattr(agreed, "value", agreed)
        text = item.text if is_python(item) else ""
        return Document(item.uri, to_fs_path(file) or file, text, item.version, encoding)

    @steady
    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Follow what is typed."""
        session = self.documents.by_uri.get(params.text_document.uri)
        if session is not None:
            session.document.change(params.content_changes, params.text_document.version)
            self.documents.changed(params.text_document.uri)

    @steady
    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document, and its mistakes in the editor."""
        uri = params.text_document.uri
        if uri in self.documents.by_uri:
            self.documents.close(uri)
            self.publish_none(uri)

    @steady
    def notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Read the cells of a notebook that was opened."""
        uri = params.notebook_document.uri
        items = {item.uri: item for item in params.cell_text_documents}
        order = [cell.document for cell in params.notebook_document.cells]
        cells = [self.document(items[name], uri) for name in order if name in items]
        encoding = cells[0].encoding if cells else "utf-16"
        notebook = Notebook(uri, to_fs_path(uri) or uri, "", 0, encoding, cells=cells)
        notebook.join()
        self.documents.open(notebook)

    @steady
    def notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Follow what is typed in cells, and cells that come and go."""
        session = self.documents.by_uri.get(params.notebook_document.uri)
        changes = params.change.cells
        if session is None or changes is None or not isinstance(session.document, Notebook):
            return
        notebook = session.document
        if changes.structure is not None:
            self.move_cells(notebook, changes.structure)
        known = {cell.uri: cell for cell in notebook.cells}
        for each in changes.text_content or ():
            cell = known.get(each.document.uri)
            if cell is not None:
                cell.change(each.changes, each.document.version)
        notebook.join()
        self.documents.name(session)
        self.documents.changed(notebook.uri)

    def move_cells(
        self, notebook: Notebook, change: types.NotebookDocumentCellChangeStructure
    ) -> None:
        """Put cells into a notebook, and take others out."""
        known = {cell.uri: cell for cell in notebook.cells}
        known.update((i.uri, self.document(i, notebook.uri)) for i in change.did_open or ())
        start, end = change.array.start, change.array.start + change.array.delete_count
        new = [cell.document for cell in change.array.cells or ()]
        notebook.cells[start:end] = [known[uri] for uri in new if uri in known]
        for item in change.did_close or ():
            self.publish_none(item.uri)

    @steady
    def notebook_closed(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Forget a notebook, and the mistakes in its cells."""
        self.documents.close(params.notebook_document.uri)
        for item in params.cell_text_documents:
            self.publish_none(item.uri)

    # ---- what it is asked

    @guarded
    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Say what an expression is, and give the page of an operator."""
        uri, position = params.text_document.uri, params.position
        found = await self.documents.answer(uri, lambda known: hover_of(known, position))
        asked = self.server.client_capabilities.text_document
        hover = None if asked is None else asked.hover
        if found is not None and hover is not None:
            found.contents = in_a_kind(found.contents, hover.content_format)
        return found

    @guarded
    async def inlay_hints(self, params: types.InlayHintParams) -> list[types.InlayHint] | None:
        """Say what bindings without an annotation are."""
        uri, asked = params.text_document.uri, params.range
        return await self.documents.answer(uri, lambda known: hints_of(known, asked))

    @guarded
    async def definition(self, params: types.DefinitionParams) -> types.Location | None:
        """Give the place where a name is defined."""
        uri, position = params.text_document.uri, params.position
        return await self.documents.answer(uri, lambda known: definition_at(known, position))

    @guarded
    async def document_symbols(
        self, params: types.DocumentSymbolParams
    ) -> list[types.DocumentSymbol] | None:
        """The outline."""
        uri = params.text_document.uri
        return await self.documents.answer(uri, symbols_of)

    @guarded
    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """The fixes of the mistakes in a range, and that of all mistakes."""
        uri, only = params.text_document.uri, params.context.only
        session = await self.documents.newest(uri)
        known = None if session is None else session.snapshot(uri)
        if known is None or known.latest is None:
            return None
        found: list[types.CodeAction] = []
        if wants(only, types.CodeActionKind.QuickFix.value):
            found += [self.fixing(known.document, fix)
                      for fix in fixes_in(known.document, known.latest, params.range)]  # fmt: skip
        is_cell = isinstance(known.document, Cell)  # a cell is not fixed without the others
        if wants(only, FIX_ALL) and not is_cell and any(d.fix for d in known.latest.diagnostics):
            title = "Fix all that relaxscript can fix"
            action = types.CodeAction(title, FIX_ALL, data={"uri": uri})
            found.append(action if self.resolves_edits else await self.with_all_fixes(action))
        return found

    def fixing(self, document: Document, fix: Fix) -> types.CodeAction:
        """The action that applies one fix."""
        edit = self.edit_of(document, fix.edits)
        kind = types.CodeActionKind.QuickFix
        return types.CodeAction(fix.title, kind, [fix.diagnostic], is_preferred=True, edit=edit)

    @guarded
    async def resolve_action(self, params: types.CodeAction) -> types.CodeAction:
        """The edits of all fixes, which are worked out when they are wanted."""
        return await self.with_all_fixes(params)

    async def with_all_fixes(self, action: types.CodeAction) -> types.CodeAction:
        """An action that applies all fixes, with its edits."""
        data: Any = action.data
        session = await self.documents.newest(data["uri"])
        if session is not None:
            document = session.document
            source, version = document.source, document.version
            text = await self.documents.in_worker(lambda: fixed_text(source))
            if version == document.version:
                action.edit = self.edit_of(document, replacing_edit(document, text))
        return action

    @guarded
    async def completion(self, params: types.CompletionParams) -> types.CompletionList | None:
        """Offer names that may be typed here."""
        session = await self.known(params.text_document.uri)
        if session is None or session.latest is None:
            return None
        document = session.document
        place = document.place(params.position)
        return types.CompletionList(False, completions(session.latest, document.context, place))

    @guarded
    async def resolve_item(self, item: types.CompletionItem) -> types.CompletionItem:
        """A name that may be typed, with its page."""
        data: Any = item.data or {}
        page = documented(str(data.get("name", "")))
        asked = self.server.client_capabilities.text_document
        items = None if asked is None or asked.completion is None else asked.completion
        options = None if items is None else items.completion_item
        if page is not None:
            text = types.MarkupContent(types.MarkupKind.Markdown, page)
            kinds = None if options is None else options.documentation_format
            item.documentation = in_a_kind(text, kinds)
        return item

    @guarded
    async def signature_help(self, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        """Give the signature of what is being called."""
        session = await self.known(params.text_document.uri)
        if session is None or session.latest is None:
            return None
        document = session.document
        found = open_call_at(session.latest, document.context, document.place(params.position))
        if found is None:
            return None
        parameters = [types.ParameterInformation(name) for name in found.parameters]
        said = self.said_of_a_call(found.said)
        signature = types.SignatureInformation(found.label, said, parameters, found.active)
        return types.SignatureHelp([signature], 0, found.active)

    def said_of_a_call(self, said: str | None) -> types.MarkupContent | None:
        """The documentation of what is being called, in a kind of text that the editor shows."""
        asked = self.server.client_capabilities.text_document
        help = None if asked is None else asked.signature_help
        options = None if help is None else help.signature_information
        kinds = None if options is None else options.documentation_format
        text = types.MarkupContent(types.MarkupKind.Markdown, said) if said else None
        return None if text is None else in_a_kind(text, kinds)

    async def known(self, uri: str) -> OpenDocument | None:
        """The session of a document, as soon as anything is known of it."""
        session = self.documents.by_uri.get(uri)
        if session is not None and session.latest is None:
            session = await self.documents.newest(uri)
        return None if session is None else session.snapshot(uri)

    # ---- edits

    @property
    def resolves_edits(self) -> bool:
        """True if the editor asks for the edits of an action that it applies."""
        asked = self.server.client_capabilities.text_document
        action = None if asked is None else asked.code_action
        resolving = None if action is None else action.resolve_support
        return resolving is not None and "edit" in resolving.properties

    def edit_of(self, document: Document, edits: list[types.TextEdit]) -> types.WorkspaceEdit:
        """Edits of the newest text, with its version where the editor compares that."""
        space = self.server.client_capabilities.workspace
        editing = None if space is None else space.workspace_edit
        if editing is None or not editing.document_changes:
            return types.WorkspaceEdit(changes={document.uri: edits})
        named = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        plain: list[Any] = list(edits)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(named, plain)])


def is_python(item: types.TextDocumentItem) -> bool:
    """True for a document in Python; an editor that was told no languages names none."""
    return item.language_id == "python" or (not item.language_id and item.uri.endswith(".py"))


def in_a_kind(text: Any, kinds: Sequence[types.MarkupKind] | None) -> Any:
    """A text in Markdown, without its fences for an editor that shows plain text only."""
    if not kinds or types.MarkupKind.Markdown in kinds:
        return text
    plain = re.sub(r"^```+.*\n?", "", text.value, flags=re.MULTILINE)
    return types.MarkupContent(types.MarkupKind.PlainText, plain)


def wants(only: Any, kind: str) -> bool:
    """True if an editor asks for actions of a kind: for all, for it, or for what it is one of."""
    if only is None:
        return True
    asked = [str(getattr(each, "value", each)) for each in only]
    return any(kind == each or kind.startswith(f"{each}.") for each in asked)
