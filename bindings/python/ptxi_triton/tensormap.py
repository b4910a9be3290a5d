"""Tensor maps that the host makes, for copies by TMA."""
import ctypes
from typing import Any, List, Sequence

import ptxi
from ptxi._header import header
from ptxi.errors import error

_map: Any = header.structs['ptxiTensorMap']
_L2 = header.constants['PTXI_TENSOR_MAP_L2_PROMOTION_L2_128B']
_FILL = (header.constants['PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NONE'],
         header.constants['PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA'])


def _array(type_: Any, values: Sequence[int]) -> Any:
    """Return numbers as an array of the library, the innermost dimension first."""
    return (type_ * max(len(values), 1))(*(int(v) for v in reversed(values)))


def _strides(item: int, strides: Sequence[int]) -> Any:
    """Return the strides of all dimensions but the innermost one, in bytes."""
    return _array(ctypes.c_uint64, [item * int(s) for s in strides[:-1]])


def _made(name: str, what: str, *arguments: Any, **details: Any) -> bytes:
    """Return a map that a function of the library makes. Raises Error if the library rejects its description."""
    made = _map()
    result = ptxi.current()._core.result(name, ctypes.byref(made), *arguments)
    if result:
        shown = ', '.join(f'{name} {value}' for name, value in details.items())
        raise error(result, f' ({what}: {shown})')
    return bytes(made)


def tiled(address: int, swizzle: int, item: int, type_: int, block: List[int], shape: Sequence[int],
          strides: Sequence[int], padding: int) -> bytes:
    """Return a map for copies of tiles. The sequences have the outermost dimension first."""
    if not len(block) == len(shape) == len(strides):
        raise RuntimeError('Rank mismatch')
    return _made(
        'TensorMapEncodeTiled', 'a tensor map for tiles', type_, len(shape), address, _array(ctypes.c_uint64, shape),
        _strides(item, strides), _array(ctypes.c_uint32, block), _array(ctypes.c_uint32, [1] * len(shape)),
        0, swizzle, _L2, _FILL[padding],
        type=type_, address=hex(address), shape=shape, strides=strides, block=block, swizzle=swizzle)


def im2col(address: int, swizzle: int, item: int, type_: int, block: List[int], shape: Sequence[int],
           strides: Sequence[int], padding: int, lower: Sequence[int], upper: Sequence[int],
           steps: Sequence[int]) -> bytes:
    """Return a map for copies of columns of pixels. `block` is pixels in a column and channels in a pixel."""
    if len(block) != 2 or not len(shape) == len(strides) == len(steps) or len(lower) != len(upper):
        raise RuntimeError('Rank mismatch')
    return _made(
        'TensorMapEncodeIm2col', 'a tensor map for im2col', type_, len(shape), address, _array(ctypes.c_uint64, shape),
        _strides(item, strides), _array(ctypes.c_int, lower), _array(ctypes.c_int, upper), block[1], block[0],
        _array(ctypes.c_uint32, steps), 0, swizzle, _L2, _FILL[padding],
        type=type_, address=hex(address), shape=shape, strides=strides, block=block, swizzle=swizzle, lower=lower,
        upper=upper)
