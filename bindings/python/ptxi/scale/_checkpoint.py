"""Results that have arrived, in a file of sqlite, so that interrupted work continues."""
import hashlib
import inspect
import os
import pickle
import sqlite3
from typing import Any, Dict, Iterator, List, Tuple, Union

_VERSION = 'ptxi checkpoint 1'


class CheckpointError(ValueError):
    """The file is not a checkpoint, or one of other work."""


def _describe(function: Any) -> str:
    """Return a text about a function that is the same in each process, also for functools.partial."""
    inner = getattr(function, 'func', None)
    if inner is not None:
        return f'{_describe(inner)} {function.args!r} {function.keywords!r}'
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ''
    named = function if hasattr(function, '__qualname__') else type(function)
    return f'{named.__module__}.{named.__qualname__}\n{source}'


def identity(function: Any, *parts: Any) -> str:
    """Return a hash of a function and of what it is called with."""
    return hashlib.sha256('\n'.join([_describe(function), *map(repr, parts)]).encode()).hexdigest()


class Checkpoint:
    """A file with the results of parts, each with the numbers of its first element and of the one after its last."""

    def __init__(self, path: Union[str, 'os.PathLike[str]'], work: str) -> None:
        self.path = os.fspath(path)
        try:
            self._db = sqlite3.connect(self.path, timeout=60)
            with self._db:
                self._db.execute('create table if not exists about (key text primary key, value text)')
                self._db.execute('create table if not exists parts (first integer primary key, stop integer, '
                                 'result blob, hash text)')
                self._db.execute('insert or ignore into about values (?, ?), (?, ?)',
                                 ('version', _VERSION, 'work', work))
            about: Dict[str, str] = dict(self._db.execute('select key, value from about'))
        except sqlite3.DatabaseError as e:
            raise CheckpointError(f'{self.path} is not a checkpoint: {e}') from e
        if about.get('version') != _VERSION:
            raise CheckpointError(f'{self.path} is a checkpoint of another version: {about.get("version")}')
        if about.get('work') != work:
            raise CheckpointError(f'{self.path} is the checkpoint of other work: of another function or range, '
                                  'or of a function that has been changed; delete it or name another file')

    def add(self, first: int, stop: int, result: Any) -> None:
        """Keep a result. It is on disk when the method returns."""
        data = pickle.dumps(result)
        with self._db:
            self._db.execute('insert or replace into parts values (?, ?, ?, ?)',
                             (first, stop, data, hashlib.sha256(data).hexdigest()))

    def load(self) -> Iterator[Tuple[int, int, Any]]:
        """Yield the kept results in their order. Raises CheckpointError for one that is damaged."""
        for first, stop, data, digest in self._db.execute('select * from parts order by first'):
            if hashlib.sha256(data).hexdigest() != digest:
                raise CheckpointError(f'{self.path}: the result of {first} to {stop} is damaged')
            yield first, stop, pickle.loads(data)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def missing(done: List[Tuple[int, int]], total: int) -> List[Tuple[int, int]]:
    """Return the parts of range(total) that are not in `done`, which is sorted."""
    gaps, at = [], 0
    for first, stop in done:
        if first > at:
            gaps.append((at, first))
        at = max(at, stop)
    return gaps + ([(at, total)] if at < total else [])
