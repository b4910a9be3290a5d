"""A function over all parts of a range."""
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from . import _shard, _work
from ._checkpoint import Checkpoint, identity, missing

_FIRST = 256   # the first chunks have a part of this many of the range
_LAST = 40     # the last ones take this part of the time of a chunk


def _seconds(chunk: Union[float, str]) -> float:
    """Return the length of a chunk in seconds, from a number or a text such as '10s'."""
    seconds = float(chunk[:-1] if isinstance(chunk, str) and chunk.endswith('s') else chunk)
    if not 0 < seconds <= 3600:
        raise ValueError(f'a chunk takes more than 0 and at most 3600 seconds, not {chunk}')
    return seconds


class _Chunks:
    """Divides the parts of a range that are left. The first chunks are short; they show how many elements fit. The last
    ones get shorter again, so that all workers end at about the same time."""

    def __init__(self, gaps: List[Tuple[int, int]], seconds: float, size: Optional[int], workers: int) -> None:
        self._gaps, self._seconds, self._fixed, self._workers = gaps[::-1], seconds, size, workers
        self._left = sum(stop - first for first, stop in gaps)
        self._size = size or max(1, self._left // (_FIRST * workers))
        self._least = self._size

    def note(self, count: int, seconds: float) -> None:
        """Learn how long a chunk took."""
        if not self._fixed:
            wanted = max(1, int(count * self._seconds / max(seconds, 1e-6)))
            self._size = min(wanted, 8 * count if seconds < self._seconds else wanted)
            self._least = max(1, min(self._size, wanted // _LAST))

    def _next_size(self) -> int:
        """Return the size of the next chunk."""
        return self._size if self._fixed else min(self._size, max(self._least, self._left // (3 * self._workers)))

    def __iter__(self) -> Iterator[Tuple[int, int]]:
        while self._gaps:
            first, stop = self._gaps.pop()
            end = min(first + self._next_size(), stop)
            if end < stop:
                self._gaps.append((end, stop))
            self._left -= end - first
            yield first, end


def results(function: Callable[[Any], Any], items: Any, *, executor: Any = None, chunk: Union[float, str] = 10.0,
            size: Optional[int] = None, checkpoint: Any = None, shard: Union[str, _shard.Shard, None] = None,
            progress: _work.Progress = None) -> Iterator[Tuple[Any, Any]]:
    """Yield (part, result) for each part of `items` as it arrives; those of the checkpoint come first.

    The parameters are those of `sweep`.
    """
    items = _shard.part_of(items, shard)
    kept: List[Tuple[int, int]] = []
    store = Checkpoint(checkpoint, identity(function, items)) if checkpoint is not None else None
    bar = _work.Bar('sweep', progress)
    try:
        for first, stop, result in store.load() if store else ():
            kept.append((first, stop))
            yield items[first:stop], result
        done = sum(stop - first for first, stop in kept)
        gaps = missing(kept, len(items))
        chunks = _Chunks(gaps, _seconds(chunk), size, _work.workers_of(executor))
        tasks = (((a, b), function, (items[a:b],)) for a, b in chunks)
        for (first, stop), seconds, result in _work.run(executor, tasks, store.path if store else None):
            chunks.note(stop - first, seconds)
            if store:
                store.add(first, stop, result)
            done += stop - first
            bar.show(done / len(items))
            yield items[first:stop], result
    finally:
        bar.end()
        if store:
            store.close()


def sweep(function: Callable[[Any], Any], items: Any, *, executor: Any = None, chunk: Union[float, str] = 10.0,
          size: Optional[int] = None, reduce: Optional[Callable[[Any, Any], Any]] = None, checkpoint: Any = None,
          shard: Union[str, _shard.Shard, None] = None, progress: _work.Progress = None) -> Any:
    """Call a function for parts of a range or another sequence, on the processes of an executor.

    >>> import ptxi.scale
    >>> ptxi.scale.sweep(sum, range(1000), reduce=lambda a, b: a + b)
    499500

    `function`    gets a part: range(a, b) of a range, a slice of another sequence
    `items`       a range or another sequence that can be sliced
    `executor`    an executor of PEP 3148; default: this process does the work
    `chunk`       the seconds that a part shall take; the sizes follow what was measured
    `size`        elements of a part, instead of `chunk`
    `reduce`      combines two results, in the order of their parts; the parts differ from run to run
    `checkpoint`  a file that keeps results: an interrupted sweep continues where it was
    `shard`       'I/N': only the I-th of N parts of the items; default: the environment variable PTXI_SHARD
    `progress`    False: no progress bar; a function: gets the finished part, from 0 to 1; default: a bar on a terminal

    Returns the reduced result, or without `reduce` a list of (part, result) in the order of the parts. Raises
    ScaleError if a process of the executor ends; an exception of the function ends the sweep, too.
    """
    found: Dict[int, Tuple[Any, Any]] = {}
    positions = _shard.part_of(range(len(items)), shard)
    every = results(_Positions(function, items), positions, executor=executor, chunk=chunk, size=size,
                    checkpoint=checkpoint, shard=_shard.Shard(0, 1), progress=progress)
    for part, result in every:
        found[part.start] = items[part.start:part.stop], result
    ordered = [found[key] for key in sorted(found)]
    if reduce is None:
        return ordered
    if not ordered:
        raise ValueError('there is nothing to reduce')
    value = ordered[0][1]
    for _, result in ordered[1:]:
        value = reduce(value, result)
    return value


class _Positions:
    """Calls a function with the elements at positions. A range is sent whole, as it is small."""

    def __init__(self, function: Callable[[Any], Any], items: Any) -> None:
        self.func, self.args = function, (items,)
        self.keywords: Dict[str, Any] = {}
        self._items = items

    def __call__(self, part: Any) -> Any:
        return self.func(self._items[part.start:part.stop])
