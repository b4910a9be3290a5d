"""DLPack import and export: tensors of other libraries as arguments, and buffers as tensors for other libraries."""
import ctypes
from typing import Any, Dict, Optional, Tuple

from ._lifetime import NotCopied
from ._types import Array

CPU = (1, 0)            # kDLCPU and its device number: the device of all buffers
_HOST = (1, 3, 11, 13)  # kDLCPU, kDLCUDAHost, kDLROCMHost, kDLCUDAManaged: memory that the host can access
_KINDS = {'i': 0, 'u': 1, 'f': 2, 'c': 5, 'b': 6}  # the DLDataTypeCode for each kind of a NumPy type


class _Tensor(ctypes.Structure):
    """DLTensor: the address, device, type and shape of a tensor."""

    _fields_ = [
        ('data', ctypes.c_void_p),
        ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32),
        ('ndim', ctypes.c_int32),
        ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
        ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)),
        ('byte_offset', ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """DLManagedTensor, the form before DLPack 1.0."""


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned, the form since DLPack 1.0. Only this form has the flag for read-only memory."""


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Managed._fields_ = [('tensor', _Tensor), ('context', ctypes.c_void_p), ('deleter', _DELETER)]
_Versioned._fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32), ('context', ctypes.c_void_p),
                       ('deleter', _DELETER), ('flags', ctypes.c_uint64), ('tensor', _Tensor)]
_READ_ONLY = 1
_NAMES: Dict[Any, bytes] = {_Managed: b'dltensor', _Versioned: b'dltensor_versioned'}

_api = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(('PyCapsule_New', _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(('PyCapsule_GetPointer', _api))
_pointer_raw = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(('PyCapsule_GetPointer', _api))
_is_valid_raw = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(('PyCapsule_IsValid', _api))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(('PyCapsule_IsValid', _api))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(('PyCapsule_SetName', _api))

_exported: Dict[int, Any] = {}  # maps the address of an exported managed tensor to the objects that it refers to


@_DELETER  # type: ignore[untyped-decorator]
def _forget(managed: int) -> None:
    """Deleter of an exported tensor: release the objects that it refers to."""
    _exported.pop(managed, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[untyped-decorator]
def _unused(capsule_: int) -> None:
    """Destructor of a capsule: release the tensor if no library has taken it."""
    for name in _NAMES.values():
        if _is_valid_raw(capsule_, name):
            _exported.pop(_pointer_raw(capsule_, name), None)


def capsule(array: Array, max_version: Optional[Tuple[int, int]] = None) -> Any:
    """Return a DLPack capsule that shares the memory of the array.

    `max_version` is the newest DLPack version of the consumer, as (major, minor). Without it the capsule has the form
    before 1.0. Raises BufferError if DLPack has no type for the elements.
    """
    if array.dtype.kind not in _KINDS:
        raise BufferError(f'DLPack has no type for {array.dtype}; '
                          'it has integers, IEEE floats, complex numbers and bool')
    kind = _Versioned if max_version and max_version[0] >= 1 else _Managed
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    managed = kind(deleter=_forget)
    managed.tensor = _Tensor(array.ctypes.data, *CPU, array.ndim,
                             _KINDS[array.dtype.kind], array.dtype.itemsize * 8, 1, shape)
    if kind is _Versioned:
        managed.major = 1
    _exported[ctypes.addressof(managed)] = managed, shape, array
    return _new(ctypes.addressof(managed), _NAMES[kind], ctypes.cast(_unused, ctypes.c_void_p))


def _capsule_of(owner: Any) -> Any:
    """Return a capsule of another library's tensor, in the newest form that the library supports."""
    try:
        return owner.__dlpack__(max_version=(1, 0))
    except TypeError:  # the library implements DLPack before 1.0, without max_version
        return owner.__dlpack__()


class Imported(NotCopied):
    """A tensor of another library. This object owns it until it is collected.

    `address`   address of the first element
    `itemsize`  bytes in an element
    `shape`     number of elements in each dimension
    `strides`   bytes between elements in each dimension, or None if the tensor is contiguous in C order
    `writable`  False if the exporter marked the memory as read-only
    """

    def __init__(self, owner: Any) -> None:
        device: Tuple[int, int] = tuple(owner.__dlpack_device__())
        if device[0] not in _HOST:
            raise TypeError(f'the tensor is on DLPack device {device}; kernels can access only memory of the host')
        self._capsule = _capsule_of(owner)
        kind = _Versioned if _is_valid(self._capsule, _NAMES[_Versioned]) else _Managed
        address = _pointer(self._capsule, _NAMES[kind])
        self._name = b'used_' + _NAMES[kind]  # held here, because the capsule keeps only a pointer
        _set_name(self._capsule, self._name)  # the capsule gives up ownership before the next line takes it
        self._managed: Any = kind.from_address(address)
        t = self._managed.tensor
        self.address = (t.data or 0) + t.byte_offset
        self.itemsize = (t.bits * t.lanes + 7) // 8
        self.shape = tuple(t.shape[i] for i in range(t.ndim))
        self.strides = tuple(t.strides[i] * self.itemsize for i in range(t.ndim)) if t.strides else None
        self.writable = kind is _Managed or not self._managed.flags & _READ_ONLY

    def __del__(self) -> None:
        managed = getattr(self, '_managed', None)
        if managed is not None and managed.deleter:
            managed.deleter(ctypes.addressof(managed))
