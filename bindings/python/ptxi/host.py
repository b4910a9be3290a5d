"""Python functions in place of functions that PTX declares .extern."""
import ctypes
import dataclasses
import traceback
from typing import Any, Callable, Sequence, Tuple

from . import _interrupt
from ._header import header
from ._library import call, library
from .errors import as_dict

_WORDS = {'?': 'bool', 'b': 'signed char', 'B': 'unsigned char', 'c': 'char', 'h': 'short', 'H': 'unsigned short', 'i': 'int',
          'I': 'unsigned', 'l': 'long', 'L': 'unsigned long', 'q': 'long long', 'Q': 'unsigned long long', 'f': 'float',
          'd': 'double', 'P': 'void *', 'z': 'char *'}

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


@dataclasses.dataclass(frozen=True)
class HostThread:
    """The thread that called a host function."""
    grid_dim: Tuple[int, int, int]
    block_dim: Tuple[int, int, int]
    block: Tuple[int, int, int]
    thread: Tuple[int, int, int]
    lane: int
    warp: int
    function: str
    kernel: str


def host_thread() -> HostThread:
    """Which thread called the host function that is running; an Error outside of one."""
    struct = header.structs['ptxiHostThread']
    t = struct(size=ctypes.sizeof(struct))
    call('HostGetThread', ctypes.byref(t))
    return HostThread(**as_dict(t))


def _type(t: Any) -> str:
    """A type of ctypes as C spells it."""
    if t is None:
        return 'void'
    if isinstance(t, type) and issubclass(t, ctypes.Structure):
        return '{' + ', '.join(_field(f[1]) for f in t._fields_) + '}'
    if isinstance(t, type) and issubclass(t, ctypes._Pointer):
        return 'void *'
    code = getattr(t, '_type_', None)
    if not isinstance(code, str) or code not in _WORDS:
        raise TypeError(f'a number, pointer or structure of ctypes, not {t!r}')
    return _WORDS[code]


def _field(t: Any) -> str:
    if isinstance(t, type) and issubclass(t, ctypes.Array):
        return f'{_type(t._type_)}[{t._length_}]'
    return _type(t)


def signature(returns: Any, arguments: Sequence[Any]) -> str:
    """What ptxiModuleBindHostCallback calls a signature."""
    return f'{_type(returns)}({", ".join(map(_type, arguments))})'


def _value(t: Any, address: int) -> Any:
    """The value at an address: numbers as Python's, a structure as a copy."""
    x = t.from_address(address)
    return t.from_buffer_copy(x) if isinstance(x, ctypes.Structure) else getattr(x, 'value', x)


def callback(function: Callable[..., Any], returns: Any, arguments: Sequence[Any]) -> Any:
    """The function as one that the library can call."""
    def run(_user: Any, values: Any, result: Any) -> None:
        try:
            x = function(*(_value(t, values[i]) for i, t in enumerate(arguments)))
            if returns is not None:
                y = x if isinstance(x, returns) else returns(x)
                ctypes.memmove(result, ctypes.byref(y), ctypes.sizeof(returns))
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                _interrupt.keep()
            library().HostFail(''.join(traceback.format_exception_only(type(e), e) + ['\n'] + traceback.format_tb(e.__traceback__)).encode())
    return _Callback(run)
