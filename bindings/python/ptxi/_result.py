"""Result codes of the library, and the exception for one of them.

This module is below `_library` and `errors`, which both raise `Error`. It does not load the library."""
import ctypes
import os
from typing import Any

from ._header import header

Result: Any = header.enums['ptxiResult']

_process = os.getpid()  # the one that initialises the library


class Error(RuntimeError):
    """A call of the library failed.

    `result` is the result code, a `Result`, or an int if this version of the header does not have it. `str()` is a
    message for a reader.
    """
    __module__ = 'ptxi.errors'  # its public place, which tracebacks show

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self.args, self.__dict__)  # subclasses have other parameters


def _rebuild(kind: Any, args: Any, members: Any) -> Error:
    """Return an exception that was pickled, as executors do with those of their processes."""
    e: Error = kind.__new__(kind, *args)
    e.args = args
    e.__dict__.update(members)
    return e


def result_error(library: Any, result: int, details: str = '') -> Error:
    """Return the exception for a result code: the code's name and description from the library, and the details."""
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    library.GetErrorName(result, ctypes.byref(name))
    library.GetErrorString(result, ctypes.byref(text))
    label = (name.value or b'%d' % result).decode()
    message = (text.value or b'unknown error').decode()
    if os.getpid() != _process:
        message += '; a fork of a process that uses ptxi cannot use it: start processes with the method "spawn"'
    return Error(f'{label}: {message}{details}', Result(result) if name.value else result)
