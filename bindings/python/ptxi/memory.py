"""Memory that kernels use: buffers of the device, and the program's own arrays.

Device memory is host memory: an address means the same byte to a kernel and to the program. The device checks every
access, so an array of the program is opened for kernels while a launch uses it, and for no longer."""
import collections
import ctypes
import math
import operator
import threading
from typing import Any, Deque, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

import numpy as np

from . import _dlpack
from ._header import header
from ._library import call, library, number
from ._types import Array, is_of_kernels
from .device import Device, given
from .errors import Error

Shape = Union[int, Sequence[int]]


class Span(NamedTuple):
    """Bytes from `start` to before `end`."""
    start: int
    end: int
    writable: bool


class Pointer(NamedTuple):
    """What an object that holds memory is to a kernel: an address, the memory to open, whom to keep alive."""
    address: int
    span: Optional[Span]
    owner: Any


class Buffer:
    """An array in device memory, which the program sees in place as `array`.

    Offers NumPy's array interface, CUDA's, and DLPack, so that `numpy.asarray(buffer)` and
    `torch.from_dlpack(buffer)` share its memory. It is freed when the last of these is gone, or by `free()`."""

    def __init__(self, shape: Shape, dtype: Any = np.uint8, device: Optional[Device] = None) -> None:
        self.device = given(device)
        self.dtype = np.dtype(dtype)
        self.shape = tuple(map(operator.index, shape)) if np.iterable(shape) else (operator.index(shape),)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        if min(self.shape, default=0) < 0 or not is_of_kernels(self.dtype):
            raise ValueError(f'no buffer of {list(self.shape)} elements of {self.dtype}')
        self.device.activate()
        address = ctypes.c_ulonglong()
        call('MemAlloc', ctypes.byref(address), number(max(self.nbytes, 1), ctypes.c_size_t))
        self.address = address.value

    def __repr__(self) -> str:
        return f'<ptxi.Buffer {self.dtype}{list(self.shape)} at {self.address:#x}>'

    def _must_live(self) -> None:
        if not self.address or not self.device._context:
            raise ValueError('the buffer is freed')

    @property
    def array(self) -> Array:
        """The memory as a NumPy array. Wait for kernels that write it before reading it."""
        self._must_live()
        a: Array = in_place(self.address, self.nbytes, self).view(self.dtype)
        return a.reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        a = self.array
        if dtype is not None and np.dtype(dtype) != a.dtype:
            if copy is False:
                raise ValueError(f'a {self.dtype} buffer is no {np.dtype(dtype)} without a copy')
            return a.astype(dtype)
        return a.copy() if copy else a

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        self._must_live()
        return {'shape': self.shape, 'typestr': self.dtype.str, 'data': (self.address, False), 'strides': None, 'version': 3}

    def __dlpack__(self, *, max_version: Optional[Tuple[int, int]] = None, **_: Any) -> Any:
        return _dlpack.capsule(self.array, max_version)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _dlpack.CPU

    def free(self) -> None:
        """Wait for the device's work, then free the memory."""
        address, self.address = self.address, 0
        if address:
            self.device.wait('MemFree', address)

    def __del__(self) -> None:
        device = getattr(self, 'device', None)
        if device is not None and device._context and getattr(self, 'address', 0):
            try:
                with device.entered():
                    self.free()
            except Exception:  # the interpreter is ending
                pass


def in_place(address: int, nbytes: int, owner: Any) -> Array:
    """Bytes of device memory as an array that keeps its owner alive."""
    raw = (ctypes.c_byte * max(nbytes, 1)).from_address(address)
    setattr(raw, '_keep', owner)
    return np.frombuffer(memoryview(raw), np.uint8)[:nbytes]


def empty(shape: Shape, dtype: Any = np.uint8, device: Optional[Device] = None) -> Buffer:
    """Device memory with contents that mean nothing."""
    return Buffer(shape, dtype, device)


def zeros(shape: Shape, dtype: Any = np.uint8, device: Optional[Device] = None) -> Buffer:
    """Device memory filled with zeros."""
    b = Buffer(shape, dtype, device)
    ctypes.memset(b.address, 0, b.nbytes)
    return b


def copy(array: Any, device: Optional[Device] = None) -> Buffer:
    """A copy of an array in device memory, with its elements in the byte order of kernels."""
    a = np.asarray(array)
    a = a.astype(a.dtype.newbyteorder('='), copy=False)
    b = Buffer(a.shape, a.dtype, device)
    b.array[...] = a
    return b


def _bounds(address: int, shape: Sequence[int], strides: Optional[Sequence[int]], size: int) -> Tuple[int, int]:
    if 0 in shape:
        return address, address
    if strides is None:
        return address, address + size * math.prod(shape)
    reach = [(n - 1) * s for n, s in zip(shape, strides)]
    return address + sum(r for r in reach if r < 0), address + sum(r for r in reach if r > 0) + size


def _from_interface(interface: Dict[str, Any], owner: Any) -> Pointer:
    address, read_only = interface['data']
    size = np.dtype(interface['typestr']).itemsize
    start, end = _bounds(address or 0, interface['shape'], interface.get('strides'), size)
    return Pointer(address or 0, Span(start, end, not read_only), owner)


def pointer(x: Any) -> Optional[Pointer]:
    """The memory that an object holds; None if it is none that a kernel could use in place."""
    if isinstance(x, Buffer):
        x._must_live()
        return Pointer(x.address, None, x)
    if isinstance(x, np.generic):
        return None
    if isinstance(x, np.ndarray):
        return _from_interface(x.__array_interface__, x)
    if hasattr(x, '__cuda_array_interface__'):
        return _from_interface(x.__cuda_array_interface__, x)
    if hasattr(x, '__dlpack_device__'):
        t = _dlpack.Imported(x)
        return Pointer(t.address, Span(*_bounds(t.address, t.shape, t.strides, t.itemsize), t.writable), t)
    if isinstance(x, (bytearray, memoryview, ctypes.Array)) or type(x).__module__ == 'array':
        return _from_interface(np.frombuffer(x, np.uint8).__array_interface__, x)
    return None


class _Piece:
    """A range that is open for kernels as long as there are uses of it."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.users: Set[Use] = set()

    def open(self) -> None:
        flags = header.constants['PTXI_RANGE_READ'] | (header.constants['PTXI_RANGE_WRITE'] if self.span.writable else 0)
        call('MemOpenRange', self.span.start, self.span.end - self.span.start, flags)


class Use:
    """What a launch has open."""

    def __init__(self) -> None:
        self.pieces: List[_Piece] = []


class _Open:
    """The program's memory that kernels may use now. Ranges of the library do not overlap, and one in use is not to be
    touched; so of a span that overlaps others (views of one array, in launches at the same time) the gaps are opened.

    Each step may be followed by a KeyboardInterrupt, or by the garbage collector, which ends launches, too: so a piece is listed before
    it is open until after it is closed, and to end a use again does nothing."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.pieces: List[_Piece] = []
        self._busy = False  # the thread that holds the lock changes the list
        self._ended: Deque[Use] = collections.deque()

    def _known(self, s: Span) -> bool:
        """Whether the library has it already, as device or registered memory."""
        base, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        if library().MemGetAddressRange(ctypes.byref(base), ctypes.byref(size), s.start):
            return False
        return s.end <= base.value + size.value

    def _new(self, span: Span) -> _Piece:
        p = _Piece(span)
        self.pieces.append(p)
        try:
            p.open()
        except Error:
            self.pieces.remove(p)
            raise
        return p

    def _cover(self, s: Span) -> List[_Piece]:
        found = sorted((p for p in self.pieces if p.span.start < s.end and s.start < p.span.end), key=lambda p: p.span)
        if s.writable and not all(p.span.writable for p in found):
            raise BlockingIOError('an array to be written is being used as a read-only one by another launch')
        at, gaps = s.start, []
        for p in found:
            if at < p.span.start:
                gaps.append(Span(at, p.span.start, s.writable))
            at = p.span.end
        if at < s.end:
            gaps.append(Span(at, s.end, s.writable))
        return found + [self._new(g) for g in gaps]

    def acquire(self, use: Use, spans: List[Span], device: Device) -> None:
        """Open spans for a launch; `release(use)` is due in any case."""
        if not spans:
            return
        device.activate()
        with self.lock:
            self._give_back()
            self._busy = True
            try:
                for s in _merge(s for s in spans if s.end > s.start and not self._known(s)):
                    for p in self._cover(s):
                        use.pieces.append(p)
                        p.users.add(use)
            finally:
                self._busy = False
            self._give_back()

    def release(self, use: Use) -> None:
        """The launch has ended."""
        if not use.pieces:
            return
        self._ended.append(use)
        with self.lock:
            if not self._busy:
                self._give_back()

    def _give_back(self) -> None:
        while self._ended:
            for p in self._ended[0].pieces:
                p.users.discard(self._ended[0])
            self._ended.popleft()
        for p in [p for p in self.pieces if not p.users]:
            library().MemCloseRange(p.span.start)
            self.pieces.remove(p)


def _merge(spans: Iterable[Span]) -> List[Span]:
    merged: List[Span] = []
    for s in sorted(spans):
        if merged and s.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, s.end), last.writable or s.writable)
        else:
            merged.append(s)
    return merged


opened = _Open()
