"""The memory of a kernel's arguments: torch tensors, arrays, and objects that wrap them."""
import contextlib
import ctypes
import sys
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Tuple

import numpy as np
from triton._C.libtriton import native_specialize_impl as _native

import ptxi
from ptxi._ranges import READ, READ_WRITE, Span, Use, give_back
from ptxi.memory import pointer

_export = ctypes.c_char.from_buffer
_address = ctypes.addressof
_refer = weakref.ref

# The memory of an argument: the address that the kernel receives; the first address, the size and the permissions of
# the range that it may access (size 0: no range to open); and an object that keeps the memory alive and in place
Memory = Tuple[int, int, int, int, Any]


class Tensor:
    """An array with the members that Triton's own tensors have."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self._memory = of(array)
        shown = np.asarray(array)
        self.dtype, self.shape = shown.dtype, shown.shape
        self._strides = tuple(s // shown.itemsize for s in shown.strides)

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._memory[0]

    def stride(self, dim: Optional[int] = None) -> Any:
        """Return the distances of elements in each dimension, or in one, in elements."""
        return self._strides if dim is None else self._strides[dim]

    def __repr__(self) -> str:
        return f'<ptxi_triton.Tensor {self.dtype}{list(self.shape)}>'


def _of_tensor(x: Any) -> Memory:
    """Return the memory of a torch tensor. Kernels may access all of its storage, as on a GPU."""
    if not x.is_cpu:
        raise TypeError(f'a tensor on the device {x.device} was passed to a kernel that ptxi runs; '
                        'use a tensor on the CPU')
    storage = x.untyped_storage()
    return x.data_ptr(), storage.data_ptr(), storage.nbytes(), READ_WRITE, storage


def _of_wrapper(x: Any) -> Memory:
    """Return the memory of an object that wraps another one as `base`, such as the result of triton.reinterpret."""
    return (x.data_ptr(), *of(x.base)[1:])


def _of_array(x: Any) -> Memory:
    """Return the memory of an object that ptxi accepts."""
    memory = pointer(x)
    assert memory is not None
    span = memory.span or Span(0, 0, True)
    flags = READ_WRITE if span.writable else READ
    return memory.address, span.start, span.end - span.start, flags, memory.owner


def _of_numpy(x: Any) -> Memory:
    """Return the memory of a NumPy array. The export and the weak reference keep it in place."""
    if x.base is None:
        try:
            export = _export(x)
            start = _address(export)
            return start, start, x.nbytes, READ_WRITE, (export, _refer(x))
        except (BufferError, TypeError, ValueError):  # it is not contiguous or may not be written, for example
            pass
    return _of_array(x)


def _of_address(x: Any) -> Memory:
    """Return the address of an object of unknown size. The kernel cannot access it, unless it is open."""
    return x.data_ptr(), 0, 0, READ, x


def _reader(x: Any) -> Callable[[Any], Memory]:
    """Return the function for the memory of objects of the type of `x`. Raises TypeError if they have no memory."""
    torch = sys.modules.get('torch')
    if torch is not None and isinstance(x, torch.Tensor):
        return _of_tensor
    if isinstance(x, Tensor):
        return lambda t: t._memory
    if hasattr(x, 'base') and hasattr(x.base, 'data_ptr') and hasattr(x, 'data_ptr'):
        return _of_wrapper
    if isinstance(x, np.ndarray):
        return _of_numpy
    if isinstance(x, ptxi.Buffer) or not hasattr(x, 'data_ptr'):
        if pointer(x) is not None:
            return _of_array
        raise TypeError(f'a {type(x).__name__} has no memory that a kernel can use')
    return _of_address


readers: Dict[type, Callable[[Any], Memory]] = {}  # functions for the memory of objects, by their types


def reader(x: Any) -> Callable[[Any], Memory]:
    """Return the function for the memory of objects of the type of `x`."""
    made = readers.get(type(x))
    if made is None:
        made = readers[type(x)] = _reader(x)
    return made


def of(x: Any) -> Memory:
    """Return the memory of an argument."""
    return reader(x)(x)


@contextlib.contextmanager
def opened(arrays: Iterable[Any]) -> Iterator[None]:
    """Let kernels of the current device access memory that is not in their arguments."""
    used = [of(x) for x in arrays]
    use = Use(used)
    spans = [Span(start, start + size, flags == READ_WRITE) for _, start, size, flags, _ in used]
    ptxi.current()._core.run(use.open, spans)
    try:
        yield
    finally:
        use.end()
        give_back()


def scratch(size: int, alignment: int = 128) -> Tensor:
    """Return new memory for a kernel, at an address that is a multiple of `alignment`."""
    raw = np.zeros(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return Tensor(raw[start:start + size])


def _as_tensor(x: Any) -> Any:
    """Return an argument with its arrays as tensors. Arguments without arrays are returned as they are."""
    if isinstance(x, tuple):
        made = [_as_tensor(y) for y in x]
        if all(a is b for a, b in zip(made, x)):
            return x
        return type(x)(*made) if hasattr(x, '_fields') else tuple(made)
    if hasattr(x, 'data_ptr') or not hasattr(x, 'dtype'):
        return x
    return Tensor(x)


def _start(x: Any) -> int:
    """Return the address of the first element of a NumPy array."""
    try:
        return _address(_export(x))  # four times as fast as the interface
    except (BufferError, TypeError, ValueError):
        return int(x.__array_interface__['data'][0])


def specialize(backend: Any, x: Any, *options: Any) -> Tuple[Any, Any]:
    """Return the type and the properties of an argument for which Triton compiles a kernel.

    Triton's own function does not know arrays.
    """
    if type(x) is not np.ndarray:
        return _native(backend, _as_tensor(x), *options)  # type: ignore[no-any-return]
    key = x.dtype, _start(x) % 16, *options
    found = _specialized.get(key)
    if found is None:
        found = _specialized[key] = _native(backend, Tensor(x), *options)
    return found


_specialized: Dict[Tuple[Any, ...], Tuple[Any, Any]] = {}  # results for NumPy arrays
