"""Python functions as host functions: kernels call them where PTX declares a function .extern."""
import ctypes
import dataclasses
import traceback
from typing import Any, Callable, Sequence, Tuple

from . import _interrupt
from ._header import header
from ._library import call, library
from .errors import as_dict

# The C type for each type code of ctypes
_WORDS = {'?': 'bool', 'b': 'signed char', 'B': 'unsigned char', 'c': 'char', 'h': 'short', 'H': 'unsigned short',
          'i': 'int', 'I': 'unsigned', 'l': 'long', 'L': 'unsigned long', 'q': 'long long', 'Q': 'unsigned long long',
          'f': 'float', 'd': 'double', 'P': 'void *', 'z': 'char *'}

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


@dataclasses.dataclass(frozen=True)
class HostThread:
    """The GPU thread that called a host function.

    `grid_dim`, `block_dim`  sizes of the grid in blocks and of a block in threads, as x, y, z
    `block`, `thread`        indices x, y, z of the block and of the thread
    `lane`, `warp`           index of the thread in its warp, and of the warp in its block
    `function`, `kernel`     names of the host function and of the kernel
    """
    grid_dim: Tuple[int, int, int]
    block_dim: Tuple[int, int, int]
    block: Tuple[int, int, int]
    thread: Tuple[int, int, int]
    lane: int
    warp: int
    function: str
    kernel: str


def host_thread() -> HostThread:
    """Return the GPU thread that called the host function that is running. Raises Error outside of a host function."""
    struct = header.structs['ptxiHostThread']
    t = struct(size=ctypes.sizeof(struct))
    call('HostGetThread', ctypes.byref(t))
    return HostThread(**as_dict(t))


def _type(t: Any) -> str:
    """Return a ctypes type in the notation of C. Raises TypeError if a host function cannot have it."""
    if t is None:
        return 'void'
    if isinstance(t, type) and issubclass(t, ctypes.Structure):
        return '{' + ', '.join(_field(f[1]) for f in t._fields_) + '}'
    if isinstance(t, type) and issubclass(t, ctypes._Pointer):
        return 'void *'
    code = getattr(t, '_type_', None)
    if not isinstance(code, str) or code not in _WORDS:
        raise TypeError(f'{t!r} cannot be passed to a host function; use a number, pointer or structure type of ctypes')
    return _WORDS[code]


def _field(t: Any) -> str:
    """Return the type of a structure member in the notation of C. A member may also be an array."""
    if isinstance(t, type) and issubclass(t, ctypes.Array):
        return f'{_type(t._type_)}[{t._length_}]'
    return _type(t)


def signature(returns: Any, arguments: Sequence[Any]) -> str:
    """Return a signature in the notation of ptxiModuleBindHostCallback, such as 'int(int, float)'."""
    return f'{_type(returns)}({", ".join(map(_type, arguments))})'


def _value(t: Any, address: int) -> Any:
    """Return the value at an address: a Python number, or a copy of a structure."""
    x = t.from_address(address)
    return t.from_buffer_copy(x) if isinstance(x, ctypes.Structure) else getattr(x, 'value', x)


def callback(function: Callable[..., Any], returns: Any, arguments: Sequence[Any]) -> Any:
    """Return the function as a ctypes callback for ptxiModuleBindHostCallback.

    An exception in the function fails the launch, with the traceback in the report.
    """
    def run(_user: Any, values: Any, result: Any) -> None:
        try:
            x = function(*(_value(t, values[i]) for i, t in enumerate(arguments)))
            if returns is not None:
                y = x if isinstance(x, returns) else returns(x)
                ctypes.memmove(result, ctypes.byref(y), ctypes.sizeof(returns))
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                _interrupt.keep()
            lines = traceback.format_exception_only(type(e), e) + ['\n'] + traceback.format_tb(e.__traceback__)
            library().HostFail(''.join(lines).encode())
    return _Callback(run)
