"""CUDA C++ programs as modules."""
import os
import re
from typing import Any, Iterator, List, Optional, Sequence, Union

from . import _compile_cache, _nvrtc
from ._library import encoded
from .device import Device, Dialect, given
from .errors import Diagnostic, ModuleError, Severity
from .module import Module, loads

_MESSAGE = re.compile(r'^(?:(?P<file>.+)\((?P<line>\d+)\)|nvrtc): (?:catastrophic )?(?P<kind>error|warning)'
                      r'(?: #[\w-]+)?: (?P<message>.*)$')
_ARCHITECTURE = re.compile(r'--?(?:gpu-architecture|arch)(?:=|$)')
_PACKAGES = {'crt/': 'nvidia-cuda-crt', 'curand': 'nvidia-curand',
             **dict.fromkeys(('cub/', 'cuda/', 'nv/', 'thrust/'), 'nvidia-cuda-cccl')}  # by the begin of an include
_MISSING = re.compile(f'cannot open source file "({"|".join(_PACKAGES)})')
_INDENT = 2  # spaces before the source lines in the compiler's messages


def compile(source: Union[str, bytes, 'os.PathLike[str]'], *options: str, name: Optional[str] = None,
            names: Sequence[str] = (), cache: bool = True, fma: bool = True, strict: bool = False,
            dialect: Any = Dialect.NONE, device: Optional[Device] = None) -> Module:
    """Compile CUDA C++ with NVIDIA's NVRTC, and load it. Neither needs a GPU.

    >>> import numpy as np, ptxi
    >>> mod = ptxi.compile('''
    ...     template<class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
    ... ''', '-std=c++17', names=['scale<float>', 'scale<int>'])
    >>> x = np.arange(4, dtype='f4')
    >>> mod['scale<float>'][1, 4](x, 0.5)
    >>> x
    array([0. , 0.5, 1. , 1.5], dtype=float32)

    `source`   a text, or the path of a file, as a pathlib.Path; the directory of a file is searched for its includes
    `options`  options of NVRTC, such as '-DN=4', '-Iinclude', '--use_fast_math'; without '-arch', programs are compiled
               for the device; the headers of CUDA and of its C++ libraries are found
    `name`     name of the source in messages; default: the path of the file
    `names`    C++ expressions that name kernels, variables or instances of templates, under which the module has them
    `cache`    True: keep the PTX in the directory PTXI_CACHE_DIR (default: ~/.cache/ptxi; empty: no cache), and use it
               for the same source, options, includes and version of the compiler; a source that is in no file is kept,
               too, so that reports of launches show its lines
    `fma`, `strict`, `dialect`, `device`  as for `loads`

    A kernel that is not a template is also found by its C++ name: `mod.scale` or `mod['space::scale']`.

    NVRTC is taken from the packages `nvidia-cuda-nvrtc`, `nvidia-cuda-runtime` and `nvidia-cuda-cccl`, or from a CUDA
    toolkit; PTXI_NVRTC may name its file. `mma.h` needs the package `nvidia-cuda-crt` as well, and `curand_kernel.h`
    needs `nvidia-curand`. Raises ImportError if it is not found, and ModuleError with the compiler's
    messages if the program is invalid. The warnings are in `diagnostics` of the module.
    """
    __tracebackhide__ = True
    given_, device = source, given(device)
    if not isinstance(given_, (str, bytes)):
        path = os.fspath(given_)
        with open(path, 'rb') as f:
            given_ = f.read()
        name = path if name is None else name
        options = (*options, f'-I{os.path.dirname(path) or "."}')
    text = given_.encode() if isinstance(given_, str) else given_
    name = '<cuda>' if name is None else name
    if b'\0' in text or b'\0' in encoded(name):
        raise ValueError(f'{name}: the text contains a zero byte')
    output = _compiled(text, name, _options(options, device), list(names), cache,
                       isinstance(source, (str, bytes)))
    mod = loads(output.ptx, name, fma, strict, dialect, device)
    mod.cpp_names.update(output.names)
    mod.diagnostics[:0] = _diagnostics(output.log)
    return mod


def _options(options: Sequence[str], device: Device) -> List[str]:
    """Return the options for the compiler: those of the user, the architecture and the headers."""
    for o in options:
        encoded(o)
    # PTX is needed, and no code for a GPU
    made = [re.sub(r'^((?:--?(?:gpu-architecture|arch)=)?)sm_', r'\1compute_', o) for o in options]
    compiler = _nvrtc.compiler()
    if not any(_ARCHITECTURE.match(o) for o in options):
        known = compiler.architectures()
        own = int(re.sub(r'\D', '', device.profile))
        made.append(f'-arch=compute_{max([a for a in known if a <= own], default=min(known))}')
    return [*made, '--generate-line-info', *(f'-I{h}' for h in compiler.headers)]


def _compiled(source: bytes, name: str, options: List[str], names: List[str], cache: bool,
              in_memory: bool) -> _nvrtc.Output:
    """Return the output for a valid program, from the cache if it has it. Raises ModuleError for others."""
    __tracebackhide__ = True
    compiler = _nvrtc.compiler()
    key = _compile_cache.key(compiler, source, name, options, names) if cache else None
    output = _compile_cache.load(key) if key else None
    if output is not None:
        return output
    output = compiler.compile(source, name.encode(), options, names)
    if output.ptx is None:
        raise ModuleError(output.log.rstrip('\n') + _hint(output.log), _nvrtc.error_result(),
                          list(_diagnostics(output.log)))
    if key:
        output = _compile_cache.with_source(key, output, source, name) if in_memory else output
        _compile_cache.save(key, output)
    return output


def _hint(log: str) -> str:
    """Return which package has the header that the compiler did not find, as a line, or nothing."""
    missing = _MISSING.search(log)
    return f'\nnote: the package {_PACKAGES[missing[1]]} has this header' if missing else ''


def _diagnostics(log: str) -> Iterator[Diagnostic]:
    """Yield the messages in the compiler's log."""
    lines = log.splitlines()
    heads = [(i, m) for i, m in ((i, _MESSAGE.match(line)) for i, line in enumerate(lines)) if m]
    for (i, m), end in zip(heads, [i for i, _ in heads[1:]] + [len(lines)]):
        block = lines[i:end]
        if '' in block:
            block = block[:block.index('')]
        column = next((line.index('^') + 1 - _INDENT for line in block[1:] if line.strip() == '^'), 0)
        yield Diagnostic(Severity[m['kind'].upper()], m['file'] or '<options>', int(m['line'] or 0), column, 1,
                         m['message'], '\n'.join(block) + '\n')
