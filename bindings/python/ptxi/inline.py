"""Inline assembly, evaluated: PTX instructions as functions of numbers and arrays."""
import ctypes
import functools
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import errors
from ._library import encoded
from ._lifetime import Core, Entry
from ._types import is_float
from .device import Device, given

_DTYPES: Dict[str, Any] = {'h': np.dtype('u2'), 'r': np.dtype('u4'), 'l': np.dtype('u8'), 'f': np.dtype('f4'), 'd': np.dtype('f8'),
                           'q': np.dtype('V16')}


class _Operand(NamedTuple):
    constraint: str
    letter: str
    read: bool
    written: bool


def _operand(constraint: str) -> _Operand:
    c = constraint.strip()
    return _Operand(c, c.lstrip('=+'), not c.startswith('='), c[:1] in ('=', '+'))


def _refuse(o: _Operand, x: Any, takes: str) -> errors.ArgumentError:
    what = f'{x.dtype}' if hasattr(x, 'dtype') else f'a {type(x).__name__}'
    return errors.ArgumentError(f"operand '{o.constraint}' takes {takes}, not {what}")


def _native(x: Any) -> Any:
    """An array with its elements in the byte order of kernels."""
    a = np.asarray(x)
    return a.astype(a.dtype.newbyteorder('='), copy=False)


def _integers(o: _Operand, x: Any, dtype: Any) -> Any:
    """Integers of the operand's size by their bits; Python's own where they fit. Two bytes of any type go to h."""
    size = dtype.itemsize
    if isinstance(x, (bool, int)):
        if not -(1 << size * 8 - 1) <= x < 1 << size * 8:
            raise errors.ArgumentError(f"operand '{o.constraint}' has {size * 8} bits, {x} does not fit")
        return np.array(x & (1 << size * 8) - 1, dtype)
    a = _native(x)
    if a.dtype.itemsize != size or not (a.dtype.kind in 'iu' or (size == 2 and is_float(a.dtype))):
        if isinstance(x, (list, tuple)) and a.dtype.kind in 'iu' and a.size:
            return np.vectorize(lambda v: _integers(o, int(v), dtype), otypes=[dtype])(a)
        raise _refuse(o, x, f'integers of {size * 8} bits')
    return a.view(dtype)


def _values(o: _Operand, x: Any) -> Any:
    dtype = _DTYPES[o.letter]
    if o.letter in 'hrl':
        return _integers(o, x, dtype)
    if isinstance(x, (bool, int, float)) and o.letter in 'fd':
        return np.array(x, dtype)
    a = np.asarray(x, dtype) if isinstance(x, (list, tuple)) and o.letter in 'fd' else _native(x)
    if a.dtype.itemsize != dtype.itemsize or (o.letter in 'fd' and a.dtype != dtype):
        raise _refuse(o, x, f'{dtype} values')
    return a.view(dtype)


class Asm:
    """A template with constraints; calling it runs it. Made by `asm()`."""

    def __init__(self, text: str, constraints: Sequence[str], device: Optional[Device]) -> None:
        self.text, self.constraints, self._device = text, tuple(constraints), device
        self._operands = [_operand(c) for c in constraints]
        self._inputs = [o for o in self._operands if o.read]

    def __repr__(self) -> str:
        return f'<ptxi.asm {self.text!r}{"".join(f", {c!r}" for c in self.constraints)}>'

    def __call__(self, *arguments: Any) -> Any:
        """Run the template for each element of the arguments, which are those of + and input operands in their order and are
        broadcast against each other. The outputs: one, several as a tuple, or None; scalars where all arguments are."""
        __tracebackhide__ = True
        device = given(self._device)
        if all(o.letter in _DTYPES or o.letter in ('n', 'C') for o in self._operands) and len(arguments) != len(self._inputs):
            wanted = ', '.join(o.constraint for o in self._inputs)
            raise errors.ArgumentError(f'{len(arguments)} arguments for {len(self._inputs)} operands that are read: {wanted or "none"}')
        shape, operands = self._prepare(arguments)
        threads = int(np.prod(shape, dtype=np.int64))
        pointers = (ctypes.c_void_p * max(len(operands), 1))(*(_address(x) for x in operands))
        self._run(device, threads, pointers)
        outputs = tuple(a.reshape(shape)[()] for o, a in zip(self._operands, operands) if o.written)
        return outputs if len(outputs) > 1 else outputs[0] if outputs else None

    def _prepare(self, arguments: Sequence[Any]) -> Tuple[Tuple[int, ...], List[Any]]:
        """The shape of the result, and for each operand an array of it, or a constant as the library takes it."""
        rest = iter(arguments)
        given_ = [next(rest, 0) if o.read else None for o in self._operands]
        arrays = [_values(o, x) if o.read and o.letter in _DTYPES else None for o, x in zip(self._operands, given_)]
        shape = np.broadcast_shapes(*(a.shape for a in arrays if a is not None))
        operands: List[Any] = []
        for o, x, a in zip(self._operands, given_, arrays):
            if o.letter == 'n':
                operands.append(ctypes.c_longlong(_constant(o, x, int)))
            elif o.letter == 'C':
                operands.append(ctypes.create_string_buffer(encoded(_constant(o, x, str))))
            elif a is not None:
                operands.append(np.array(np.broadcast_to(a, shape), order='C'))
            else:
                operands.append(np.zeros(shape, _DTYPES.get(o.letter, np.dtype('u8'))))
        return shape, operands

    def _run(self, device: Device, threads: int, pointers: Any) -> None:
        __tracebackhide__ = True
        device._core.run(self._wait, device._core, threads, pointers)
        device._core.reap()

    def _wait(self, core: Core, threads: int, pointers: Any) -> None:
        __tracebackhide__ = True
        entry = Entry(None, None)
        core.default.add(entry)  # while it runs, what would wait for it is not destroyed
        try:
            result = core.waited('AsmArrays', encoded(self.text), encoded(','.join(self.constraints)), threads, pointers)
        finally:
            core.default.remove(entry)
        if result in (errors.Result.ERROR_INVALID_PTX, errors.Result.ERROR_INVALID_VALUE):
            raise errors.module_error(result)
        if result:
            raise errors.launch_error(core.handle, result)


def _constant(o: _Operand, x: Any, type_: type) -> Any:
    if not isinstance(x, type_) and not (type_ is int and isinstance(x, np.integer)):
        raise _refuse(o, x, 'an integer' if type_ is int else 'a str')
    return type_(x)


def _address(x: Any) -> int:
    return int(x.ctypes.data) if isinstance(x, np.ndarray) else ctypes.addressof(x)


def asm(text: str, *constraints: str, device: Optional[Device] = None) -> Asm:
    """PTX instructions as asm() of CUDA C++ has them, as a function:

        mad = ptxi.asm('mad.lo.u32 %0, %1, %2, %3;', '=r', 'r', 'r', 'r')
        mad(2, 3, 4)                                  # np.uint32(10)
        mad(np.arange(32, dtype='u4'), 3, 4)          # a warp: thread i has element i

    %0, %1, ... are the operands; %% is a percent sign. A constraint is a letter: h, r, l for integers of 16, 32, 64 bits,
    f for f32, d for f64, q for 128 bits, with = before it for an operand that is written and + for one that is read and
    written; or n for an integer constant and C for a text, which are pasted. Outputs come first. What is wrong is a
    ModuleError that points into the template. Integers come back unsigned. Device(dialect=ptxi.Dialect.ANY_WIDTH) takes types
    like .s17."""
    return Asm(text, constraints, device) if device else _cached(text, constraints)


@functools.lru_cache(maxsize=256)
def _cached(text: str, constraints: Tuple[str, ...]) -> Asm:
    """Not those of a device, which would live as long as the cache."""
    return Asm(text, constraints, None)
