"""The shared library: where it is found, and calls of its functions."""
import ctypes
import functools
import operator
import os
import pathlib
from typing import Any, Iterator

from ._header import header

_SONAME = 'libptxi.so.0'

for _name in 'PyInterpreterState_Get', 'PyInterpreterState_Main':
    getattr(ctypes.pythonapi, _name).restype = ctypes.c_void_p
if ctypes.pythonapi.PyInterpreterState_Get() != ctypes.pythonapi.PyInterpreterState_Main():
    raise ImportError('ptxi cannot be used in a subinterpreter: threads of the library call Python functions in the main one')


def _candidates() -> Iterator[str]:
    """Places in the order in which they are tried; an explicit one is the only one."""
    explicit = os.environ.get('PTXI_LIBRARY')
    if explicit:
        yield explicit
        return
    here = pathlib.Path(__file__).resolve().parent
    for directory in (here, here.parents[2] / 'build' / '.libs'):
        if (directory / _SONAME).exists():
            yield str(directory / _SONAME)
    yield _SONAME


class Library:
    """Functions of libptxi by name, without the prefix, with the argument types of the header."""

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
            raise ImportError('libptxi was not found; set PTXI_LIBRARY to libptxi.so, or install it:\n' + '\n'.join(tried))
        self._check_version()

    def _check_version(self) -> None:
        version = ctypes.c_int()
        self.cdll.ptxiGetVersion(ctypes.byref(version))
        major, minor = divmod(version.value // 100, 100)
        want = header.constants['PTXI_VERSION_MAJOR'], header.constants['PTXI_VERSION_MINOR']
        if (major, minor) != want:
            raise ImportError(f'{self.path} is libptxi {major}.{minor}, this package is for {want[0]}.{want[1]}')

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.cdll, 'ptxi' + name)
        function.argtypes = header.functions['ptxi' + name]
        function.restype = None if 'ptxi' + name in header.voids else ctypes.c_int
        setattr(self, name, function)
        return function


@functools.lru_cache(maxsize=None)
def library() -> Library:
    """The library, loaded by the first use: importing the package needs none."""
    lib = Library()
    result = lib.Init(0)
    if result:
        from .errors import error
        raise error(result)
    return lib


def call(name: str, *args: Any) -> None:
    """Call a function; anything but success is an exception."""
    __tracebackhide__ = True
    result = getattr(library(), name)(*args)
    if result:
        from .errors import error
        raise error(result)


def number(x: Any, type_: Any) -> int:
    """An integer that the type has room for: ctypes cuts off what is too much."""
    n = operator.index(x)
    if type_(n).value != n:
        raise ValueError(f'{n} is out of range')
    return n


def encoded(s: str) -> bytes:
    """A text for the library, which ends at a zero byte."""
    if '\0' in s:
        raise ValueError(f'a zero byte in {s!r}')
    return s.encode()


def text(name: str, *args: Any) -> str:
    """Call a function whose last argument receives a text that is the caller's to free."""
    __tracebackhide__ = True
    p = ctypes.c_void_p()
    call(name, *args, ctypes.byref(p))
    try:
        return ctypes.string_at(p.value or 0).decode(errors='replace')
    finally:
        library().Free(p)
