"""Ctrl-C while the main thread waits in the library.

Python can raise KeyboardInterrupt only after the call returns. So a thread of this module interrupts the kernels of the
context, the wait returns, and then KeyboardInterrupt is raised.

The thread learns of the signal from a pipe: Python writes the number of each signal to it (signal.set_wakeup_fd).
"""
import contextlib
import ctypes
import os
import select
import signal
import threading
from typing import Any, Callable, Optional

from ._library import library


class _Watch:
    """The pipe, the thread that reads it, and the context that the main thread waits for."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # reentrant, because a signal handler may also wait
        self._context: Optional[ctypes.c_void_p] = None
        self.raised = False  # whether the main thread must raise KeyboardInterrupt when its wait returns
        self._from, self._to = os.pipe()
        os.set_blocking(self._from, False)
        os.set_blocking(self._to, False)
        self._arrived = select.poll()  # for the main thread
        self._arrived.register(self._from, select.POLLIN)
        threading.Thread(target=self._run, name='ptxi-interrupt', daemon=True).start()

    def _run(self) -> None:
        """Body of the thread: on Ctrl-C, interrupt the kernels for which the main thread waits."""
        coming = select.poll()
        coming.register(self._from, select.POLLIN)
        while coming.poll():
            with self._lock:
                if self._pressed() and self._context:
                    self.raised = True
                    library().CtxInterrupt(self._context)

    def _pressed(self) -> bool:
        """Read the pipe. Return whether there was a Ctrl-C that Python handles by KeyboardInterrupt.

        The caller holds the lock, so that a Ctrl-C of one wait is not attributed to the next one.
        """
        signals = b''
        with contextlib.suppress(BlockingIOError):
            signals = os.read(self._from, 4096)
        return signal.SIGINT in signals and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def wait(self, context: ctypes.c_void_p, function: Callable[..., int], arguments: Any) -> int:
        """Call the function with the pipe as Python's wakeup descriptor. Return its result."""
        outer = self._context  # context of an outer wait, if this call is made by a signal handler that interrupted it
        before = signal.set_wakeup_fd(self._to, warn_on_full_buffer=False)
        try:
            if before in (-1, self._to):  # our pipe is still set if an exception interrupted an earlier wait
                self._context = context
            else:  # an event loop has its own wakeup descriptor: leave it in place
                signal.set_wakeup_fd(before)
            return function(*arguments)
        finally:
            signal.set_wakeup_fd(-1 if before == self._to and outer is None else before)
            with self._lock:
                self._context = outer
                if self._arrived.poll(0):  # costs less than to read an empty pipe
                    self._pressed()


_watch: Optional[_Watch] = None
_main = threading.main_thread().ident


def watch() -> None:
    """Create the pipe and the thread. Has an effect only once, and only in the main thread."""
    global _watch
    if _watch is None and threading.get_ident() == _main:
        _watch = _Watch()


def wait(context: ctypes.c_void_p, function: Callable[..., int], *arguments: Any) -> int:
    """Call a function of the library that may wait for kernels of the context. Return its result.

    Raises KeyboardInterrupt if Ctrl-C interrupted the kernels.
    """
    if _watch is None or threading.get_ident() != _main:
        return function(*arguments)
    try:
        result = _watch.wait(context, function, arguments)
    except KeyboardInterrupt:
        _watch.raised = False
        raise
    if _watch.raised:
        _watch.raised = False
        raise KeyboardInterrupt
    return result


def keep() -> None:
    """Keep a KeyboardInterrupt that Python would discard, in a callback from the library or in a finalizer.

    It is raised again when the main thread's next wait returns.
    """
    if _watch is not None and threading.get_ident() == _main:
        _watch.raised = True
