"""Ctrl-C while the main thread waits in the library.

Python can raise KeyboardInterrupt only after the call returns. So a thread of this module interrupts the kernels of the
context, the wait returns, and then Python raises KeyboardInterrupt.

The thread learns of the signal from a pipe: Python writes the number of each signal to it (signal.set_wakeup_fd). A
ptxiWatch of the library makes sure that a wait is interrupted only if it began before the signal.
"""
import contextlib
import ctypes
import os
import select
import signal
import threading
import time
from typing import Any, Callable, Optional

from ._header import header
from ._library import library
from ._result import Result

_ARMED = 0.005  # seconds in which a program is not expected to replace Python's wakeup descriptor and to remove its own
_POLL = 0.0001  # seconds between two attempts to begin a wait
_NOT_READY = int(Result.ERROR_NOT_READY)
_TIMEOUT = int(Result.ERROR_LAUNCH_TIMEOUT)


class _Watch:
    """The pipe, the thread that reads it, and the context that the main thread waits for."""

    def __init__(self) -> None:
        self.raised = False  # whether the main thread must raise KeyboardInterrupt when its wait returns
        self._from, self._to = os.pipe()
        os.set_blocking(self._from, False)
        os.set_blocking(self._to, False)
        self.armed = -_ARMED  # when the pipe was the wakeup descriptor
        self._interrupted = 0  # the number of the wait that was interrupted last
        self._wait = header.structs['ptxiWatch'](fd=self._from)
        self.reference = ctypes.byref(self._wait)
        threading.Thread(target=self._run, name='ptxi-interrupt', daemon=True).start()

    def _run(self) -> None:
        """Body of the thread: on Ctrl-C, interrupt the kernels for which the main thread waits."""
        coming, number = select.poll(), ctypes.c_ulonglong()
        coming.register(self._from, select.POLLIN)
        while coming.poll():
            library().WatchGetWait(self.reference, ctypes.byref(number))
            if self._pressed():
                self._interrupted = number.value
                library().WatchInterrupt(self.reference, number)

    def _pressed(self) -> bool:
        """Read the pipe. Return whether there was a Ctrl-C that Python handles by KeyboardInterrupt."""
        signals = os.read(self._from, 4096)
        return signal.SIGINT in signals and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def must_raise(self, result: int) -> bool:
        """Return whether the wait that has returned `result` must raise KeyboardInterrupt because Python has not.

        Python has raised it in a callback. Either the callback has kept it, or Python has discarded it because it was
        raised before the first statement of the callback.
        """
        raised = self.raised or (result == _TIMEOUT and self._interrupted == self._wait.number)
        self.raised = False
        return raised

    @property
    def context(self) -> Optional[int]:
        """The context for which the main thread waits."""
        context: Optional[int] = self._wait.ctx
        return context

    def begin(self, context: ctypes.c_void_p) -> None:
        """Begin a wait, after the thread has read the signals before it."""
        while library().WatchBegin(self.reference, context) == _NOT_READY:
            time.sleep(_POLL)

    def end(self, outer: Optional[int]) -> None:
        """End a wait. `outer` is the context before it: that of a wait that a signal handler has interrupted."""
        library().WatchEnd(self.reference, outer)

    def launch_after_signals(self, function: Callable[..., int], launch_: Any) -> int:
        """Call ptxiLaunchWatched when the thread has read the signals before it."""
        result = _NOT_READY
        while result == _NOT_READY:
            time.sleep(_POLL)
            result = function(launch_, self.reference)
        return result

    def arm(self, now: float) -> None:
        """Make the pipe Python's wakeup descriptor, unless the program has its own one, such as an event loop.

        It stays the descriptor after the wait: to set it and to reset it each time would cost more than a short kernel.
        """
        before = _set_wakeup(self._to, warn_on_full_buffer=False)
        if before in (-1, self._to):
            self.armed = now
        else:
            _set_wakeup(before)

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


def _current() -> Optional[_Watch]:
    """Return the watch if this is the main thread, after arming it, or None."""
    watch_ = _watch
    if watch_ is None or _get_ident() != _main:
        return None
    now = _monotonic()
    if now - watch_.armed > _ARMED:
        watch_.arm(now)
    return watch_


def wait(context: ctypes.c_void_p, function: Callable[..., int], *arguments: Any) -> int:
    """Call a function of the library that may wait for kernels of the context. Return its result.

    Raises KeyboardInterrupt if Ctrl-C interrupted the kernels.
    """
    watch_ = _current()
    if watch_ is None:
        return function(*arguments)
    outer = watch_.context
    try:
        try:
            watch_.begin(context)
            result = function(*arguments)
        finally:
            watch_.end(outer)
    except KeyboardInterrupt:
        watch_.raised = False
        raise
    if watch_.must_raise(result):
        raise KeyboardInterrupt
    return result


def launch(function: Callable[..., int], launch_: Any) -> int:
    """Call ptxiLaunchWatched with a reference to its structure. Return its result, as `wait` does."""
    watch_ = _current()
    if watch_ is None:
        return function(launch_, None)
    try:
        result = function(launch_, watch_.reference)
        if result == _NOT_READY:
            result = watch_.launch_after_signals(function, launch_)
    except KeyboardInterrupt:
        watch_.raised = False
        raise
    if watch_.must_raise(result):
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
