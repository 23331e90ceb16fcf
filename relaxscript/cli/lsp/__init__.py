"""`relaxscript lsp`: a language server, which tells editors what a script means as it is typed.

It needs pygls, the extra `lsp`. A file is read in data mode: to open it never runs it.

    start.py           the command
    server.py          what an editor asks, and the answers
    open_documents.py  read again after a change, away from the loop
    quiet_collector.py garbage goes when nobody waits
    documents.py       texts and places as editors count them
    notebooks.py       cells, read as one text
    broken_text.py     what is read of a text that is no Python just now
    analysis.py        what is known of one text
    kept.py            mistakes of the text before that a new one has as well
    lookup.py          what stands at a place
    words.py           what is said of it
    answers.py         on a broken text, what was known before
    shift.py           which lines of two texts are the same
    mistakes.py        diagnostics and fixes
    hints.py           what bindings are
    definitions.py     where names are defined
    typing_context.py  what is being typed
    completion.py      what may be typed
    symbols.py         the outline
"""

from __future__ import annotations

__all__: list[str] = []
