"""Tests of ptxi.compile. They need NVRTC, which needs no GPU; without it they are skipped."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from ptxi import _compile_cache, _nvrtc
from ptxi.testing import assert_bits_equal

HEAD = '.version 8.0\n.target sm_75\n.address_size 64\n'
SCALE = '''
namespace space { __device__ int calls; }
template<class T> __global__ void scale(T *x, T by)
{
    x[threadIdx.x] *= by;
    if (threadIdx.x == 0)
        space::calls++;
}
namespace space { __global__ void shift(int *x) { x[threadIdx.x] += AMOUNT; } }
'''


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    """Give each test a cache of its own. Return its directory."""
    monkeypatch.setenv('PTXI_CACHE_DIR', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


@pytest.fixture
def compile_(ptxi):
    try:
        _nvrtc.compiler()
    except ImportError as e:
        pytest.skip(str(e))
    return ptxi.compile


@pytest.fixture
def compilations(monkeypatch):
    """Count the calls of the compiler. Return the list of the sources."""
    sources, before = [], _nvrtc.Compiler.compile

    def counted(self, source, *rest):
        sources.append(source)
        return before(self, source, *rest)
    monkeypatch.setattr(_nvrtc.Compiler, 'compile', counted)
    return sources


@pytest.mark.parametrize('include, package', [('crt/none.h', 'nvidia-cuda-crt'), ('cuda/none', 'nvidia-cuda-cccl'),
                                              ('curand_none.h', 'nvidia-curand'), ('none.h', None)])
def test_the_package_of_a_missing_header_is_named(ptxi, compile_, include, package):
    with pytest.raises(ptxi.ModuleError, match='cannot open source file "' + include) as e:
        compile_(f'#include <{include}>')
    last = str(e.value).splitlines()[-1]
    assert (last == f'note: the package {package} has this header') == bool(package)


def test_kernels_have_their_cpp_names(ptxi):
    symbols = ['_Z3addPf', '_Z3addPd', '_ZN5space5shiftEPi', 'plain']
    mod = ptxi.loads(HEAD + ''.join(f'.visible .entry {s}() {{ ret; }}\n' for s in symbols))
    assert mod.kernels == tuple(symbols)
    assert mod.shift is mod['space::shift'] is mod['_ZN5space5shiftEPi']
    with pytest.raises(KeyError, match=r"'add' of <ptx> is ambiguous; it has add\(float\*\) \(_Z3addPf\), add\("):
        mod['add']
    assert mod['add(double *)'] is mod['_Z3addPd']
    with pytest.raises(AttributeError, match="no kernel 'shif'; it has shift"):
        mod.shif


def test_templates_and_variables(compile_):
    names = ['scale<float>', 'scale<int>', '&space::calls']
    mod = compile_(SCALE, '-DAMOUNT=40', names=names)
    x, n = np.arange(8, dtype='f4'), np.arange(8, dtype='i4')
    mod['scale<float>'][1, 8](x, 0.5)
    mod['scale<int>'][1, 8](n, 3)
    assert_bits_equal(x, np.arange(8, dtype='f4') / 2)
    mod.shift[1, 8](n)
    assert_bits_equal(n, np.arange(8, dtype='i4') * 3 + 40)
    assert mod.variable('&space::calls', 'i4').tolist() == [2]
    with pytest.raises(KeyError, match='ambiguous'):
        mod['scale']
    with pytest.raises(KeyError, match='no kernel'):
        mod['&space::calls']


def test_errors_have_places(ptxi, compile_):
    with pytest.raises(ptxi.ModuleError) as e:
        compile_('__global__ void k()\n{\n    undefined();\n\n    int x = ;\n}', name='mine.cu')
    first, second = e.value.diagnostics
    assert (first.file, first.line, first.column) == ('mine.cu', 3, 5)
    assert first.message == 'identifier "undefined" is undefined' and first.severity == ptxi.Severity.ERROR
    assert (second.line, second.column) == (5, 13)
    assert str(e.value).startswith('mine.cu(3): error: identifier "undefined" is undefined\n')
    assert e.value.result == ptxi.Result.ERROR_INVALID_SOURCE
    for bad in ('--no-such-option', '-arch=compute_1'):
        with pytest.raises(ptxi.ModuleError, match='nvrtc: error: ') as e:
            compile_('', bad)
        assert len(e.value.diagnostics) == 1
    with pytest.raises(ptxi.ModuleError, match='no_template'):
        compile_(SCALE, '-DAMOUNT=1', names=['no_template<int>'])
    with pytest.raises(ValueError, match='zero byte'):
        compile_('\0')
    with pytest.raises(TypeError):
        compile_(1)


def test_warnings_are_diagnostics(ptxi, compile_):
    for _ in range(2):  # the second time from the cache
        warning, = compile_('#warning careful\n__global__ void k() { }').diagnostics
        assert warning.severity == ptxi.Severity.WARNING and warning.line == 1
        assert warning.message == '#warning directive: careful'


def test_reports_name_the_line_of_cuda(ptxi, compile_):
    mod = compile_('__global__ void k(int *p)\n{\n    p[threadIdx.x] = 1;\n}', name='mine.cu')
    with pytest.raises(ptxi.LaunchError) as e:
        mod.k[1, 9](np.zeros(8, 'i4'))
    assert e.value.report.source_file.endswith('mine.cu') and e.value.report.source_line == 3
    assert '\n    3 |     p[threadIdx.x] = 1;\n' in str(e.value)


def test_the_headers_of_cuda(compile_):
    mod = compile_('''
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        #include <cuda/std/limits>
        #include <cuda_fp16.h>
        namespace cg = cooperative_groups;
        __global__ void k(int *sum, __half *least)
        {
            auto warp = cg::tiled_partition<32>(cg::this_thread_block());
            *sum = cg::reduce(warp, (int)threadIdx.x, cg::plus<int>());
            *least = __float2half(cuda::std::numeric_limits<float>::min() + 1);
        }''')
    total, least = np.zeros(1, 'i4'), np.zeros(1, 'f2')
    mod.k[1, 32](total, least)
    assert total[0] == 496 and least[0] == 1


def test_targets(ptxi, compile_):
    source = '__global__ void k(int *arch) {\n#ifdef __CUDA_ARCH__\n*arch = __CUDA_ARCH__;\n#endif\n}'

    def target(*options):
        out = np.zeros(1, 'i4')
        compile_(source, *options).k[1, 1](out)
        return out[0]

    assert target() == 10 * int(re.sub(r'\D', '', ptxi.current().profile))
    assert target('-arch=compute_80') == target('-arch=sm_80') == target('--gpu-architecture=sm_80') == 800
    with ptxi.Device('sm_80'):
        assert target() == 800


def test_the_cache(compile_, compilations, directory):
    source = '__global__ void k(int *x) { *x = N; }'

    def result(*arguments, **options):
        out = np.zeros(1, 'i4')
        compile_(*arguments, **options).k[1, 1](out)
        return int(out[0])

    assert [result(source, '-DN=1'), result(source, '-DN=1')] == [1, 1] and len(compilations) == 1
    assert result(source, '-DN=2') == 2 and result(source + ' ', '-DN=1') == 1 and len(compilations) == 3
    assert result(source, '-DN=1', cache=False) == 1 and len(compilations) == 4
    assert len(list(directory.glob('*.json'))) == 3
    for f in directory.glob('*.json'):
        f.write_text(f.read_text()[:100])
    assert result(source, '-DN=1') == 1 and len(compilations) == 5
    assert result(source, '-DN=1') == 1 and len(compilations) == 5


def test_the_cache_follows_includes(compile_, compilations, tmp_path):
    main, inner, outer = tmp_path / 'main.cu', tmp_path / 'inc' / 'inner.h', tmp_path / 'inc' / 'outer.h'
    inner.parent.mkdir()
    main.write_text('#include <outer.h>\n__global__ void k(int *x) { *x = N; }')
    outer.write_text('#pragma once\n#  include "inner.h"\n')

    def result(path=main):
        out = np.zeros(1, 'i4')
        compile_(path, '-I', str(inner.parent)).k[1, 1](out)
        return int(out[0])

    for n in (1, 2, 2):
        inner.write_text(f'#define N {n}\n')
        assert result() == n
    assert len(compilations) == 2
    (tmp_path / 'near.cu').write_text('#include "near.h"\n__global__ void k(int *x) { *x = N; }')
    for n in (3, 4):
        (tmp_path / 'near.h').write_text(f'#define N {n}\n')
        assert result(tmp_path / 'near.cu') == n
    for text in ('#define H "near.h"\n#include H\n', '#if __has_include("none.h")\n#endif\n#include "near.h"\n'):
        (tmp_path / 'near.cu').write_text(text + '__global__ void k(int *x) { *x = N; }')
        count = len(compilations)
        assert result(tmp_path / 'near.cu') == result(tmp_path / 'near.cu') == 4
        assert len(compilations) == count + 2


# Threads that compile the same programs at the same time. Each program is valid, or has an error in its second line.
CONCURRENT = '''
import concurrent.futures, numpy as np, ptxi

def run(i):
    n = i % 5
    source = f'template<class T> __global__ void k(T *x)\\n{{ *x = N * {n}; {"wrong" if n == 4 else ""} }}'
    out = np.zeros(1, 'i4')
    try:
        ptxi.compile(source, f'-DN={i % 2 + 1}', names=['k<int>'])['k<int>'][1, 1](out)
    except ptxi.ModuleError as e:
        return n == 4 and e.diagnostics[0].line == 2
    return out[0] == n * (i % 2 + 1)

with concurrent.futures.ThreadPoolExecutor(6) as pool:
    assert all(pool.map(run, range(40)))
'''


def test_threads_and_processes_share_the_cache(compile_, directory):
    processes = [subprocess.Popen([sys.executable, '-c', CONCURRENT], env=dict(os.environ)) for _ in range(3)]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(exec, CONCURRENT, {}).result()
    assert [p.wait() for p in processes] == [0, 0, 0]
    files = list(directory.glob('*.json'))
    assert len(files) == 8 and all(json.loads(f.read_text())['ptx'] for f in files)
    assert {f.name for f in directory.iterdir()} == {'sources', *(f.name for f in files)}


def test_without_a_place_for_the_cache(compile_, monkeypatch, tmp_path):
    (tmp_path / 'file').write_text('')
    for place in ('', str(tmp_path / 'file' / 'below')):
        monkeypatch.setenv('PTXI_CACHE_DIR', place)
        compile_('__global__ void k() { }').k[1, 1]()
    monkeypatch.delenv('PTXI_CACHE_DIR')
    monkeypatch.setenv('XDG_CACHE_HOME', '/the/cache')
    assert _compile_cache.directory() == pathlib.Path('/the/cache/ptxi')


def test_a_compiler_that_is_missing(ptxi, monkeypatch):
    monkeypatch.setenv('PTXI_NVRTC', '/nowhere/libnvrtc.so')
    _nvrtc.compiler.cache_clear()
    try:
        with pytest.raises(ImportError, match=r'(?s)pip install nvidia-cuda-nvrtc.*/nowhere/libnvrtc.so'):
            ptxi.compile('')
    finally:
        _nvrtc.compiler.cache_clear()
