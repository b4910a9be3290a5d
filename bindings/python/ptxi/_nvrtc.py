"""NVIDIA's compiler NVRTC, which compiles CUDA C++ to PTX. It does not need a GPU."""
import ctypes
import functools
import os
import pathlib
import sys
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

from ._header import header

_MAJORS = 13, 12
_NAMES = [f'libnvrtc.so.{major}' for major in _MAJORS]
_DEFAULT = pathlib.Path('/usr/local/cuda')
# With RTLD_DEEPBIND the compiler calls its own functions, also where a program has preloaded libptxi's libnvrtc
_MODE = os.RTLD_NOW | os.RTLD_LOCAL | getattr(os, 'RTLD_DEEPBIND', 0)


class Output(NamedTuple):
    """What the compiler returned. `ptx` is None if the compilation failed.

    `names` maps each name expression to the symbol in the PTX.
    """
    ptx: Any
    names: Dict[str, str]
    log: str


def _libraries() -> Iterator[str]:
    """Yield paths at which NVRTC may be. PTXI_NVRTC, if it is set, is the only one.

    The order is that of libptxi's libnvrtc, which doc/reference/clients.md describes.
    """
    explicit = os.environ.get('PTXI_NVRTC')
    if explicit:
        yield explicit
        return
    places = [pathlib.Path(p) / 'nvidia' / below for p in sys.path if p
              for below in ('cu13/lib', 'cuda_nvrtc/lib')]
    for variable in 'CONDA_PREFIX', 'CUDA_HOME', 'CUDA_PATH':
        root = os.environ.get(variable)
        places += [pathlib.Path(root) / 'lib', pathlib.Path(root) / 'lib64'] if root else []
    for place in (*places, _DEFAULT / 'lib64'):
        for name in _NAMES:
            if (place / name).is_file():
                yield str(place / name)
    yield from _NAMES


def _headers(library: pathlib.Path) -> List[pathlib.Path]:
    """Return the directories with the CUDA headers for a library: those of its toolkit or wheel, else of a toolkit."""
    near = library.resolve().parent.parent
    roots = [[near / 'include'],
             [near.parent / wheel / 'include' for wheel in ('cuda_runtime', 'cuda_cccl', 'cuda_nvcc')]]
    for variable in 'CUDA_HOME', 'CUDA_PATH':
        roots += [[pathlib.Path(os.environ[variable]) / 'include']] if os.environ.get(variable) else []
    for directories in (*roots, [_DEFAULT / 'include'], [pathlib.Path('/usr/include')]):
        if (directories[0] / 'cuda_runtime.h').is_file():
            return [d for root in directories for d in (root, root / 'cccl') if d.is_dir()]
    return []


class Compiler:
    """An NVRTC library.

    `path`     its file
    `version`  its version of CUDA, such as (13, 0)
    `headers`  directories with the headers of CUDA and of its C++ libraries
    """

    def __init__(self, path: str) -> None:
        self._cdll = ctypes.CDLL(path, mode=_MODE)
        self.path = path
        self.headers = _headers(pathlib.Path(path))
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._cdll.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = major.value, minor.value

    def architectures(self) -> List[int]:
        """Return the numbers of the architectures that the compiler supports, such as 90, in ascending order."""
        count = ctypes.c_int()
        self._cdll.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._cdll.nvrtcGetSupportedArchs(found)
        return sorted(found)

    def _text(self, program: ctypes.c_void_p, what: str) -> str:
        """Return a text of a program: its 'PTX' or its 'ProgramLog'."""
        size = ctypes.c_size_t()
        self._cdll['nvrtcGet' + what + 'Size'](program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        self._cdll['nvrtcGet' + what](program, buffer)
        return buffer.value.decode(errors='replace')

    def _lowered(self, program: ctypes.c_void_p, expressions: Iterable[str]) -> Iterator[Tuple[str, str]]:
        """Yield each name expression with its symbol in the PTX."""
        for expression in expressions:
            symbol = ctypes.c_char_p()
            self._cdll.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(symbol))
            yield expression, (symbol.value or b'').decode()

    def _error(self, result: int) -> str:
        """Return the name of an error."""
        function = self._cdll.nvrtcGetErrorString
        function.restype = ctypes.c_char_p
        return f'nvrtc: error: {function(result).decode()}'

    def compile(self, source: bytes, name: bytes, options: Sequence[str], expressions: Sequence[str]) -> Output:
        """Compile a program to PTX."""
        program = ctypes.c_void_p()
        result = self._cdll.nvrtcCreateProgram(ctypes.byref(program), source, name, 0, None, None)
        if result:
            return Output(None, {}, self._error(result))
        try:
            for expression in expressions:
                self._cdll.nvrtcAddNameExpression(program, expression.encode())
            encoded = (ctypes.c_char_p * max(len(options), 1))(*(o.encode() for o in options))
            result = self._cdll.nvrtcCompileProgram(program, len(options), encoded)
            log = self._text(program, 'ProgramLog')
            if result:
                return Output(None, {}, log or self._error(result))
            return Output(self._text(program, 'PTX'), dict(self._lowered(program, expressions)), log)
        finally:
            self._cdll.nvrtcDestroyProgram(ctypes.byref(program))


def is_standin(path: str) -> bool:
    """Return whether a library is libptxi's own, which only passes calls on."""
    return hasattr(ctypes.CDLL(path, mode=_MODE), 'ptxi_standin')


@functools.lru_cache(maxsize=None)
def compiler() -> Compiler:
    """Return the compiler. The first call searches it. Raises ImportError if it is not found."""
    tried = []
    for path in _libraries():
        try:
            if not is_standin(path):
                return Compiler(path)
        except OSError as e:
            tried.append(f'  {e}')
    raise ImportError('cannot find NVRTC, which compiles CUDA C++; install it with `pip install nvidia-cuda-nvrtc '
                      'nvidia-cuda-runtime nvidia-cuda-cccl`, or set PTXI_NVRTC to the path of libnvrtc.so; '
                      'tried:\n' + '\n'.join(tried))


def error_result() -> Any:
    """Return the result code for programs that cannot be compiled."""
    return header.enums['ptxiResult'].ERROR_INVALID_SOURCE
