"""The program's memory that kernels may use now."""
import collections
import ctypes
import itertools
import os
import threading
from typing import Any, Deque, Iterable, List, NamedTuple, Set, Tuple

from ._header import header
from ._library import call, library
from .errors import Error


class Span(NamedTuple):
    """Bytes from `start` to before `end`."""
    start: int
    end: int
    writable: bool


class _Piece:
    """A range that is open for kernels as long as there are uses of it."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.users: Set[int] = set()
        self.closing = False

    def open(self) -> None:
        flags = header.constants['PTXI_RANGE_READ'] | (header.constants['PTXI_RANGE_WRITE'] if self.span.writable else 0)
        call('MemOpenRange', self.span.start, self.span.end - self.span.start, flags)


class Use:
    """What work has open, until end(), or until nothing refers to this. What was given at its start is held until it is closed."""

    def __init__(self, held: Any) -> None:
        self.number = next(_numbers)
        self.pieces: List[_Piece] = []
        self._held = held

    def end(self) -> None:
        pieces, self.pieces = self.pieces, []
        held, self._held = self._held, None
        if pieces:
            opened.ended(self.number, pieces, held)

    __del__ = end


class _Open:
    """The program's memory that kernels may use now. Ranges of the library do not overlap, and one in use is not to be
    touched; so of a span that overlaps others (views of one array, in launches at the same time) the gaps are opened.

    Each step may be followed by a KeyboardInterrupt, so a piece is listed before it is open until after it is closed. Between two steps
    a signal handler or the garbage collector may also end uses, whose end is only noted then, and open others (`_busy`): they share
    the pieces that are listed, which are closed only where nothing uses them, and cannot have one that is just being closed."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.pieces: List[_Piece] = []
        self._busy = False  # the thread that holds the lock changes the list
        self._ended: Deque[Tuple[int, List[_Piece], Any]] = collections.deque()

    def _known(self, s: Span) -> bool:
        """Whether the library has it already, as device or registered memory."""
        base, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        if library().MemGetAddressRange(ctypes.byref(base), ctypes.byref(size), s.start):
            return False
        return s.end <= base.value + size.value

    def _new(self, span: Span) -> _Piece:
        p = _Piece(span)
        self.pieces.append(p)
        try:
            p.open()
        except Error:
            self.pieces.remove(p)
            raise
        return p

    def _cover(self, s: Span) -> List[_Piece]:
        if any(p.closing for p in self.pieces if p.span.start < s.end and s.start < p.span.end):
            raise BlockingIOError('an array is just being closed by the launch that this one interrupts')
        found = sorted((p for p in self.pieces if p.span.start < s.end and s.start < p.span.end), key=lambda p: p.span)
        if s.writable and not all(p.span.writable for p in found):
            raise BlockingIOError('an array to be written is being used as a read-only one by another launch')
        at, gaps = s.start, []
        for p in found:
            if at < p.span.start:
                gaps.append(Span(at, p.span.start, s.writable))
            at = p.span.end
        if at < s.end:
            gaps.append(Span(at, s.end, s.writable))
        return found + [self._new(g) for g in gaps]

    def acquire(self, use: Use, spans: List[Span]) -> None:
        """Open spans for a use, in the current context."""
        if not spans:
            return
        self._close_unused()  # also what an exception left
        with self.lock:
            before, self._busy = self._busy, True
            try:
                for s in _merge(s for s in spans if s.end > s.start and not self._known(s)):
                    for p in self._cover(s):
                        use.pieces.append(p)
                        p.users.add(use.number)
            finally:
                self._busy = before

    def ended(self, number: int, pieces: List[_Piece], held: Any) -> None:
        """A use has ended. For finalizers."""
        self._ended.append((number, pieces, held))

    def give_back(self) -> None:
        """Close what no use has open any more. Not for finalizers."""
        if self._ended:
            self._close_unused()

    def _close_unused(self) -> None:
        held: List[Any] = []  # dropped without the lock
        with self.lock:
            if not self._busy and not library().CtxGetCurrent(ctypes.byref(ctypes.c_void_p())):  # not in a host function
                self._busy = True
                try:
                    self._close(held)
                finally:
                    self._busy = False

    def _close(self, held: List[Any]) -> None:
        while self._ended:
            number, pieces, owners = self._ended[0]
            for p in pieces:
                p.users.discard(number)
            held.append(owners)
            self._ended.popleft()
        for p in list(self.pieces):
            p.closing = not p.users
            if p.closing and not p.users:
                library().MemCloseRange(p.span.start)
                self.pieces.remove(p)
            p.closing = False

    def after_fork(self) -> None:
        """Another thread of the parent may have had the lock."""
        self.lock = threading.RLock()


def _merge(spans: Iterable[Span]) -> List[Span]:
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
