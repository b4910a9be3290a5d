"""Runs Python programs that compile and link at run time, with the libraries of libptxi in place of NVIDIA's.

NVIDIA's Python packages open the libraries of their wheels by path, unless a library of that name is loaded already.
Therefore the libraries of libptxi are preloaded.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

CUDA_CORE = r"""
import warnings
import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

warnings.simplefilter('ignore')
device = Device(0)
device.set_current()
stream = device.create_stream()
arch = 'sm_%d%d' % tuple(device.compute_capability)
KERNEL = 'extern "C" __global__ void k(int *p) { p[threadIdx.x] = triple(p[threadIdx.x]) + 1; }'
TRIPLE = 'extern "C" __device__ int triple(int x) { return 3 * x; }'
CALLER = 'extern "C" __device__ int triple(int);' + KERNEL

def check(code):
    x = np.arange(32, dtype=np.int32)
    p = device.memory_resource.allocate(x.nbytes, stream=stream)
    driver.cuMemcpyHtoD(int(p.handle), x.ctypes.data, x.nbytes)
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel('k'), int(p.handle))
    stream.sync()
    driver.cuMemcpyDtoH(x.ctypes.data, int(p.handle), x.nbytes)
    assert (x == 3 * np.arange(32) + 1).all()

def compiled(source, kind, **options):
    return Program(source, 'c++', ProgramOptions(std='c++17', arch=arch, **options)).compile(kind)

for kind in 'ptx', 'cubin':
    check(compiled(TRIPLE + KERNEL, kind))
for kind, lto in ('ptx', {}), ('ltoir', {'link_time_optimization': True}):
    parts = [compiled(source, kind, relocatable_device_code=True, **lto) for source in (CALLER, TRIPLE)]
    check(Linker(*parts, options=LinkerOptions(arch=arch, **lto)).link('cubin'))

# PTX that calls a function of LTO-IR.
parts = [compiled(CALLER, 'ptx', relocatable_device_code=True),
         compiled(TRIPLE, 'ltoir', relocatable_device_code=True, **lto)]
check(Linker(*parts, options=LinkerOptions(arch=arch, **lto)).link('cubin'))
"""

# A fat binary with PTX and LTO-IR. PTX is returned for the LTO-IR only.
LTO_FATBIN = r"""
import pathlib, subprocess, sys
from cuda.bindings import nvjitlink

nvcc, directory = sys.argv[1], pathlib.Path(sys.argv[2])
(directory / 'triple.cu').write_text('extern "C" __device__ int triple(int x) { return 3 * x; }')
code = 'arch=compute_90,code=[compute_90,lto_90]'
subprocess.run([nvcc, '-rdc=true', '-fatbin', '-gencode', code, 'triple.cu'], cwd=directory, check=True)
fatbin = (directory / 'triple.fatbin').read_bytes()
link = nvjitlink.create(3, ['-arch=sm_90', '-lto', '-ptx'])
nvjitlink.add_data(link, nvjitlink.InputType.FATBIN, fatbin, len(fatbin), 'triple.fatbin')
nvjitlink.complete(link)
ptx = bytearray(nvjitlink.get_linked_ptx_size(link))
nvjitlink.get_linked_ptx(link, ptx)
assert b'.target sm_90' in ptx
"""

NUMBA_CUDA = r"""
import warnings
import numpy as np
from numba import cuda

warnings.simplefilter('ignore')

@cuda.jit(device=True)
def triple(x):
    return 3 * x

def k(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = triple(a[i]) + 1

for options in {}, {'lto': True}, {'lto': False}:
    a = cuda.to_device(np.arange(1000))
    cuda.jit(**options)(k)[8, 128](a)
    assert (a.copy_to_host() == 3 * np.arange(1000) + 1).all()
"""


NUMBA_FEATURES = r"""
import warnings
import numpy as np
from numba import cuda, float32, int32

warnings.simplefilter('ignore')
N = 1000

@cuda.reduce
def total(a, b):
    return a + b

@cuda.jit
def dot(out, x, y):
    shared = cuda.shared.array(128, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    shared[t] = x[i] * y[i] if i < x.size else 0
    cuda.syncthreads()
    step = 64
    while step:
        if t < step:
            shared[t] += shared[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, shared[0])

@cuda.jit
def twice(to, x):
    i = cuda.grid(1)
    to[i] = x[i] * 2

@cuda.jit
def rounds(x):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(5):
        left = x[i - 1]
        grid.sync()
        x[i] = left
        grid.sync()

x = np.arange(N, dtype=np.float32) % 7
assert total(np.arange(N)) == N * (N - 1) // 2
out = cuda.to_device(np.zeros(1, np.float32))
dot[8, 128](out, cuda.to_device(x), x)
assert out.copy_to_host()[0] == (x * x).sum()
ring = cuda.to_device(np.arange(256, dtype=np.int32))
rounds[4, 64](ring)
assert (ring.copy_to_host() == np.roll(np.arange(256), 5)).all()
stream = cuda.stream()
with stream.auto_synchronize():
    a = cuda.to_device(np.ones(N), stream=stream)
    b = cuda.device_array_like(a)
    twice[N // 100, 100, stream](b, a)
    got = b.copy_to_host(stream=stream)
assert (got == 2).all()
"""

PYCUDA_SOURCE = r"""
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

twice = SourceModule('__global__ void twice(float *x) { x[threadIdx.x] *= 2; }', cache_dir=False).get_function('twice')
x = np.arange(32, dtype=np.float32)
twice(cuda.InOut(x), block=(32, 1, 1))
assert (x == 2 * np.arange(32)).all()
"""

CUPY = r"""
import cupy as cp
import numpy as np

x = cp.arange(1000, dtype='f4')
assert (cp.asnumpy(x * 2 + 1) == np.arange(1000) * 2 + 1).all()
assert float(x.sum()) == 499500 and float(x.max()) == 999
assert cp.asnumpy(cp.cumsum(x[:4])).tolist() == [0, 1, 3, 6]
code = 'template<class T> __global__ void add(T *p, T by) { p[threadIdx.x] += by; }'
add = cp.RawModule(code=code, name_expressions=['add<float>'], options=('-std=c++17',)).get_function('add<float>')
with cp.cuda.Stream() as stream:
    add((1,), (32,), (x, np.float32(3)))
    stream.synchronize()
assert float(x[31]) == 34
square = cp.ReductionKernel('float32 a', 'float32 b', 'a * a', 'a + b', 'b = a', '0', 'square')
assert float(square(cp.arange(10, dtype='f4'))) == 285
"""

WARP = r"""
import numpy as np
import warp as wp

wp.config.quiet = True

@wp.kernel
def scale(x: wp.array(dtype=float), by: float):
    i = wp.tid()
    x[i] = x[i] * by

with wp.ScopedDevice('cuda:0'):
    x = wp.array(np.arange(100, dtype=np.float32))
    wp.launch(scale, dim=100, inputs=[x, 3.0])
    assert (x.numpy() == 3 * np.arange(100)).all()
"""


TORCH = r"""
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

assert torch.cuda.is_available()
x, y = torch.randn(1000), torch.randn(1000)
began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    began.record()
    a, b, out = x.cuda(non_blocking=True), y.cuda(non_blocking=True), torch.zeros(1000, device='cuda')
    add[(4,)](a, b, out, 1000, BLOCK=256)
    ended.record()
stream.synchronize()
assert began.elapsed_time(ended) >= 0
assert (out.cpu() == x + y).all() and torch.cuda.memory_allocated() >= 3 * 4000

fused = torch.compile(lambda a, b: torch.relu(a * b + 1).sum(0))
assert abs(float(fused(a, b).cpu() - torch.relu(x * y + 1).sum())) < 1e-2  # in another order
"""


def has_static_runtime(package, file):
    """Return whether a file of an installed package contains NVIDIA's runtime, which needs NVIDIA's driver."""
    where = pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0])
    return any(b'libcudart.so' not in f.read_bytes() for f in where.glob(file))


def run_program(package, program, *arguments, **variables):
    if not importlib.util.find_spec(package.split('.')[0]) or not importlib.util.find_spec(package):
        pytest.skip(f'{package} is not installed')
    environment = dict(os.environ, **variables)
    command = [os.environ['PTXI'], 'exec', '--toolkit', sys.executable, '-c', program, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def run_file(package, program, directory, **variables):
    """Run a program from a file. Triton and Warp read the source of kernels."""
    file = directory / 'program.py'
    file.write_text(program)
    run_program(package, f'import runpy; runpy.run_path({str(file)!r})', **variables)


@pytest.mark.parametrize('package, program', [('cuda.core', CUDA_CORE), ('numba_cuda', NUMBA_CUDA),
                                              ('numba_cuda', NUMBA_FEATURES)],
                         ids=['cuda-core', 'numba-cuda', 'numba-features'])
def test_compiles_and_links(package, program):
    run_program(package, program)


def find_nvcc():
    nvcc = shutil.which('nvcc') or shutil.which('/usr/local/cuda/bin/nvcc')
    if not nvcc:
        pytest.skip('nvcc is not installed')
    return nvcc


def test_links_lto_of_a_fat_binary(tmp_path):
    run_program('cuda.bindings', LTO_FATBIN, find_nvcc(), str(tmp_path))


def test_pycuda_gets_ptx_for_a_cubin():
    find_nvcc()
    run_program('pycuda', PYCUDA_SOURCE)


def test_cupy():
    if importlib.util.find_spec('cupy_backends') and has_static_runtime('cupy_backends', 'cuda/api/runtime.*.so'):
        pytest.skip('CuPy contains the CUDA runtime of NVIDIA; run ptxi exec python -m ptxi.rebuild_cupy')
    run_program('cupy', CUPY, CUPY_ACCELERATORS='')


def test_torch(tmp_path):
    if importlib.util.find_spec('torch') and not subprocess.run(
            [sys.executable, '-c', 'import sys, torch; sys.exit(torch.version.cuda is not None)']).returncode:
        pytest.skip('this torch is for the CPU')
    run_file('torch', TORCH, tmp_path, TRITON_CACHE_DIR=str(tmp_path / 'triton'),
             TORCHINDUCTOR_CACHE_DIR=str(tmp_path / 'inductor'), TRITON_DEFAULT_FP_FUSION='1')


def test_warp(tmp_path):
    if importlib.util.find_spec('warp') and has_static_runtime('warp', 'bin/warp.so'):
        pytest.skip('Warp contains the CUDA runtime of NVIDIA; build it with --use-dynamic-cuda')
    run_file('warp', WARP, tmp_path, WARP_CACHE_PATH=str(tmp_path))
