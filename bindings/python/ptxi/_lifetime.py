"""Lifetime of the library's objects, the threads that may free them, and the order of the locks.

Every class that owns an object of the library is built from the classes in this module.

References
  Core     owns a context of the library. A Device is its public interface. Streams, events, modules and buffers refer
           to both. Each core is in `_cores` until its context is destroyed.
  Handle   owns one object of a context: a stream, an event, a module, a graph, or a block of memory. The object lives
           as long as Python has references to the Handle. A call that uses the object holds a reference until the call
           returns. So close() and free(), which drop the owner's reference, cannot destroy an object that another
           thread uses.
  Entry    is queued work. It refers to everything that the work uses: the handle of the module, which refers to the
           host functions, the memory, and the arrays of the program. An entry is in the Queue of its stream, and the
           queue is in its core, until the work is known to have ended: a wait that began after the entry was queued has
           returned, or an event that was recorded after it has completed. So work keeps its device alive, and a dropped
           stream lives until its work has ended. Entries of captured work move to the graph, and stay there.
  Export   is a NumPy array that shows memory of a context. A closed context is destroyed after its last export.

Calls and close()
  A call of the library for a core runs in Core.run or a similar function, and holds a pin. A pin is an export of the
  buffer of a bytearray. No exception, KeyboardInterrupt included, can come between taking a pin and recording it, which
  a counter could not guarantee. The context is destroyed only if there is no pin: only then can the bytearray be
  emptied. close() first sets `closing`, after which new calls raise ValueError. Then it waits for the running calls and
  for the work. If close() is called inside a call of the same thread (by a signal handler), it does not wait. Then the
  context is destroyed when the next device is created or when the interpreter ends.

Finalizers
  The garbage collector may run __del__ anywhere: in any thread, while a lock is held, or in a host function. So
  finalizers take no lock and do not wait. They add the object to `_garbage`. sweep() destroys it at once if the library
  permits it, else at the next call that waits. Modules are unloaded only by reap(), when nothing is queued, because
  ptxiModuleUnload waits for all work of its context.

Locks
  A thread that holds a lock may only take locks that are later in this list:
  1. Module._binding: one bind() of a module at a time. Held while the library waits for work.
  2. device._made_lock, device._profile_lock: held while a context is created, never during a wait.
  3. Core.lock: entries, captures, and the calls that queue work. Never held during a wait.
  All locks are reentrant, because a signal handler may run at any time. Objects of the program are not dropped while a
  lock is held, because their finalizers might take another lock.

Known limitation
  If a signal handler waits for a stream, it may end an entry that the interrupted call is adding to that stream. Then
  the launch fails with a report about memory that is not open. A handler that needs the device must use its own stream.
"""
import atexit
import collections
import contextlib
import ctypes
import itertools
import os
import sys
import threading
import time
from typing import Any, Callable, Deque, Dict, Iterable, List, Optional, Set, Tuple

from . import _interrupt, errors
from ._header import header
from ._library import library
from ._ranges import Use, ended, give_back

_POLL = 0.001   # seconds between two checks whether the calls of other threads have ended
_UNKNOWN = 1 << 64
_PROBE = 64     # a stream is probed for entries that have ended each time it has a multiple of this many entries
_numbers = itertools.count(1)
_cores: 'Set[Core]' = set()
_closed: 'Set[Core]' = set()  # closed cores with contexts that are not destroyed yet
_pid = os.getpid()
_ended = False  # whether the interpreter is ending, so that no context may be created


class NotCopied:
    """Base class of objects that own a resource of this process. A copy would free the resource a second time."""

    def _refuse(self, *_: Any) -> Any:
        """Raise TypeError, as the implementation of copying and pickling."""
        raise TypeError(f'a {type(self).__name__} of ptxi owns resources of this process '
                        'and cannot be copied or pickled')

    __copy__ = __deepcopy__ = __reduce_ex__ = __reduce__ = _refuse


class Handle(NotCopied):
    """An object of the library, which is destroyed after the last reference to this handle.

    `destroy` is the name of the function that destroys it. `keep` is an object that must live as long.
    """

    def __init__(self, core: 'Core', value: Optional[int], destroy: str, keep: Any = None) -> None:
        self.core, self.value, self.destroy, self.keep = core, value, destroy, keep

    @property
    def _as_parameter_(self) -> Optional[int]:
        """The value that ctypes passes to the library."""
        return self.value

    def __del__(self) -> None:
        try:
            self.core.discard(self.destroy, self.value, self.keep)
        except KeyboardInterrupt:  # Python discards exceptions in __del__
            _interrupt.keep()


class Export(NotCopied):
    """Marks an array that shows memory of the context.

    The context and the owner of the memory live as long as this object.
    """

    def __init__(self, core: 'Core', owner: Any) -> None:
        self._core, self._owner = core, owner
        core.exports.add(id(self))

    def __del__(self) -> None:
        try:
            self._owner = None
            self._core.exports.discard(id(self))
            if self._core.closing:
                self._core.destroy()
        except KeyboardInterrupt:
            _interrupt.keep()


class Entry:
    """Work that is queued or belongs to a graph.

    `use` is the memory that is open for the work. `objects` are the other objects that it needs.
    """

    __slots__ = 'use', 'objects', 'queued', 'number', 'ready', 'place'

    def __init__(self, use: Optional[Use], objects: Any) -> None:
        self.use, self.objects = use, objects
        self.queued = False
        self.number = 0    # ascending in each queue
        self.ready = True  # False while the call that queues the work runs: no wait in a signal handler covers it
        self.place = _UNKNOWN  # its number among the work of its stream in the library

    def end(self) -> None:
        """Release the objects, because the work has ended. A traceback may refer to the entry for longer."""
        use, self.use, self.objects = self.use, None, None
        if use is not None:
            use.end()


def _end(entries: List[Entry]) -> None:
    """End the entries, and close the memory that they had open."""
    for entry in entries:
        entry.end()
    give_back()


class Queue:
    """The work of a stream that may not have ended. `handle` is the stream, or None for the default stream."""

    def __init__(self, core: 'Core', handle: Optional[Handle]) -> None:
        self.core, self.handle = core, handle
        self._pending: Deque[Entry] = collections.deque()
        self._event: Optional[Handle] = None  # recorded after the entries up to _mark
        self._mark = 0

    def add(self, entry: Entry) -> None:
        """Add an entry at the end."""
        with self.core.lock:
            entry.queued, entry.number = True, next(_numbers)
            self._pending.append(entry)
            self.core.queues.add(self)

    def remove(self, entry: Entry) -> None:
        """Remove an entry. Its work was not queued, or has ended."""
        with self.core.lock:
            with contextlib.suppress(ValueError):
                self._pending.remove(entry)
            self._drop_if_empty()
            entry.queued = False

    def enqueue(self, entry: Entry, function: Callable[[], int]) -> int:
        """Queue work by calling `function`, which returns a result code. Return the code.

        The entry is added first, because an exception may come right after the call.
        """
        ended: List[Entry] = []
        with self.core.lock:
            entry.ready = False
            self.add(entry)
            try:
                result = function()
            finally:
                entry.ready = True
            if result:
                self.remove(entry)
            elif self.core.captures:
                self._give_to_capture(entry)
            elif not len(self._pending) % _PROBE:
                ended = self.probe()
        _end(ended)
        return result

    def launch(self, launch: Any, objects: Any) -> int:
        """Queue a launch by ptxiLaunchAsync. Return the result code.

        `launch` has a configuration for any stream, the structure that the function takes, and a reference to it.
        The library tells how much of the stream's work has ended. So most entries end without a probe.
        """
        core, entry = self.core, Entry(None, objects)
        ended: List[Entry] = []
        with core.lock:
            entry.ready = False
            self.add(entry)
            try:
                launch.config.hStream = self.handle and self.handle.value
                result: int = core.launch_async(launch.reference)
            finally:
                entry.ready = True
            told = launch.structure
            if result and not told.launched:
                self.remove(entry)
                return result
            entry.place = told.number
            if core.captures:
                self._give_to_capture(entry)
            else:
                self._take_to(told.ended, ended)
        if ended:
            _end(ended)
        return result

    def _take_to(self, place: int, ended: List[Entry]) -> None:
        """Move the entries up to a place in the stream, whose work has ended, to `ended`."""
        pending = self._pending
        try:
            while pending[0].place <= place:
                ended.append(pending.popleft())
        except IndexError:  # a signal handler has removed the others
            return
        if pending[0].place == _UNKNOWN and not len(pending) % _PROBE:
            ended += self.probe()

    def _give_to_capture(self, entry: Entry) -> None:
        """Move the entry to the capture in which the stream takes part, if there is one."""
        entries = self.core.captures.get(self.capture() or 0)
        if entries is not None:
            entries.append(entry)
            self._pending.remove(entry)
            self._drop_if_empty()

    def capture(self) -> Optional[int]:
        """Return the number of the capture in which the stream takes part, or None."""
        status, number = ctypes.c_int(), ctypes.c_ulonglong()
        result = library().StreamGetCaptureInfo(self.handle, ctypes.byref(status), ctypes.byref(number),
                                                None, None, None, None, None)
        return None if result or not status.value else number.value

    def mark(self) -> int:
        """Return the number of the last entry. A wait that begins after this call covers the entries up to it."""
        with self.core.lock:
            pending = list(self._pending)
            while pending and not pending[-1].ready:
                pending.pop()
            return pending[-1].number if pending else 0

    def _drop_if_empty(self) -> None:
        """Remove the queue from the core's queues if it has no entries."""
        if not self._pending:
            self.core.queues.discard(self)

    def take(self, mark: int) -> List[Entry]:
        """Remove the entries up to a mark, which have ended. Return them."""
        ended: List[Entry] = []
        with self.core.lock:
            for entry in list(self._pending):
                if not entry.ready or entry.number > mark:
                    break
                with contextlib.suppress(ValueError):  # a signal handler has already removed it
                    self._pending.remove(entry)
                    ended.append(entry)
            self._drop_if_empty()
        return ended

    def settle(self, mark: int) -> None:
        """End the entries up to a mark. Their work has ended."""
        _end(self.take(mark))

    def probe(self) -> List[Entry]:
        """Remove the entries whose work has ended. Return them. Does not wait, and does not consume a failure.

        ptxiEventElapsedTime shows whether an event has completed. The default stream is not probed, because an event
        in it would wait for other streams, and they for it.
        """
        ended: List[Entry] = []
        if self.handle is not None:
            with self.core.lock:
                if self._event is not None:
                    unused = ctypes.byref(ctypes.c_float())
                    result = library().EventElapsedTime(unused, self._event, self._event)
                    if result == errors.Result.ERROR_NOT_READY:
                        return ended
                    self._event = None
                    ended = self.take(self._mark)
                if self._pending and self.capture() is None:
                    self._record()
        return ended

    def _record(self) -> None:
        """Record a new event after the entries that are queued now."""
        event = ctypes.c_void_p()
        if library().EventCreate(ctypes.byref(event), header.constants['PTXI_EVENT_DEFAULT']) == 0:
            handle = Handle(self.core, event.value, 'EventDestroy')
            if library().EventRecord(handle, self.handle) == 0:
                self._event, self._mark = handle, self.mark()

    def query(self) -> None:
        """End the entries whose work has ended, without waiting. A failure is discarded."""
        mark = self.mark()
        if library().StreamQuery(self.handle) != errors.Result.ERROR_NOT_READY:
            self.settle(mark)

    def synchronize(self) -> None:
        """Wait until the work queued so far has ended. Raises its first failure. The caller is in Core.run."""
        __tracebackhide__ = True
        self.core.wait_inside('StreamSynchronize', self.handle, [(self, self.mark())])


class _Current:
    """Makes the core's context current inside a `with` statement, and restores the previous one after it.

    So a finalizer or a signal handler that runs between two steps of a call does not change the context of that call.
    """

    def __init__(self, core: 'Core') -> None:
        self._core = core

    def __enter__(self) -> None:
        __tracebackhide__ = True
        self._core._push()

    def __exit__(self, *exc: Any) -> None:
        library().CtxPopCurrent(None)


class Core:
    """A context of the library and its state in Python. `keep` is an object that must live as long."""

    def __init__(self, handle: ctypes.c_void_p, keep: Any = None) -> None:
        self.handle, self.keep = handle, keep
        self.closing = False
        self.lock = threading.RLock()
        self.default = Queue(self, None)
        self.queues: Set[Queue] = set()               # queues that have entries
        self.captures: Dict[int, List[Entry]] = {}    # entries of each active capture, by its number
        self.exports: Set[int] = set()                # id() of each Export
        self._pin = bytearray(1)
        self._launch_watched = library().LaunchWatched
        self.launch_async = library().LaunchAsync
        self._garbage: Deque[Tuple[str, Any, Any]] = collections.deque()
        self._modules: Deque[Tuple[str, Any, Any]] = collections.deque()
        _cores.add(self)

    # ---- calls

    def pin(self) -> memoryview:
        """Return a pin, which keeps the context from being destroyed. If the context is destroyed, the pin is empty."""
        return memoryview(self._pin)

    def current(self) -> _Current:
        """Return a context manager that makes the context current."""
        return _Current(self)

    def _push(self) -> None:
        """Make the context current until CtxPopCurrent."""
        __tracebackhide__ = True
        self.must_be_open()
        result = library().CtxPushCurrent(self.handle)
        if result:
            raise errors.error(result)

    def must_be_open(self) -> None:
        """Raise ValueError if the device is closed.

        When the interpreter ends, daemon threads end without a traceback: Python may abort if they write one.
        """
        if self.closing:
            if _ended and threading.current_thread().daemon:
                raise SystemExit
            raise ValueError('the device is closed')

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a Python function that calls the library, with the context current. Return its result."""
        __tracebackhide__ = True
        with memoryview(self._pin):  # as pin() and current() do, at less cost, because each launch comes here
            self._push()
            try:
                return function(*args)
            finally:
                library().CtxPopCurrent(None)

    def result(self, name: str, *args: Any) -> int:
        """Call a library function that does not wait. Return its result code."""
        __tracebackhide__ = True
        with self.pin(), self.current():
            result: int = getattr(library(), name)(*args)
            return result

    def call(self, name: str, *args: Any) -> None:
        """Call a library function that does not wait. Raises Error if it fails."""
        __tracebackhide__ = True
        result = self.result(name, *args)
        if result:
            raise errors.error(result)

    def export(self, owner: Any) -> Export:
        """Return the Export for a new array that shows memory of `owner`."""
        with self.pin():
            self.must_be_open()
            return Export(self, owner)

    def create(self, name: str, destroy: str, *args: Any) -> Handle:
        """Call a library function whose first argument receives a new object. Return a handle that owns the object."""
        __tracebackhide__ = True
        self.reap()
        value = ctypes.c_void_p()
        self.call(name, ctypes.byref(value), *args)
        return Handle(self, value.value, destroy)

    def waited(self, name: str, *args: Any) -> int:
        """Call a library function that waits. Return its result code.

        On Ctrl-C the kernels are interrupted, the wait ends, and KeyboardInterrupt is raised.
        """
        try:
            return _interrupt.wait(self.handle, getattr(library(), name), *args)
        except KeyboardInterrupt:
            library().CtxInterrupt(self.handle)
            raise

    def launch_and_wait(self, launch: Any) -> int:
        """Call ptxiLaunchWatched with a reference to its structure. Return its result code.

        Nothing is queued when it returns, so it needs no entry.
        """
        __tracebackhide__ = True
        with memoryview(self._pin):
            if self.closing:
                self.must_be_open()
            mark = self.default.mark() if self.queues else 0  # work that an interrupted wait has left
            result = _interrupt.launch(self._launch_watched, launch)
        if mark and not result:
            self.default.settle(mark)
        if self.queues or self._garbage or self._modules or _closed or ended:
            self.reap()
        return result

    def launch_into(self, queue: Queue, launch: Any, objects: Any) -> int:
        """Queue a launch as Queue.launch() does. Return its result code."""
        __tracebackhide__ = True
        with memoryview(self._pin):
            if self.closing:
                self.must_be_open()
            result = queue.launch(launch, objects)
        if self._garbage or _closed or ended:
            self.reap()
        return result

    def wait(self, name: str, *args: Any, marks: Optional[List[Tuple[Queue, int]]] = None) -> None:
        """Call a library function that waits for the work up to some marks, or for all work if `marks` is None.

        Raises LaunchError if a kernel failed. The entries are ended only if the wait succeeded or reported a failed
        kernel.
        """
        __tracebackhide__ = True
        try:
            self.run(self.wait_inside, name, *args, marks)
        finally:
            self.reap()

    def wait_inside(self, name: str, *args: Any) -> None:
        """Do the same as `wait` inside Core.run. The last argument is the marks."""
        __tracebackhide__ = True
        *args_, marks = args
        marks = self.marks() if marks is None else marks
        try:
            result = self.waited(name, *args_)
        except KeyboardInterrupt:
            result = getattr(library(), name)(*args_)
            if not result or isinstance(errors.launch_error(self.handle, result), errors.LaunchError):
                self._settle(marks)
            raise
        failure = errors.launch_error(self.handle, result) if result else None
        if failure is None or isinstance(failure, errors.LaunchError):
            self._settle(marks)
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # its traceback refers to this frame, and the cycle would keep the work's memory open

    def marks(self) -> List[Tuple[Queue, int]]:
        """Return the marks of all queues that have entries."""
        return [(q, q.mark()) for q in list(self.queues)]

    def drain(self) -> None:
        """Wait for all work without consuming its failures, as ptxiMemFree does."""
        address = ctypes.c_ulonglong()
        with self.pin(), self.current():
            if library().MemAlloc(ctypes.byref(address), 1) == 0:
                marks = self.marks()
                if self.waited('MemFree', address.value) == 0:
                    self._settle(marks)

    @staticmethod
    def _settle(marks: Iterable[Tuple[Queue, int]]) -> None:
        """End the entries up to the marks."""
        for queue, mark in marks:
            queue.settle(mark)

    def hold(self, objects: Any) -> None:
        """Keep objects alive until all work that is queued now has ended."""
        with self.lock:
            for queue in list(self.queues):
                queue.add(Entry(None, objects))

    # ---- objects without references

    def discard(self, destroy: str, value: Any, keep: Any = None) -> None:
        """Destroy an object as soon as possible. Finalizers may call this."""
        (self._modules if destroy == 'ModuleUnload' else self._garbage).append((destroy, value, keep))
        self.sweep()

    def sweep(self) -> None:
        """Destroy the discarded objects, unless the caller is a host function. Does not wait."""
        while self._garbage:
            with self.pin() as pin:
                if not pin:
                    self._garbage.clear()
                elif library().CtxPushCurrent(self.handle):
                    return
                else:
                    try:
                        self._destroy_one(self._garbage.popleft())
                    except IndexError:
                        pass  # another thread has taken the last item
                    finally:
                        library().CtxPopCurrent(None)

    def _destroy_one(self, item: Tuple[str, Any, Any]) -> None:
        """Destroy one discarded object without waiting."""
        destroy, value, _ = item
        if destroy == 'MemFree' and self.queues:  # MemFree would wait for the queued work
            library().MemFreeAsync(value, None)
        else:
            getattr(library(), destroy)(value)

    def reap(self) -> None:
        """End the entries whose work has ended, and destroy discarded objects. Finalizers must not call this."""
        if _closed:
            destroy_closed()
        self._reap()

    def _reap(self) -> None:
        """Do the same as `reap`, without destroying other contexts."""
        if self.queues or self._modules or self._garbage:
            ended: List[Entry] = []
            with self.pin() as pin:
                if pin and not library().CtxPushCurrent(self.handle):
                    try:
                        for queue in list(self.queues):
                            ended += queue.probe()
                            if self.closing:
                                queue.query()
                        self._unload()
                    finally:
                        library().CtxPopCurrent(None)
            _end(ended)
            self.sweep()
        give_back()

    def _unload(self) -> None:
        """Unload discarded modules if nothing is queued, so that ptxiModuleUnload does not wait."""
        unloaded = []
        with self.lock:
            while self._modules and not self.queues:
                unloaded.append(self._modules.popleft())
                library().ModuleUnload(unloaded[-1][1])

    # ---- closing

    def shut(self) -> None:
        """Let no new call begin."""
        self.closing = True
        if self._pin:
            _closed.add(self)

    def close(self) -> None:
        """Wait for the calls of other threads and for the work, then destroy the context.

        Does not wait if the caller is a signal handler that interrupted a call of this core.
        """
        with self.pin() as pin:
            if not pin:
                return
            result = library().CtxPushCurrent(self.handle)
            if result:
                raise errors.error(result)
            library().CtxPopCurrent(None)
        self.shut()
        if self._in_call():
            return
        try:
            self._finish()
        except KeyboardInterrupt:
            library().CtxInterrupt(self.handle)
            self._finish()
            raise

    def _finish(self) -> None:
        """Wait until the context is destroyed, or until only arrays still need it."""
        while not self.destroy():
            with self.pin() as pin:
                if pin:
                    marks = self.marks()
                    self._synchronize(marks)
            if not self.queues and self.exports:
                return
            time.sleep(_POLL)

    def _synchronize(self, marks: List[Tuple[Queue, int]]) -> None:
        """Wait for the work of the context, and end its entries."""
        result = library().CtxPushCurrent(self.handle)
        if result:
            return
        try:
            if _interrupt.wait(self.handle, library().CtxSynchronize) != errors.Result.ERROR_OUT_OF_MEMORY:
                self._settle(marks)
        finally:
            library().CtxPopCurrent(None)

    def _in_call(self) -> bool:
        """Return whether this thread is inside a call of this core. Then the caller is a signal handler."""
        frame: Any = sys._getframe(2)
        while frame is not None:
            if frame.f_code in _CALLS and frame.f_locals.get('self') is self:
                return True
            frame = frame.f_back
        return False

    def destroy(self) -> bool:
        """Destroy the closed context if nothing uses it. Return whether it is destroyed.

        Does not wait. Finalizers may call this.
        """
        if self._pin:
            if self.exports or self.queues:
                return False
            if library().CtxGetCurrent(ctypes.byref(ctypes.c_void_p())):  # fails in a host function
                return False
            try:
                self._pin.pop()
            except BufferError:  # pinned
                return False
            except IndexError:   # another thread has destroyed the context
                return True
            if not self._destroy():
                return False
        self._garbage.clear()
        self._modules.clear()
        _cores.discard(self)
        _closed.discard(self)
        return True

    def _destroy(self) -> bool:
        """Destroy the context after its bytearray was emptied. Return False if an array or work still needs it."""
        if self.exports or self.queues:  # added by a call that ended after destroy() had looked
            self._pin.append(0)
            return False
        library().CtxDestroy(self.handle)
        return True

    def end(self) -> None:
        """At the end of the interpreter, interrupt the kernels and destroy the context.

        Repeats this until no thread prevents it.
        """
        while not self.destroy() and (self.queues or not self.exports):
            with self.pin() as pin:
                if pin and not library().CtxPushCurrent(self.handle):
                    library().CtxInterrupt(self.handle)
                    for queue in list(self.queues):
                        queue.query()
                    library().CtxPopCurrent(None)
            time.sleep(_POLL)


# Functions that hold a pin while they run
_CALLS = {f.__code__ for f in (Core.run, Core.result, Core.launch_and_wait, Core.launch_into, Core.wait, Core.drain,
                               Core.export, Core.sweep, Core._reap, Core.close, Core.end)}


def destroy_closed() -> None:
    """Destroy the contexts that their close() could not destroy."""
    for core in list(_closed):
        core._reap()
        core.destroy()


def must_not_end() -> None:
    """Raise RuntimeError if the interpreter is ending, when nothing would free a new context."""
    if _ended:
        raise RuntimeError('cannot create a device while the interpreter is ending')


def _after_fork() -> None:
    """Replace the locks: in the parent process another thread may have held them."""
    for core in _cores:
        core.lock = threading.RLock()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _end_all() -> None:
    """Interrupt all kernels, then destroy all contexts.

    All kernels are interrupted first, so that no wait is for a kernel that still runs. No thread of the library may
    call into an interpreter that has ended.
    """
    global _ended
    _ended = True
    if os.getpid() == _pid:
        cores = list(_cores)
        for core in cores:
            core.shut()
            library().CtxInterrupt(core.handle)
        for core in cores:
            with contextlib.suppress(KeyboardInterrupt):
                core.end()
