"""Memory that kernels use: buffers of the device, and the program's own arrays.

Device memory is host memory: an address means the same byte to a kernel and to the program. The device checks every
access, so an array of the program is opened for kernels while a launch uses it, and for no longer. Until then it also stays where it
is: a bytearray, array.array or mmap cannot be resized or closed meanwhile (BufferError), nor can a NumPy array be resized (ValueError).
What cannot be held: a ctypes object that ctypes.resize() moves, ndarray.__setstate__, a tensor of another library that is resized in
place, and the memory of an object with __cuda_array_interface__ or __array_interface__ that frees it while it is referred to."""
import contextlib
import ctypes
import math
import operator
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _dlpack
from ._library import number
from ._lifetime import Handle, NotCopied
from ._ranges import Span
from ._types import Array, is_of_kernels
from .device import Device, given

Shape = Union[int, Sequence[int]]


class Pointer(NamedTuple):
    """What an object that holds memory is to a kernel: an address, the memory to open, whom to keep alive."""
    address: int
    span: Optional[Span]
    owner: Any


class Buffer(NotCopied):
    """An array in device memory, which the program sees in place as `array`.

    Offers NumPy's array interface, CUDA's, and DLPack, so that `numpy.asarray(buffer)` and
    `torch.from_dlpack(buffer)` share its memory. It is freed when the last of these is gone, but for CUDA's interface, which does
    not say when its user is done."""

    def __init__(self, shape: Shape, dtype: Any = np.uint8, device: Optional[Device] = None) -> None:
        self.device = given(device)
        self.dtype = np.dtype(dtype)
        self.shape = tuple(map(operator.index, shape)) if np.iterable(shape) else (operator.index(shape),)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        if min(self.shape, default=0) < 0 or not is_of_kernels(self.dtype):
            raise ValueError(f'no buffer of {list(self.shape)} elements of {self.dtype}')
        self._memory: Optional[Handle] = self.device._core.create('MemAlloc', 'MemFree', number(max(self.nbytes, 1), ctypes.c_size_t))

    def __repr__(self) -> str:
        return f'<ptxi.Buffer {self.dtype}{list(self.shape)} at {self.address:#x}>'

    @property
    def address(self) -> int:
        """Where the memory begins; 0 once it is freed."""
        memory = self._memory
        return memory.value or 0 if memory is not None else 0

    def _held(self) -> Handle:
        """The memory, for as long as the caller refers to it."""
        memory = self._memory
        if memory is None or memory.core.closing:
            raise ValueError('the buffer is freed')
        return memory

    @property
    def array(self) -> Array:
        """The memory as a NumPy array, which keeps it. Wait for kernels that write it before reading it."""
        a: Array = in_place(self._held(), self.nbytes).view(self.dtype)
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
        address = self._held().value
        return {'shape': self.shape, 'typestr': self.dtype.str, 'data': (address, False), 'strides': None, 'version': 3}

    def __dlpack__(self, *, max_version: Optional[Tuple[int, int]] = None, **_: Any) -> Any:
        return _dlpack.capsule(self.array, max_version)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _dlpack.CPU

    def free(self) -> None:
        """Wait for the device's work, then free the memory, or leave that to the last array that shows it."""
        memory, self._memory = self._memory, None
        if memory is not None and not memory.core.closing:
            memory.core.drain()


def in_place(memory: Handle, nbytes: int, address: Optional[int] = None) -> Array:
    """Bytes of device memory, where the memory begins or at an address in it, as an array that keeps it."""
    export = memory.core.export(memory)
    raw = (ctypes.c_byte * max(nbytes, 1)).from_address((memory.value or 0) if address is None else address)
    setattr(raw, '_keep', export)
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


def _hold(array: Array) -> List[Any]:
    """What keeps an array where it is: NumPy does not resize an array that has a weak reference, nor does Python a buffer that is
    exported. NumPy's own reference to the latter need not be an export."""
    held: List[Any] = [array]
    x: Any = array
    while isinstance(x, np.ndarray):
        held.append(weakref.ref(x))
        x = x.base
    with contextlib.suppress(TypeError):  # it has no buffer
        held.append(memoryview(x))
    return held


def pointer(x: Any) -> Optional[Pointer]:
    """The memory that an object holds; None if it is none that a kernel could use in place."""
    if isinstance(x, Buffer):
        memory = x._held()
        return Pointer(memory.value or 0, None, memory)
    if isinstance(x, np.generic):
        return None
    if isinstance(x, (bytearray, memoryview, ctypes.Array)) or type(x).__module__ == 'array':
        x = np.frombuffer(x, np.uint8)
    if isinstance(x, np.ndarray):
        held = _hold(x)
        return _from_interface(x.__array_interface__, held)
    if hasattr(x, '__cuda_array_interface__'):
        return _from_interface(x.__cuda_array_interface__, x)
    if hasattr(x, '__dlpack_device__'):
        t = _dlpack.Imported(x)
        return Pointer(t.address, Span(*_bounds(t.address, t.shape, t.strides, t.itemsize), t.writable), t)
    return None
