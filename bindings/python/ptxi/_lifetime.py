"""What keeps what alive, which thread may free it when, and the order of the locks. Everything that owns something of the library is built
of the classes here.

What keeps what alive
  Core     owns a context of the library. A Device is a face of it; streams, events, modules and buffers refer to both. All cores are
           in `_cores` until they are destroyed.
  Handle   owns one object of a context: a stream, an event, a module, a graph, a block of memory. Python's references to the Handle say
           how long the object lives: a call that uses it holds a reference until it returns, so that close() and free(), which drop
           the owner's reference, never take it away from a call of another thread.
  Entry    is work that was queued: it refers to all that the work uses (the module's handle, which keeps the host functions, memory, the
           arrays of the program). Entries are in the Queue of their stream, which is in its core, until the work has certainly ended:
           a wait that began after they were queued has returned, or an event behind them is reached. So work keeps its device alive,
           and a dropped stream lives until its work has ended. What a stream captures goes to the graph, and stays with it.
  Export   is an array of NumPy that shows memory of a context. A closed context is destroyed when the last of them is gone.

Calls and close()
  A call of the library on behalf of a core runs inside of Core.run or its like, under a pin. A pin is an export of the buffer of a
  bytearray: taking and dropping it cannot be torn apart by an exception at any point, KeyboardInterrupt included, which a counter
  could. The context is destroyed only when there is no pin: then the bytearray can be made empty. close() first sets `closing`,
  after which new calls raise ValueError, then waits for the calls under way and for the work. A close() inside of a call of the
  same thread (a signal handler) does not wait; the next device made, or the end of the interpreter, destroys the context.

Finalizers (__del__, which the garbage collector may run anywhere, in any thread, inside of any lock, and inside of a host function)
  take no lock and do not wait. They put what is to be destroyed into `garbage`, which sweep() empties at once where the library
  permits it, and else at the next call that waits. Modules are unloaded by reap() only, when nothing is queued, since
  ptxiModuleUnload waits for all work of its context.

Locks, in this order; a thread that has one may only take later ones
  1. Module._binding     one bind() of a module at a time. Held while the library waits for work.
  2. device._made_lock, device._profile_lock    held while a context is made. Not while anything waits.
  3. Core.lock           entries and captures, and the calls that queue work. Not while anything waits.
  4. _ranges.opened.lock  the open ranges. Not while anything waits.
  All are reentrant, since a signal handler may come at any time. Nothing of the program is dropped while one is held, since its
  finalizer might take another one.

Known limit: a signal handler that waits for a stream may end the work that the interrupted call is giving to that stream. The launch then
fails with a report of memory that is not open. A handler that needs the device uses a stream of its own."""
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
from ._ranges import Use, opened

_POLL = 0.001   # seconds between two looks at calls of other threads that have to end
_PROBE = 64     # entries of a stream after which it is looked at whether the first ones have ended
_numbers = itertools.count(1)
_cores: 'Set[Core]' = set()
_closed: 'Set[Core]' = set()  # those of them that are to be destroyed
_pid = os.getpid()
_ended = False  # the interpreter ends: no new context


class NotCopied:
    """What owns an object of this process: a copy would free it a second time."""

    def _refuse(self, *_: Any) -> Any:
        raise TypeError(f'a {type(self).__name__} of ptxi owns objects of this process and cannot be copied or pickled')

    __copy__ = __deepcopy__ = __reduce_ex__ = __reduce__ = _refuse


class Handle(NotCopied):
    """An object of the library, which is destroyed when nothing refers to this any more. `keep` lives until then."""

    def __init__(self, core: 'Core', value: Optional[int], destroy: str, keep: Any = None) -> None:
        self.core, self.value, self.destroy, self.keep = core, value, destroy, keep

    @property
    def _as_parameter_(self) -> Optional[int]:
        return self.value

    def __del__(self) -> None:
        try:
            self.core.discard(self.destroy, self.value, self.keep)
        except KeyboardInterrupt:  # which Python would ignore here
            _interrupt.keep()


class Export(NotCopied):
    """An array shows memory of the context: the context, and the owner of the memory, live as long as this."""

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
    """Work that is queued, or a graph's. `use` is the memory that is open for it, `objects` what else it needs."""

    def __init__(self, use: Optional[Use], objects: Any) -> None:
        self.use, self.objects = use, objects
        self.queued = False
        self.number = 0    # grows in each queue
        self.ready = True  # False: a call is about to queue the work, so that no wait is for it, not even one of a signal handler

    def end(self) -> None:
        """The work has ended. An exception's traceback may refer to the entry for longer."""
        use, self.use, self.objects = self.use, None, None
        if use is not None:
            use.end()


def _end(entries: List[Entry]) -> None:
    for entry in entries:
        entry.end()
    opened.give_back()


class Queue:
    """A stream's work that may not have ended."""

    def __init__(self, core: 'Core', handle: Optional[Handle]) -> None:
        self.core, self.handle = core, handle
        self._pending: Deque[Entry] = collections.deque()
        self._event: Optional[Handle] = None  # behind the entries up to _mark
        self._mark = 0

    def add(self, entry: Entry) -> None:
        with self.core.lock:
            entry.queued, entry.number = True, next(_numbers)
            self._pending.append(entry)
            self.core.queues.add(self)

    def remove(self, entry: Entry) -> None:
        """The entry's work was not queued, or has ended."""
        with self.core.lock:
            with contextlib.suppress(ValueError):
                self._pending.remove(entry)
            self._drop_if_empty()
            entry.queued = False

    def enqueue(self, entry: Entry, function: Callable[[], int]) -> int:
        """Queue work: make the call that does. The entry is there before, as an exception may come right after the call."""
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

    def _give_to_capture(self, entry: Entry) -> None:
        entries = self.core.captures.get(self.capture() or 0)
        if entries is not None:
            entries.append(entry)
            self._pending.remove(entry)
            self._drop_if_empty()

    def capture(self) -> Optional[int]:
        """The number of the capture that the stream takes part in, or None."""
        status, number = ctypes.c_int(), ctypes.c_ulonglong()
        result = library().StreamGetCaptureInfo(self.handle, ctypes.byref(status), ctypes.byref(number), None, None, None, None)
        return None if result or not status.value else number.value

    def mark(self) -> int:
        """The number of the last entry now: a wait that begins later waits for it, too."""
        with self.core.lock:
            return next((e.number for e in reversed(list(self._pending)) if e.ready), 0)

    def _drop_if_empty(self) -> None:
        if not self._pending:
            self.core.queues.discard(self)

    def take(self, mark: int) -> List[Entry]:
        """Take out the entries up to a mark, which have ended."""
        ended: List[Entry] = []
        with self.core.lock:
            for entry in list(self._pending):
                if not entry.ready or entry.number > mark:
                    break
                with contextlib.suppress(ValueError):  # a signal handler was faster
                    self._pending.remove(entry)
                    ended.append(entry)
            self._drop_if_empty()
        return ended

    def settle(self, mark: int) -> None:
        """The entries up to a mark have ended."""
        _end(self.take(mark))

    def probe(self) -> List[Entry]:
        """Take out what has ended, without a wait, and without taking a failure: the time of an event says whether it is reached. Not of
        the default stream, where an event would wait for other streams, and they for it."""
        ended: List[Entry] = []
        if self.handle is not None:
            with self.core.lock:
                if self._event is not None:
                    if library().EventElapsedTime(ctypes.byref(ctypes.c_float()), self._event, self._event) == errors.Result.ERROR_NOT_READY:
                        return ended
                    self._event = None
                    ended = self.take(self._mark)
                if self._pending and self.capture() is None:
                    self._record()
        return ended

    def _record(self) -> None:
        event = ctypes.c_void_p()
        if library().EventCreate(ctypes.byref(event), header.constants['PTXI_EVENT_DEFAULT']) == 0:
            handle = Handle(self.core, event.value, 'EventDestroy')
            if library().EventRecord(handle, self.handle) == 0:
                self._event, self._mark = handle, self.mark()

    def query(self) -> None:
        """Settle what has ended, without a wait; nobody is told of a failure any more."""
        mark = self.mark()
        if library().StreamQuery(self.handle) != errors.Result.ERROR_NOT_READY:
            self.settle(mark)

    def synchronize(self) -> None:
        """Wait until the work queued so far has ended; the first failure among it is raised. Inside of Core.run."""
        __tracebackhide__ = True
        self.core.wait_inside('StreamSynchronize', self.handle, [(self, self.mark())])


class _Current:
    """The core's context is current inside of a `with` statement. What was current before is again after it, so that a finalizer or a
    signal handler between two steps of a call does not change the context of the call."""

    def __init__(self, core: 'Core') -> None:
        self._core = core

    def __enter__(self) -> None:
        __tracebackhide__ = True
        self._core.must_be_open()
        result = library().CtxPushCurrent(self._core.handle)
        if result:
            raise errors.error(result)

    def __exit__(self, *exc: Any) -> None:
        library().CtxPopCurrent(None)


class Core:
    """A context of the library, and what is known of it. `keep` lives as long as it."""

    def __init__(self, handle: ctypes.c_void_p, keep: Any = None) -> None:
        self.handle, self.keep = handle, keep
        self.closing = False
        self.lock = threading.RLock()
        self.default = Queue(self, None)
        self.queues: Set[Queue] = set()               # those with entries
        self.captures: Dict[int, List[Entry]] = {}    # by number
        self.exports: Set[int] = set()
        self._pin = bytearray(1)
        self._garbage: Deque[Tuple[str, Any, Any]] = collections.deque()
        self._modules: Deque[Tuple[str, Any, Any]] = collections.deque()
        _cores.add(self)

    # ---- calls

    def pin(self) -> memoryview:
        return memoryview(self._pin)

    def current(self) -> _Current:
        return _Current(self)

    def must_be_open(self) -> None:
        if self.closing:
            raise ValueError('the device is closed')

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a Python function that calls the library; its result."""
        __tracebackhide__ = True
        with self.pin(), self.current():
            return function(*args)

    def result(self, name: str, *args: Any) -> int:
        """Call a function that does not wait; its result."""
        __tracebackhide__ = True
        with self.pin(), self.current():
            result: int = getattr(library(), name)(*args)
            return result

    def call(self, name: str, *args: Any) -> None:
        """Call a function that does not wait; anything but success is an exception."""
        __tracebackhide__ = True
        result = self.result(name, *args)
        if result:
            raise errors.error(result)

    def export(self, owner: Any) -> Export:
        """What an array needs that shows memory."""
        with self.pin():
            self.must_be_open()
            return Export(self, owner)

    def create(self, name: str, destroy: str, *args: Any) -> Handle:
        """Call a function whose first argument receives an object; the caller's handle of it."""
        __tracebackhide__ = True
        self.reap()
        value = ctypes.c_void_p()
        self.call(name, ctypes.byref(value), *args)
        return Handle(self, value.value, destroy)

    def waited(self, name: str, *args: Any) -> int:
        """Call a function that waits; its result. Ctrl-C ends the kernels and the wait, and is raised."""
        try:
            return _interrupt.wait(self.handle, getattr(library(), name), *args)
        except KeyboardInterrupt:
            library().CtxInterrupt(self.handle)
            raise

    def wait(self, name: str, *args: Any, marks: Optional[List[Tuple[Queue, int]]] = None) -> None:
        """Call a function that waits for the work up to some marks, or for all; a kernel that failed is a LaunchError. Entries end only
        where the wait did what it should: it succeeded, or told of a kernel."""
        __tracebackhide__ = True
        try:
            self.run(self.wait_inside, name, *args, marks)
        finally:
            self.reap()

    def wait_inside(self, name: str, *args: Any) -> None:
        """The same inside of Core.run. The last argument is the marks."""
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
            raise failure

    def marks(self) -> List[Tuple[Queue, int]]:
        """All that is queued now."""
        return [(q, q.mark()) for q in list(self.queues)]

    def drain(self) -> None:
        """Wait for all work, without taking its failures: what ptxiMemFree does."""
        address = ctypes.c_ulonglong()
        with self.pin(), self.current():
            if library().MemAlloc(ctypes.byref(address), 1) == 0:
                marks = self.marks()
                if self.waited('MemFree', address.value) == 0:
                    self._settle(marks)

    @staticmethod
    def _settle(marks: Iterable[Tuple[Queue, int]]) -> None:
        for queue, mark in marks:
            queue.settle(mark)

    def hold(self, objects: Any) -> None:
        """Keep objects until all work that is queued now has ended."""
        with self.lock:
            for queue in list(self.queues):
                queue.add(Entry(None, objects))

    # ---- what nobody needs any more

    def discard(self, destroy: str, value: Any, keep: Any = None) -> None:
        """Destroy an object as soon as may be. For finalizers."""
        (self._modules if destroy == 'ModuleUnload' else self._garbage).append((destroy, value, keep))
        self.sweep()

    def sweep(self) -> None:
        """Destroy what was discarded, where the library permits it: not in a host function. Does not wait."""
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
                        pass  # another thread was faster
                    finally:
                        library().CtxPopCurrent(None)

    def _destroy_one(self, item: Tuple[str, Any, Any]) -> None:
        destroy, value, _ = item
        if destroy == 'MemFree' and self.queues:  # it would wait
            library().MemFreeAsync(value, None)
        else:
            getattr(library(), destroy)(value)

    def reap(self) -> None:
        """Look what has ended, and free what it needed. Not for finalizers."""
        if _closed:
            destroy_closed()
        self._reap()

    def _reap(self) -> None:
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
        opened.give_back()

    def _unload(self) -> None:
        """Unload modules where nothing is queued, so that it does not wait."""
        unloaded = []
        with self.lock:
            while self._modules and not self.queues:
                unloaded.append(self._modules.popleft())
                library().ModuleUnload(unloaded[-1][1])

    # ---- the end

    def shut(self) -> None:
        """Let no new call in."""
        self.closing = True
        if self._pin:
            _closed.add(self)

    def close(self) -> None:
        """Wait for the calls of other threads and for the work, then destroy the context."""
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
        while not self.destroy():
            with self.pin() as pin:
                if pin:
                    marks = self.marks()
                    self._synchronize(marks)
            if not self.queues and self.exports:
                return
            time.sleep(_POLL)

    def _synchronize(self, marks: List[Tuple[Queue, int]]) -> None:
        result = library().CtxPushCurrent(self.handle)
        if result:
            return
        try:
            if _interrupt.wait(self.handle, library().CtxSynchronize) != errors.Result.ERROR_OUT_OF_MEMORY:
                self._settle(marks)
        finally:
            library().CtxPopCurrent(None)

    def _in_call(self) -> bool:
        """Whether this thread is inside of a call of this core: in a signal handler."""
        frame: Any = sys._getframe(2)
        while frame is not None:
            if frame.f_code in _CALLS and frame.f_locals.get('self') is self:
                return True
            frame = frame.f_back
        return False

    def destroy(self) -> bool:
        """Destroy the closed context where nothing uses it; whether it is no more. Does not wait. For finalizers."""
        if self._pin:
            if self.exports or self.queues or library().CtxGetCurrent(ctypes.byref(ctypes.c_void_p())):  # the last in a host function
                return False
            try:
                self._pin.pop()
            except BufferError:  # pinned
                return False
            except IndexError:   # by another thread
                return True
            if not self._destroy():
                return False
        self._garbage.clear()
        self._modules.clear()
        _cores.discard(self)
        _closed.discard(self)
        return True

    def _destroy(self) -> bool:
        if self.exports:  # made by a call that was under way
            self._pin.append(0)
            return False
        library().CtxDestroy(self.handle)
        return True

    def end(self) -> None:
        """At the end of the interpreter: end the kernels, and destroy the context, again and again until no thread is in the way."""
        while not self.destroy() and (self.queues or not self.exports):
            with self.pin() as pin:
                if pin and not library().CtxPushCurrent(self.handle):
                    library().CtxInterrupt(self.handle)
                    for queue in list(self.queues):
                        queue.query()
                    library().CtxPopCurrent(None)
            time.sleep(_POLL)


_CALLS = {f.__code__ for f in (Core.run, Core.result, Core.wait, Core.drain, Core.export, Core.sweep, Core._reap, Core.close, Core.end)}


def destroy_closed() -> None:
    """Destroy the contexts whose close() could not."""
    for core in list(_closed):
        core._reap()
        core.destroy()


def must_not_end() -> None:
    """Refuse to make what nobody would free."""
    if _ended:
        raise RuntimeError('the interpreter is ending')


def _after_fork() -> None:
    """Another thread of the parent may have had a lock."""
    for core in _cores:
        core.lock = threading.RLock()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _end_all() -> None:
    """End all kernels before anything waits. No thread of the library may call into an interpreter that is ending."""
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
