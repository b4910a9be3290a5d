"""Loads the shared library, and calls its functions."""
import ctypes
import functools
import operator
import os
import pathlib
from typing import Any, Iterator

from ._header import header
from ._result import result_error

_SONAME = 'libptxi.so.0'

for _name in 'PyInterpreterState_Get', 'PyInterpreterState_Main':
    getattr(ctypes.pythonapi, _name).restype = ctypes.c_void_p
if ctypes.pythonapi.PyInterpreterState_Get() != ctypes.pythonapi.PyInterpreterState_Main():
    raise ImportError('ptxi cannot be used in a subinterpreter, because threads of the library call Python functions; '
                      'import it in the main interpreter')


def _candidates() -> Iterator[str]:
    """Yield the paths to try, in order. PTXI_LIBRARY, if it is set, is the only one."""
    explicit = os.environ.get('PTXI_LIBRARY')
    if explicit:
        yield explicit
        return
    here = pathlib.Path(__file__).resolve().parent
    for directory in (here / 'bin' / 'lib', here.parents[2] / 'build' / '.libs'):
        if (directory / _SONAME).exists():
            yield str(directory / _SONAME)
    yield _SONAME


class Library:
    """The functions of libptxi as attributes, by their names without the prefix 'ptxi'.

    The argument types and the result type of a function come from the header. Raises ImportError if the library cannot
    be loaded or has another major or minor version than the header.
    """

    def __init__(self) -> None:
        tried = []
        for name in _candidates():
            try:
                self.cdll = ctypes.CDLL(name)
            except OSError as e:
                tried.append(f'  {name}: {e}')
            else:
                self.path = name
                break
        else:
            raise ImportError('cannot load libptxi; install it, or set PTXI_LIBRARY to the path of libptxi.so; '
                              'tried:\n' + '\n'.join(tried))
        self._check_version()

    def _check_version(self) -> None:
        """Raise ImportError if the library has another major or minor version than the header."""
        version = ctypes.c_int()
        self.cdll.ptxiGetVersion(ctypes.byref(version))
        major, minor = divmod(version.value // 100, 100)
        want = header.constants['PTXI_VERSION_MAJOR'], header.constants['PTXI_VERSION_MINOR']
        if (major, minor) != want:
            raise ImportError(f'{self.path} is libptxi {major}.{minor}; this package requires {want[0]}.{want[1]}')

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.cdll, 'ptxi' + name)
        function.argtypes = header.functions['ptxi' + name]
        function.restype = None if 'ptxi' + name in header.voids else ctypes.c_int
        setattr(self, name, function)
        return function


@functools.lru_cache(maxsize=None)
def library() -> Library:
    """Return the library. The first call loads it, so importing the package does not."""
    lib = Library()
    result = lib.Init(0)
    if result:
        raise result_error(lib, result)
    return lib


def call(name: str, *args: Any) -> None:
    """Call a function of the library. Raises Error if its result is not PTXI_SUCCESS."""
    __tracebackhide__ = True
    lib = library()
    result = getattr(lib, name)(*args)
    if result:
        raise result_error(lib, result)


def number(x: Any, type_: Any) -> int:
    """Return x as an int. Raises ValueError if the ctypes integer type cannot hold it.

    ctypes would discard the upper bits without an error.
    """
    n = operator.index(x)
    if type_(n).value != n:
        kind = 'a signed' if type_(-1).value < 0 else 'an unsigned'
        raise ValueError(f'{n} is out of range for {kind} {ctypes.sizeof(type_) * 8}-bit integer')
    return n


def encoded(s: str) -> bytes:
    """Return a string as UTF-8 bytes. Raises ValueError if it contains a zero byte, at which C would end it."""
    if '\0' in s:
        raise ValueError(f'the string {s!r} contains a zero byte')
    return s.encode()


def text(name: str, *args: Any) -> str:
    """Call a function whose last argument receives a string that the caller must free. Return the string as str."""
    __tracebackhide__ = True
    p = ctypes.c_void_p()
    call(name, *args, ctypes.byref(p))
    try:
        return ctypes.string_at(p.value or 0).decode(errors='replace')
    finally:
        library().Free(p)
