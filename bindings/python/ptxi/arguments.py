"""Python's values as a kernel's arguments: cast by the types of the parameters, or refused with the kernel's signature."""
import ctypes
import dataclasses
import numbers
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._types import is_float, is_of_kernels
from .errors import ArgumentError
from .memory import Pointer, pointer


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A kernel's parameter as PTX declares it; `count` is 0 where it is no array."""
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
    pass


def _integer(p: Parameter, x: Any) -> bytes:
    bits = p.bytes * 8
    if isinstance(x, np.generic) and is_float(x.dtype):
        if p.type[0] == 'b' and x.dtype.itemsize == p.bytes:
            return x.tobytes()
        raise _Refused(f'a {x.dtype}')
    if not isinstance(x, (numbers.Integral, np.bool_)):
        raise _Refused(f'a {type(x).__name__}')
    v = int(x)
    if not -(1 << bits - 1) <= v < 1 << bits:
        raise _Refused(f'{v}, which is not of {bits} bits')
    return (v & (1 << bits) - 1).to_bytes(p.bytes, 'little')


def _float(p: Parameter, x: Any) -> bytes:
    if not isinstance(x, (numbers.Real, np.bool_)) and not (isinstance(x, np.generic) and is_float(x.dtype)):
        raise _Refused(f'a {type(x).__name__}')
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
    """A structure or an array, by value: anything with as many bytes."""
    if isinstance(x, np.ndarray) or isinstance(x, np.generic):
        data = x.tobytes()
    elif isinstance(x, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union, ctypes.Array)):
        data = bytes(x)
    else:
        raise _Refused(f'a {type(x).__name__}')
    if len(data) != p.bytes:
        raise _Refused(f'a value of {len(data)} bytes')
    return data


def _describe(x: Any) -> str:
    shape = getattr(x, 'shape', None)
    return f'a {getattr(x, "dtype", "")} array of shape {tuple(shape)}' if shape is not None else f'a {type(x).__name__}'


def _convert(p: Parameter, x: Any) -> Tuple[bytes, Optional[Pointer]]:
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


def pack(signature: str, parameters: Sequence[Parameter], arguments: Sequence[Any]) -> Tuple[bytes, List[Pointer]]:
    """The parameter buffer of a launch, and the memory that goes with it."""
    __tracebackhide__ = True
    if len(arguments) != len(parameters):
        raise ArgumentError(f'{len(arguments)} arguments for {len(parameters)} parameters: {signature}')
    buffer = bytearray(max((p.offset + p.bytes for p in parameters), default=0))
    pointers = []
    for i, (p, x) in enumerate(zip(parameters, arguments)):
        try:
            data, memory = _convert(p, x)
        except _Refused as e:
            want = f'{p.bytes} bytes' if p.count else 'an array or an address' if p.bytes == 8 and p.type not in _FLOATS else 'a number'
            raise ArgumentError(f"argument {i} is {e}, the parameter '{p}' takes {want}: {signature}") from None
        buffer[p.offset:p.offset + p.bytes] = data
        if memory is not None:
            pointers.append(memory)
    return bytes(buffer), pointers
