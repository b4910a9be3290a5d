"""Streams, events and graphs: work that runs beside other work, or again and again."""
import contextlib
import ctypes
import functools
import threading
from typing import Any, Callable, Iterator, List, Optional

from ._header import header
from ._library import call, library, number
from .device import Device, given
from .errors import Error, Result, error

_CaptureMode: Any = header.enums['ptxiStreamCaptureMode']


class Stream:
    """A queue whose work runs in order. A launch into a stream returns at once; `synchronize()` waits for it.

    The arrays of such a launch stay open for its kernel, and alive, until the stream is synchronised."""

    def __init__(self, device: Optional[Device] = None, priority: int = 0, blocking: bool = True) -> None:
        self.device = given(device)
        self._pending: List[Callable[[], None]] = []
        self._lock = threading.Lock()
        self.device.activate()
        self._handle = ctypes.c_void_p()
        flags = header.constants['PTXI_STREAM_DEFAULT' if blocking else 'PTXI_STREAM_NON_BLOCKING']
        call('StreamCreateWithPriority', ctypes.byref(self._handle), flags, number(priority, ctypes.c_int))

    @property
    def handle(self) -> Any:
        """The stream as calls of the library take it."""
        if not self._handle:
            raise ValueError('the stream is closed')
        return self._handle

    def __enter__(self) -> 'Stream':
        return self

    def __exit__(self, *exc: Any) -> None:
        __tracebackhide__ = True
        try:
            if self._handle:
                self.synchronize()
        finally:
            self.close()

    def __del__(self) -> None:
        if getattr(self, '_handle', None) and self.device._context:
            with self.device.entered():
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
        handle = self.handle
        try:
            self.device.wait('StreamSynchronize', handle)
        except KeyboardInterrupt:
            self.device.stop('StreamSynchronize', handle)
            raise
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

    @contextlib.contextmanager
    def capture(self) -> Iterator['Graph']:
        """What is given to the stream inside of the `with` statement does not run, but becomes the graph that is its value:

            with stream.capture() as graph:
                mod.k[grid, block, 0, stream](x, y)
            graph.launch()"""
        __tracebackhide__ = True
        graph, handle = Graph(self.device), ctypes.c_void_p()
        self.device.activate()
        call('StreamBeginCapture', self.handle, _CaptureMode.GLOBAL)
        with self._lock:
            before, self._pending = self._pending, []
        try:
            yield graph
        finally:
            self.device.activate()
            result = library().StreamEndCapture(self.handle, ctypes.byref(handle))
            with self._lock:
                graph._held, self._pending = self._pending, before
            graph._graph = handle
        if result:
            graph._free()
            raise error(result)
        call('GraphInstantiate', ctypes.byref(graph._instance), handle, 0)

    def close(self) -> None:
        """Destroy the stream; work in it still runs, and the device's `synchronize()` tells of its failures."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        self.device.orphans.append(self._settle)
        if handle:
            self.device.activate()
            call('StreamDestroy', handle)


class Graph:
    """Work of a stream that `Stream.capture` has kept: `launch()` runs it as it was given, with the same arrays.

    The arrays stay open for kernels, and alive, until `close()` or the end of this object."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._graph, self._instance = ctypes.c_void_p(), ctypes.c_void_p()
        self._held: List[Callable[[], None]] = []

    def __del__(self) -> None:
        if getattr(self, '_graph', None) or getattr(self, '_held', None):
            self._free()  # no launch is under way, which would hold the graph

    def launch(self, stream: Optional[Stream] = None) -> None:
        """Run it: without a stream until its end, with one the call returns at once."""
        __tracebackhide__ = True
        if not self._instance:
            raise ValueError('the graph has not been captured, or is closed')
        self.device.activate()
        call('GraphLaunch', self._instance, stream.handle if stream else None)
        if stream is None:
            self.device.wait('StreamSynchronize', None)
        else:
            stream.hold(functools.partial(_alive, self))

    def close(self) -> None:
        """Wait for the device's work, and free the graph."""
        __tracebackhide__ = True
        try:
            self.device.synchronize()
        finally:
            self._free()

    def _free(self) -> None:
        graph, self._graph = self._graph, ctypes.c_void_p()
        instance, self._instance = self._instance, ctypes.c_void_p()
        held, self._held = self._held, []
        if self.device._context:
            with self.device.entered():
                for name, handle in ('GraphExecDestroy', instance), ('GraphDestroy', graph):
                    if handle:
                        getattr(library(), name)(handle)
        for release in held:
            release()


class Event:
    """A mark in a stream."""

    def __init__(self, device: Optional[Device] = None) -> None:
        self.device = given(device)
        self.device.activate()
        self.handle = ctypes.c_void_p()
        call('EventCreate', ctypes.byref(self.handle), header.constants['PTXI_EVENT_DEFAULT'])

    def __del__(self) -> None:
        if getattr(self, 'handle', None) and self.device._context:
            with self.device.entered():
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


def _alive(_graph: Graph) -> None:
    """What holds the graph until its launch has ended."""


def _done(device: Device, *query: Any) -> bool:
    try:
        device.wait(*query)
    except Error as e:
        if e.result == Result.ERROR_NOT_READY:
            return False
        raise
    return True
