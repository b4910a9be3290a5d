"""Streams, events and graphs: work that runs beside other work, or again and again."""
import contextlib
import ctypes
import weakref
from typing import Any, Iterator, Optional

from ._header import header
from ._library import library, number
from ._lifetime import Core, Entry, Handle, NotCopied, Queue
from ._ranges import opened
from .device import Device, given
from .errors import Error, Result, error

_CaptureMode: Any = header.enums['ptxiStreamCaptureMode']


class Stream(NotCopied):
    """A queue whose work runs in order. A launch into a stream returns at once; `synchronize()` waits for it.

    The arrays of such a launch stay open for its kernel, alive and in place until it is known that it has ended: when the stream, the
    device or an event recorded later was waited for, or found done. That ends nothing that another thread queues meanwhile."""

    def __init__(self, device: Optional[Device] = None, priority: int = 0, blocking: bool = True) -> None:
        self.device = given(device)
        flags = header.constants['PTXI_STREAM_DEFAULT' if blocking else 'PTXI_STREAM_NON_BLOCKING']
        core = self.device._core
        self._queue: Optional[Queue] = Queue(core, core.create('StreamCreateWithPriority', 'StreamDestroy', flags, number(priority, ctypes.c_int)))

    @property
    def queue(self) -> Queue:
        """The stream's work; a reference to it keeps the stream of the library."""
        queue = self._queue
        if queue is None:
            raise ValueError('the stream is closed')
        return queue

    @property
    def handle(self) -> Any:
        """The stream as calls of the library take it."""
        return self.queue.handle

    def __enter__(self) -> 'Stream':
        return self

    def __exit__(self, *exc: Any) -> None:
        __tracebackhide__ = True
        try:
            if self._queue is not None:
                self.synchronize()
        finally:
            self.close()

    def synchronize(self) -> None:
        """Wait until the stream's work has ended; the first failure among it is raised, once."""
        __tracebackhide__ = True
        queue = self.queue
        queue.core.wait('StreamSynchronize', queue.handle, marks=[(queue, queue.mark())])

    def done(self) -> bool:
        """Whether all work queued so far has ended; a failure among it is raised."""
        __tracebackhide__ = True
        queue = self.queue
        return _done(queue.core, [(queue, queue.mark())], 'StreamQuery', queue.handle)

    def wait_event(self, event: 'Event') -> None:
        """Work queued from now on waits for the event."""
        self.device._core.call('StreamWaitEvent', self.handle, event.handle, 0)

    @contextlib.contextmanager
    def capture(self) -> Iterator['Graph']:
        """What is given to the stream inside of the `with` statement does not run, but becomes the graph that is its value:

            with stream.capture() as graph:
                mod.k[grid, block, 0, stream](x, y)
            graph.launch()"""
        __tracebackhide__ = True
        core, queue = self.device._core, self.queue
        number_ = core.run(_begin, queue)
        entries = core.captures[number_]
        graph = Graph(self.device)
        try:
            yield graph
        finally:
            result = core.run(graph._end, queue, number_, entries)
        if result:
            graph._drop()
            raise error(result)
        graph._instance = core.create('GraphInstantiate', 'GraphExecDestroy', graph._graph, 0)

    def close(self) -> None:
        """Give up the stream; work in it still runs, and the device's `synchronize()` tells of its failures."""
        self._queue = None


def _begin(queue: Queue) -> int:
    """Begin to capture a stream: the capture's number, under which the core collects what the work needs."""
    __tracebackhide__ = True
    with queue.core.lock:
        result = library().StreamBeginCapture(queue.handle, _CaptureMode.GLOBAL)
        if result:
            raise error(result)
        number_ = queue.capture() or 0
        queue.core.captures[number_] = []
        return number_


class Graph(NotCopied):
    """Work of a stream that `Stream.capture` has kept: `launch()` runs it as it was given, with the same arrays.

    The arrays stay open for kernels, and alive, until `close()` or the end of this object, and until its launches have ended."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._graph: Optional[Handle] = None
        self._instance: Optional[Handle] = None
        self._entries: Any = None

    def _end(self, queue: Queue, number_: int, entries: Any) -> int:
        """The end of the capture: its result."""
        with queue.core.lock:
            handle = ctypes.c_void_p()
            result: int = library().StreamEndCapture(queue.handle, ctypes.byref(handle))
            queue.core.captures.pop(number_, None)
            self._entries = entries
            if handle.value:
                self._graph = Handle(queue.core, handle.value, 'GraphDestroy')
        return result

    def launch(self, stream: Optional[Stream] = None) -> None:
        """Run it: without a stream until its end, with one the call returns at once."""
        __tracebackhide__ = True
        core, instance, entries = self.device._core, self._instance, self._entries
        core.must_be_open()
        if instance is None:
            raise ValueError('the graph has not been captured, or is closed')
        queue = stream.queue if stream else core.default
        entry = Entry(None, (instance, self._graph, entries))
        result = core.run(queue.enqueue, entry, lambda: library().GraphLaunch(instance, queue.handle))
        if result:
            raise error(result)
        if stream is None:
            core.wait('StreamSynchronize', None, marks=[(queue, queue.mark())])

    def close(self) -> None:
        """Wait for the device's work, and free the graph."""
        __tracebackhide__ = True
        try:
            self.device.synchronize()
        finally:
            self._drop()

    def _drop(self) -> None:
        self._instance = self._graph = self._entries = None
        opened.give_back()


class Event(NotCopied):
    """A mark in a stream."""

    def __init__(self, device: Optional[Device] = None) -> None:
        self.device = given(device)
        self.handle = self.device._core.create('EventCreate', 'EventDestroy', header.constants['PTXI_EVENT_DEFAULT'])
        self._behind: Any = None, 0  # the queue, by a weak reference, and its mark

    def record(self, stream: Optional[Stream] = None) -> 'Event':
        """Mark the place after all work queued in the stream so far; without one, in the default stream."""
        core = self.device._core
        core.run(self._record, stream.queue if stream else core.default)
        return self

    def _record(self, queue: Queue) -> None:
        __tracebackhide__ = True
        with queue.core.lock:
            result = library().EventRecord(self.handle, queue.handle)
            if result:
                raise error(result)
            self._behind = weakref.ref(queue), queue.mark()

    def _marks(self) -> Any:
        reference, mark = self._behind
        queue = reference() if reference is not None else None
        return [] if queue is None else [(queue, mark)]

    def synchronize(self) -> None:
        """Wait for the mark."""
        __tracebackhide__ = True
        self.device._core.wait('EventSynchronize', self.handle, marks=self._marks())

    def done(self) -> bool:
        """Whether the mark is reached."""
        __tracebackhide__ = True
        return _done(self.device._core, self._marks(), 'EventQuery', self.handle)

    def elapsed(self, start: 'Event') -> float:
        """Milliseconds of wall-clock time from `start` to this mark."""
        ms = ctypes.c_float()
        self.device._core.call('EventElapsedTime', ctypes.byref(ms), start.handle, self.handle)
        return ms.value


def _done(core: Core, marks: Any, *query: Any) -> bool:
    try:
        core.wait(*query, marks=marks)
    except Error as e:
        if e.result == Result.ERROR_NOT_READY:
            return False
        raise
    return True
