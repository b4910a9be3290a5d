"""Comparison of results bit by bit."""
from typing import Any

import numpy as np

from ._types import Array, is_float


def _bits(a: Array) -> Array:
    """Return the elements as unsigned integers.

    A complex number gives two integers. An element without an integer type of its size gives its bytes.
    """
    if a.dtype.kind == 'c':
        a = a.view(f'f{a.dtype.itemsize // 2}')
    size = a.dtype.itemsize
    return a.view(f'u{size}' if size in (1, 2, 4, 8) and not a.dtype.fields else np.uint8)


def _order(bits: Array, signed: bool) -> Array:
    """Return Python integers that number the floats in ascending order. Both zeros have the number 0."""
    half = 1 << bits.dtype.itemsize * 8 - 1
    values = bits.astype(object)
    return np.where(values >= half, half - values, values) if signed else values


def _line(index: Any, a: Array, e: Array, ulp: Any) -> str:
    """Return the line of the message for one element that differs."""
    hexes = [x.tobytes().hex() if x.dtype.fields else '0x' + x.tobytes()[::-1].hex() for x in (a, e)]
    distance = f', {ulp} ulp' if ulp is not None else ''
    return f'  [{", ".join(map(str, index))}]: {a!s} ({hexes[0]}), expected {e!s} ({hexes[1]}){distance}'


def assert_bits_equal(actual: Any, expected: Any, first: int = 5) -> None:
    """Raise AssertionError unless two arrays have the same type, shape and bits.

    0.0 differs from -0.0, and a NaN equals only a NaN with the same bits. The message has the number of elements that
    differ, their largest distance in units in the last place (ulp), and the first `first` elements that differ.
    """
    __tracebackhide__ = True
    a, e = np.ascontiguousarray(actual), np.ascontiguousarray(expected)
    if a.dtype != e.dtype:
        raise AssertionError(f'the array has type {a.dtype}, expected {e.dtype}')
    if np.shape(actual) != np.shape(expected):
        raise AssertionError(f'the array has shape {np.shape(actual)}, expected {np.shape(expected)}')
    if a.tobytes() == e.tobytes():
        return
    ab, eb = (_bits(x).reshape(*x.shape, -1) if x.size else _bits(x) for x in (a, e))
    wrong = (ab != eb).any(axis=-1)
    where = np.argwhere(wrong)
    distance = None
    if is_float(a.dtype) and a.dtype.itemsize <= 8:
        signed = 'e8m0' not in a.dtype.name
        nan = np.isnan(a[wrong]) | np.isnan(e[wrong])
        distance = np.abs(_order(ab[wrong][..., 0], signed) - _order(eb[wrong][..., 0], signed))
        distance = distance.astype(object)
        distance[nan] = None
    lines = [_line(i, a[tuple(i)], e[tuple(i)], None if distance is None else distance[k])
             for k, i in enumerate(where[:first])]
    numbers = [] if distance is None else [d for d in distance if d is not None]
    most = f', by at most {max(numbers)} ulp' if numbers else ''
    nans = ''
    if distance is not None and len(numbers) < len(distance):
        nans = f', {len(distance) - len(numbers)} of them with a NaN'
    rest = [f'  ... and {len(where) - first} more'] if len(where) > first else []
    raise AssertionError('\n'.join([f'{len(where)} of {a.size} elements differ{most}{nans}:', *lines, *rest]))
