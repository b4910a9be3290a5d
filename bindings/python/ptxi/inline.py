"""Inline assembly: PTX instructions as functions of numbers and arrays."""
import ctypes
import functools
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import errors
from ._library import encoded
from ._lifetime import Core, Entry
from ._types import is_float, with_article
from .device import Device, given

# The type of the array for each constraint letter of a register operand
_DTYPES: Dict[str, Any] = {'h': np.dtype('u2'), 'r': np.dtype('u4'), 'l': np.dtype('u8'), 'f': np.dtype('f4'),
                           'd': np.dtype('f8'), 'q': np.dtype('V16')}


class _Operand(NamedTuple):
    """An operand of a template: its constraint, the letter of the constraint, and whether it is read and written."""

    constraint: str
    letter: str
    read: bool
    written: bool


def _operand(constraint: str) -> _Operand:
    """Parse a constraint."""
    c = constraint.strip()
    return _Operand(c, c.lstrip('=+'), not c.startswith('='), c[:1] in ('=', '+'))


def _refuse(o: _Operand, x: Any, takes: str) -> errors.ArgumentError:
    """Return the exception for an argument that its operand does not accept."""
    what = f'{x.dtype}' if hasattr(x, 'dtype') else with_article(type(x).__name__)
    return errors.ArgumentError(f"operand '{o.constraint}' accepts {takes}, not {what}")


def _native(x: Any) -> Any:
    """Return an array in the native byte order, which kernels use."""
    a = np.asarray(x)
    return a.astype(a.dtype.newbyteorder('='), copy=False)


def _integers(o: _Operand, x: Any, dtype: Any) -> Any:
    """Return the argument of an integer operand as an array of unsigned integers of its size.

    Accepts integer arrays of the same size, and Python integers that fit, signed or unsigned. The letter h also
    accepts 16-bit floats, by their bits.
    """
    size = dtype.itemsize
    if isinstance(x, (bool, int)):
        if not -(1 << size * 8 - 1) <= x < 1 << size * 8:
            raise errors.ArgumentError(f"{x} does not fit in the {size * 8} bits of operand '{o.constraint}'")
        return np.array(x & (1 << size * 8) - 1, dtype)
    a = _native(x)
    if a.dtype.itemsize != size or not (a.dtype.kind in 'iu' or (size == 2 and is_float(a.dtype))):
        if isinstance(x, (list, tuple)) and a.dtype.kind in 'iu' and a.size:
            return np.vectorize(lambda v: _integers(o, int(v), dtype), otypes=[dtype])(a)
        raise _refuse(o, x, f'{size * 8}-bit integers')
    return a.view(dtype)


def _values(o: _Operand, x: Any) -> Any:
    """Return the argument of a register operand as an array of the operand's type."""
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
    """An inline assembly template with its constraints. `asm()` creates it, and calling it runs it."""

    def __init__(self, text: str, constraints: Sequence[str], device: Optional[Device]) -> None:
        self.text, self.constraints, self._device = text, tuple(constraints), device
        self._operands = [_operand(c) for c in constraints]
        self._inputs = [o for o in self._operands if o.read]

    def __repr__(self) -> str:
        return f'<ptxi.asm {self.text!r}{"".join(f", {c!r}" for c in self.constraints)}>'

    def __call__(self, *arguments: Any) -> Any:
        """Run the template with one thread for each element of the arguments.

        The arguments are those of the operands with + and of the input operands, in their order. They are broadcast
        against each other, and the results have the common shape. One output is returned as it is, several as a tuple.
        Without outputs the result is None. If all arguments are scalars, so are the results.

        Raises ArgumentError if an argument does not match its operand, ModuleError if the template is invalid, and
        LaunchError if a thread fails.
        """
        __tracebackhide__ = True
        device = given(self._device)
        # The library reports an unknown letter with its position
        known = all(o.letter in _DTYPES or o.letter in ('n', 'C') for o in self._operands)
        if known and len(arguments) != len(self._inputs):
            wanted = ', '.join(o.constraint for o in self._inputs)
            raise errors.ArgumentError(f'{len(arguments)} arguments for {len(self._inputs)} input operands: '
                                       f'{wanted or "none"}')
        shape, operands = self._prepare(arguments)
        threads = int(np.prod(shape, dtype=np.int64))
        pointers = (ctypes.c_void_p * max(len(operands), 1))(*(_address(x) for x in operands))
        self._run(device, threads, pointers)
        outputs = tuple(a.reshape(shape)[()] for o, a in zip(self._operands, operands) if o.written)
        return outputs if len(outputs) > 1 else outputs[0] if outputs else None

    def _prepare(self, arguments: Sequence[Any]) -> Tuple[Tuple[int, ...], List[Any]]:
        """Return the common shape, and the operands in the form of the library.

        An operand is an array of that shape, or a constant.
        """
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
        """Run the template on the device, and wait for it."""
        __tracebackhide__ = True
        device._core.run(self._wait, device._core, threads, pointers)
        device._core.reap()

    def _wait(self, core: Core, threads: int, pointers: Any) -> None:
        """Run the template inside Core.run."""
        __tracebackhide__ = True
        entry = Entry(None, None)
        core.default.add(entry)  # with an entry in the queue, nothing is destroyed that would wait for the template
        try:
            constraints = encoded(','.join(self.constraints))
            result = core.waited('AsmArrays', encoded(self.text), constraints, threads, pointers)
        finally:
            core.default.remove(entry)
        if result in (errors.Result.ERROR_INVALID_PTX, errors.Result.ERROR_INVALID_VALUE):
            raise errors.module_error(result)
        if result:
            raise errors.launch_error(core.handle, result)


def _constant(o: _Operand, x: Any, type_: type) -> Any:
    """Return the constant for an operand with the letter n or C."""
    if not isinstance(x, type_) and not (type_ is int and isinstance(x, np.integer)):
        raise _refuse(o, x, 'an integer' if type_ is int else 'a str')
    return type_(x)


def _address(x: Any) -> int:
    """Return the address of an array or of a ctypes object."""
    return int(x.ctypes.data) if isinstance(x, np.ndarray) else ctypes.addressof(x)


def asm(text: str, *constraints: str, device: Optional[Device] = None) -> Asm:
    """Return PTX instructions as a function, with the template syntax of asm() in CUDA C++.

    >>> import numpy as np, ptxi
    >>> mad = ptxi.asm('mad.lo.u32 %0, %1, %2, %3;', '=r', 'r', 'r', 'r')
    >>> print(mad(2, 3, 4))
    10
    >>> mad(np.arange(4, dtype='u4'), 3, 4)  # thread i has element i
    array([ 4,  7, 10, 13], dtype=uint32)

    `text`         the instructions; %0, %1, ... are the operands, and %% is a percent sign
    `constraints`  one for each operand, the outputs first; = marks an output, + an operand that is read and written
    `device`       where to run it; default: the current device at the time of the call

    The letter of a constraint gives the type of the operand:

    h, r, l  integers of 16, 32 and 64 bits; results are unsigned
    f, d     f32 and f64
    q        128 bits
    n        an integer constant, which is inserted in the text
    C        a string, which is inserted in the text

    Errors in the template raise ModuleError with a position in the template. Types like .s17 require
    Device(dialect=ptxi.Dialect.ANY_WIDTH).
    """
    return Asm(text, constraints, device) if device else _cached(text, constraints)


@functools.lru_cache(maxsize=256)
def _cached(text: str, constraints: Tuple[str, ...]) -> Asm:
    """Return a cached template for the current device.

    Templates for an explicit device are not cached, because the device would live as long as the cache.
    """
    return Asm(text, constraints, None)
