"""Starting the language server."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from importlib.util import find_spec

from relaxscript.errors import Diagnostic, DiagnosticError

__all__ = ["serve"]

# As deep as scripts may nest, whatever a platform gives to threads.
STACK = 64 << 20


def serve() -> int:
    """Answer an editor over standard input and output until it leaves; raises RX0702 without pygls.

    What is printed by accident goes to the standard error.
    """
    forget_current_folder()
    missing = [name for name in ("pygls", "lsprotocol") if find_spec(name) is None]
    if missing:
        message = "`relaxscript lsp` needs pygls, which is not installed"
        help = 'pip install "relaxscript[lsp]"'
        raise DiagnosticError(Diagnostic("RX0702", message, None, help=help))
    from .quiet_collector import take_over
    from .server import make_server

    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(message)s"
    )
    # Editors cancel what has been answered, and tell what nobody asked for: no need for a warning.
    logging.getLogger("pygls").setLevel(logging.ERROR)
    threading.stack_size(STACK)
    # Python would wait for the thread that waits for input, which nothing wakes.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = make_server()
    take_over()
    server.start_io(sys.stdin.buffer, answers)
    return 0


def forget_current_folder() -> None:
    """Import nothing from the folder that an editor has open, as `python -m` would."""
    here = os.path.realpath(os.getcwd())
    sys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != here]
