"""Converts Python values to the arguments of a kernel, by the types of its parameters."""
import ctypes
import dataclasses
import functools
import numbers
import struct
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._ranges import READ_WRITE, Span
from ._types import is_float, is_of_kernels, with_article
from .errors import ArgumentError
from .memory import Buffer, Pointer, pointer


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


def describe(x: Any) -> str:
    """Describe an object that is not a number, for an error message."""
    shape = getattr(x, 'shape', None)
    if shape is None:
        return with_article(type(x).__name__)
    return with_article(f'{getattr(x, "dtype", "")} array of shape {tuple(shape)}'.strip())


def _foreign(x: Any) -> str:
    """Describe an array whose elements kernels cannot use."""
    reason = 'Python objects' if x.dtype.hasobject else 'another byte order'
    return f'{describe(x)} with {reason}'


def _one_by_one(arguments: Sequence[Any]) -> str:
    """Return a hint for arguments that were passed as one tuple or list."""
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        return '; pass them one by one, as in kernel[grid, block](a, b)'
    return ''


def listed(x: Any, use: str) -> Sequence[Any]:
    """Return x, which is a tuple or a list. Otherwise raise ArgumentError: `use` is the accepted form."""
    __tracebackhide__ = True
    if not isinstance(x, (tuple, list)):
        raise ArgumentError(f'use {use} with a tuple or a list, not {describe(x)}')
    return x


def _convert(p: Parameter, x: Any) -> Tuple[bytes, Optional[Pointer]]:
    """Return the bytes of an argument and, if it is an array, its memory. Raises _Refused if it does not fit."""
    dtype = getattr(x, 'dtype', None)
    if isinstance(dtype, np.dtype) and not is_of_kernels(dtype):
        raise _Refused(_foreign(x))
    if p.count:
        return _value(p, x), None
    memory = pointer(x)
    if memory is not None:
        if p.bytes != 8 or p.type not in ('u64', 's64', 'b64'):
            raise _Refused(describe(x))
        return memory.address.to_bytes(8, 'little'), memory
    if p.type in _FLOATS:
        return _float(p, x), None
    if x is None and p.bytes == 8:
        return bytes(8), None
    if isinstance(x, (list, tuple)):
        raise _Refused(f'{describe(x)}, not an array (numpy.array makes one)')
    return _integer(p, x), None


def _accepted(p: Parameter) -> str:
    """Describe the values that a parameter accepts, for an error message."""
    if p.count:
        return f'{p.bytes} bytes'
    return 'an array or an address' if p.bytes == 8 and p.type not in _FLOATS else 'a number'


_INTEGERS = {int, bool, *(np.dtype(t).type for t in ('i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8'))}
_REALS = {float, np.float32, np.float64}
_CODES = {'f32': 'f', 'f64': 'd'}
_INTEGER_CODES = {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}
_RANGE = 'QQI4x'  # ptxiRange


def _hold_bases(base: Any, held: List[Any]) -> bool:
    """Add references to the arrays that own the memory of a view, as memory._hold() does.

    Return False if the memory belongs to another object.
    """
    while base is not None:
        if type(base) is not np.ndarray:
            return False
        held.append(weakref.ref(base))
        base = base.base
    return True


# Names that the functions of _filler() use
_NAMES = {'Array': np.ndarray, 'Buffer': Buffer, 'INTEGERS': _INTEGERS, 'REALS': _REALS, 'address': ctypes.addressof,
          'export': ctypes.c_char.from_buffer, 'refer': weakref.ref, 'hold_bases': _hold_bases}

# Statements that convert the argument a# to the value v#, and to the range from b# of n# bytes. They return None for
# an argument that is not frequent.
_POINTER = """
        if type(a#) is Array:
            dtype = a#.dtype
            if dtype.hasobject or not dtype.isnative:
                return None
            exported = export(a#)
            if a#.base is not None and not hold_bases(a#.base, held):
                return None
            held.append((exported, refer(a#)))
            v# = b# = address(exported)
            n# = a#.nbytes
        elif type(a#) is Buffer:
            handle = a#._memory
            if handle is None or handle.core.closing:
                return None
            held.append(handle)
            v# = handle.value
            b# = n# = 0
        elif type(a#) in INTEGERS and {low} <= a# <= {high}:
            v# = int(a#) & {high}
            b# = n# = 0
        else:
            return None"""
_INTEGER = """
        if type(a#) not in INTEGERS or not {low} <= a# <= {high}:
            return None
        v# = int(a#) & {high}"""
_REAL = """
        if type(a#) not in REALS or a# != a#:
            return None
        v# = a#"""


def _code(p: Parameter) -> str:
    """Return the format of a parameter for the module struct: a number, or bytes."""
    if p.count or p.type == 'f16' or p.bytes > 8:
        return f'{p.bytes}s'
    return _CODES.get(p.type) or _INTEGER_CODES[p.bytes]


def _conversion(i: int, code: str) -> str:
    """Return the statements that convert argument `i`."""
    text = _REAL
    if code in _INTEGER_CODES.values():
        text = _POINTER if code == 'Q' else _INTEGER
    bits = struct.calcsize('<' + code) * 8
    return text.format(low=-1 << bits - 1, high=(1 << bits) - 1).replace('#', str(i))


@functools.lru_cache(maxsize=256)
def _filler(codes: Tuple[str, ...], layout: str) -> Callable[[Any, Sequence[Any]], Optional[List[Any]]]:
    """Return `Packer.fill` for parameters with these codes.

    The function is made for the parameters, as a loop over them would take twice the time.
    """
    if any(c[-1] == 's' for c in codes):
        return lambda buffer, arguments: None
    pointers = [i for i, c in enumerate(codes) if c == 'Q']
    values = [f'v{i}' for i in range(len(codes))] + [f'b{i}, n{i}, {READ_WRITE}' for i in pointers]
    source = f"""
def fill(buffer, arguments):
    held = []
    try:
        {''.join(f'a{i}, ' for i in range(len(codes))) or '()'} = arguments
        {''.join(_conversion(i, c) for i, c in enumerate(codes))}
        pack({', '.join(['buffer', '0', *values])})
    except (TypeError, ValueError, BufferError, OverflowError):
        return None
    return held
"""
    names: Dict[str, Any] = {**_NAMES, 'pack': struct.Struct(layout).pack_into}
    exec(source, names)
    fill: Callable[[Any, Sequence[Any]], Optional[List[Any]]] = names['fill']
    return fill


class Packer:
    """Makes the parameter buffers for launches of a kernel.

    `size`    bytes of the buffer
    `ranges`  most ranges of memory that the arguments of a launch can have
    `fill`    a function of a buffer and arguments, for the frequent kinds: numbers, contiguous arrays that may be
              written, and device memory. It writes the parameters, and the ranges at `range_offset`, to the buffer, and
              returns the objects that keep the memory alive and in place. It returns None if there is another argument,
              which `pack` converts or refuses
    """

    def __init__(self, signature: str, parameters: Sequence[Parameter]) -> None:
        self._signature = signature
        self._parameters = tuple(parameters)
        self.size = max((p.offset + p.bytes for p in parameters), default=0)
        self._codes = tuple(_code(p) for p in parameters)
        self.ranges = self._codes.count('Q')
        self.range_offset = -(-self.size // 8) * 8
        self.fill = _filler(self._codes, self._layout())

    def _layout(self) -> str:
        """Return the format of the parameters at their offsets, and of the ranges after them."""
        layout, at = '<', 0
        for p, code in zip(self._parameters, self._codes):
            layout += f'{p.offset - at}x{code}'
            at = p.offset + p.bytes
        return layout + f'{self.range_offset - at}x' + _RANGE * self.ranges

    def pack(self, arguments: Sequence[Any]) -> Tuple[bytearray, List[Pointer]]:
        """Return the parameter buffer of a launch and the memory that its arguments refer to.

        Raises ArgumentError with the kernel's signature if the number of arguments is wrong or one does not fit.
        """
        __tracebackhide__ = True
        if len(arguments) != len(self._parameters):
            raise ArgumentError(f'{len(arguments)} arguments for {len(self._parameters)} parameters: '
                                f'{self._signature}{_one_by_one(arguments)}')
        buffer = bytearray(self.size)
        pointers = []
        for i, p in enumerate(self._parameters):
            try:
                data, memory = _convert(p, arguments[i])
            except _Refused as e:
                raise ArgumentError(f"argument {i} is {e}; the parameter '{p}' accepts {_accepted(p)}: "
                                    f'{self._signature}') from None
            buffer[p.offset:p.offset + p.bytes] = data
            if memory is not None:
                pointers.append(memory)
        return buffer, pointers


def spans(pointers: Sequence[Pointer]) -> List[Span]:
    """Return the memory of arguments that must be opened."""
    return [p.span for p in pointers if p.span]


def opened(x: Any) -> Pointer:
    """Return the memory of an array that a kernel reaches otherwise than by an argument."""
    memory = pointer(x)
    if memory is None:
        raise ArgumentError(f'{with_article(type(x).__name__)} has no memory that kernels can use; use an array')
    return memory
