"""Converts Python values to the arguments of a kernel, by the types of its parameters."""
import ctypes
import dataclasses
import numbers
import struct
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from ._types import is_float, is_of_kernels, with_article
from .errors import ArgumentError
from .memory import Pointer, pointer


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel, as PTX declares it.

    `type`    'u32', 'f16', 'b8' and so on
    `space`   the state space of .ptr, or None
    `offset`  offset in the parameter buffer, in bytes
    `bytes`   size in bytes
    `align`   alignment in bytes
    `count`   number of elements, or 0 if the parameter is not an array
    """
    name: str
    type: str
    space: Optional[str]
    offset: int
    bytes: int
    align: int
    count: int

    def __str__(self) -> str:
        return f'.{self.type} {self.name}[{self.count}]' if self.count else f'.{self.type} {self.name}'


_FLOATS = {'f16': np.float16, 'f32': np.float32, 'f64': np.float64}


class _Refused(Exception):
    """An argument cannot be converted to its parameter. The message describes the argument, such as 'a str'."""


def _integer(p: Parameter, x: Any) -> bytes:
    """Convert a number to an integer parameter. The number may be signed or unsigned."""
    bits = p.bytes * 8
    if isinstance(x, np.generic) and is_float(x.dtype):
        if p.type[0] == 'b' and x.dtype.itemsize == p.bytes:
            return x.tobytes()
        raise _Refused(with_article(str(x.dtype)))
    if not isinstance(x, (numbers.Integral, np.bool_)):
        raise _Refused(with_article(type(x).__name__))
    v = int(x)
    if not -(1 << bits - 1) <= v < 1 << bits:
        raise _Refused(f'{v}, which does not fit in {bits} bits')
    return (v & (1 << bits) - 1).to_bytes(p.bytes, 'little')


def _float(p: Parameter, x: Any) -> bytes:
    """Convert a number to a float parameter, rounded to nearest. A finite number must not become infinite."""
    if not isinstance(x, (numbers.Real, np.bool_)) and not (isinstance(x, np.generic) and is_float(x.dtype)):
        raise _Refused(with_article(type(x).__name__))
    try:
        number = float(x)
    except OverflowError:
        raise _Refused('an integer that is too large') from None
    with np.errstate(over='ignore'):
        v = np.asarray(x).astype(_FLOATS[p.type])
    if np.isinf(v) and np.isfinite(number):
        raise _Refused(f'{x}, which is too large')
    return v.tobytes()


def _value(p: Parameter, x: Any) -> bytes:
    """Convert a structure or an array that is passed by value: any object that has the same number of bytes."""
    if isinstance(x, np.ndarray) or isinstance(x, np.generic):
        data = x.tobytes()
    elif isinstance(x, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union, ctypes.Array)):
        data = bytes(x)
    else:
        raise _Refused(with_article(type(x).__name__))
    if len(data) != p.bytes:
        raise _Refused(f'a value of {len(data)} bytes')
    return data


def _describe(x: Any) -> str:
    """Describe an object that is not a number, for an error message."""
    shape = getattr(x, 'shape', None)
    if shape is None:
        return with_article(type(x).__name__)
    return with_article(f'{getattr(x, "dtype", "")} array of shape {tuple(shape)}'.strip())


def _convert(p: Parameter, x: Any) -> Tuple[bytes, Optional[Pointer]]:
    """Return the bytes of an argument and, if it is an array, its memory. Raises _Refused if it does not fit."""
    dtype = getattr(x, 'dtype', None)
    if isinstance(dtype, np.dtype) and not is_of_kernels(dtype):
        raise _Refused(_describe(x))
    if p.count:
        return _value(p, x), None
    memory = pointer(x)
    if memory is not None:
        if p.bytes != 8 or p.type not in ('u64', 's64', 'b64'):
            raise _Refused(_describe(x))
        return memory.address.to_bytes(8, 'little'), memory
    if p.type in _FLOATS:
        return _float(p, x), None
    if x is None and p.bytes == 8:
        return bytes(8), None
    return _integer(p, x), None


def _shortcut(p: Parameter) -> Callable[[Any], Optional[bytes]]:
    """Return a fast conversion of Python's own numbers. It returns None for all values that need `_convert`."""
    if p.count or p.type == 'f16' or p.bytes > 8:
        return lambda x: None
    if p.type in _FLOATS:
        write = struct.Struct('<f' if p.type == 'f32' else '<d').pack

        def convert_float(x: Any) -> Optional[bytes]:
            try:
                return write(x) if type(x) is float and x == x else None
            except OverflowError:
                return None
        return convert_float
    size = p.bytes
    low, mask = -1 << 8 * size - 1, (1 << 8 * size) - 1

    def convert_integer(x: Any) -> Optional[bytes]:
        return (x & mask).to_bytes(size, 'little') if type(x) is int and low <= x <= mask else None
    return convert_integer


def _accepted(p: Parameter) -> str:
    """Describe the values that a parameter accepts, for an error message."""
    if p.count:
        return f'{p.bytes} bytes'
    return 'an array or an address' if p.bytes == 8 and p.type not in _FLOATS else 'a number'


class Packer:
    """Makes the parameter buffers for launches of a kernel."""

    def __init__(self, signature: str, parameters: Sequence[Parameter]) -> None:
        self._signature = signature
        self._rows = [(p, p.offset, p.offset + p.bytes, _shortcut(p)) for p in parameters]
        self.size = max((p.offset + p.bytes for p in parameters), default=0)

    def pack(self, arguments: Sequence[Any]) -> Tuple[bytearray, List[Pointer]]:
        """Return the parameter buffer of a launch and the memory that its arguments refer to.

        Raises ArgumentError with the kernel's signature if the number of arguments is wrong or one does not fit.
        """
        __tracebackhide__ = True
        if len(arguments) != len(self._rows):
            raise ArgumentError(f'{len(arguments)} arguments for {len(self._rows)} parameters: {self._signature}')
        buffer = bytearray(self.size)
        pointers = []
        for i, (p, start, end, shortcut) in enumerate(self._rows):
            data, memory = shortcut(arguments[i]), None
            if data is None:
                try:
                    data, memory = _convert(p, arguments[i])
                except _Refused as e:
                    raise ArgumentError(f"argument {i} is {e}; the parameter '{p}' accepts {_accepted(p)}: "
                                        f'{self._signature}') from None
            buffer[start:end] = data
            if memory is not None:
                pointers.append(memory)
        return buffer, pointers
