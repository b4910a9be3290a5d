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
import time
from typing import Any, Callable, Optional

from ._library import library


_ARMED = 0.005  # seconds in which a program is not expected to replace Python's wakeup descriptor and to remove its own


class _Watch:
    """The pipe, the thread that reads it, and the context that the main thread waits for."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # reentrant, because a signal handler may also wait
        self.context: Optional[ctypes.c_void_p] = None
        self.raised = False  # whether the main thread must raise KeyboardInterrupt when its wait returns
        self._from, self._to = os.pipe()
        os.set_blocking(self._from, False)
        os.set_blocking(self._to, False)
        self._armed = -_ARMED  # when the pipe was the wakeup descriptor
        self._arrived = select.poll()  # for the main thread
        self._arrived.register(self._from, select.POLLIN)
        threading.Thread(target=self._run, name='ptxi-interrupt', daemon=True).start()

    def _run(self) -> None:
        """Body of the thread: on Ctrl-C, interrupt the kernels for which the main thread waits."""
        coming = select.poll()
        coming.register(self._from, select.POLLIN)
        while coming.poll():
            with self._lock:
                if self._pressed() and self.context:
                    self.raised = True
                    library().CtxInterrupt(self.context)

    def _pressed(self) -> bool:
        """Read the pipe. Return whether there was a Ctrl-C that Python handles by KeyboardInterrupt.

        The caller holds the lock, so that a Ctrl-C before a wait is not attributed to it.
        """
        signals = b''
        with contextlib.suppress(BlockingIOError):
            signals = os.read(self._from, 4096)
        return signal.SIGINT in signals and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def begin(self, context: ctypes.c_void_p) -> None:
        """Begin a wait."""
        now = _monotonic()
        if now - self._armed > _ARMED:
            self._arm(now)
        with self._lock:
            if self._may_be_pressed():
                self._pressed()
            self.context = context

    def _may_be_pressed(self) -> bool:
        """Return whether there may be a signal before this wait. This costs less than to read an empty pipe."""
        try:
            return bool(self._arrived.poll(0))
        except RuntimeError:  # the caller is a signal handler that has interrupted the poll of this thread
            return True

    def _arm(self, now: float) -> None:
        """Make the pipe Python's wakeup descriptor, unless the program has its own one, such as an event loop.

        It stays the descriptor after the wait: to set it and to reset it each time would cost more than a short kernel.
        """
        before = _set_wakeup(self._to, warn_on_full_buffer=False)
        if before in (-1, self._to):
            self._armed = now
        else:
            _set_wakeup(before)

    def end(self, outer: Optional[ctypes.c_void_p]) -> None:
        """End a wait. `outer` was the context before it."""
        with self._lock:
            self.context = outer

    def forget(self) -> None:
        """Detach a forked child from the pipe, which belongs to the parent process."""
        with contextlib.suppress(ValueError):  # the child was forked by another thread than the main thread
            before = _set_wakeup(-1)
            if before not in (-1, self._to):
                _set_wakeup(before)


_watch: Optional[_Watch] = None
_main = threading.main_thread().ident
_set_wakeup = signal.set_wakeup_fd
_monotonic = time.monotonic
_get_ident = threading.get_ident


def watch() -> None:
    """Create the pipe and the thread. Has an effect only once, and only in the main thread."""
    global _watch
    if _watch is None and threading.get_ident() == _main:
        _watch = _Watch()


def wait(context: ctypes.c_void_p, function: Callable[..., int], *arguments: Any) -> int:
    """Call a function of the library that may wait for kernels of the context. Return its result.

    Raises KeyboardInterrupt if Ctrl-C interrupted the kernels.
    """
    watch_ = _watch
    if watch_ is None or _get_ident() != _main:
        return function(*arguments)
    outer = watch_.context  # of an outer wait, if this call is made by a signal handler that interrupted it
    try:
        try:
            watch_.begin(context)
            result = function(*arguments)
        finally:
            watch_.end(outer)
    except KeyboardInterrupt:
        watch_.raised = False
        raise
    if watch_.raised:
        watch_.raised = False
        raise KeyboardInterrupt
    return result


def keep() -> None:
    """Keep a KeyboardInterrupt that Python would discard, in a callback from the library or in a finalizer.

    It is raised again when the main thread's next wait returns.
    """
    if _watch is not None and threading.get_ident() == _main:
        _watch.raised = True


def _after_fork() -> None:
    """Detach the child, so that it does not receive the signals of the parent."""
    global _watch
    if _watch is not None:
        _watch.forget()
        _watch = None


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)
