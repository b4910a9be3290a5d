"""The program's memory that kernels may access, beside device memory."""
import collections
import ctypes
import itertools
import os
import threading
from typing import Any, Deque, Iterable, List, NamedTuple, Set, Tuple

from ._header import header
from ._library import library
from .errors import Result, error


_READ = header.constants['PTXI_RANGE_READ']
_READ_WRITE = _READ | header.constants['PTXI_RANGE_WRITE']


class Span(NamedTuple):
    """The bytes from `start` up to, but not including, `end`."""
    start: int
    end: int
    writable: bool


class _Piece:
    """A range that is open for kernels while it has users, the numbers of `Use` objects."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.users: Set[int] = set()
        self.closing = False

    def open(self) -> int:
        """Open the range in the current context. Return the result code."""
        start, end, writable = self.span
        result: int = library().MemOpenRange(start, end - start, _READ_WRITE if writable else _READ)
        return result


class Use:
    """The pieces that one launch or graph has open.

    They stay open until end() is called or this object is collected. `held`, the owners of the memory, is referred to
    until the pieces are closed.
    """

    def __init__(self, held: Any) -> None:
        self.number = next(_numbers)
        self.pieces: List[_Piece] = []
        self._held = held

    def end(self) -> None:
        """End the use. The pieces are closed later, by give_back() or acquire(). Finalizers may call this."""
        pieces, self.pieces = self.pieces, []
        held, self._held = self._held, None
        if pieces:
            opened.ended(self.number, pieces, held)

    __del__ = end


class _Open:
    """The ranges of the program's memory that are open for kernels.

    Open ranges of the library cannot overlap, and a range in use cannot be replaced. So if a span overlaps ranges that
    are already open (views of one array in launches at the same time), only the gaps between them are opened.

    A KeyboardInterrupt may come after each step, so a piece is in the list from before it is opened until after it is
    closed. A signal handler or the garbage collector may run between two steps. It may end uses, which is only
    recorded then. It may also open ranges while `_busy` is set. It shares the listed pieces, which are closed only if
    they have no users. It cannot use a piece that is being closed.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.pieces: List[_Piece] = []
        self._busy = False  # the thread that holds the lock is changing the list
        self._ended: Deque[Tuple[int, List[_Piece], Any]] = collections.deque()

    def _known(self, s: Span) -> bool:
        """Return whether the library already has the span as device memory or registered memory."""
        base, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        if library().MemGetAddressRange(ctypes.byref(base), ctypes.byref(size), s.start):
            return False
        return s.end <= base.value + size.value

    def _new(self, span: Span) -> List[_Piece]:
        """Open a new piece for the span. Return no piece if kernels can access the memory without one."""
        p = _Piece(span)
        self.pieces.append(p)
        result = p.open()
        if not result:
            return [p]
        self.pieces.remove(p)
        if self._known(span):
            return []
        raise error(result)

    def _cover(self, s: Span) -> List[_Piece]:
        """Return pieces that contain the span. Opens new pieces for the gaps."""
        found = [p for p in self.pieces if p.span.start < s.end and s.start < p.span.end]
        if not found:
            return self._new(s)
        if any(p.closing for p in found):
            raise BlockingIOError('an array is being closed by the launch that this signal handler interrupted')
        found.sort(key=lambda p: p.span)
        if s.writable and not all(p.span.writable for p in found):
            raise BlockingIOError('a writable array overlaps memory that another launch uses as read-only; '
                                  'wait for that launch')
        at, gaps = s.start, []
        for p in found:
            if at < p.span.start:
                gaps.append(Span(at, p.span.start, s.writable))
            at = p.span.end
        if at < s.end:
            gaps.append(Span(at, s.end, s.writable))
        return found + [p for g in gaps for p in self._new(g)]

    def acquire(self, use: Use, spans: List[Span]) -> None:
        """Open spans for a use, in the current context.

        Raises BlockingIOError if a span conflicts with another use.
        """
        spans = [s for s in spans if s.end > s.start]
        if self.pieces or self._ended:
            self._close_unused()  # an exception may have left pieces without users
        with self.lock:
            before, self._busy = self._busy, True
            try:
                for s in _merge(spans):
                    for p in self._cover(s):
                        use.pieces.append(p)
                        p.users.add(use.number)
            finally:
                self._busy = before

    def ended(self, number: int, pieces: List[_Piece], held: Any) -> None:
        """Record that a use has ended. Finalizers may call this, as it takes no lock."""
        self._ended.append((number, pieces, held))

    def give_back(self) -> None:
        """Close the pieces that have no users any more. Finalizers must not call this."""
        if self._ended:
            self._close_unused()

    def _close_unused(self) -> None:
        """Close pieces without users, unless another call is changing the list.

        A host function is not permitted to close them. They are closed later.
        """
        held: List[Any] = []  # dropped after the lock is released
        with self.lock:
            if not self._busy:
                self._busy = True
                try:
                    self._close(held)
                finally:
                    self._busy = False

    def _close(self, held: List[Any]) -> None:
        """Process the uses that have ended, and close pieces without users. Moves owners to `held`."""
        while self._ended:
            number, pieces, owners = self._ended[0]
            for p in pieces:
                p.users.discard(number)
            held.append(owners)
            self._ended.popleft()
        for p in list(self.pieces):
            p.closing = not p.users
            if p.closing and not p.users and library().MemCloseRange(p.span.start) != Result.ERROR_NOT_PERMITTED:
                self.pieces.remove(p)
            p.closing = False

    def after_fork(self) -> None:
        """Replace the lock: in the parent process another thread may have held it."""
        self.lock = threading.RLock()


def _merge(spans: Iterable[Span]) -> List[Span]:
    """Return the spans in ascending order, with overlapping ones merged."""
    merged: List[Span] = []
    for s in sorted(spans):
        if merged and s.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, s.end), last.writable or s.writable)
        else:
            merged.append(s)
    return merged


opened = _Open()
_numbers = itertools.count(1)
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=opened.after_fork)
