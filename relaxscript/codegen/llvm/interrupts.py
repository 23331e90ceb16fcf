"""Ctrl-C, and every other signal that Python handles, in code that loops without a bound.

Python runs the handlers of signals between its own steps, of which code has none. So each `while`
looks at the clock every few rounds. Once a second it calls Python, which runs what is pending; what
a handler raises ends the code with a failure. A round costs about a nanosecond more.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence

from .ir_writer import DETAILS, FunctionWriter

__all__ = ["POLL", "begin_loop", "begin_round", "poll_address"]

# The word of `%details` that holds the function to call, 0 in threads that handle no signals.
POLL = DETAILS - 1
# How many rounds go by from one look at the clock to the next, as the bits that are 0 then.
_ROUNDS = 7

_INTERRUPTED = f"""\
define internal i1 @relaxscript.interrupted(ptr %details, ptr %since) noinline nounwind {{
  %now = call i64 @time(ptr null)
  %before = load i64, ptr %since
  store i64 %now, ptr %since
  %first = icmp eq i64 %before, 0
  %same = icmp eq i64 %now, %before
  %early = or i1 %first, %same
  br i1 %early, label %on, label %later
later:
  %place = getelementptr i64, ptr %details, i64 {POLL}
  %poll = load ptr, ptr %place
  %none = icmp eq ptr %poll, null
  br i1 %none, label %on, label %ask
ask:
  %answer = call i32 %poll()
  %stop = icmp eq i32 %answer, 0
  ret i1 %stop
on:
  ret i1 false
}}"""


def begin_loop(asm: FunctionWriter) -> tuple[str, str]:
    """Room for the number of rounds and the time of the last look, kept while the function runs."""
    asm.sites.declare("time", "declare i64 @time(ptr)")
    asm.sites.declare("relaxscript.interrupted", _INTERRUPTED)
    rounds, since = f"%{asm.name()}", f"%{asm.name()}"
    for slot in (rounds, since):
        asm.entry += [f"{slot} = alloca i64", f"store i64 0, ptr {slot}"]
    return rounds, since


def begin_round(asm: FunctionWriter, rounds: str, since: str) -> None:
    """Count a round of a loop; end the function where a signal wants it to end."""
    count = asm.value("i64", f"load i64, ptr {rounds}")
    asm.do(f"store {asm.value('i64', f'add {count}, 1')}, ptr {rounds}")
    turn = asm.value("i64", f"and {count}, {_ROUNDS}")
    look, ahead = asm.name(), asm.name()
    asm.branch(asm.value("i1", f"icmp eq {turn}, {_ROUNDS}"), look, ahead)
    asm.begin(look)
    stop = asm.value("i1", f"call i1 @relaxscript.interrupted(ptr %details, ptr {since})")
    asm.fail_if(stop, _pending_error)
    asm.jump(ahead)
    asm.begin(ahead)


# What a handler raised. Only the main thread handles signals.
_pending: list[BaseException] = []


def _pending_error(details: Sequence[int]) -> BaseException:
    return _pending.pop() if _pending else KeyboardInterrupt()


def _polls() -> Iterator[int]:
    """1 for each call, 0 where the handler of a signal raised.

    A generator that is resumed is inside its `try` from the first step on. Handlers run at the
    first step of whatever Python runs: in a function that is called, that is before any `try`.
    """
    answer = 1
    while True:
        try:
            yield answer
            answer = 1
        except GeneratorExit:
            return
        except BaseException as error:
            _pending.append(error)
            answer = 0


_poll = ctypes.CFUNCTYPE(ctypes.c_int32)


def poll_address() -> tuple[int, object]:
    """The function that code of this thread calls once a second, and what keeps it alive."""
    if threading.current_thread() is not threading.main_thread():
        return 0, None
    polls = _polls()
    next(polls)  # to the first `yield`, inside the `try`
    function = _poll(polls.__next__)
    return ctypes.cast(function, ctypes.c_void_p).value or 0, function
