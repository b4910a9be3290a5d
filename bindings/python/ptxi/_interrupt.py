"""Ctrl-C while the main thread waits inside of the library, where Python cannot raise KeyboardInterrupt: the kernels that run are
ended, the wait returns, and it is raised.

Of a signal Python tells by a byte in a pipe, too (signal.set_wakeup_fd). A thread waits for one."""
import ctypes
import os
import select
import signal
import threading
from typing import Any, Callable, Optional

from ._library import library


class _Watch:
    """The pipe, the thread, and the context whose kernels the main thread waits for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._context: Optional[ctypes.c_void_p] = None
        self._from, self._to = os.pipe()
        os.set_blocking(self._to, False)
        self._coming = self._poll()
        threading.Thread(target=self._run, name='ptxi-interrupt', daemon=True).start()

    def _poll(self) -> Any:
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        return poll

    def _run(self) -> None:
        coming = self._poll()
        while coming.poll():
            with self._lock:
                if self._pressed() and self._context:
                    library().CtxInterrupt(self._context)

    def _pressed(self) -> bool:
        """Whether there was a Ctrl-C. Under the lock, so that it is not taken for one of the next wait."""
        signals = os.read(self._from, 4096) if self._coming.poll(0) else b''
        return signal.SIGINT in signals and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def wait(self, context: ctypes.c_void_p, function: Callable[..., int], arguments: Any) -> int:
        before = signal.set_wakeup_fd(self._to, warn_on_full_buffer=False)
        try:
            if before == -1:
                self._context = context
            else:  # an event loop wants to know of signals
                signal.set_wakeup_fd(before)
            return function(*arguments)
        finally:
            signal.set_wakeup_fd(before)
            with self._lock:
                self._context = None
                self._pressed()


_watch: Optional[_Watch] = None
_main = threading.main_thread().ident


def watch() -> None:
    """Begin to be ready for Ctrl-C."""
    global _watch
    if _watch is None and threading.get_ident() == _main:
        _watch = _Watch()


def wait(context: ctypes.c_void_p, function: Callable[..., int], *arguments: Any) -> int:
    """Call a function of the library that may wait for kernels of the context; its result."""
    if _watch is None or threading.get_ident() != _main:
        return function(*arguments)
    return _watch.wait(context, function, arguments)
