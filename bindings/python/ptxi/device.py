"""Devices: what kernels run on."""
import contextlib
import ctypes
import dataclasses
import os
import sys
import threading
import weakref
from typing import Any, Callable, Iterator, List, Optional, Union

from . import _interrupt, _lifetime, errors
from ._header import header
from ._library import call, encoded, library, number
from ._lifetime import Core, NotCopied

DeviceAttribute: Any = header.enums['ptxiDeviceAttribute']
Limit: Any = header.enums['ptxiLimit']
Dialect: Any = header.enums['ptxiDialect']

_SCHEDULES = {name: header.constants['PTXI_SCHEDULE_' + name.upper()] for name in ('run', 'fair')}
_SCHEDULE_NAMES = {n: name for name, n in _SCHEDULES.items()}
_SINK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_local = threading.local()
_profile_lock: Any
_made_lock: Any


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


class Device(NotCopied):
    """A simulated GPU with its own memory, modules and workers.

    `profile`  which GPU: 'sm_90', 'sm_80', ... Without it the environment variable PTXI_DEVICE decides, else sm_90.
    `workers`  host threads that run kernels; results do not depend on it. Without it PTXI_WORKERS, else one a core.
    `dialect`  what its modules and ptxi.asm may use beyond the PTX ISA: Dialect.ANY_WIDTH and others, added up.

    Ctrl-C in the main thread ends the kernels that it waits for.

    In a `with` statement the device is the current one of the thread: `ptxi.load` and its like use it. What kernels
    print goes to `output`, a function of a string; by default to sys.stdout."""

    def __init__(self, profile: Optional[str] = None, workers: Optional[int] = None, dialect: Any = Dialect.NONE) -> None:
        self.output: Optional[Callable[[str], Any]] = None
        _lifetime.must_not_end()
        _lifetime.destroy_closed()
        _text('DeviceGetProfile')  # an error in a forked child, where another thread may have had the lock
        reference = weakref.ref(self)
        sink = _SINK(lambda user, p, n: _print(reference(), ctypes.string_at(p, n)))
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
                context = ctypes.c_void_p()
                call('CtxCreate', ctypes.byref(context), 0, 0)
                self._core = Core(context, sink)
                call('CtxPopCurrent', None)
                self._attributes = {a: _attribute(a) for a in DeviceAttribute}
            finally:
                call('DeviceSetProfile', 0, before.encode())
        if workers is not None:
            self._core.call('CtxSetWorkers', context, number(workers, ctypes.c_uint))
        self._core.call('CtxSetDialect', context, dialect)
        self._core.call('CtxSetOutput', context, sink, None)
        _interrupt.watch()

    @property
    def _context(self) -> ctypes.c_void_p:
        """The context as calls of the library take it; of a closed device NULL."""
        return ctypes.c_void_p() if self._core.closing else self._core.handle

    def __repr__(self) -> str:
        return f'<ptxi.Device {self.profile}{"" if self._context else ", closed"}>'

    def __enter__(self) -> 'Device':
        _stack().append(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        stack = _stack()
        for i in reversed(range(len(stack))):
            if stack[i] is self:
                del stack[i]
                break

    def close(self) -> None:
        """Wait for the calls of other threads and for the device's work, then free all it has, but for memory that arrays still show. Its
        modules, buffers, streams and events are then useless: what uses them raises ValueError."""
        self._core.close()

    def __del__(self) -> None:
        core = getattr(self, '_core', None)
        if core is not None:
            core.shut()
            core.destroy()

    def activate(self) -> None:
        """Make the device's context the calling thread's current one, for calls of the library."""
        __tracebackhide__ = True
        self._core.must_be_open()
        call('CtxSetCurrent', self._core.handle)

    def synchronize(self) -> None:
        """Wait until all work of the device has ended; the first failure among it is raised, once."""
        __tracebackhide__ = True
        self._core.wait('CtxSynchronize')

    @property
    def workers(self) -> int:
        """Host threads that run kernels."""
        n = ctypes.c_uint()
        self._core.call('CtxGetWorkers', self._core.handle, ctypes.byref(n))
        return n.value

    @property
    def schedule(self) -> Union[str, int]:
        """The order of later launches: 'run', each warp until it waits; 'fair', all warps advance together as on a GPU; or the
        seed of a random order. See ptxiCtxSetSchedule in ptxi.h."""
        n = ctypes.c_ulonglong()
        self._core.call('CtxGetSchedule', self._core.handle, ctypes.byref(n))
        return _SCHEDULE_NAMES.get(n.value, n.value)

    @schedule.setter
    def schedule(self, order: Union[str, int]) -> None:
        if isinstance(order, str):
            if order not in _SCHEDULES:
                raise ValueError(f'no schedule {order!r}; there are {", ".join(_SCHEDULES)} and seeds, which are numbers')
            order = _SCHEDULES[order]
        self._core.call('CtxSetSchedule', self._core.handle, number(order, ctypes.c_ulonglong))

    def attribute(self, which: Any) -> int:
        """A number of the profile: `attribute(DeviceAttribute.WARP_SIZE)`."""
        return self._attributes[which]

    def limit(self, which: Any) -> int:
        """A limit of launches: `limit(Limit.INSTRUCTIONS)`."""
        value = ctypes.c_size_t()
        self._core.call('CtxGetLimit', ctypes.byref(value), which)
        return value.value

    def set_limit(self, which: Any, value: int) -> None:
        """Set a limit for launches made later: `set_limit(Limit.MILLISECONDS, 1000)`."""
        self._core.call('CtxSetLimit', which, number(value, ctypes.c_size_t))

    @contextlib.contextmanager
    def counting(self) -> Iterator[Callable[[], Counters]]:
        """Count what kernels execute inside of the `with` statement, whose value is a function that tells."""
        self._core.call('CtxResetCounters', self._core.handle)
        self._core.call('CtxSetCounting', self._core.handle, 1)
        try:
            yield self._counters
        finally:
            with contextlib.suppress(ValueError):  # the device is closed
                self._core.call('CtxSetCounting', self._core.handle, 0)

    def _counters(self) -> Counters:
        self.synchronize()
        c = header.structs['ptxiCounters']()
        c.size = ctypes.sizeof(c)
        self._core.call('CtxGetCounters', self._core.handle, ctypes.byref(c))
        return Counters(**errors.as_dict(c))


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


_made: List[Device] = []


def _after_fork() -> None:
    """Another thread of the parent may have had a lock."""
    global _profile_lock, _made_lock
    _profile_lock, _made_lock = threading.RLock(), threading.RLock()


_after_fork()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)


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
    try:
        write(text.decode(errors='replace'))
    except KeyboardInterrupt:
        _interrupt.keep()

