"""Streams and events: work that runs beside other work."""
import ctypes
import threading
from typing import Any, Callable, List, Optional

from ._header import header
from ._library import call, library
from .device import Device, given


class Stream:
    """A queue whose work runs in order. A launch into a stream returns at once; `synchronize()` waits for it.

    The arrays of such a launch stay open for its kernel, and alive, until the stream is synchronised."""

    def __init__(self, device: Optional[Device] = None, priority: int = 0, blocking: bool = True) -> None:
        self.device = given(device)
        self._pending: List[Callable[[], None]] = []
        self._lock = threading.Lock()
        self.device.activate()
        self.handle = ctypes.c_void_p()
        flags = header.constants['PTXI_STREAM_DEFAULT' if blocking else 'PTXI_STREAM_NON_BLOCKING']
        call('StreamCreateWithPriority', ctypes.byref(self.handle), flags, priority)

    def __enter__(self) -> 'Stream':
        return self

    def __exit__(self, *exc: Any) -> None:
        __tracebackhide__ = True
        try:
            self.synchronize()
        finally:
            self.close()

    def __del__(self) -> None:
        if getattr(self, 'handle', None) and self.device._context:
            self.close()

    def hold(self, release: Callable[[], None]) -> None:
        """Call a function once the work queued so far has been waited for."""
        with self._lock:
            self._pending.append(release)

    def _settle(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, []
        for release in pending:
            release()

    def synchronize(self) -> None:
        """Wait until the stream's work has ended; the first failure among it is raised, once."""
        __tracebackhide__ = True
        try:
            self.device.wait('StreamSynchronize', self.handle)
        finally:
            self._settle()

    def done(self) -> bool:
        """Whether all work queued so far has ended; a failure among it is raised."""
        __tracebackhide__ = True
        return _done(self.device, 'StreamQuery', self.handle)

    def wait_event(self, event: 'Event') -> None:
        """Work queued from now on waits for the event."""
        self.device.activate()
        call('StreamWaitEvent', self.handle, event.handle, 0)

    def close(self) -> None:
        """Destroy the stream; work in it still runs, and the device's `synchronize()` tells of its failures."""
        handle, self.handle = self.handle, ctypes.c_void_p()
        self.device.orphans.append(self._settle)
        if handle:
            self.device.activate()
            call('StreamDestroy', handle)


class Event:
    """A mark in a stream."""

    def __init__(self, device: Optional[Device] = None) -> None:
        self.device = given(device)
        self.device.activate()
        self.handle = ctypes.c_void_p()
        call('EventCreate', ctypes.byref(self.handle), header.constants['PTXI_EVENT_DEFAULT'])

    def __del__(self) -> None:
        if getattr(self, 'handle', None) and self.device._context:
            self.device.activate()
            library().EventDestroy(self.handle)

    def record(self, stream: Optional[Stream] = None) -> 'Event':
        """Mark the place after all work queued in the stream so far; without one, in the default stream."""
        self.device.activate()
        call('EventRecord', self.handle, stream.handle if stream else None)
        return self

    def synchronize(self) -> None:
        """Wait for the mark."""
        __tracebackhide__ = True
        self.device.wait('EventSynchronize', self.handle)

    def done(self) -> bool:
        """Whether the mark is reached."""
        __tracebackhide__ = True
        return _done(self.device, 'EventQuery', self.handle)

    def elapsed(self, start: 'Event') -> float:
        """Milliseconds of wall-clock time from `start` to this mark."""
        ms = ctypes.c_float()
        self.device.activate()
        call('EventElapsedTime', ctypes.byref(ms), start.handle, self.handle)
        return ms.value


def _done(device: Device, *query: Any) -> bool:
    from .errors import Error, Result
    try:
        device.wait(*query)
    except Error as e:
        if e.result == Result.ERROR_NOT_READY:
            return False
        raise
    return True
