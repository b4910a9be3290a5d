"""Ctrl-C while the main thread waits inside of the library, where Python cannot raise KeyboardInterrupt: the kernels that run are
ended, the wait returns, and it is raised.

Of a signal Python tells by a byte in a pipe, too (signal.set_wakeup_fd). A thread waits for one."""
import contextlib
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
        self._lock = threading.RLock()  # a signal handler may wait, too
        self._context: Optional[ctypes.c_void_p] = None
        self.raised = False  # to be raised after the wait
        self._from, self._to = os.pipe()
        os.set_blocking(self._from, False)
        os.set_blocking(self._to, False)
        threading.Thread(target=self._run, name='ptxi-interrupt', daemon=True).start()

    def _run(self) -> None:
        coming = select.poll()
        coming.register(self._from, select.POLLIN)
        while coming.poll():
            with self._lock:
                if self._pressed() and self._context:
                    self.raised = True
                    library().CtxInterrupt(self._context)

    def _pressed(self) -> bool:
        """Whether there was a Ctrl-C. Under the lock, so that it is not taken for one of the next wait."""
        signals = b''
        with contextlib.suppress(BlockingIOError):
            signals = os.read(self._from, 4096)
        return signal.SIGINT in signals and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def wait(self, context: ctypes.c_void_p, function: Callable[..., int], arguments: Any) -> int:
        outer = self._context  # of the wait that a signal handler interrupts
        before = signal.set_wakeup_fd(self._to, warn_on_full_buffer=False)
        try:
            if before in (-1, self._to):  # the latter also where an exception came between two steps
                self._context = context
            else:  # an event loop wants to know of signals
                signal.set_wakeup_fd(before)
            return function(*arguments)
        finally:
            signal.set_wakeup_fd(-1 if before == self._to and outer is None else before)
            with self._lock:
                self._context = outer
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
    """A KeyboardInterrupt was raised where it gets lost, in a function that the library calls or in a finalizer: raise it again where
    the main thread's next wait ends."""
    if _watch is not None and threading.get_ident() == _main:
        _watch.raised = True
