"""A cache on disk of compiled CUDA C++ programs.

The key of a program is made of everything on which the result depends: the version of the compiler, the options, the
source, and the contents of the files that it includes. A program that does not show which files it includes is not
cached.
"""
import hashlib
import json
import os
import pathlib
import re
import tempfile
from typing import Dict, Iterator, Optional, Sequence, Tuple

from ._nvrtc import Compiler, Output

_FORMAT = 1  # of the files; another number makes all files unknown
_INCLUDE = re.compile(rb'^[ \t]*(?:#|%:|\?\?=)[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(.*))', re.M)
_VARIES = re.compile(rb'__has_include|__DATE__|__TIME__|__TIMESTAMP__|/\*.*\*/[ \t]*include|\\\r?\n[ \t]*include')


def directory() -> Optional[pathlib.Path]:
    """Return the directory of the cache: PTXI_CACHE_DIR, or `ptxi` in the user's cache directory.

    Return None if PTXI_CACHE_DIR is empty, or if there is no home directory.
    """
    explicit = os.environ.get('PTXI_CACHE_DIR')
    if explicit is not None:
        return pathlib.Path(explicit) if explicit else None
    user = os.environ.get('XDG_CACHE_HOME') or os.path.join(os.path.expanduser('~'), '.cache')
    return pathlib.Path(user) / 'ptxi' if os.path.isabs(user) else None


def _value(options: Sequence[str], i: int, names: Sequence[str]) -> Optional[str]:
    """Return the value of option i if it has one of the names: after '=', in the next option, or directly after -I."""
    for name in names:
        if options[i] == name:
            return options[i + 1] if i + 1 < len(options) else None
        if options[i].startswith(name + '='):
            return options[i][len(name) + 1:]
        if len(name) == 2 and options[i].startswith(name):
            return options[i][2:]
    return None


class _Files:
    """The files that a program includes. `known` is False if they cannot be found by reading it."""

    def __init__(self, options: Sequence[str], headers: Sequence[pathlib.Path]) -> None:
        found = [_value(options, i, ('-I', '--include-path')) for i in range(len(options))]
        self._headers = [os.path.realpath(h) for h in headers]
        self._directories = [d for d in found if d]
        self.known = not any('pch' in o for o in options)
        self.digests: Dict[str, str] = {}

    def _find(self, name: str, beside: Optional[str]) -> Optional[str]:
        """Return the path of an included file, or None if there is no such file."""
        places = ([beside] if beside is not None else []) + self._directories
        return next((p for p in (os.path.join(d, name) for d in places) if os.path.isfile(p)), None)

    def _is_of_cuda(self, path: str) -> bool:
        """Return whether the file is a header of CUDA. The version of CUDA is a part of the key."""
        real = os.path.realpath(path)
        return any(real.startswith(h + os.sep) for h in self._headers)

    def include(self, name: str, beside: Optional[str]) -> None:
        """Read an included file, and the files that it includes."""
        path = self._find(name, beside)
        if path is None or path in self.digests or self._is_of_cuda(path):
            self.digests.setdefault(path or name, '')
            return
        with open(path, 'rb') as f:
            text = f.read()
        self.digests[path] = hashlib.sha256(text).hexdigest()
        self.read(text, os.path.dirname(path))

    def read(self, text: bytes, beside: Optional[str]) -> None:
        """Find the files that a text includes. `beside` is the directory of the text."""
        self.known = self.known and not _VARIES.search(text)
        for quoted, angled, other in _INCLUDE.findall(text):
            if other or not (quoted or angled):
                self.known = False
            elif self.known:
                self.include((quoted or angled).decode(errors='surrogateescape'), beside if quoted else None)


def _stamps(compiler: Compiler) -> Iterator[Tuple[str, int, int]]:
    """Yield what identifies the files of the compiler and of its headers."""
    for path in [compiler.path, *(str(h / 'cuda_runtime.h') for h in compiler.headers)]:
        if os.path.exists(path):
            status = os.stat(path)
            yield path, status.st_size, status.st_mtime_ns


def key(compiler: Compiler, source: bytes, name: str, options: Sequence[str],
        expressions: Sequence[str]) -> Optional[str]:
    """Return the key of a program, or None if it cannot be cached."""
    files = _Files(options, compiler.headers)
    for i in range(len(options)):
        first = _value(options, i, ('-include', '--pre-include'))
        if first:
            files.include(first, '')
    try:
        files.read(source, os.path.dirname(name))
    except OSError:
        return None
    parts = (_FORMAT, compiler.version, list(_stamps(compiler)), source, name, list(options), list(expressions),
             sorted(files.digests.items()))
    return hashlib.sha256(repr(parts).encode()).hexdigest() if files.known else None


def with_source(key_: str, output: Output, source: bytes, name: str) -> Output:
    """Return the output with a path to a copy of the source in the cache, from which reports of launches take lines.

    The compiler writes the name of a source that is in no file as if it were in the current directory.
    """
    where = directory()
    if where is None or output.ptx is None:
        return output
    base = os.path.basename(name)
    path = where / 'sources' / key_[:16] / (base if base.endswith('.cu') else f'{base}.cu')
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(path, source)
    except OSError:
        return output
    written = re.escape(os.path.join(os.getcwd(), name))
    return output._replace(ptx=re.sub(rf'(?m)^([ \t]*\.file[ \t]+\d+ ")(?:{written}|{re.escape(name)})"',
                                      lambda m: f'{m[1]}{path}"', output.ptx))


def load(key_: str) -> Optional[Output]:
    """Return a cached output, or None if there is none."""
    where = directory()
    if where is None:
        return None
    try:
        text = json.loads((where / f'{key_}.json').read_text(encoding='utf-8'))
        return Output(text['ptx'], text['names'], text['log'])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(key_: str, output: Output) -> None:
    """Write an output to the cache. Without permission or space, nothing is cached."""
    where = directory()
    if where is None:
        return
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(where / f'{key_}.json', json.dumps(output._asdict()).encode())
    except OSError:
        pass


def _replace(path: pathlib.Path, data: bytes) -> None:
    """Write a file at once: readers never find a part of it."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as f:
        temporary = f.name
        try:
            f.write(data)
            f.close()
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise
