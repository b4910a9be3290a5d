"""Runs tasks on an executor and yields their results as they arrive."""
import concurrent.futures
import os
import sys
import time
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Union

Progress = Union[bool, Callable[[float], Any], None]


class ScaleError(RuntimeError):
    """Processes of the executor have ended. The work continues from its checkpoint, if it has one."""


def workers_of(executor: Any) -> int:
    """Return how many tasks an executor runs at once."""
    if executor is None:
        return 1
    client = getattr(executor, '_client', None)  # Dask
    if client is not None:
        return max(1, int(sum(client.ncores().values())))
    for name in ('num_workers', '_max_workers'):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return os.cpu_count() or 1


class Bar:
    """A progress bar on stderr, if that is a terminal; or a function that gets the finished part from 0 to 1."""

    def __init__(self, title: str, progress: Progress) -> None:
        self._title, self._start = title, time.monotonic()
        self._function = progress if callable(progress) else None
        self._shown = progress is not False and self._function is None and sys.stderr.isatty()

    def show(self, part: float) -> None:
        """Show the finished part."""
        if self._function:
            self._function(part)
        if not self._shown:
            return
        seconds = time.monotonic() - self._start
        left = f', {seconds * (1 - part) / part:.0f} s left' if part else ''
        sys.stderr.write(f'\r{self._title} [{"#" * int(30 * part):30}] {part:4.0%}{left}\033[K')
        sys.stderr.flush()

    def end(self) -> None:
        """Remove the bar."""
        if self._shown:
            sys.stderr.write('\r\033[K')
            sys.stderr.flush()


def _timed(function: Callable[..., Any], *arguments: Any) -> Tuple[float, Any]:
    """Call a function in a process of the executor. Return the seconds that it took, and its result."""
    start = time.monotonic()
    result = function(*arguments)
    return time.monotonic() - start, result


def run(executor: Any, tasks: Iterator[Tuple[Any, Callable[..., Any], Tuple[Any, ...]]],
        checkpoint: Optional[str] = None, ahead: int = 2) -> Iterator[Tuple[Any, float, Any]]:
    """Run tasks (key, function, arguments). Yield (key, seconds, result) in the order in which they end.

    A task is taken from the iterator only when it is submitted, so it may depend on the results so far. `ahead` tasks
    for each worker are submitted. An exception of a task ends the run.
    """
    if executor is None:
        for key, function, arguments in tasks:
            yield (key, *_timed(function, *arguments))
        return
    if checkpoint and type(executor).__module__.startswith('mpi4py'):
        sys.stderr.write(f'ptxi: if a process of MPI ends, all end; the next run continues from the checkpoint '
                         f'{checkpoint}\n')
        sys.stderr.flush()
    pending: Dict[Any, Any] = {}
    most = max(2, ahead * workers_of(executor))
    try:
        more = True
        while more or pending:
            while more and len(pending) < most:
                task = next(tasks, None)
                more = task is not None
                if task is not None:
                    pending[executor.submit(_timed, task[1], *task[2])] = task[0]
            done, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                key = pending.pop(future)
                yield (key, *future.result())
    except (concurrent.futures.BrokenExecutor, concurrent.futures.CancelledError, ConnectionError) as e:
        hint = f'; the next run continues from the checkpoint {checkpoint}' if checkpoint else \
            '; with a checkpoint, the next run would continue'
        raise ScaleError(f'a process of the executor has ended: {e or type(e).__name__}{hint}') from e
    finally:
        for future in pending:
            future.cancel()
