"""The memory of a kernel's arguments: torch tensors, arrays, and objects that wrap them."""
import contextlib
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, NamedTuple, Optional, Tuple

import numpy as np
from triton._C.libtriton import native_specialize_impl as _native

import ptxi
from ptxi import _ranges
from ptxi._ranges import Span
from ptxi.memory import pointer


class Memory(NamedTuple):
    """The memory of an argument.

    `address`  the address that the kernel receives
    `span`     the bytes that the kernel may access, or None if they need not be opened
    `owner`    an object that keeps the memory alive
    """
    address: int
    span: Optional[Span]
    owner: Any


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
        return self._memory.address

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
    address, storage = x.data_ptr(), x.untyped_storage()
    start = storage.data_ptr()
    return Memory(address, Span(start, start + storage.nbytes(), True), storage)


def _of_wrapper(x: Any) -> Memory:
    """Return the memory of an object that wraps another one as `base`, such as the result of triton.reinterpret."""
    return of(x.base)._replace(address=x.data_ptr())


def _of_array(x: Any) -> Memory:
    """Return the memory of an object that ptxi accepts."""
    memory = pointer(x)
    assert memory is not None
    return Memory(*memory)


def _of_address(x: Any) -> Memory:
    """Return the address of an object whose size is not known. The kernel cannot access it, unless it is open."""
    return Memory(x.data_ptr(), None, x)


def _reader(x: Any) -> Callable[[Any], Memory]:
    """Return the function for the memory of objects of the type of `x`. Raises TypeError if they have no memory."""
    torch = sys.modules.get('torch')
    if torch is not None and isinstance(x, torch.Tensor):
        return _of_tensor
    if isinstance(x, Tensor):
        return lambda t: t._memory
    if hasattr(x, 'base') and hasattr(x.base, 'data_ptr') and hasattr(x, 'data_ptr'):
        return _of_wrapper
    if isinstance(x, (ptxi.Buffer, np.ndarray)) or not hasattr(x, 'data_ptr'):
        if pointer(x) is not None:
            return _of_array
        raise TypeError(f'a {type(x).__name__} has no memory that a kernel can use')
    return _of_address


_readers: Dict[type, Callable[[Any], Memory]] = {}


def of(x: Any) -> Memory:
    """Return the memory of an argument."""
    reader = _readers.get(type(x))
    if reader is None:
        reader = _readers[type(x)] = _reader(x)
    return reader(x)


@contextlib.contextmanager
def opened(arrays: Iterable[Any]) -> Iterator[None]:
    """Let kernels of the current device access memory that is not in their arguments."""
    used = [of(x) for x in arrays]
    use = _ranges.Use(used)
    ptxi.current()._core.run(_ranges.opened.acquire, use, [m.span for m in used if m.span is not None])
    try:
        yield
    finally:
        use.end()
        _ranges.opened.give_back()


def scratch(size: int, alignment: int = 128) -> Tensor:
    """Return new memory for a kernel, at an address that is a multiple of `alignment`."""
    raw = np.zeros(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return Tensor(raw[start:start + size])


class _Shown:
    """What Triton needs to know of a NumPy array before a launch."""

    def __init__(self, address: int, dtype: Any) -> None:
        self._address, self.dtype = address, dtype

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._address


def _as_tensor(x: Any) -> Any:
    """Return an argument with its arrays as tensors. Arguments without arrays are returned as they are."""
    if isinstance(x, tuple):
        made = [_as_tensor(y) for y in x]
        if all(a is b for a, b in zip(made, x)):
            return x
        return type(x)(*made) if hasattr(x, '_fields') else tuple(made)
    if type(x) is np.ndarray:
        return _Shown(x.__array_interface__['data'][0], x.dtype)
    if hasattr(x, 'data_ptr') or not hasattr(x, 'dtype'):
        return x
    return Tensor(x)


def specialize(backend: Any, x: Any, *options: Any) -> Tuple[Any, Any]:
    """Return the type and the properties of an argument for which Triton compiles a kernel.

    Triton's own function does not know arrays.
    """
    return _native(backend, _as_tensor(x), *options)  # type: ignore[no-any-return]
