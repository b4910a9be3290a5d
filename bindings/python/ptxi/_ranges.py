"""The program's memory that kernels may access, beside device memory."""
import collections
import contextlib
import ctypes
from typing import Any, Deque, List, NamedTuple, Sequence, Set, Tuple

from ._header import header
from ._library import library
from .errors import Result, error

READ = header.constants['PTXI_RANGE_READ']
READ_WRITE = READ | header.constants['PTXI_RANGE_WRITE']
_Range: Any = header.structs['ptxiRange']


class Span(NamedTuple):
    """The bytes from `start` up to, but not including, `end`."""
    start: int
    end: int
    writable: bool


def as_array(spans: Sequence[Span]) -> Any:
    """Return spans as an array of the library's structures."""
    return (_Range * len(spans))(*((s.start, s.end - s.start, READ_WRITE if s.writable else READ) for s in spans))


def range_error(result: int) -> Exception:
    """Return the exception for memory that cannot be opened."""
    if result == Result.ERROR_HOST_MEMORY_ALREADY_REGISTERED:
        return BlockingIOError('a writable array overlaps memory that another launch uses as read-only; '
                               'wait for that launch')
    return error(result)


class Use:
    """The memory that a launch or a graph has open.

    It stays open until end() is called or this object is collected. `held`, the owners of the memory, is referred to
    until the memory is closed.
    """

    def __init__(self, held: Any) -> None:
        self._number = ctypes.c_ulonglong()  # 0: nothing is open
        self._held = held

    def open(self, spans: Sequence[Span]) -> None:
        """Open spans, once. Raises BlockingIOError if a span conflicts with another use."""
        if spans:
            result = library().MemOpenRanges(as_array(spans), len(spans), ctypes.byref(self._number))
            if result:
                raise range_error(result)
            _open.add(self._number.value)

    def end(self) -> None:
        """End the use. The memory is closed later, by give_back(). Finalizers may call this."""
        if self._number.value:
            ended.append((self._number.value, self._held))  # if an interrupt comes here, it is added a second time
            self._number = ctypes.c_ulonglong()
        self._held = None

    __del__ = end


_open: Set[int] = set()                      # numbers that the library has given to open ranges
ended: Deque[Tuple[int, Any]] = collections.deque()  # numbers and owners of uses that have ended; see give_back()


def left() -> List[int]:
    """Return the numbers of the uses that have open memory."""
    return sorted(_open)


def give_back() -> None:
    """Close the memory of uses that have ended. Finalizers must not call this.

    A host function is not permitted to close it. Then it is closed later. Closing twice has no effect.
    """
    while ended:
        try:
            item = ended[0]
        except IndexError:  # another thread has closed the last one
            return
        if library().MemCloseRanges(item[0]) == Result.ERROR_NOT_PERMITTED:
            return
        _open.discard(item[0])
        with contextlib.suppress(ValueError):
            ended.remove(item)
