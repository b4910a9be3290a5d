"""Memory that kernels use: buffers in device memory, and arrays of the program.

Device memory is host memory: an address refers to the same byte in a kernel and in the program. The device checks
every access. So the memory of an array is opened for kernels when a launch uses it, and closed when the launch has
ended. Until then the array also keeps its place. Resizing or closing a bytearray, array.array or mmap raises
BufferError, and resizing a NumPy array raises ValueError.

These changes cannot be prevented: ctypes.resize() of a ctypes object, ndarray.__setstate__, a resize in place of
another library's tensor, and an object with __cuda_array_interface__ or __array_interface__ that frees its memory
while it is referred to.
"""
import contextlib
import ctypes
import math
import operator
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union, cast

import numpy as np

from . import _dlpack
from ._library import library, number
from ._lifetime import Handle, NotCopied
from ._ranges import Span
from ._types import Array, is_of_kernels
from .device import Device, given

Shape = Union[int, Sequence[int]]


class Pointer(NamedTuple):
    """The memory of an argument.

    `address`  address of the first element
    `span`     the bytes to open for kernels, or None for device memory
    `owner`    an object that keeps the memory alive
    """
    address: int
    span: Optional[Span]
    owner: Any


class Buffer(NotCopied):
    """An array in device memory. The program accesses it in place as `array`, or by indices: `buffer[1:3] = 0`.

    `shape`   number of elements in each dimension, as an integer or a sequence
    `dtype`   a NumPy type in the native byte order, without Python objects
    `nbytes`  size in bytes

    Buffers support the array interfaces of NumPy and CUDA, and DLPack. So `numpy.asarray(buffer)` and
    `torch.from_dlpack(buffer)` share the memory. The memory is freed after the buffer and all such arrays. CUDA's
    interface is an exception: it does not keep the memory alive. The memory is also freed by `free()`, and at the end
    of `with`:

    >>> import ptxi
    >>> with ptxi.zeros(4, 'f4') as buffer:
    ...     buffer[1] = 2
    ...     print(buffer.array, len(buffer))
    [0. 2. 0. 0.] 4
    >>> buffer
    <ptxi.Buffer float32[4], freed>

    Raises ValueError if the shape or the type is not accepted, and Error if there is not enough memory.
    """

    def __init__(self, shape: Shape, dtype: Any = np.uint8, device: Optional[Device] = None) -> None:
        self.device = given(device)
        self.dtype = np.dtype(dtype)
        self.shape = tuple(map(operator.index, shape)) if np.iterable(shape) else (operator.index(shape),)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        if min(self.shape, default=0) < 0 or not is_of_kernels(self.dtype):
            raise ValueError(f'cannot allocate a buffer of shape {self.shape} and type {self.dtype}; '
                             'lengths must be 0 or more, and the type must have the native byte order and no objects')
        size = number(max(self.nbytes, 1), ctypes.c_size_t)
        self._memory: Optional[Handle] = self._allocate(size)
        self.device._buffers.add(self)

    def _allocate(self, size: int) -> Handle:
        """Return the handle of new memory."""
        return self.device._core.create('MemAlloc', 'MemFree', size)

    @staticmethod
    def at(address: int, shape: Shape, dtype: Any = np.uint8, device: Optional[Device] = None) -> 'Buffer':
        """Return the buffer at an address that `Device.restore` has restored, and that no other object has.

        Raises ValueError if there is no allocation of this size.
        """
        return _Restored(address, shape, dtype, device)

    def _check(self) -> None:
        """Forget the memory if a snapshot that has been restored does not have it."""
        memory = self._memory
        if memory is not None and self.device._core.run(_size_at, memory.value) is None:
            memory.value, self._memory = 0, None

    def __getitem__(self, index: Any) -> Any:
        return self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.array[index] = value

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('a buffer without dimensions has no length')
        return self.shape[0]

    def __enter__(self) -> 'Buffer':
        return self

    def __exit__(self, *exc: Any) -> None:
        self.free()

    def __repr__(self) -> str:
        place = f' at {self.address:#x}' if self.address else ', freed'
        return f'<ptxi.Buffer {self.dtype}{list(self.shape)}{place}>'

    @property
    def address(self) -> int:
        """Address of the first byte, or 0 if the buffer has been freed."""
        memory = self._memory
        return memory.value or 0 if memory is not None else 0

    def _held(self) -> Handle:
        """Return the handle of the memory, which lives as long as the caller refers to it."""
        memory = self._memory
        if memory is None or memory.core.closing:
            raise ValueError('the buffer has been freed')
        return memory

    @property
    def array(self) -> Array:
        """The memory as a NumPy array, which keeps it alive.

        Wait for the kernels that write the memory before reading it.
        """
        a: Array = in_place(self._held(), self.nbytes).view(self.dtype)
        return a.reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        a = self.array
        if dtype is not None and np.dtype(dtype) != a.dtype:
            if copy is False:
                raise ValueError(f'a {self.dtype} buffer cannot become a {np.dtype(dtype)} array without a copy')
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
        """Wait for the work of the device, then free the memory.

        If an array still shows the memory, it is freed after the array.
        """
        memory, self._memory = self._memory, None
        if memory is not None and not memory.core.closing:
            memory.core.drain()


class _Restored(Buffer):
    """A buffer that a snapshot had."""

    def __init__(self, address: int, *args: Any) -> None:
        self._address = address
        super().__init__(*args)

    def _allocate(self, size: int) -> Handle:
        found = self.device._core.run(_size_at, self._address)
        if found != size:
            raise ValueError(f'there is no allocation of {size} bytes at {self._address:#x}')
        return Handle(self.device._core, self._address, 'MemFree')


def _size_at(address: Optional[int]) -> Optional[int]:
    """Return the bytes of the allocation that begins at the address, or None. The context is current."""
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    if library().MemGetAddressRange(ctypes.byref(base), ctypes.byref(size), address) or base.value != address:
        return None
    return size.value


def in_place(memory: Handle, nbytes: int, address: Optional[int] = None) -> Array:
    """Return bytes of device memory as an array of bytes that keeps the memory alive.

    The array begins at `address`, or at the first byte of the memory.
    """
    export = memory.core.export(memory)
    raw = (ctypes.c_byte * max(nbytes, 1)).from_address((memory.value or 0) if address is None else address)
    setattr(raw, '_keep', export)
    return np.frombuffer(memoryview(raw), np.uint8)[:nbytes]


def empty(shape: Shape, dtype: Any = np.uint8, device: Optional[Device] = None) -> Buffer:
    """Allocate device memory with undefined contents."""
    return Buffer(shape, dtype, device)


def zeros(shape: Shape, dtype: Any = np.uint8, device: Optional[Device] = None) -> Buffer:
    """Allocate device memory that is filled with zeros."""
    b = Buffer(shape, dtype, device)
    ctypes.memset(b.address, 0, b.nbytes)
    return b


def copy(array: Any, device: Optional[Device] = None) -> Buffer:
    """Copy an array to device memory, in the native byte order."""
    a = np.asarray(array)
    a = a.astype(a.dtype.newbyteorder('='), copy=False)
    b = Buffer(a.shape, a.dtype, device)
    b.array[...] = a
    return b


def _bounds(address: int, shape: Sequence[int], strides: Optional[Sequence[int]], size: int) -> Tuple[int, int]:
    """Return the first address of an array and the address after its last byte."""
    if 0 in shape:
        return address, address
    if strides is None:
        return address, address + size * math.prod(shape)
    reach = [(n - 1) * s for n, s in zip(shape, strides)]
    return address + sum(r for r in reach if r < 0), address + sum(r for r in reach if r > 0) + size


def _from_interface(interface: Dict[str, Any], owner: Any) -> Pointer:
    """Return the memory that NumPy's or CUDA's array interface describes."""
    address, read_only = interface['data']
    size = np.dtype(interface['typestr']).itemsize
    start, end = _bounds(address or 0, interface['shape'], interface.get('strides'), size)
    return Pointer(address or 0, Span(start, end, not read_only), owner)


def _hold(array: Array) -> List[Any]:
    """Return objects that keep an array in its place.

    NumPy does not resize an array that has a weak reference. Python does not resize a buffer that has an export, and
    NumPy's own reference to the buffer need not be an export.
    """
    held: List[Any] = [array]
    x: Any = array
    while isinstance(x, np.ndarray):
        held.append(weakref.ref(x))
        x = x.base
    if x is not None:
        with contextlib.suppress(TypeError):  # the object does not export a buffer
            held.append(memoryview(x))
    return held


def _of_array(x: Array) -> Pointer:
    """Return the memory of a NumPy array."""
    held, flags = _hold(x), x.flags
    exporter: Any = x
    if flags.c_contiguous and flags.writeable:
        with contextlib.suppress(TypeError, ValueError):  # it has no elements, or their type has no format of buffers
            address = ctypes.addressof(ctypes.c_char.from_buffer(exporter))  # faster than the interface
            return Pointer(address, Span(address, address + x.nbytes, True), held)
    interface = x.__array_interface__
    if interface['strides'] is not None:
        return _from_interface(interface, held)
    address, read_only = interface['data']
    return Pointer(address, Span(address, address + x.nbytes, not read_only), held)


def pointer(x: Any) -> Optional[Pointer]:
    """Return the memory of an object, or None if it has no memory that a kernel can use in place."""
    if isinstance(x, Buffer):
        memory = x._held()
        return Pointer(memory.value or 0, None, memory)
    if isinstance(x, np.ndarray):
        return _of_array(x)
    if isinstance(x, np.generic):
        return None
    if isinstance(x, (bytearray, memoryview, ctypes.Array)) or type(x).__module__ == 'array':
        return _of_array(np.frombuffer(cast(Any, x), np.uint8))
    if hasattr(x, '__cuda_array_interface__'):
        return _from_interface(x.__cuda_array_interface__, x)
    if hasattr(x, '__dlpack_device__'):
        t = _dlpack.Imported(x)
        return Pointer(t.address, Span(*_bounds(t.address, t.shape, t.strides, t.itemsize), t.writable), t)
    return None
