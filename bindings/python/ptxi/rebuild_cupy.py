"""Makes the installed CuPy use the CUDA runtime of libptxi: `ptxi exec python -m ptxi.rebuild_cupy`.

CuPy's wheel contains NVIDIA's runtime, which needs NVIDIA's driver. This program compiles CuPy's extension `runtime`
again, from CuPy's own source, and links it with the libcudart that the loader finds. CuPy works with libptxi then, and
still works with a GPU and NVIDIA's libcudart. The old extension is kept beside the new one, with the suffix `.nvidia`;
--undo puts it back.

It needs a C++ compiler, `pip install -U cython setuptools` (CuPy 14 needs setuptools 77), and the headers of CUDA,
which `nvidia-cuda-runtime` and a toolkit have. If pip cannot download the source, --source names its directory.
"""
import argparse
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from typing import Any, List

from ._nvrtc import compiler

_SOURCE = 'cupy_backends/cuda/api/runtime.pyx'
_DIRECTIVES = ['binding=False', 'c_api_binop_methods=True', 'embedsignature=True', 'language_level=3',
               'warn.deprecated.IF=False']


def _package() -> pathlib.Path:
    """Return the directory that contains the packages of CuPy. Does not import them."""
    found = importlib.util.find_spec('cupy_backends')
    if found is None or not found.submodule_search_locations:
        sys.exit('ptxi.rebuild_cupy: CuPy is not installed; run `pip install cupy-cuda13x`')
    return pathlib.Path(list(found.submodule_search_locations)[0]).parent


def _version(site: pathlib.Path) -> str:
    """Return the version of the installed CuPy."""
    scope: Any = {}
    exec((site / 'cupy' / '_version.py').read_text(), scope)
    return str(scope['__version__'])


def _download(version: str, directory: pathlib.Path) -> pathlib.Path:
    """Download CuPy's source from PyPI. Return its directory."""
    _run([sys.executable, '-m', 'pip', 'download', '-q', '--no-deps', '--no-build-isolation', '--no-binary', 'cupy',
          '-d', directory, f'cupy=={version}'])
    archive, = directory.glob('cupy-*.tar.gz')
    with tarfile.open(archive) as t:
        t.extractall(directory)
    return directory / f'cupy-{version}'


def _library() -> str:
    """Return the path of libptxi's libcudart, in LD_LIBRARY_PATH."""
    for directory in os.environ.get('LD_LIBRARY_PATH', '').split(':'):
        path = pathlib.Path(directory) / f'libcudart.so.{compiler().version[0]}'
        if directory and path.is_file():
            return str(path)
    sys.exit('ptxi.rebuild_cupy: no libcudart in LD_LIBRARY_PATH; run `ptxi exec python -m ptxi.rebuild_cupy`')


def _run(command: List[Any], **options: Any) -> None:
    """Run a command. Exit with its status if it fails."""
    status = subprocess.run([str(c) for c in command], **options).returncode
    if status:
        sys.exit(status)


def _build(source: pathlib.Path, to: pathlib.Path) -> None:
    """Translate the extension to C++, compile it and link it with libcudart."""
    major, minor = compiler().version
    constants = {'CUPY_CUDA_VERSION': major * 1000 + minor * 10, 'CUPY_HIP_VERSION': 0,
                 'CUPY_USE_CUDA_PYTHON': False, 'CUPY_CUFFT_STATIC': False}
    directives = [part for d in _DIRECTIVES for part in ('-X', d)]
    env = [part for name, value in constants.items() for part in ('-E', f'{name}={value}')]
    _run([sys.executable, '-m', 'cython', '--cplus', *directives, *env, _SOURCE, '-o', 'runtime.cpp'], cwd=source)
    headers = [f'-I{h}' for h in (sysconfig.get_path('include'), *compiler().headers)]
    _run([os.environ.get('CXX', 'c++'), '-O2', '-fPIC', '-shared', '-std=c++17', '-w', *headers,
          '-Icupy_backends/cuda/api', '-Icupy/_core/include', 'runtime.cpp', _library(), '-o', to], cwd=source)


def main(arguments: List[str]) -> None:
    """Rebuild the extension, or restore it."""
    parser = argparse.ArgumentParser('python -m ptxi.rebuild_cupy', description=(__doc__ or '').split('\n\n')[1])
    parser.add_argument('--source', type=pathlib.Path, help="directory of CuPy's source; default: from PyPI")
    parser.add_argument('--undo', action='store_true', help='restore the extension of the wheel')
    chosen = parser.parse_args(arguments)
    site = _package()
    extension = site / _SOURCE.replace('.pyx', str(sysconfig.get_config_var('EXT_SUFFIX')))
    saved = pathlib.Path(f'{extension}.nvidia')
    if chosen.undo:
        if saved.exists():
            saved.replace(extension)
        return
    with tempfile.TemporaryDirectory() as temporary:
        source = chosen.source or _download(_version(site), pathlib.Path(temporary))
        built = pathlib.Path(temporary) / extension.name
        _build(source.resolve(), built)
        if not saved.exists():
            extension.replace(saved)
        shutil.copyfile(built, extension)
    print(f'{extension} uses {_library()}')


if __name__ == '__main__':
    main(sys.argv[1:])
