"""Devices: what kernels run on."""
import atexit
import contextlib
import ctypes
import dataclasses
import os
import sys
import threading
import weakref
from typing import Any, Callable, ContextManager, Iterator, List, Optional, Union

from . import _interrupt, errors
from ._header import header
from ._library import call, encoded, library, number

DeviceAttribute: Any = header.enums['ptxiDeviceAttribute']
Limit: Any = header.enums['ptxiLimit']
Dialect: Any = header.enums['ptxiDialect']

_SCHEDULES = {name: header.constants['PTXI_SCHEDULE_' + name.upper()] for name in ('run', 'fair')}
_SCHEDULE_NAMES = {n: name for name, n in _SCHEDULES.items()}
_SINK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_profile_lock = threading.Lock()
_local = threading.local()
_alive: 'weakref.WeakSet[Device]' = weakref.WeakSet()


@dataclasses.dataclass(frozen=True)
class Counters:
    """What was executed while counting; see ptxiCounters in ptxi.h."""
    launches: int
    blocks: int
    threads: int
    warp_instructions: int
    thread_instructions: int
    shared_requests: int
    shared_wavefronts: int
    shared_bank_conflicts: int


def profiles() -> List[str]:
    """The names of the GPUs that a device can be: 'sm_75', ..."""
    names: List[str] = []
    name = ctypes.c_char_p()
    while library().DeviceEnumerateProfile(ctypes.byref(name), len(names)) == 0:
        names.append((name.value or b'').decode())
    return names


class Device:
    """A simulated GPU with its own memory, modules and workers.

    `profile`  which GPU: 'sm_90', 'sm_80', ... Without it the environment variable PTXI_DEVICE decides, else sm_90.
    `workers`  host threads that run kernels; results do not depend on it. Without it PTXI_WORKERS, else one a core.
    `dialect`  what its modules and ptxi.asm may use beyond the PTX ISA: Dialect.ANY_WIDTH and others, added up.

    Ctrl-C in the main thread ends the kernels that it waits for.

    In a `with` statement the device is the current one of the thread: `ptxi.load` and its like use it. What kernels
    print goes to `output`, a function of a string; by default to sys.stdout."""

    def __init__(self, profile: Optional[str] = None, workers: Optional[int] = None, dialect: Any = Dialect.NONE) -> None:
        self._context = ctypes.c_void_p()
        self.output: Optional[Callable[[str], Any]] = None
        self.orphans: List[Callable[[], None]] = []  # what to call once the work queued before has ended
        with _profile_lock:
            before = _text('DeviceGetProfile')
            if profile is not None:
                try:
                    call('DeviceSetProfile', 0, encoded(profile))
                except errors.Error as e:
                    raise ValueError(f'no device profile {profile!r}; there are {", ".join(profiles())}') from e
            try:
                self.profile = _text('DeviceGetProfile')
                self.name = _text('DeviceGetName')
                call('CtxCreate', ctypes.byref(self._context), 0, 0)
                self._attributes = {a: _attribute(a) for a in DeviceAttribute}
            finally:
                call('DeviceSetProfile', 0, before.encode())
        call('CtxPopCurrent', None)
        if workers is not None:
            call('CtxSetWorkers', self._context, number(workers, ctypes.c_uint))
        call('CtxSetDialect', self._context, dialect)
        reference = weakref.ref(self)
        self._sink = _SINK(lambda user, p, n: _print(reference(), ctypes.string_at(p, n)))
        call('CtxSetOutput', self._context, self._sink, None)
        _alive.add(self)
        _interrupt.watch()

    def __repr__(self) -> str:
        return f'<ptxi.Device {self.profile}{"" if self._context else ", closed"}>'

    def __enter__(self) -> 'Device':
        _stack().append(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        _stack().pop()

    def close(self) -> None:
        """Wait for the device's work and free all it has. Its modules, buffers, streams and events are then useless."""
        context, self._context = self._context, ctypes.c_void_p()
        if context and os.getpid() == _pid:
            try:
                with _entered(context):
                    _interrupt.wait(context, library().CtxSynchronize)
            finally:
                call('CtxDestroy', context)
                for settle in self.orphans:
                    settle()

    def __del__(self) -> None:
        if not sys.is_finalizing() and getattr(self, '_context', None):
            with contextlib.suppress(errors.Error):
                self.close()

    def activate(self) -> None:
        """Make the device's context the calling thread's current one, for calls of the library."""
        __tracebackhide__ = True
        if not self._context:
            raise ValueError('the device is closed')
        call('CtxSetCurrent', self._context)

    def entered(self) -> ContextManager[None]:
        """The same inside of a `with` statement: for what the end of an object does, which may come between any two others' steps."""
        if not self._context:
            raise ValueError('the device is closed')
        return _entered(self._context)

    def wait(self, name: str, *args: Any) -> None:
        """Make a call of the library that waits for work; a kernel that failed is a LaunchError."""
        __tracebackhide__ = True
        self.activate()
        result = _interrupt.wait(self._context, getattr(library(), name), *args)
        if result:
            raise errors.launch_error(self._context, result)

    def stop(self, name: str, *args: Any) -> None:
        """End the kernels that run or wait, then make a call that waits: after Ctrl-C, before what kernels use is given back."""
        self.activate()
        library().CtxInterrupt(self._context)
        getattr(library(), name)(*args)

    def synchronize(self) -> None:
        """Wait until all work of the device has ended; the first failure among it is raised, once."""
        __tracebackhide__ = True
        orphans, self.orphans = self.orphans, []
        try:
            self.wait('CtxSynchronize')
        except KeyboardInterrupt:
            self.stop('CtxSynchronize')
            raise
        finally:
            for settle in orphans:
                settle()

    @property
    def workers(self) -> int:
        """Host threads that run kernels."""
        self.activate()
        n = ctypes.c_uint()
        call('CtxGetWorkers', self._context, ctypes.byref(n))
        return n.value

    @property
    def schedule(self) -> Union[str, int]:
        """The order of later launches: 'run', each warp until it waits; 'fair', all warps advance together as on a GPU; or the
        seed of a random order. See ptxiCtxSetSchedule in ptxi.h."""
        self.activate()
        n = ctypes.c_ulonglong()
        call('CtxGetSchedule', self._context, ctypes.byref(n))
        return _SCHEDULE_NAMES.get(n.value, n.value)

    @schedule.setter
    def schedule(self, order: Union[str, int]) -> None:
        self.activate()
        if isinstance(order, str):
            if order not in _SCHEDULES:
                raise ValueError(f'no schedule {order!r}; there are {", ".join(_SCHEDULES)} and seeds, which are numbers')
            order = _SCHEDULES[order]
        call('CtxSetSchedule', self._context, number(order, ctypes.c_ulonglong))

    def attribute(self, which: Any) -> int:
        """A number of the profile: `attribute(DeviceAttribute.WARP_SIZE)`."""
        return self._attributes[which]

    def limit(self, which: Any) -> int:
        """A limit of launches: `limit(Limit.INSTRUCTIONS)`."""
        self.activate()
        value = ctypes.c_size_t()
        call('CtxGetLimit', ctypes.byref(value), which)
        return value.value

    def set_limit(self, which: Any, value: int) -> None:
        """Set a limit for launches made later: `set_limit(Limit.MILLISECONDS, 1000)`."""
        self.activate()
        call('CtxSetLimit', which, number(value, ctypes.c_size_t))

    @contextlib.contextmanager
    def counting(self) -> Iterator[Callable[[], Counters]]:
        """Count what kernels execute inside of the `with` statement, whose value is a function that tells."""
        self.activate()
        call('CtxResetCounters', self._context)
        call('CtxSetCounting', self._context, 1)
        try:
            yield self._counters
        finally:
            if self._context:
                call('CtxSetCounting', self._context, 0)

    def _counters(self) -> Counters:
        self.synchronize()
        c = header.structs['ptxiCounters']()
        c.size = ctypes.sizeof(c)
        call('CtxGetCounters', self._context, ctypes.byref(c))
        return Counters(**errors.as_dict(c))


@contextlib.contextmanager
def _entered(context: Any) -> Iterator[None]:
    before = ctypes.c_void_p()
    call('CtxGetCurrent', ctypes.byref(before))
    call('CtxSetCurrent', context)
    try:
        yield
    finally:
        library().CtxSetCurrent(before)


def current() -> Device:
    """The calling thread's device: that of the innermost `with`, else one that is made for the process."""
    return _stack()[-1] if _stack() else _default()


def given(device: Optional[Device]) -> Device:
    """The device that a function was given, else the current one."""
    if not isinstance(device, (Device, type(None))):
        raise TypeError(f'{device!r} is no device')
    return current() if device is None else device


def _stack() -> List[Device]:
    if not hasattr(_local, 'stack'):
        _local.stack = []
    stack: List[Device] = _local.stack
    return stack


_pid = os.getpid()
_made: List[Device] = []
_made_lock = threading.Lock()


def _default() -> Device:
    with _made_lock:
        if not _made:
            _made.append(Device())
        return _made[0]


def _text(name: str) -> str:
    buffer = ctypes.create_string_buffer(128)
    call(name, buffer, len(buffer), 0)
    return buffer.value.decode()


def _attribute(which: Any) -> int:
    value = ctypes.c_int()
    call('DeviceGetAttribute', ctypes.byref(value), which, 0)
    return value.value


def _print(device: Optional[Device], text: bytes) -> None:
    write = (device.output if device else None) or sys.stdout.write
    write(text.decode(errors='replace'))


@atexit.register
def _close_all() -> None:
    """No thread of the library may call into an interpreter that is ending."""
    for device in list(_alive):
        with contextlib.suppress(errors.Error, KeyboardInterrupt):
            device.close()
