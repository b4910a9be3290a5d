"""Streams, events and graphs, for work that runs concurrently or repeatedly."""
import contextlib
import ctypes
import weakref
from typing import Any, Iterator, Optional

from ._header import header
from ._library import library, number
from ._lifetime import Core, Entry, Handle, NotCopied, Queue
from ._ranges import give_back
from .device import Device, given
from .errors import Error, Result, error

_CaptureMode: Any = header.enums['ptxiStreamCaptureMode']


class Stream(NotCopied):
    """A queue of work that runs in order. A launch into a stream returns at once, and `synchronize()` waits for it.

    `device`    default: the current device
    `priority`  a lower number is a higher priority
    `blocking`  True: work of the default stream and of this stream wait for each other

    The arrays of a launch stay open, alive and in place until the launch is known to have ended: after a wait for the
    stream, the device or a later event, or when `done()` returned True for one of them. A wait covers only work that
    was queued before the wait began.

    A `with` statement waits for the stream at its end, and closes it.
    """

    def __init__(self, device: Optional[Device] = None, priority: int = 0, blocking: bool = True) -> None:
        self.device = given(device)
        flags = header.constants['PTXI_STREAM_DEFAULT' if blocking else 'PTXI_STREAM_NON_BLOCKING']
        core = self.device._core
        handle = core.create('StreamCreateWithPriority', 'StreamDestroy', flags, number(priority, ctypes.c_int))
        self._queue: Optional[Queue] = Queue(core, handle)

    def __repr__(self) -> str:
        state = ', closed' if self._queue is None else ''
        return f'<ptxi.Stream of {self.device!r}{state}>'

    @property
    def queue(self) -> Queue:
        """The work of the stream. A reference to it keeps the stream of the library alive.

        Raises ValueError after close().
        """
        queue = self._queue
        if queue is None:
            raise ValueError('the stream is closed')
        return queue

    @property
    def handle(self) -> Any:
        """The stream as the library's functions take it."""
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
        """Wait until all work of the stream has ended.

        Raises LaunchError for the first kernel that failed. A failure is raised once.
        """
        __tracebackhide__ = True
        queue = self.queue
        queue.core.wait('StreamSynchronize', queue.handle, marks=[(queue, queue.mark())])

    def done(self) -> bool:
        """Return whether all work queued so far has ended. Raises LaunchError if a kernel failed."""
        __tracebackhide__ = True
        queue = self.queue
        return _done(queue.core, [(queue, queue.mark())], 'StreamQuery', queue.handle)

    def wait_event(self, event: 'Event') -> None:
        """Make work that is queued from now on wait for the event."""
        self.device._core.call('StreamWaitEvent', self.handle, event.handle, 0)

    @contextlib.contextmanager
    def capture(self) -> Iterator['Graph']:
        """Capture the work that is queued in the stream inside the `with` statement, instead of running it.

        The value of the statement is the graph:

            with stream.capture() as graph:
                mod.k[grid, block, 0, stream](x, y)
            graph.launch()
        """
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
        """Close the stream. Its work still runs, and the device's `synchronize()` raises failures of that work."""
        self._queue = None


def _begin(queue: Queue) -> int:
    """Begin a capture. Return its number, under which the core collects the objects that the work needs."""
    __tracebackhide__ = True
    with queue.core.lock:
        result = library().StreamBeginCapture(queue.handle, _CaptureMode.GLOBAL)
        if result:
            raise error(result)
        number_ = queue.capture() or 0
        queue.core.captures[number_] = []
        return number_


class Graph(NotCopied):
    """Work of a stream that `Stream.capture` recorded. `launch()` runs it with the same arrays.

    The arrays stay open for kernels and alive until `close()`, the end of `with` or the end of this object, and until
    all launches of the graph have ended.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._graph: Optional[Handle] = None
        self._instance: Optional[Handle] = None
        self._entries: Any = None

    def __enter__(self) -> 'Graph':
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return '<ptxi.Graph>' if self._instance is not None else '<ptxi.Graph, closed or not complete>'

    def _end(self, queue: Queue, number_: int, entries: Any) -> int:
        """End the capture. Return the result code."""
        with queue.core.lock:
            handle = ctypes.c_void_p()
            result: int = library().StreamEndCapture(queue.handle, ctypes.byref(handle))
            queue.core.captures.pop(number_, None)
            self._entries = entries
            if handle.value:
                self._graph = Handle(queue.core, handle.value, 'GraphDestroy')
        return result

    def launch(self, stream: Optional[Stream] = None) -> None:
        """Run the graph. Without a stream the call waits until the graph has ended. With a stream it returns at once.

        Raises LaunchError if the call waits and a kernel fails, and ValueError if the graph is closed.
        """
        __tracebackhide__ = True
        core, instance, entries = self.device._core, self._instance, self._entries
        core.must_be_open()
        if instance is None:
            raise ValueError('the graph is closed, or its capture has not been completed')
        queue = stream.queue if stream else core.default
        entry = Entry(None, (instance, self._graph, entries))
        result = core.run(queue.enqueue, entry, lambda: library().GraphLaunch(instance, queue.handle))
        if result:
            raise error(result)
        if stream is None:
            core.wait('StreamSynchronize', None, marks=[(queue, queue.mark())])

    def close(self) -> None:
        """Wait for the work of the device, and free the graph."""
        __tracebackhide__ = True
        try:
            self.device.synchronize()
        finally:
            self._drop()

    def _drop(self) -> None:
        """Free the graph, and close the memory that it had open."""
        self._instance = self._graph = self._entries = None
        give_back()


class Event(NotCopied):
    """A position in the work of a stream, which `record()` sets."""

    def __init__(self, device: Optional[Device] = None) -> None:
        self.device = given(device)
        self.handle = self.device._core.create('EventCreate', 'EventDestroy', header.constants['PTXI_EVENT_DEFAULT'])
        self._recorded: Any = None, 0  # a weak reference to the queue in which the event was recorded, and the mark

    def __repr__(self) -> str:
        return f'<ptxi.Event of {self.device!r}{", recorded" if self._recorded[0] is not None else ""}>'

    def record(self, stream: Optional[Stream] = None) -> 'Event':
        """Record the event after all work queued so far in the stream, or in the default stream. Return the event."""
        core = self.device._core
        core.run(self._record, stream.queue if stream else core.default)
        return self

    def _record(self, queue: Queue) -> None:
        """Record the event inside Core.run."""
        __tracebackhide__ = True
        with queue.core.lock:
            result = library().EventRecord(self.handle, queue.handle)
            if result:
                raise error(result)
            self._recorded = weakref.ref(queue), queue.mark()

    def _marks(self) -> Any:
        """Return the queue in which the event was recorded and its mark, as the marks for a wait."""
        reference, mark = self._recorded
        queue = reference() if reference is not None else None
        return [] if queue is None else [(queue, mark)]

    def synchronize(self) -> None:
        """Wait until the work before the event has ended. Raises LaunchError if a kernel failed."""
        __tracebackhide__ = True
        self.device._core.wait('EventSynchronize', self.handle, marks=self._marks())

    def done(self) -> bool:
        """Return whether the work before the event has ended. Raises LaunchError if a kernel failed."""
        __tracebackhide__ = True
        return _done(self.device._core, self._marks(), 'EventQuery', self.handle)

    def elapsed(self, start: 'Event') -> float:
        """Return the wall-clock time from the event `start` to this event, in milliseconds."""
        ms = ctypes.c_float()
        self.device._core.call('EventElapsedTime', ctypes.byref(ms), start.handle, self.handle)
        return ms.value


def _done(core: Core, marks: Any, *query: Any) -> bool:
    """Call a query function. Return False if the work has not ended. Raises its failure."""
    try:
        core.wait(*query, marks=marks)
    except Error as e:
        if e.result == Result.ERROR_NOT_READY:
            return False
        raise
    return True
