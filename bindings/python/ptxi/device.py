"""Devices, on which kernels run."""
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

OnFault: Any = header.enums['ptxiOnFault']
Tier: Any = header.enums['ptxiTier']

# The values of ptxiCtxSetSchedule that have a name
_SCHEDULES = {name: header.constants['PTXI_SCHEDULE_' + name.upper()] for name in ('run', 'fair')}
_SCHEDULE_NAMES = {n: name for name, n in _SCHEDULES.items()}
_SINK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_local = threading.local()
_profile_lock: Any
_made_lock: Any


@dataclasses.dataclass(frozen=True)
class Counters:
    """Numbers of events that were counted. See ptxiCounters in ptxi.h."""
    launches: int
    blocks: int
    threads: int
    warp_instructions: int
    thread_instructions: int
    shared_requests: int
    shared_wavefronts: int
    shared_bank_conflicts: int


def profiles() -> List[str]:
    """Return the names of the GPUs that a device can simulate, such as 'sm_75'."""
    names: List[str] = []
    name = ctypes.c_char_p()
    while library().DeviceEnumerateProfile(ctypes.byref(name), len(names)) == 0:
        names.append((name.value or b'').decode())
    return names


def device_count() -> int:
    """Return the number of devices, which the environment variable PTXI_DEVICE lists."""
    count = ctypes.c_int()
    call('DeviceGetCount', ctypes.byref(count))
    return count.value


class Device(NotCopied):
    """A simulated GPU with its own memory, modules and worker threads.

    `profile`  the GPU to simulate, such as 'sm_90'; or the number of a device of the environment variable PTXI_DEVICE,
               which lists profiles, such as 'sm_90,sm_80'; default: device 0, which is an 'sm_90' without PTXI_DEVICE
    `workers`  number of host threads that run kernels, which does not change results;
               default: the environment variable PTXI_WORKERS, else the number of cores
    `dialect`  extensions of the PTX ISA that modules and ptxi.asm accept: a sum of members of `ptxi.Dialect`

    Inside a `with` statement the device is the current device of the thread, which `ptxi.load` and other functions use
    by default. `output` is a function that receives the text that kernels print, as str. Without it, the text goes to
    sys.stdout.

    Ctrl-C in the main thread interrupts the kernels for which the thread waits.

    A kernel can access the memory of a device with another number after `enable_peer_access`.

    Raises ValueError if the profile or the number is unknown or `workers` is out of range. `close()` frees the device.
    A device without references is freed when its work has ended.
    """

    def __init__(self, profile: Union[str, int, None] = None, workers: Optional[int] = None,
                 dialect: Any = Dialect.NONE) -> None:
        self.output: Optional[Callable[[str], Any]] = None
        self._buffers: Any = weakref.WeakSet()
        _lifetime.must_not_end()
        _lifetime.destroy_closed()
        self.ordinal = 0 if profile is None or isinstance(profile, str) else number(profile, ctypes.c_int)
        if not 0 <= self.ordinal < device_count():  # raises Error in a forked child, before anything waits for a lock
            raise ValueError(f'there is no device {self.ordinal}; PTXI_DEVICE lists {device_count()}')
        reference = weakref.ref(self)
        sink = _SINK(lambda user, p, n: _print(reference(), ctypes.string_at(p, n)))
        with _profile_lock:
            before = _text('DeviceGetProfile', self.ordinal)
            if isinstance(profile, str):
                try:
                    call('DeviceSetProfile', 0, encoded(profile))
                except errors.Error as e:
                    raise ValueError(f'unknown device profile {profile!r}; accepted: {", ".join(profiles())}') from e
            try:
                self.profile = _text('DeviceGetProfile', self.ordinal)
                self.name = _text('DeviceGetName', self.ordinal)
                context = ctypes.c_void_p()
                call('CtxCreate', ctypes.byref(context), 0, self.ordinal)
                self._core = Core(context, sink)
                call('CtxPopCurrent', None)
                self._attributes = {a: _attribute(a, self.ordinal) for a in DeviceAttribute}
            finally:
                call('DeviceSetProfile', self.ordinal, before.encode())
        if workers is not None:
            self._core.call('CtxSetWorkers', context, number(workers, ctypes.c_uint))
        self._core.call('CtxSetDialect', context, dialect)
        self._core.call('CtxSetOutput', context, sink, None)
        _interrupt.watch()

    @property
    def _context(self) -> ctypes.c_void_p:
        """The context as the library's functions take it, or NULL if the device is closed."""
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
        """Wait for the calls of other threads and for the work of the device, then free the device.

        Memory that arrays still show is freed after them. The device's modules, buffers, streams and events raise
        ValueError when they are used.
        """
        self._core.close()

    def __del__(self) -> None:
        core = getattr(self, '_core', None)
        if core is not None:
            core.shut()
            core.destroy()

    def activate(self) -> None:
        """Make the device's context the current context of the calling thread, for direct calls of the library."""
        __tracebackhide__ = True
        self._core.must_be_open()
        call('CtxSetCurrent', self._core.handle)

    def synchronize(self) -> None:
        """Wait until all work of the device has ended.

        Raises LaunchError for the first kernel that failed. A failure is raised once.
        """
        __tracebackhide__ = True
        self._core.wait('CtxSynchronize')

    @property
    def workers(self) -> int:
        """Number of host threads that run kernels."""
        n = ctypes.c_uint()
        self._core.call('CtxGetWorkers', self._core.handle, ctypes.byref(n))
        return n.value

    @property
    def schedule(self) -> Union[str, int]:
        """The order in which later launches run their warps. See ptxiCtxSetSchedule in ptxi.h.

        'run'       each warp runs until it must wait
        'fair'      all warps advance together, as on a GPU
        an integer  a random order with this seed
        """
        n = ctypes.c_ulonglong()
        self._core.call('CtxGetSchedule', self._core.handle, ctypes.byref(n))
        return _SCHEDULE_NAMES.get(n.value, n.value)

    @schedule.setter
    def schedule(self, order: Union[str, int]) -> None:
        if isinstance(order, str):
            if order not in _SCHEDULES:
                raise ValueError(f'unknown schedule {order!r}; accepted: {", ".join(_SCHEDULES)}, '
                                 'or an integer as a seed')
            order = _SCHEDULES[order]
        self._core.call('CtxSetSchedule', self._core.handle, number(order, ctypes.c_ulonglong))

    @property
    def tier(self) -> str:
        """How later launches execute kernels. See ptxiCtxSetTier in ptxi.h.

        'auto'         functions that run often are compiled to machine code
        'interpreter'  nothing is compiled
        'native'       every function is compiled before it runs
        """
        value = ctypes.c_int()
        self._core.call('CtxGetTier', self._core.handle, ctypes.byref(value))
        return str(Tier(value.value).name.lower())

    @tier.setter
    def tier(self, tier: str) -> None:
        names = {member.name.lower(): member for member in Tier}
        if tier not in names:
            raise ValueError(f'unknown tier {tier!r}; accepted: {", ".join(names)}')
        self._core.call('CtxSetTier', self._core.handle, names[tier])

    @property
    def on_fault(self) -> str:
        """What happens when a thread of a later launch makes an invalid memory access. See ptxiCtxSetOnFault in ptxi.h.

        'fail'      the launch fails
        'report'    the thread continues, and a report is written to the stderr of the process
        """
        value = ctypes.c_int()
        self._core.call('CtxGetOnFault', self._core.handle, ctypes.byref(value))
        return str(OnFault(value.value).name.lower())

    @on_fault.setter
    def on_fault(self, what: str) -> None:
        names = {member.name.lower(): member for member in OnFault}
        if what not in names:
            raise ValueError(f'unknown value {what!r} of on_fault; accepted: {", ".join(names)}')
        self._core.call('CtxSetOnFault', self._core.handle, names[what])

    def attribute(self, which: Any) -> int:
        """Return an attribute of the device, such as `attribute(DeviceAttribute.WARP_SIZE)`."""
        return self._attributes[which]

    def limit(self, which: Any) -> int:
        """Return a limit of launches, such as `limit(Limit.INSTRUCTIONS)`."""
        value = ctypes.c_size_t()
        self._core.call('CtxGetLimit', ctypes.byref(value), which)
        return value.value

    def set_limit(self, which: Any, value: int) -> None:
        """Set a limit for later launches, such as `set_limit(Limit.MILLISECONDS, 1000)`.

        Raises ValueError if the value is negative or too large.
        """
        self._core.call('CtxSetLimit', which, number(value, ctypes.c_size_t))

    def enable_peer_access(self, peer: 'Device') -> None:
        """Let kernels of this device access the memory of a device with another number."""
        with peer._core.pin():
            peer._core.must_be_open()
            self._core.call('CtxEnablePeerAccess', peer._core.handle, 0)

    def disable_peer_access(self, peer: 'Device') -> None:
        """End `enable_peer_access`."""
        with peer._core.pin():
            peer._core.must_be_open()
            self._core.call('CtxDisablePeerAccess', peer._core.handle)

    def save(self, path: Any, base: Any = None, note: bytes = b'') -> None:
        """Write the device's memory and state to a file. See ptxiCtxSave in ptxi.h.

        `base`  an earlier snapshot in the same directory; the file has only what differs from it, and needs it
        `note`  bytes that `restore` returns, such as the addresses of buffers

        NumPy arrays of the program are not memory of the device. Raises Error with the reason.
        """
        __tracebackhide__ = True
        self.synchronize()
        self._core.run(self._snapshot, 'CtxSave', self._core.handle, os.fsencode(path),
                       None if base is None else os.fsencode(base), bytes(note), len(note))

    def restore(self, path: Any) -> bytes:
        """Give the device the memory and the state of a snapshot, and return its note. See ptxiCtxRestore in ptxi.h.

        Buffers that the snapshot does not have are freed. `Buffer.at` returns buffers that no object has. Modules of
        the snapshot are loaded before it is saved, or after it is restored. Raises Error with the reason.
        """
        __tracebackhide__ = True
        self.synchronize()
        note, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._core.run(self._snapshot, 'CtxRestore', self._core.handle, os.fsencode(path), ctypes.byref(note),
                       ctypes.byref(size))
        for buffer in list(self._buffers):
            buffer._check()
        try:
            return ctypes.string_at(note, size.value)
        finally:
            library().Free(note)

    def _snapshot(self, name: str, *args: Any) -> None:
        """Call a function whose failures have a report. The context is current."""
        result = getattr(library(), name)(*args)
        if result:
            failure = errors.launch_error(self._core.handle, result)
            raise errors.Error(str(failure), failure.result)

    @contextlib.contextmanager
    def counting(self) -> Iterator[Callable[[], Counters]]:
        """Count the events of kernels inside the `with` statement.

        The value of the statement is a function. It waits for the device and returns the `Counters`.
        """
        self._core.call('CtxResetCounters', self._core.handle)
        self._core.call('CtxSetCounting', self._core.handle, 1)
        try:
            yield self._counters
        finally:
            with contextlib.suppress(ValueError):  # the device may be closed
                self._core.call('CtxSetCounting', self._core.handle, 0)

    def _counters(self) -> Counters:
        """Wait for the device, and return its counters."""
        self.synchronize()
        c = header.structs['ptxiCounters']()
        c.size = ctypes.sizeof(c)
        self._core.call('CtxGetCounters', self._core.handle, ctypes.byref(c))
        return Counters(**errors.as_dict(c))


def current() -> Device:
    """Return the current device of the calling thread.

    It is the device of the innermost `with` statement, else a default device that all threads share.
    """
    return _stack()[-1] if _stack() else _default()


def given(device: Optional[Device]) -> Device:
    """Return the device that a function received as an argument, or the current device for None."""
    if not isinstance(device, (Device, type(None))):
        raise TypeError(f'{device!r} is not a ptxi.Device')
    return current() if device is None else device


def _stack() -> List[Device]:
    """Return the devices of the active `with` statements of this thread, the innermost last."""
    if not hasattr(_local, 'stack'):
        _local.stack = []
    stack: List[Device] = _local.stack
    return stack


_made: List[Device] = []  # the default device of the process, once it exists


def _after_fork() -> None:
    """Replace the locks: in the parent process another thread may have held them."""
    global _profile_lock, _made_lock
    _profile_lock, _made_lock = threading.RLock(), threading.RLock()


_after_fork()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)


def _default() -> Device:
    """Return the default device of the process. The first call creates it."""
    with _made_lock:
        if not _made:
            _made.append(Device())
        return _made[0]


def _text(name: str, device: int) -> str:
    """Return the string that a function of a device writes to a buffer."""
    buffer = ctypes.create_string_buffer(128)
    call(name, buffer, len(buffer), device)
    return buffer.value.decode()


def _attribute(which: Any, device: int) -> int:
    """Return an attribute of a device."""
    value = ctypes.c_int()
    call('DeviceGetAttribute', ctypes.byref(value), which, device)
    return value.value


def _print(device: Optional[Device], text: bytes) -> None:
    """Pass text that a kernel printed to the output of the device."""
    write = (device.output if device else None) or sys.stdout.write
    try:
        write(text.decode(errors='replace'))
    except KeyboardInterrupt:
        _interrupt.keep()

